"""Archives of lakes that live in a bucket: the archive itself is a file of this machine."""

from pathlib import Path

from pond.lake.import_ import import_
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.lake.archives import difference, exported
from tests.lake.build import TOURS, lake
from tests.lake.s3 import Store as Bucket


def test_out_of_a_bucket_and_into_one(s3: Bucket, tmp_path: Path) -> None:
    local = lake(tmp_path / "local", *TOURS)
    remote = Store(Catalog(s3.uri, s3.storage_options))
    import_(remote, exported(local, tmp_path / "there.pond"))
    assert difference(local, remote) is None
    back = Store(Catalog(str(tmp_path / "back")))
    import_(back, exported(remote, tmp_path / "back.pond"))
    assert difference(local, back) is None
    before = s3.objects()
    assert import_(remote, tmp_path / "there.pond").new == {"sessions": 0, "messages": 0, "parts": 0}
    assert s3.objects() == before
