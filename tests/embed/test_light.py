"""Who does not embed pays nothing for it."""

import subprocess
import sys

import pytest

from tests.cli.command import environment

_HEAVY = ("numpy", "onnxruntime", "tokenizers", "fastembed", "huggingface_hub", "lance", "http.client")


@pytest.mark.parametrize(
    "program",
    [
        "import pond.embed.embedder, pond.embed.registry, pond.embed.check, pond.embed.bulk",
        "import pond.cli.model",
    ],
)
def test_importing_the_seam_loads_nothing_heavy(program: str) -> None:
    program += f"\nimport sys; print([name for name in {_HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment(), check=True)
    assert done.stdout.decode().strip() == "[]"


def test_running_a_model_does_not_import_fastembed() -> None:
    program = (
        "from tests.embed.real import minilm_model\nfrom pond.embed.embedder import opened\n"
        "print(opened(minilm_model()).query('x').shape)\n"
        "import sys; print([name for name in ('fastembed', 'huggingface_hub', 'lance') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment(), check=True)
    assert done.stdout.decode().split("\n")[:2] == ["(384,)", "[]"]
