"""A bake in shards on the workers of a Dask cluster.

Needs ``distributed`` (``pip install distributed``). Each shard is one task. If a worker dies, Dask gives its shard to
another one, which keeps the clips that are finished, so only the clip that was being baked is lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from typing import Any, Callable, Sequence

import distributed

__all__ = ["ShardFailed", "bake"]

_Report = dict[str, Any]
# Functions of this module have no types.
_dask: Any = distributed


class ShardFailed(RuntimeError):
    """A shard or the stitch ended with an error. ``report`` is what the command printed as JSON."""

    def __init__(self, message: str, report: _Report) -> None:
        super().__init__(message, report)
        self.report = report

    def __str__(self) -> str:
        return str(self.args[0])


def bake(
    client: distributed.Client,
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    clip_frames: int,
    shards: int | None = None,
    threads: int = 1,
    backend: str = "cpu",
    options: Sequence[str] = (),
    retries: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> _Report:
    """Bakes ``input`` into ``output``, a stage of value clips, and returns the report of the stitch.

    All workers, and this process, see both files under the same paths, and have this package.

    ``clip_frames``: sample times in each clip.
    ``shards``: number of tasks; without it, two for each thread of the cluster.
    ``threads``: threads of each task. Dask counts a task as one, so leave workers as many cores.
    ``backend``: the same for all, so that the files are byte for byte those of one machine.
    ``options``: more options of ``sinew bake``, such as ``["--frames", "1:48"]``.
    ``retries``: how often a shard that ends with an error is tried again. Lost workers do not count.
    ``progress``: called with the number of finished shards, and of all.

    The report is the JSON of ``sinew bake --stitch``, and its ``shards`` has those of the shards, in their order.

    Raises `ShardFailed` if a shard fails, and `distributed.KilledWorker` if a shard has killed several workers.

    >>> from distributed import Client, LocalCluster                         # doctest: +SKIP
    >>> with LocalCluster(n_workers=4, threads_per_worker=1) as cluster:     # doctest: +SKIP
    ...     bake(Client(cluster), "shot.usda", "out/shot.usdc", clip_frames=25)
    """
    cluster: Any = client
    if shards is None:
        shards = max(1, 2 * sum(cluster.nthreads().values()))
    if shards < 1:
        raise ValueError(f"shards: expected at least 1, found {shards}")
    common = ["bake", os.path.abspath(input), "-o", os.path.abspath(output)]
    common += ["--clip-frames", str(clip_frames), *options, "--json", "--quiet"]
    run = ["--backend", backend, "--threads", str(threads), "--resume", "--shard"]
    # Another bake of the same files is another task.
    name = uuid.uuid4().hex[:8]
    futures = [
        cluster.submit(_run, [*common, *run, f"{i}/{shards}"], key=f"sinew-{name}-shard-{i}", retries=retries, pure=False)
        for i in range(1, shards + 1)
    ]
    try:
        for done, future in enumerate(_dask.as_completed(futures), start=1):
            # Raises the error of a shard.
            future.result()
            if progress is not None:
                progress(done, shards)
    except BaseException:
        cluster.cancel(futures)
        raise
    reports = [future.result() for future in futures]
    stitch = cluster.submit(_run, [*common, "--stitch"], key=f"sinew-{name}-stitch", retries=retries, pure=False)
    report: _Report = stitch.result()
    report["shards"] = reports
    return report


def _run(args: list[str]) -> _Report:
    """Runs the command on a worker, and returns its report."""
    with tempfile.TemporaryFile() as errors:
        # Its input stays open for as long as this worker lives.
        with subprocess.Popen(
            [sys.executable, "-m", "sinew.farm._task", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process:
            assert process.stdout is not None
            # Not communicate(), which closes the input.
            out = process.stdout.read()
            code = process.wait()
        errors.seek(0)
        error = errors.read().decode(errors="replace").strip()
    try:
        report: _Report = json.loads(out)
    except ValueError:
        report = {}
    if code != 0:
        raise ShardFailed(f"sinew {' '.join(args)}: exit code {code}: {error}", report)
    return report
