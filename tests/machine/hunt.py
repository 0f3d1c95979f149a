"""The machine against whatever code it finds: `python -m tests.machine.hunt` exits with 3 when the books
disagree.

What it finds is not made smaller: that a broken copy is noticed is all that is asked (`test_mutants`).
"""

import sys

from hypothesis import Phase

from .test_settles import play

CAUGHT = 3
RUNS, STEPS = 100, 50


def main() -> None:
    """The runs of the test, or as many of them as it takes."""
    try:
        play(RUNS, STEPS, fresh=False, phases=[Phase.generate])
    except AssertionError as found:
        print(found)
        sys.exit(CAUGHT)


if __name__ == "__main__":
    main()
