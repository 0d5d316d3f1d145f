"""Times `sinew bake` against usd-core's BakeSkinning + Export: whole processes, wall clock and peak memory.

usage: SINEW_PYTHON=python benches/bake.py FILE [RUNS]

SINEW names the binary (default target/release/sinew), SINEW_PYTHON a Python with usd-core 26.11. Runs alternate,
so that whatever else the machine does meets both alike. The second pair of rows bakes a copy without
`normals`: points alone.
"""

import os
import statistics
import sys
import tempfile
import time

PIXAR = """
import sys
from pxr import Usd, UsdSkel
stage = Usd.Stage.Open(sys.argv[1])
UsdSkel.BakeSkinning(stage.Traverse())
stage.Export(sys.argv[2])
"""

STRIP = """
import sys
from pxr import Usd
stage = Usd.Stage.Open(sys.argv[1])
for prim in stage.Traverse():
    if prim.HasAttribute("normals"):
        prim.RemoveProperty("normals")
stage.Export(sys.argv[2])
"""


def run(command):
    """Wall seconds and peak megabytes of one process."""
    start = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{command}: status {status}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    source = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    sinew = os.environ.get("SINEW", "target/release/sinew")
    python = os.environ.get("SINEW_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        bare = f"{folder}/bare.usdc"
        run([python, "-c", STRIP, source, bare])
        for label, file in [("as it is", source), ("without normals", bare)]:
            results = {"usd-core": [], "sinew": []}
            for _ in range(runs):
                results["usd-core"].append(run([python, "-c", PIXAR, file, f"{folder}/pixar.usdc"]))
                results["sinew"].append(run([sinew, "bake", file, "-o", f"{folder}/sinew.usdc", "--quiet"]))
            for name, samples in results.items():
                seconds = [s for s, _ in samples]
                memory = max(m for _, m in samples)
                print(
                    f"{label:16} {name:9} best {min(seconds):.3f} s, median {statistics.median(seconds):.3f} s, "
                    f"peak {memory:.0f} MB"
                )


if __name__ == "__main__":
    main()
