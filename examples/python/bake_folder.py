"""Bakes every character of a folder, with a progress bar.

    python bake_folder.py FOLDER OUT [--frames FIRST LAST]

A file that cannot be baked is reported, and the others are baked. The exit code is then 1.
"""

import argparse
import shutil
import sys
import warnings
from pathlib import Path

import sinew

CHARACTERS = {".usd", ".usda", ".usdc", ".usdz", ".gltf", ".glb", ".vrm", ".fbx"}


def bar(name: str):
    """A callback that draws a progress bar on stderr, if that is a terminal."""
    width = max(shutil.get_terminal_size().columns - len(name) - 20, 10)

    def draw(done: int, total: int) -> None:
        if sys.stderr.isatty():
            full = width * done // max(total, 1)
            end = "\n" if done == total else ""
            line = "#" * full + "-" * (width - full)
            print(f"\r{name} [{line}] {done}/{total}", end=end, file=sys.stderr, flush=True)

    return draw


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--frames", type=float, nargs=2, metavar=("FIRST", "LAST"))
    asked = arguments.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    files = sorted(f for f in asked.folder.iterdir() if f.suffix.lower() in CHARACTERS)
    failed = 0
    for file in files:
        out = asked.out / f"{file.stem}_{file.suffix[1:]}.usdc"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", sinew.SinewWarning)
            try:
                report = sinew.bake(file, out, frames=asked.frames, progress=bar(file.name))
            except sinew.NothingToSkinError:
                print(f"{file.name}: nothing to skin")
                continue
            except sinew.Error as error:
                print(f"{file.name}: {error}")
                failed += 1
                continue
        print(f"{out.name}: {report['prims']} prims, {report['samples']} samples, {len(caught)} warnings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
