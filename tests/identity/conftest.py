"""Towns, served from one loop."""

from tests.harness.towns import build, thread, town

__all__ = ["build", "thread", "town"]
