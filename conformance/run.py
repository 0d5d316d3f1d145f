#!/usr/bin/env python3
"""Scores a program that evaluates UsdSkel on the cases of this folder. Python 3 and numpy.

    run.py usd-core                            usd-core's BakeSkinning, by the pxr of this Python
    run.py blender                             Blender's importer, by the bpy of this Python
    run.py three.js --node FOLDER              its USDLoader, by node; FOLDER has node_modules/three
    run.py sinew --command PATH                `sinew bake`; needs pxr too, which reads its stages
    run.py NAME --command 'PROGRAM {in} {out} {times}'     any other program

Another program gets the path of a stage, a path for its results, and times with commas between
them. It writes world-space points as JSON: {"/W/R/M": {"0": [[x, y, z], ...], "10": ...}}. Times are
time codes, and a prim is named by its path or by its last name. A prim that it leaves out counts as
one that stands where its rest points are. "normals" beside the paths, of the same form, has unit
normals, if the program has any. An exit code that is not 0 is a refusal. A program that bakes into
USD instead gets {usd} in place of {out}, and pxr reads what it writes.

Options: `--only CASE` runs the cases whose names begin so. `--save` keeps the scores in scores.json.
`--table FILE` writes all kept scores into FILE, between two comments that it must have.
"""

import argparse
import datetime
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent

# Of the largest coordinate of a case, at least 1. Programs compute in f32 (6e-8 a step) and may keep
# weights in 16 bits (8e-6 each). Of the wrong points that programs gave so far, the nearest is 0.17 off.
TOLERANCE = 1e-4


class Refused(Exception):
    """The program has no result for a stage."""


# ---- Programs: each gives, for a stage and times, points and normals by prim path and time.


def usd_core(stage_file, times, instances=True):
    """usd-core's own bake. `instances=False` makes ordinary prims of instances first."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.Open(str(stage_file))
    if not instances:
        for prim in stage.Traverse():
            prim.SetInstanceable(False)
    root = Usd.PrimRange(stage.GetPseudoRoot())
    has_instances = any(prim.IsInstance() for prim in root)
    if not UsdSkel.BakeSkinning(root, Gf.Interval.GetFullInterval()) or has_instances:
        raise Refused("BakeSkinning fails")
    return world_points(stage, times)


def world_points(stage, times):
    """World-space points and unit normals of all point-based prims of a stage."""
    from pxr import Usd, UsdGeom

    points, normals = {}, {}
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdGeom.PointBased):
            continue
        path, geometry = str(prim.GetPath()), UsdGeom.PointBased(prim)
        for time in times:
            world = np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(prim))
            local, turned = (a.Get(time) for a in (geometry.GetPointsAttr(), geometry.GetNormalsAttr()))
            if local is not None:
                local = np.array(local, float).reshape(-1, 3)
                points.setdefault(path, {})[number(time)] = local @ world[:3, :3] + world[3, :3]
            if turned is not None:
                turned = np.array(turned, float).reshape(-1, 3) @ np.linalg.inv(world[:3, :3]).T
                normals.setdefault(path, {})[number(time)] = unit(turned)
    return points, normals


def blender(stage_file, times):
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    if bpy.ops.wm.usd_import(filepath=str(stage_file)) != {"FINISHED"}:
        raise Refused("usd_import fails")
    points = {}
    for time in times:
        bpy.context.scene.frame_set(int(time))
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in bpy.data.objects:
            if thing.type not in ("MESH", "CURVES"):
                continue
            shown = thing.evaluated_get(graph)
            if thing.type == "MESH":
                local = np.array([v.co for v in shown.data.vertices])
            else:
                local = np.array([p.position for p in shown.data.points])
            world = np.array(shown.matrix_world)
            names, at = [], thing
            while at:
                names.insert(0, re.sub(r"\.\d+$", "", at.name))
                at = at.parent
            key = "/" + "/".join(names)
            points.setdefault(key, {})[number(time)] = local @ world[:3, :3].T + world[:3, 3]
    return points, None


THREE_JS = """
import fs from 'node:fs';
import { createRequire } from 'node:module';
const [folder, file, times] = process.argv.slice(2);
const three = `file://${fs.realpathSync(folder)}/node_modules/three/`;
const { Vector3, Matrix4, AnimationMixer } = await import(`${three}build/three.module.js`);
const { USDLoader } = await import(`${three}examples/jsm/loaders/USDLoader.js`);
const text = fs.readFileSync(file, 'utf8');
const rate = Number(/timeCodesPerSecond = (\\S+)/.exec(text)[1]);
const group = new USDLoader().parse(text);
const mixer = new AnimationMixer(group);
for (const clip of group.animations) {
  const action = mixer.clipAction(clip);
  action.clampWhenFinished = true;
  action.setLoop(2200, 1);
  action.play();
}
const out = {};
for (const time of times.split(',')) {
  for (const clip of group.animations) mixer.clipAction(clip).reset().play();
  mixer.setTime(Number(time) / rate);
  group.updateMatrixWorld(true);
  const back = new Matrix4().copy(group.matrixWorld).invert();
  group.traverse((o) => {
    if (!o.isMesh && !o.isLine) return;
    const names = [];
    for (let p = o; p && p !== group; p = p.parent) names.unshift(p.name);
    const points = [];
    for (let i = 0; i < o.geometry.attributes.position.count; i++) {
      const v = new Vector3();
      if (o.isMesh) o.getVertexPosition(i, v);
      else v.fromBufferAttribute(o.geometry.attributes.position, i);
      points.push(v.applyMatrix4(o.matrixWorld).applyMatrix4(back).toArray());
    }
    (out['/' + names.join('/')] ??= {})[time] = points;
  });
}
fs.writeFileSync(1, JSON.stringify(out));
"""


def three_js(stage_file, times, folder):
    with tempfile.TemporaryDirectory() as scratch:
        script = pathlib.Path(scratch, "three.mjs")
        script.write_text(THREE_JS)
        printed = called(["node", script, folder, stage_file, ",".join(map(number, times))])
    found = json.loads(printed)
    # Corners of faces, not points: in any order, and repeated.
    return {path: Corners(at) for path, at in found.items()}, None


class Corners(dict):
    """Points by time that come in any order."""


def command(stage_file, times, line):
    with tempfile.TemporaryDirectory() as scratch:
        out, usd = pathlib.Path(scratch, "out.json"), pathlib.Path(scratch, "out.usda")
        values = {"in": stage_file, "out": out, "usd": usd, "times": ",".join(map(number, times))}
        called([word.format(**values) for word in shlex.split(line)])
        if "{usd}" in line:
            from pxr import Usd

            return world_points(Usd.Stage.Open(str(usd)), times)
        found = json.loads(out.read_text())
    return found, found.pop("normals", None)


def called(words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise Refused(next((line for line in lines if "rror" in line), lines[0]).strip())
    return done.stdout


def program(args):
    """A function of a stage and times, and the version of the program."""
    if args.program == "usd-core":
        from pxr import Usd

        return usd_core, ".".join(map(str, Usd.GetVersion()[1:]))
    if args.program == "blender":
        import bpy

        return blender, bpy.app.version_string
    if args.program == "three.js":
        package = pathlib.Path(args.node, "node_modules", "three", "package.json")
        version = json.loads(package.read_text())["version"]
        return lambda stage, times: three_js(stage, times, args.node), version
    if args.program == "sinew":
        version = called([args.command, "--version"]).split()[1]
        line = args.command + " bake {in} -o {usd} --allow-partial -q"
        return lambda stage, times: command(stage, times, line), version
    return lambda stage, times: command(stage, times, args.command), args.version


# ---- What is right.


def number(value):
    return f"{float(value):g}"


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def of(found, path):
    """What a program found of a prim, under its path or its last name."""
    if path in found:
        return found[path]
    last = path.split("/")[-1]
    same = [key for key in found if key.split("/")[-1] == last]
    return found[same[0]] if len(same) == 1 else None


def differs(want, found, leave_out=()):
    """Why values are not the right ones; None if they are."""
    for path, at_times in want.items():
        there = of(found, path)
        if there is None:
            if path in leave_out:
                continue
            return f"{path}: nothing found"
        for time, right in at_times.items():
            right = np.array(right, float)
            got = np.array(there.get(time, []), float).reshape(-1, 3)
            limit = TOLERANCE * max(1.0, np.abs(right).max())
            if isinstance(there, Corners) and len(got):
                gaps = np.abs(right[:, None] - got[None]).max(axis=2)
                off = max(gaps.min(axis=0).max(), gaps.min(axis=1).max())
            elif len(got) != len(right):
                return f"{path} at {time}: expected {len(right)} values, found {len(got)}"
            else:
                off = np.abs(got - right).max()
            if not off <= limit:
                return f"{path} at {time}: off by {off:.3g}"
    return None


def judge(case, evaluate):
    """`right`, `refused: WHY`, `wrong: WHY`, or `no normals`."""
    try:
        points, normals = evaluate(HERE / "cases" / (case["name"] + ".usda"), case["times"])
    except (Refused, subprocess.TimeoutExpired) as why:
        return "right" if case["refusal"] else f"refused: {why}"
    except (RuntimeError, ValueError, KeyError, AttributeError) as why:
        return "right" if case["refusal"] else f"refused: {type(why).__name__} {why}"
    why = differs(case["points"], points, case["still"])
    if why and case["also"] and differs(case["also"], points) is None:
        why = None
    if why is None and case["normals"]:
        if normals is None:
            return "no normals"
        why = differs(case["normals"], normals)
        why = why and "normals of " + why
    return "right" if why is None else f"wrong: {why}"


# ---- The table.


def table(scores):
    cases = [json.loads(line) for line in (HERE / "points.json").read_text().splitlines()]
    names = list(scores)
    lines = ["| program | version | right | wrong | refused | not compared | date |", "|---|---|---|---|---|---|---|"]
    for name in names:
        results = scores[name]["cases"].values()
        counts = [sum(r.startswith(k) for r in results) for k in ("right", "wrong", "refused", "no")]
        cells = [name, scores[name]["version"], *map(str, counts), scores[name]["date"]]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "| case | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for case in cases:
        found = [scores[n]["cases"].get(case["name"], "not run") for n in names]
        words = [f.split(":")[0].replace("right", "=").replace("no normals", "") for f in found]
        if set(words) - {"=", ""}:
            lines.append(f"| {case['name']} | " + " | ".join(words) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--command", default="sinew")
    parser.add_argument("--version", default="?")
    parser.add_argument("--node", default=".")
    parser.add_argument("--only", default="")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--table")
    args = parser.parse_args()
    if args.save and args.only:
        parser.error("--save needs all cases, without --only")
    kept = HERE / "scores.json"
    scores = json.loads(kept.read_text()) if kept.exists() else {}
    if args.program:
        evaluate, version = program(args)
        results = {}
        for line in (HERE / "points.json").read_text().splitlines():
            case = json.loads(line)
            if case["name"].startswith(args.only):
                results[case["name"]] = judge(case, evaluate)
                print(f"{case['name']:28} {results[case['name']]}", flush=True)
        right = sum(r == "right" for r in results.values())
        print(f"{args.program} {version}: {right} of {len(results)} right")
        if args.save:
            today = datetime.date.today().isoformat()
            scores[args.program] = {"version": version, "date": today, "cases": results}
            kept.write_text(json.dumps(scores, indent=1) + "\n")
    if args.table:
        page = pathlib.Path(args.table)
        begin, end = "<!-- scores -->\n", "<!-- end of scores -->"
        before, rest = page.read_text().split(begin)
        after = rest.split(end)[1]
        page.write_text(f"{before}{begin}\n{table(scores)}\n\n{end}{after}")


if __name__ == "__main__":
    main()
