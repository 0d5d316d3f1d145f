#!/usr/bin/env python3
"""Bakes IN into OUT in shards on a Dask cluster, and stitches them:

    python examples/farm/dask_bake.py IN OUT.usdc --clip-frames 25 --shards 4 [--scheduler ADDRESS]

Needs the Python package sinew and distributed (`pip install distributed`). Without --scheduler it starts a cluster of
several processes on this machine.
"""

import argparse

from distributed import Client, LocalCluster

import sinew.farm.dask


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--clip-frames", type=int, default=25)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--scheduler", help="address of a scheduler, such as tcp://farm:8786")
    parser.add_argument("--workers", type=int, default=2, help="processes, without --scheduler")
    args = parser.parse_args()
    cluster = args.scheduler or LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        report = sinew.farm.dask.bake(
            client,
            args.input,
            args.output,
            clip_frames=args.clip_frames,
            shards=args.shards,
            progress=lambda done, of: print(f"{done} of {of} shards", flush=True),
        )
    print(report["files"][0], report["prims"], "prims", report["samples"], "samples")


if __name__ == "__main__":
    main()
