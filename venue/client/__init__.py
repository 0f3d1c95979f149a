"""The venue from Python: ask and wait, see what waits and answer it (D34)."""

from .aio import Asked, AsyncVenue
from .errors import (
    AskCancelled,
    AskExpired,
    AskRejected,
    BadForm,
    ClockSkew,
    NotAuthenticated,
    Refused,
    Settled,
    TooFast,
    Unreachable,
    VenueError,
    WrongVenue,
)
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
    "BadForm",
    "Change",
    "ClockSkew",
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
    "WrongVenue",
]
