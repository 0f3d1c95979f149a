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
    TooFast,
    Unreachable,
    VenueError,
    WrongVenue,
)
from .models import Answered, Offer, Record, Summary
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
    "ClockSkew",
    "NotAuthenticated",
    "Offer",
    "Record",
    "Refused",
    "Summary",
    "TooFast",
    "Unreachable",
    "Venue",
    "VenueError",
    "WrongVenue",
]
