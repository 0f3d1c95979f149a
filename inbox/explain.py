"""A validation error as one sentence for a person, naming the place (`asks[0].options[1]`). Pure."""

from pydantic import ValidationError

_SHOWN = 3


def explain(error: ValidationError, place: str = "") -> str:
    """Say what is wrong and where, below `place`.

    Never repeats a value that was sent: it may be an answer or a secret.
    """
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{_place(place, problem['loc'])}: {_lowered(problem['msg'])}" for problem in problems[:_SHOWN]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _place(text: str, location: tuple[int | str, ...]) -> str:
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "input"


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
