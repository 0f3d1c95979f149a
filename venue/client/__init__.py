"""The venue from Python: ask and wait, see what waits and answer it (D34); gates in an inbox (D27)."""

from .aio import AsyncVenue
from .asked import Asked
from .errors import (
    AskCancelled,
    AskExpired,
    AskRejected,
    BadAnswer,
    BadForm,
    BadSettings,
    ClockSkew,
    NoAnswer,
    NotAuthenticated,
    NotAVenue,
    Refused,
    Settled,
    TooFast,
    Unreachable,
    VenueError,
    VenueFault,
    WrongVenue,
)
from .gateform import GateNotAskable
from .gates import VenueGateStore
from .models import Answered, Change, Offer, Page, Record, Summary
from .sync import AskedNow, Venue

__all__ = [
    "Answered",
    "AskCancelled",
    "AskExpired",
    "AskRejected",
    "Asked",
    "AskedNow",
    "AsyncVenue",
    "BadAnswer",
    "BadForm",
    "BadSettings",
    "Change",
    "ClockSkew",
    "GateNotAskable",
    "NoAnswer",
    "NotAVenue",
    "NotAuthenticated",
    "Offer",
    "Page",
    "Record",
    "Refused",
    "Settled",
    "Summary",
    "TooFast",
    "Unreachable",
    "Venue",
    "VenueError",
    "VenueFault",
    "VenueGateStore",
    "WrongVenue",
]
