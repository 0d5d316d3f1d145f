"""``python -m sinew`` is the command ``sinew``."""

import sys

from ._sinew import command


def main() -> None:
    """Runs the command with the arguments of this process, and ends the process."""
    sys.exit(command(["sinew", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
