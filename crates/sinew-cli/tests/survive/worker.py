"""The side of usd-core of the test that everything survives.

    python worker.py prepare FOLDER     makes the layers and stages that use everything, each beside a character
    python worker.py compare FOLDER     compares the files that FOLDER/jobs.json names, and prints what differs

Both print JSON.
"""

import fnmatch
import hashlib
import itertools
import json
import multiprocessing
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
USD_TESTS = os.path.join(HERE, "../../../../tests/usd")
sys.path.insert(0, USD_TESTS)

import compare  # noqa: E402
from pxr import Ar, Sdf, Usd  # noqa: E402

CHARACTER = "SkinnedCharacter"
# Files that the topics name; others that they name are not there.
PICTURES = ["texture.png", "tex/a.png", "tex/0.png", "tex/3.png", "tex/1001.exr", "tex/1002.exr", "x.png", "f.png",
            "c.png", "with space/a b.png", "ümläut/日本.png", "a%20b.png"]


def prepare(folder):
    """Everything, and two stages of each topic with the character: `inside` has it in its own layer, `beside` has
    the topic as a sublayer and its first prim as a reference."""
    made = subprocess.run([sys.executable, os.path.join(USD_TESTS, "everything.py"), folder], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for picture in PICTURES:
        path = os.path.join(folder, picture)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(f"picture {picture}".encode())
    character = Sdf.Layer.OpenAsAnonymous(os.path.join(HERE, "character.usda"))
    topics = []
    for path in made.stdout.split("\n"):
        if not path:
            continue
        name = os.path.basename(path)
        topic, _, form = name.rpartition(".")
        topics.append({"topic": topic, "form": form})
        layer = Sdf.Layer.OpenAsAnonymous(path)
        first = next((p for p in layer.rootPrims if p.specifier != Sdf.SpecifierOver), None)
        # Paths of the copy are relative to the same folder.
        Sdf.CopySpec(character, f"/{CHARACTER}", layer, f"/{CHARACTER}")
        for name in ("startTimeCode", "endTimeCode"):
            if not layer.pseudoRoot.HasInfo(name):
                layer.pseudoRoot.SetInfo(name, character.pseudoRoot.GetInfo(name))
        layer.Export(os.path.join(folder, f"inside_{topic}.{form}"))
        beside = Sdf.Layer.CreateAnonymous(".usda")
        beside.TransferContent(character)
        beside.subLayerPaths.append(f"./{topic}.{form}")
        if first:
            prim = Sdf.CreatePrimInLayer(beside, "/Referenced")
            prim.specifier = Sdf.SpecifierDef
            offset = Sdf.LayerOffset(3, 0.5)
            prim.referenceList.prependedItems.append(Sdf.Reference(f"./{topic}.{form}", first.path, offset))
        beside.Export(os.path.join(folder, f"beside_{topic}.{form}"))
    print(json.dumps(topics))


class Side(compare.Side):
    """A layer, or a flattened stage, without the prims that a command may change."""

    def __init__(self, file, flattened, in_flattened):
        super().__init__(file, flattened)
        if in_flattened and not flattened:
            paths = list(self.paths.values())
            self.paths = paths
            self.number_prototypes()
            self.paths = {self.renamed(path): path for path in paths}

    def without(self, masked):
        """Leaves prims out."""
        def is_masked(path):
            return any(path == m or path.startswith((m + "/", m + ".")) for m in masked)

        self.paths = {path: spec for path, spec in self.paths.items() if not is_masked(path)}
        return self

    def plain(self, value):
        """Templates of clips are asset paths too."""
        if isinstance(value, dict) and "templateAssetPath" in value:
            template = Sdf.AssetPath(value["templateAssetPath"])
            value = {**value, "templateAssetPath": template}
        return super().plain(value)

    def resolved(self, path):
        """An asset path with the contents of the file that it leads to, or with the path where it would be."""
        if not path:
            return compare.Asset("", "")
        anchored = path
        expression = re.fullmatch("`(['\"])(.*)\\1`", path)
        if expression:
            # As good as the path that it gives.
            return compare.Asset(path, os.path.realpath(os.path.join(os.path.dirname(self.file), expression[2])))
        beside = os.path.join(os.path.dirname(self.file), path)
        # Without a dot it is relative if a file is there.
        if path.startswith(("./", "../")) or os.path.exists(beside):
            if self.file.endswith(".usdz"):
                anchored = f"{os.path.realpath(self.file)}[{os.path.normpath(path)}]"
            else:
                anchored = os.path.realpath(beside)
        found = Ar.GetResolver().Resolve(anchored.replace("<UDIM>", "1001"))
        asset = Ar.GetResolver().OpenAsset(found) if found else None
        if asset is None:
            return compare.Asset(path, anchored)
        return compare.Asset(path, hashlib.sha256(asset.GetBuffer()).hexdigest())


def orders(a, b):
    """Prims in another order. That of properties is none: usd-core sorts them."""
    for path in sorted(a.paths.keys() & b.paths.keys()):
        x, y = ([name for name in side.order(path)[0] if compare.PROTOTYPE not in name] for side in (a, b))
        if x != y:
            yield path, "children", f"{x} -> {y}"


def run(job, a):
    """Compares the files of a job, of which one is open."""
    b = Side(job["b"], job["b_flattened"], job["in_flattened"]).without(job["masked"])
    differences, expected = [], []
    found = itertools.chain(compare.differences(a, b, False), orders(a, b))
    for path, name, what in found:
        text = f"{path} {name}: {what}"
        reason = next((why for why, pattern in job["expected"] if fnmatch.fnmatchcase(text, pattern)), None)
        if reason is None:
            differences.append(text)
        elif reason not in expected:
            expected.append(reason)
    if job["same_text"] and not differences and not expected:
        # usd-core writes equal layers as equal text.
        lines = [side.layer.ExportToString().split("\n") for side in (a, b)]
        differences += [f"text: {x} -> {y}" for x, y in zip(*lines) if x != y]
    fields = sum(len(a.fields(path)) for path in a.paths)
    return {"name": job["name"], "specs": len(a.paths), "fields": fields, "differences": differences,
            "expected": expected}


def run_all(jobs):
    """Compares the outputs of jobs that have the same input."""
    answers = []
    a = None
    for job in jobs:
        try:
            a = a or Side(job["a"], job["a_flattened"], job["in_flattened"]).without(job["masked"])
            answers.append(run(job, a))
        except (Exception, SystemExit) as error:
            answers.append({"name": job["name"], "specs": 0, "fields": 0, "expected": [],
                            "differences": [f"{type(error).__name__}: {error}"]})
    return answers


def main():
    command, folder = sys.argv[1:]
    if command == "prepare":
        prepare(folder)
        return
    with open(os.path.join(folder, "jobs.json")) as file:
        jobs = json.load(file)
    groups = {}
    for job in jobs:
        groups.setdefault((job["a"], job["a_flattened"]), []).append(job)
    with multiprocessing.Pool() as pool:
        answers = pool.map(run_all, groups.values(), chunksize=1)
    print(json.dumps([answer for some in answers for answer in some]))


if __name__ == "__main__":
    main()
