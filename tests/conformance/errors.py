"""Why a scenario did not pass: the venue did otherwise, or the scenario says something nobody knows."""


class Mismatch(AssertionError):
    """The venue did otherwise than the scenario expects."""


class BadScenario(Exception):
    """The scenario uses a word that the runner does not know, or uses one wrongly. Never a pass."""
