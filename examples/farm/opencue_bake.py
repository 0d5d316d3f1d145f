#!/usr/bin/env python3
"""Launches a bake in shards on OpenCue, and the stitch that depends on it.

    python examples/farm/opencue_bake.py shot.usda out/shot.usdc --clip-frames 100 --shards 8 [-- OPTIONS OF SINEW BAKE]

Needs OpenCue's pyoutline (`pip install opencue-pyoutline`) and a Cuebot. A frame of the first layer is a shard: #IFRAME# is its
number. A frame that dies is retried from CueGUI, alone, and keeps what it had finished. --dry-run prints the commands, --spec the
job as Cuebot would get it; both need no Cuebot, and --dry-run needs no pyoutline.
"""

import argparse
import os
import re
import shlex
import sys


def commands(args):
    """The command of every shard, with OpenCue's token for its number, and that of the stitch."""
    common = ["sinew", "bake", os.path.abspath(args.input), "-o", os.path.abspath(args.output)]
    common += ["--clip-frames", str(args.clip_frames)] + args.options
    shard = common + ["--backend", args.backend, "--resume", "--shard", f"#IFRAME#/{args.shards}"]
    return shard, common + ["--stitch"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--clip-frames", type=int, default=100)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--backend", default="cpu", help="the same for all, so that all files are as one machine makes them")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--dry-run", action="store_true")
    only.add_argument("--spec", action="store_true")
    # What stands behind -- is for sinew.
    argv = sys.argv[1:]
    end = argv.index("--") if "--" in argv else len(argv)
    args = parser.parse_args(argv[:end])
    args.options = argv[end + 1 :]
    # The machine that runs a frame reads its command with a shell, and pyoutline quotes nothing.
    shard, stitch = [[shlex.quote(word) for word in command] for command in commands(args)]
    if args.dry_run:
        print(*shard)
        print(*stitch)
        return

    import outline
    import outline.cuerun
    import outline.modules.shell

    # The name of a job is an XML name token.
    name = re.sub(r"[^\w.-]", "_", os.path.basename(args.output))
    job = outline.Outline(f"sinew-bake-{name}", frame_range=f"1-{args.shards}")
    bake = outline.modules.shell.Shell("bake", command=shard, range=f"1-{args.shards}")
    bake.set_arg("threads", 4)
    last = outline.modules.shell.Shell("stitch", command=stitch, range="1")
    last.depend_all(bake)
    job.add_layer(bake)
    job.add_layer(last)
    if args.spec:
        print(outline.cuerun.OutlineLauncher(job).serialize(use_pycuerun=False))
        return
    outline.cuerun.launch(job, use_pycuerun=False)


if __name__ == "__main__":
    main()
