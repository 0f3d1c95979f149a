"""The law of settling, which requests and gates share (D16, D17, D27).

What is open may settle once, into one terminal state; the instant named by a deadline is already past it;
and a caller that lost the race with the very same answer is forgiven. Pure: values in, values out.
"""


def is_due(now: int, deadline: int | None) -> bool:
    """Whether a deadline has passed. Inclusive: at the instant itself it has (D17). No deadline never passes.

    Both values are whole milliseconds since the epoch.
    """
    return deadline is not None and now >= deadline
