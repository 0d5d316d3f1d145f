"""A bake by Dask, on several processes of this machine; one of them is killed in the middle of its shard."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed", reason="needs distributed")

import psutil  # noqa: E402  (distributed needs it)
from sinew.farm import dask  # noqa: E402

REPOSITORY = Path(__file__).parents[3]
HATCHLING = REPOSITORY / "examples/assets/hatchling.usda"
# 48 clips, which four shards divide evenly: a shard has enough of them to be lost in the middle.
FRAMES, CLIP_FRAMES, CLIPS, SHARDS = "1:96:0.05", 40, 48, 4
EACH = CLIPS // SHARDS
LOST = range(EACH + 1, 2 * EACH + 1)


def alone(out, *options):
    command = [sys.executable, "-m", "sinew", "bake", HATCHLING, "-o", out, "--backend", "cpu", "--quiet", *options]
    subprocess.run(command, check=True)


def files(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def wait_for(what, is_there):
    # Against hangs.
    end = time.monotonic() + 600
    while not (found := is_there()):
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.002)
    return found


def worker_with(shard, workers):
    """The worker that bakes a shard, and the processes below it; None if there is none yet."""

    def bakes_it(task):
        try:
            return shard in task.cmdline()
        except psutil.NoSuchProcess:
            return False

    for worker in workers:
        below = psutil.Process(worker).children(recursive=True)
        if any(map(bakes_it, below)):
            return worker, below
    return None


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_lost_worker_loses_one_clip(client, tmp_path):
    for folder in ["one", "many"]:
        (tmp_path / folder).mkdir()
    out = tmp_path / "many/shot.usdc"
    clip = [tmp_path / f"many/shot_clips/shot.{i:04}.usdc" for i in range(CLIPS + 1)]
    workers = client.run(os.getpid).values()
    result, calls = {}, []

    def work():
        result.update(
            dask.bake(
                client,
                HATCHLING,
                out,
                clip_frames=CLIP_FRAMES,
                shards=SHARDS,
                options=["--frames", FRAMES],
                progress=lambda *call: calls.append(call),
            )
        )

    thread = threading.Thread(target=work)
    thread.start()

    worker, tasks = wait_for("worker of shard 2", lambda: worker_with(f"2/{SHARDS}", workers))
    for task in tasks:
        # The bake leaves the processors to this test, which waits for its first clip.
        task.nice(5)
    wait_for("first clip of shard 2", clip[LOST[0]].exists)
    # What the task has written is read while the task stands still: as soon as the worker is gone, the scheduler starts
    # the shard again on another worker.
    for task in tasks:
        task.suspend()
    wait_for("end of its writing", lambda: all(task.status() == psutil.STATUS_STOPPED for task in tasks))
    before = {i: clip[i].stat().st_mtime_ns for i in LOST if clip[i].exists()}
    os.kill(worker, signal.SIGKILL)
    for task in tasks:
        task.kill()
    thread.join()
    assert result["clips"] == {"of": CLIPS, "baked": 0, "kept": CLIPS}
    assert calls == [(i, SHARDS) for i in range(1, SHARDS + 1)]

    lost = len(before)
    assert 1 <= lost < len(LOST), "killed in the middle of its shard"
    for i, changed in before.items():
        assert clip[i].stat().st_mtime_ns == changed, f"clip {i} was baked again"
    reports = [(r["clips"]["baked"], r["clips"]["kept"]) for r in result["shards"]]
    # What the lost worker had finished is kept; the clip that it was baking, and the rest, are baked.
    assert reports == [(EACH, 0), (EACH - lost, lost), (EACH, 0), (EACH, 0)]

    alone(tmp_path / "one/shot.usdc", "--frames", FRAMES, "--clip-frames", str(CLIP_FRAMES))
    assert files(tmp_path / "one") == files(tmp_path / "many")


def test_errors_of_a_shard(client, tmp_path):
    with pytest.raises(dask.ShardFailed, match="nowhere.usda") as failed:
        dask.bake(client, tmp_path / "nowhere.usda", tmp_path / "out.usdc", clip_frames=10, shards=2)
    assert failed.value.report["exit_code"] == 1
    assert "nowhere.usda" in failed.value.report["error"]["message"]
    with pytest.raises(ValueError, match="shards"):
        dask.bake(client, HATCHLING, tmp_path / "out.usdc", clip_frames=10, shards=0)
    assert list(tmp_path.iterdir()) == []


def test_the_example(tmp_path):
    out = tmp_path / "shot.usdc"
    script = REPOSITORY / "examples/farm/dask_bake.py"
    run = subprocess.run([sys.executable, script, HATCHLING, out], check=True, capture_output=True, text=True)
    assert "4 of 4 shards" in run.stdout and "8 prims" in run.stdout
    assert out.exists()
