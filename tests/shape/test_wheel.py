"""The built wheel: four packages and their data, installed elsewhere, and it tells the story."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

from tests.conftest import ROOT

DATA = {
    "inbox/sql/inbox.sql",
    "inbox/sql/sqlite/0001_inbox.sql",
    "ops/sql/ops.sql",
    "ops/sql/sqlite/0001_ops.sql",
    *(f"venue/web/{path.name}" for path in (ROOT / "venue" / "web").iterdir()),
}


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_wheel_holds_four_packages_and_runs_the_demo(tmp_path: Path) -> None:
    """Built from the sources, and installed with only what it asks for, it runs the demo."""
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, cwd=ROOT)
    (wheel,) = tmp_path.glob("hitl_venue-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"ucan", "inbox", "ops", "venue"}
    assert set(names) >= DATA
    assert not [name for name in names if "test" in name.lower() or name.endswith((".toml", ".md"))]

    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if sys.platform == "win32" else "bin")
    _run(scripts / "python", "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    told = _run(scripts / "venue", "demo", cwd=tmp_path)
    assert "The end." in told
