"""Where the file and the lake are looked for."""

import os
from pathlib import Path

import pytest

from pond.config.locations import config_file, default_lake, default_pods
from pond.diagnostics.diagnostic import UsageError
from tests.config.home import Home


@pytest.mark.parametrize("xdg", [{}, {"XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""}], ids=["unset", "empty"])
def test_the_usual_places_are_below_the_home(xdg: dict[str, str]) -> None:
    environ = {"HOME": "/home/ada", **xdg}
    assert config_file(environ) == Path("/home/ada/.config/pond/pond.toml")
    assert default_lake(environ) == "/home/ada/.local/share/pond/lake"


def test_the_xdg_variables_move_them() -> None:
    environ = {"HOME": "/home/ada", "XDG_CONFIG_HOME": "/etc/ada", "XDG_DATA_HOME": "/data/ada"}
    assert config_file(environ) == Path("/etc/ada/pond/pond.toml")
    assert default_lake(environ) == "/data/ada/pond/lake"
    assert default_pods(environ) == "/data/ada/pond/pods"


def test_a_relative_xdg_directory_is_ignored() -> None:
    environ = {"HOME": "/home/ada", "XDG_CONFIG_HOME": "etc", "XDG_DATA_HOME": "./data"}
    assert config_file(environ) == Path("/home/ada/.config/pond/pond.toml")
    assert default_lake(environ) == "/home/ada/.local/share/pond/lake"


def test_the_file_of_the_xdg_directory_is_read(home: Home, tmp_path: Path) -> None:
    (tmp_path / "xdg/pond").mkdir(parents=True)
    (tmp_path / "xdg/pond/pond.toml").write_text('namespace = "moved"\n')
    home.write('namespace = "usual"\n')
    assert home.load().namespace == "usual"
    assert home.load(XDG_CONFIG_HOME=str(tmp_path / "xdg")).namespace == "moved"
    assert home.load(XDG_CONFIG_HOME="xdg").namespace == "usual"


@pytest.mark.parametrize("name", ["{home}/other.toml", "~/other.toml"])
def test_another_file_may_be_named(name: str, home: Home) -> None:
    home.write('namespace = "usual"\n')
    (home.path / "other.toml").write_text('\nnamespace = "other"\n')
    settings = home.load(POND_CONFIG=name.format(home=home.path))
    assert (settings.namespace, settings.sources["namespace"]) == ("other", "other.toml:2")


def test_a_named_file_must_exist(home: Home) -> None:
    (fault,) = home.refusal(POND_CONFIG=f"{home.path}/absent.toml")
    assert fault.code == "config-missing"
    assert "absent.toml" in fault.message


def test_the_usual_file_may_be_absent_even_its_directory(home: Home) -> None:
    (home.path / ".config").write_text("a file where a directory could be")
    assert home.load().sources["lake"] == "default"


@pytest.mark.parametrize("named", [False, True])
def test_a_file_that_cannot_be_read_is_refused(named: bool, home: Home) -> None:
    home.file.mkdir(parents=True)
    (fault,) = home.refusal(**({"POND_CONFIG": str(home.file)} if named else {}))
    assert fault.code == "config-unreadable"
    assert str(home.file) in fault.message


def test_without_a_home_only_what_lies_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from pond.config.load import load

    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a user without an account
    assert config_file({}) is None
    assert load({}, {"POND_LAKE": "s3://b/lake"}).lake == "s3://b/lake"
    with pytest.raises(UsageError) as refused:
        default_pods({})
    assert [each.code for each in refused.value.diagnostics] == ["config-no-home"]
    with pytest.raises(UsageError) as refused:
        load({}, {})
    assert [each.code for each in refused.value.diagnostics] == ["config-no-home"]
    with pytest.raises(UsageError) as refused:
        load({}, {"POND_LAKE": "~/lake"})
    assert [each.code for each in refused.value.diagnostics] == ["config-value"]
