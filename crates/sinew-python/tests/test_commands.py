"""The commands as functions: the same bytes, progress, Ctrl-C, errors, warnings and logging."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import sinew
from pxr import Sdf, Usd, UsdGeom


def run(command, *args, **kwargs):
    return subprocess.run([*command, *map(str, args)], capture_output=True, text=True, **kwargs)


def test_a_bake_has_the_bytes_of_the_command(hatchling, puppet, tmp_path, command):
    for name, source, options, words in (
        ("a.usdc", hatchling, {}, []),
        ("b.usda", hatchling, {"frames": (1, 5, 0.5), "space": "world"}, "--frames 1:5:0.5 --space world"),
        ("c.usdc", hatchling, {"frames": range(1, 9), "layer": True}, "--frames 1:8 --layer"),
        ("d.pc2", puppet, {"prims": [], "frames": 3}, "--frames 3"),
    ):
        words = words.split() if words else []
        folders = [tmp_path / "python", tmp_path / "command"]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        sinew.bake(source, folders[0] / name, backend="cpu", **options)
        done = run(command, "bake", source, "-o", folders[1] / name, "--backend", "cpu", *words)
        assert done.returncode == 0, done.stderr
        first, second = (sorted(folder.iterdir()) for folder in folders)
        assert [f.name for f in first] == [f.name for f in second] != []
        for one, other in zip(first, second):
            assert one.read_bytes() == other.read_bytes(), one.name


def test_progress_is_told_and_may_stop_the_bake(hatchling, tmp_path):
    told = []
    sinew.bake(hatchling, tmp_path / "out.usdc", progress=lambda *now: told.append(now))
    assert told[0][0] == 0 and told[-1][0] == told[-1][1] > 0
    assert told == sorted(told)
    before = (tmp_path / "out.usdc").read_bytes()

    def stop(done, total):
        assert threading.current_thread() is threading.main_thread()
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sinew.bake(hatchling, tmp_path / "out.usdc", frames=(1, 4), progress=stop)
    assert [f.name for f in tmp_path.iterdir()] == ["out.usdc"]
    assert (tmp_path / "out.usdc").read_bytes() == before


def test_the_search_for_samples_is_told(hatchling, tmp_path):
    told = []
    out = tmp_path / "out.usdc"
    sinew.bake(hatchling, out, frames=(1, 8), max_error=0.01, progress=lambda *now: told.append(now))
    begins = [at for at, (done, _) in enumerate(told) if done == 0]
    assert len(begins) == 2, "the search, and then the bake"
    search, bake = told[: begins[1]], told[begins[1] :]
    for part in (search, bake):
        assert part == sorted(part) and part[-1][0] == part[-1][1] > 0


def test_a_command_has_the_threads_that_it_asks_for(hatchling, tmp_path):
    report = sinew.bake(hatchling, tmp_path / "out.usdc", frames=1, backend="cpu", threads=1)
    assert report["backend"] == "cpu (1 thread)"


def test_ctrl_c_stops_a_bake_and_leaves_nothing(big, tmp_path):
    out = tmp_path / "out"
    out.mkdir()

    def interrupt(done, total):
        if done:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sinew.bake(big, out / "out.usdc", progress=interrupt)
    assert list(out.iterdir()) == []
    # The next bake works.
    sinew.bake(big, out / "out.usdc", frames=(1, 2))
    assert (out / "out.usdc").exists()


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_from_outside_stops_a_bake_without_a_callback(big, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    script = f"""
import sinew, sys
try:
    print("begins", flush=True)
    while True:
        sinew.bake({big!r}, {str(out / 'out.usdc')!r})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begins\n"
    # Let a bake begin. It goes on for ever, unless the signal ends it.
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=300)[0] == "interrupted\n"
    assert child.returncode == 0
    assert [f.name for f in out.iterdir()] in ([], ["out.usdc"])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
@pytest.mark.parametrize("work", ["convert", "convert to glTF", "retarget", "render", "check"])
def test_ctrl_c_stops_every_command_and_leaves_nothing(big, tmp_path, work):
    out = tmp_path / "out"
    out.mkdir()
    frames = {"frames": "1:400", "sheet": "20x20", "size": (1280, 720)}
    # Each is a file of its own: what is named twice is checked once.
    copies = [tmp_path / f"{i}.usda" for i in range(100)]
    for copy in copies:
        os.link(big, copy)
    run = {
        "convert": lambda: sinew.convert(big, out / "out.usda", flatten=True),
        "convert to glTF": lambda: sinew.convert(big, out / "out.glb"),
        "retarget": lambda: sinew.retarget(big, big, out / "out.usdc"),
        "render": lambda: sinew.render(big, **frames),
        "check": lambda: sinew.check_all(copies),
    }[work]
    if work == "render":
        try:
            sinew.render(big, size=(16, 16))
        except sinew.GpuError:
            pytest.skip("needs a Vulkan driver")
    # The signal's own handler is Python's, so it raises KeyboardInterrupt on this thread.
    before = signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert list(out.iterdir()) == []


def test_errors_say_what_and_where(hatchling, tmp_path):
    out = tmp_path / "out.usdc"
    with pytest.raises(sinew.FileError, match="no such file") as raised:
        sinew.bake("no/such.usda", out)
    assert isinstance(raised.value, OSError) and raised.value.file == "no/such.usda"
    with pytest.raises(sinew.UnknownPrimError, match="no skinned prim at /no") as raised:
        sinew.bake(hatchling, out, prims=["/no"])
    assert raised.value.prim == "/no"
    with pytest.raises(sinew.UsageError, match="unexpected argument '--nonsense'"):
        sinew.bake(hatchling, out, nonsense=True)
    with pytest.raises(sinew.UsageError, match="the last frame, 1, is before"):
        sinew.bake(hatchling, out, frames=(5, 1))
    empty = tmp_path / "empty.usda"
    empty.write_text("#usda 1.0\n")
    with pytest.raises(sinew.FileError, match="empty.usda"):
        sinew.bake(hatchling, tmp_path / "empty.usda" / "no" / "out.usdc")
    with pytest.raises(sinew.NothingToSkinError):
        sinew.bake(empty, out)
    with pytest.raises(TypeError, match="expected a path or a pxr.Usd.Stage, found int"):
        sinew.bake(5, out)
    cut = tmp_path / "cut.glb"
    cut.write_bytes(b"glTF\x02\x00\x00\x00\x40")
    for read in (sinew.open, lambda path: sinew.convert(path, out)):
        with pytest.raises(sinew.Error):
            read(cut)
    assert sinew.check(cut)["counts"]["errors"] == 1
    with pytest.raises(sinew.FileError, match="expected a file, found a folder"):
        sinew.check(tmp_path)
    assert not out.exists()


def broken(hatchling, path):
    """A copy whose body has a joint index that is out of range."""
    layer = Sdf.Layer.FindOrOpen(hatchling)
    copy = Sdf.Layer.CreateNew(str(path))
    copy.TransferContent(layer)
    stage = Usd.Stage.Open(copy)
    indices = stage.GetPrimAtPath("/Hatchling/Geo/Body").GetAttribute("primvars:skel:jointIndices")
    values = list(indices.Get())
    values[7] = 999
    indices.Set(values)
    stage.Save()
    return str(path)


def test_broken_prims_are_warnings_with_a_code(hatchling, tmp_path):
    path = broken(hatchling, tmp_path / "broken.usda")
    with pytest.warns(sinew.SinewWarning) as caught:
        report = sinew.bake(path, tmp_path / "out.usdc", frames=1)
    (failed,) = (w.message for w in caught if w.message.prim == "/Hatchling/Geo/Body")
    assert failed.code and "999" in failed.message
    assert caught[0].filename == __file__
    assert report["exit_code"] == 3 and report["failed"][0]["path"] == "/Hatchling/Geo/Body"
    with pytest.raises(sinew.InvalidError) as raised:
        sinew.open(path)["/Hatchling/Geo/Body"].points(1)
    error = raised.value
    assert error.code == failed.code and error.prim == "/Hatchling/Geo/Body"
    assert error.property == "primvars:skel:jointIndices" and error.file == path
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sinew.SinewWarning):
            sinew.bake(path, tmp_path / "out.usdc", frames=1)
    findings = sinew.check(path)["findings"]
    assert failed.code in [f["code"] for f in findings if f["severity"] == "error"]


def test_messages_go_to_logging(hatchling, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="sinew"):
        sinew.bake(hatchling, tmp_path / "out.usdc", frames=1, backend="auto")
        told = [r for r in caplog.records if r.name.startswith("sinew")]
        hardware = "gpu" in sinew.bake(hatchling, tmp_path / "out.usdc", frames=1)["backend"]
    assert hardware or any("no hardware GPU" in r.getMessage() for r in told)
    caplog.clear()
    with caplog.at_level(logging.ERROR, logger="sinew"):
        sinew.bake(hatchling, tmp_path / "out.usdc", frames=1)
    assert [r for r in caplog.records if r.name.startswith("sinew")] == []


def test_a_stage_in_memory_is_exported(hatchling, tmp_path):
    stage = Usd.Stage.CreateInMemory()
    prim = stage.DefinePrim("/Hero")
    prim.GetReferences().AddReference(hatchling)
    UsdGeom.Xformable(stage.GetPrimAtPath("/Hero/Geo/Body")).GetPrim()
    body = sinew.open(stage)["/Hero/Geo/Body"]
    same = sinew.open(hatchling)["/Hatchling/Geo/Body"]
    assert (body.points([1, 50]) == same.points([1, 50])).all()
    sinew.bake(stage, tmp_path / "out.usdc", frames=(1, 2))
    baked = Usd.Stage.Open(str(tmp_path / "out.usdc"))
    assert baked.GetPrimAtPath("/Hero/Geo/Body").GetAttribute("points").GetNumTimeSamples() == 2


def test_a_stage_on_disk_is_read_from_there_unless_it_is_edited(hatchling):
    stage = Usd.Stage.Open(hatchling)
    assert sinew.open(stage).file == stage.GetRootLayer().realPath
    stage.SetEditTarget(stage.GetSessionLayer())
    points = stage.GetPrimAtPath("/Hatchling/Geo/Body").GetAttribute("points")
    points.Set([2 * p for p in points.Get()])
    twice = sinew.open(stage)["/Hatchling/Geo/Body"].rest_points
    assert (twice == 2 * sinew.open(hatchling)["/Hatchling/Geo/Body"].rest_points).all()


def test_convert_and_retarget_write_files_of_the_command(puppet, tmp_path, command):
    report = sinew.convert(puppet, tmp_path / "a.usda")
    assert report["clips"] and report["exit_code"] == 0
    assert run(command, "convert", puppet, "-o", tmp_path / "b.usda").returncode == 0
    assert (tmp_path / "a.usda").read_bytes() == (tmp_path / "b.usda").read_bytes()
    moved = sinew.retarget(puppet, puppet, tmp_path / "c.usda", in_place=True)
    assert moved["samples"] > 1 and moved["bones"]
    done = run(command, "retarget", puppet, puppet, "-o", tmp_path / "d.usda", "--in-place")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.usda").read_bytes() == (tmp_path / "d.usda").read_bytes()


def test_many_files_are_one_call(hatchling, puppet, tmp_path, command):
    told = []
    folder = tmp_path / "characters"
    folder.mkdir()
    for source in (hatchling, puppet):
        (folder / os.path.basename(source)).write_bytes(open(source, "rb").read())
    (folder / "cut.glb").write_bytes(b"glTF\x02\x00\x00\x00\x40")
    with pytest.warns(sinew.SinewWarning, match="cut.glb") as caught:
        report = sinew.bake_all(
            folder, tmp_path / "a", frames=(1, 3), backend="cpu", progress=lambda *now: told.append(now)
        )
    assert caught[0].filename == __file__
    assert report["counts"] == {"done": 2, "partial": 0, "failed": 1} and report["exit_code"] == 3
    failed, one, other = report["files"]
    assert "cut.glb" in failed["error"]["message"] and one["samples"] > 0 and other["prims"] > 0
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    words = ["bake", folder, "-o", f"{tmp_path / 'b'}/", "--frames", "1:3", "--backend", "cpu"]
    assert run(command, *words).returncode == 3
    for name in ("hatchling.usdc", "puppet.usdc"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()

    report = sinew.convert_all([f"{folder}/p*.glb"], tmp_path / "c", to="usda")
    assert [f.name for f in (tmp_path / "c").iterdir()] == ["puppet.usda"]
    assert report["counts"]["done"] == 1
    checked = sinew.check_all(folder)["files"]
    assert len(checked) == 3 and checked[2]["counts"]["errors"] == 0
    with pytest.raises(sinew.Error, match="no such file"):
        sinew.bake_all("no/such*.usda", tmp_path / "d")

    def stop(done, total):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sinew.bake_all([puppet, hatchling], tmp_path / "e", frames=1, progress=stop)
    assert [f.name for f in (tmp_path / "e").iterdir()] == ["puppet.usdc"]
    with pytest.raises(KeyboardInterrupt):
        sinew.check_all([puppet, hatchling], progress=stop)


def test_a_file_may_be_named_like_an_option(puppet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-o.glb").write_bytes(open(puppet, "rb").read())
    sinew.convert("-o.glb", "--json.usda")
    assert (tmp_path / "--json.usda").exists()


def test_a_picture_is_an_array(hatchling, tmp_path, command):
    try:
        picture = sinew.render(hatchling, time=12, size=(160, 120), background="#204060")
    except sinew.GpuError:
        pytest.skip("needs a Vulkan driver")
    assert picture.shape == (120, 160, 4) and picture.dtype == np.uint8
    assert (picture[..., 3] == 255).all() and len(np.unique(picture[..., 0])) > 20
    clear = sinew.render(hatchling, time=12, size=(160, 120), background="transparent", no_grid=True)
    assert clear[0, 0, 3] == 0 and clear[60, 80, 3] == 255
    sheet = sinew.render(hatchling, size=(400, 240), sheet="4x2")
    assert sheet.shape == (240, 400, 4)
    assert not (tmp_path / "picture.png").exists()


def test_the_package_is_the_command(hatchling, tmp_path):
    python = [sys.executable, "-m", "sinew"]
    version = run(python, "--version")
    assert (version.returncode, version.stdout) == (0, f"sinew {sinew.__version__}\n")
    assert run(python, "bake").returncode == 2
    (tmp_path / "file").write_text("")
    done = run(python, "bake", hatchling, "-o", tmp_path / "file/no/out.usdc")
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stdout == ""
    done = run(python, "check", hatchling, "--json")
    assert done.returncode == 0 and done.stderr == ""
    done = run(python, "bake", hatchling, "-o", tmp_path / "o.usdc", env={**os.environ, "RUST_LOG": "info"})
    assert done.returncode == 0, done.stderr
