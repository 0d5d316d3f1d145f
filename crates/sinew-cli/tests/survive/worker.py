"""Runs every command on layers and stages that use everything, and compares what comes out with what went in.

    python worker.py FOLDER SINEW

Makes the stages in FOLDER, each beside a character, and prints JSON: what differs for each topic, and the table of
docs/conformance.md.
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
import textwrap
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
USD_TESTS = os.path.join(HERE, "../../../../tests/usd")
sys.path.insert(0, USD_TESTS)

import compare  # noqa: E402
from pxr import Ar, Sdf, Usd  # noqa: E402

CHARACTER = "SkinnedCharacter"

# The columns of the table: a command, its name there, and its forms.
COLUMNS = [
    ("convert", "convert", ["usda", "usdc"]),
    ("flatten", "--flatten", ["usda", "usdc", "usdz"]),
    ("bake", "bake", ["usda", "usdc", "usdz"]),
    ("layer", "--layer", ["usda", "usdc"]),
    ("fix", "fix", ["usda", "usdc", "usdz"]),
    ("retarget", "retarget", ["usda", "usdc", "usdz"]),
]
CLIP = "OUT has the frame rate and the time range of the clip."
# What differs: the topic, the command, how it is told, and why. `*` is any.
EXPECTED = [
    ("*", "*", "*Paths: nothing -> ('PathListOp', True, {'explicitItems': [[]],*",
     "An empty list of targets stays, because it hides inherited targets; usd-core's Flatten drops it."),
    ("unregistered", "*", "*: nothing -> ('unreadable'*",
     "Metadata fields that no schema has stay; usd-core's Flatten drops them."),
    ("expressions", "*", "/Referenced.*: *",
     "Expressions with variables of a referenced layer are replaced by their results; usd-core keeps the expressions, "
     "which no longer work."),
    ("splines", "*", "*.regressive spline: *",
     "Tangents that go back in time (regressive) stay; usd-core shortens them when it reads a .usdc file."),
    ("units", "*", "*.length displayUnit: *",
     "A .usdc file cannot hold a unit, so the unit's name is written as a token. usd-core refuses to write it."),
    ("unknownTypes", "*", "/D.points typeName: *",
     "A value of another type than the schema's keeps its type; usd-core writes text that cannot be read."),
    ("*", "retarget", "/ timeCodesPerSecond: *",
     CLIP),
    ("*", "retarget", "/ framesPerSecond: *",
     CLIP),
    ("*", "retarget", "/ startTimeCode: *",
     CLIP),
    ("*", "retarget", "/ endTimeCode: *",
     CLIP),
]

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
    return topics


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


def jobs_of(topic, form, folder):
    """Every command with an input of one form, and how its output is compared. The character is `inside` the layer or
    `beside` it: of forms of the input, forms of the output and these places every two come together, but not all three.
    Without a character the output is written to the folder of the input (`here`), or elsewhere."""
    for command, _, extensions in COLUMNS:
        places = {"convert": ["here", ""], "flatten": [""]}.get(command, ["inside", "beside"])
        for extension, place in itertools.product(extensions, places):
            has_character = place in ("inside", "beside")
            if has_character and (extensions.index(extension) + places.index(place) + (form == "usda")) % 2:
                continue
            source = os.path.join(folder, f"{place}_{topic}.{form}" if has_character else f"{topic}.{form}")
            out = f"{place}_{topic}_{form}_{command}.{extension}"
            # Packages are flattened.
            stays = command in ("fix", "retarget") and extension != "usdz"
            yield {
                "topic": topic,
                "command": command,
                "name": f"{topic} {command} {form} {extension} {place}",
                "a": source,
                "b": os.path.join(folder, out) if place == "here" else os.path.join(folder, "elsewhere", out),
                "a_flattened": command != "convert",
                "b_flattened": stays or command == "layer",
                "in_flattened": command != "convert",
                "same_text": place == "here",
                "masked": [f"/{CHARACTER}"] if has_character else [],
                "expected": [(why, text) for of_topic, of_command, text, why in EXPECTED
                             if of_topic in ("*", topic) and of_command in ("*", command)],
            }


def write(job, sinew, clip):
    """Runs the command of a job: why it failed, or nothing."""
    source = job["a"]
    arguments = {
        "flatten": ["convert", "--flatten", source],
        "layer": ["bake", "--layer", "--backend", "cpu", source],
        "bake": ["bake", "--backend", "cpu", source],
        "retarget": ["retarget", clip, source],
    }.get(job["command"], [job["command"], source])
    # References of the input lead nowhere, which ends with 3 otherwise.
    done = subprocess.run([sinew, *arguments, "--quiet", "--allow-partial", "--output", job["b"]],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    # The input may have errors that `fix` cannot fix: then its output has them too, and it ends with 1.
    is_written = job["command"] == "fix" and " left: `sinew check " in done.stderr
    if done.returncode and not is_written:
        return f"{job['name']}: {done.stderr}"


def table(topics, answers):
    """A row for each topic, a cell for each command: `=`, and the numbers of the notes that follow."""
    notes = [CLIP]
    names = [name + (" (1)" if command == "retarget" else "") for command, name, _ in COLUMNS]
    lines = ["| what | " + " | ".join(names) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for topic, what in topics.items():
        cells = []
        for command, _, _ in COLUMNS:
            of_cell = [a for a in answers if a["name"].startswith(f"{topic} {command} ")]
            numbers = set()
            for note in (note for a in of_cell for note in a["expected"] if note != CLIP):
                if note not in notes:
                    notes.append(note)
                numbers.add(notes.index(note) + 1)
            cell = "differs" if any(a["differences"] for a in of_cell) else "="
            cells.append(" ".join([cell, *(f"({n})" for n in sorted(numbers))]))
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    numbered = (f"{i}. {note}" for i, note in enumerate(notes, 1))
    wrapped = (textwrap.fill(note, 100, subsequent_indent="   ", break_on_hyphens=False) for note in numbered)
    return "\n".join([*lines, "", *wrapped, ""])


def main():
    folder, sinew = sys.argv[1:]
    with open(os.path.join(HERE, "topics.txt")) as file:
        topics = dict(line.strip().split(" | ") for line in file if not line.startswith("#"))
    made = prepare(folder)
    unknown = {one["topic"] for one in made} - topics.keys()
    if unknown:
        sys.exit(f"topics.txt lacks {unknown}")
    os.mkdir(os.path.join(folder, "elsewhere"))
    jobs = [job for one in made for job in jobs_of(one["topic"], one["form"], folder)]
    clip = os.path.join(folder, "beside_units.usda")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [why for why in pool.map(lambda job: write(job, sinew, clip), jobs) if why]
    if failed:
        sys.exit("\n".join(failed))
    groups = {}
    for job in jobs:
        groups.setdefault((job["a"], job["a_flattened"]), []).append(job)
    with multiprocessing.Pool() as pool:
        answers = [a for some in pool.map(run_all, groups.values(), chunksize=1) for a in some]
    differences = {topic: [] for topic in topics}
    for answer in sorted(answers, key=lambda answer: answer["name"]):
        topic = answer["name"].split(" ")[0]
        differences[topic] += [f"{answer['name']}: {text}" for text in answer["differences"]]
    counts = [sum(a[key] for a in answers) for key in ("specs", "fields")]
    print(json.dumps({"differences": differences, "table": table(topics, sorted(answers, key=lambda a: a["name"])),
                      "counts": [*counts, len(answers)]}))


if __name__ == "__main__":
    main()
