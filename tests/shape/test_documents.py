"""What the documents promise can be checked, and is."""

import re

from tests.conftest import ROOT
from venue.config import Settings
from venue.version import VERSION

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_gives_the_two_commands_that_ci_runs() -> None:
    """Run and test stand in the README as they are run: the test command is the one in `.ci/run`."""
    commands = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    joined = "\n".join(commands)
    assert "venue demo" in joined
    assert "pytest" in joined
    assert "README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_readme_examples_are_files_that_tests_run() -> None:
    """The agent and the owner of the README stand in docs/examples, letter for letter."""
    for name in ("agent.py", "owner.py"):
        code = (ROOT / "docs" / "examples" / name).read_text(encoding="utf-8")
        assert code.strip() in README, name


def test_changelog_speaks_of_this_version() -> None:
    """The newest heading of the changelog is the version that the venue reports."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?([0-9.]+)", changelog, flags=re.MULTILINE)
    assert newest is not None
    assert newest[1] == VERSION


def test_every_setting_is_documented() -> None:
    """docs/operate.md names every setting there is."""
    text = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        for setting in [f"{name}.{key}" for key in inner] if inner else [name]:
            assert f"`{setting}`" in text, setting
