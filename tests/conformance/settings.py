"""The one table from the catalogue's configuration names to ours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import BadScenario


@dataclass
class Setup:
    """What a scenario's configuration comes to: settings, and what people do before it begins."""

    settings: dict[str, Any] = field(default_factory=dict)
    caps: dict[str, Any] = field(default_factory=dict)
    blocked_by_carol: list[str] = field(default_factory=list)
    timers: bool = True
    rearm: bool = True


Apply = Callable[[Setup, Any], None]


def _setting(table: str, key: str) -> Apply:
    def apply(setup: Setup, value: Any) -> None:
        setup.settings.setdefault(table, {})[key] = value

    return apply


def _unbounded(table: str) -> Apply:
    def apply(setup: Setup, value: Any) -> None:
        if value:
            setup.settings.setdefault(table, {})["max_lifetime"] = "none"

    return apply


def _helper_caps(setup: Setup, value: Any) -> None:
    setup.caps["alice.agent"] = value


def _blocks(setup: Setup, value: Any) -> None:
    setup.blocked_by_carol += value


def _no_timers(setup: Setup, value: Any) -> None:
    setup.timers = not value


def _no_rearm(setup: Setup, value: Any) -> None:
    setup.rearm = setup.timers = not value


def _not_configurable(_: Setup, __: Any) -> None:
    """What is fixed here, and no narrower than the scenario wants."""


CONFIGURATION: Mapping[str, Apply] = {
    "hitl.maxGrantLifetimeSecs": _setting("grants", "max_lifetime"),
    "hitl.allowUnboundedGrants": _unbounded("grants"),
    "ucan.maxLifetimeSecs": _setting("ucan", "max_lifetime"),
    "ucan.allowUnbounded": _unbounded("ucan"),
    "hitl.maxOpenPerInbox": _setting("limits", "open_per_inbox"),
    "hitl.maxOpenPerRequester": _setting("limits", "open_per_requester"),
    "hitl.requestsPerMinute": _setting("limits", "posts_per_minute"),
    "grants.attest": _setting("grants", "attest"),
    "auth.trustedIssuers": _setting("auth", "trusted_issuers"),
    "hitl.blockRequesters": _blocks,
    "agents.helper.caps": _helper_caps,
    "auth.public.caps": _not_configurable,
    "ucan.maxChainDepth": _not_configurable,
    "test.disableTimers": _no_timers,
    "test.skipRearm": _no_rearm,
}


def read(config: Mapping[str, Any]) -> Setup:
    """What a configuration of the catalogue comes to. Raises BadScenario for a name that nobody knows."""
    setup = Setup()
    for name, value in config.items():
        if name not in CONFIGURATION:
            raise BadScenario(f"unknown configuration: {name}")
        CONFIGURATION[name](setup, value)
    return setup
