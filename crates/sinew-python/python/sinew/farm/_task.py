"""``python -m sinew.farm._task ARGS`` is the command ``sinew ARGS`` of a task on a farm.

It ends when its standard input is closed, so that it does not go on when the worker that started it was killed.
"""

import os
import sys
import threading

from .._sinew import command


def _end_with_the_worker() -> None:
    # Not the buffered sys.stdin: its lock would be held when the interpreter ends.
    while os.read(0, 1):
        pass
    # What is half-written has a temporary name; the next bake removes it.
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    sys.exit(command(["sinew", *sys.argv[1:]]))
