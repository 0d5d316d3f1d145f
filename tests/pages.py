"""The README and the pages of `docs` are true: their commands run, their synopses name the options that exist, and their
links lead somewhere.

    python pages.py CHECK SINEW [PICTURE ...]

CHECK is the name of a function of CHECKS; SINEW is the command; the commands of docs/render.md that draw PICTUREs are run by
who calls this. Prints what is wrong, and exits with 1 if something is.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SINEW = os.path.abspath(sys.argv[2])

# Lines of shell blocks that are not run here, by how they begin, and why.
NOT_RUN = {
    "cargo bench ": "measures for minutes",
    "cargo build ": "builds in release",
    "cargo install ": "builds in release",
    "cargo run ": "tests/examples.rs and the viewer's tests run these programs",
    "cargo test ": "runs the tests",
    "examples/farm/": "tests/farm/farms.py runs it",
    "examples/viewer/web/": "builds for minutes, with a Rust for wasm32",
    "jq ": "may be missing; the check takes the map out of the report itself",
    "SINEW": "sets a variable for one of the others",
    "pip install ": "builds in release",
    "python benches/": "the check of the chart runs it",
    "python3 -m http.server": "serves until it is stopped",
    "tests/": "runs the tests",
}

faults = []


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def pages(*more):
    """The texts of the README, the guide and other files, by name."""
    guide = sorted("docs/" + os.path.basename(file) for file in glob.glob(os.path.join(ROOT, "docs/*.md")))
    assert len(guide) > 11, guide
    return {name: read(name) for name in ["README.md", *guide, *more]}


def blocks(name, text, language):
    """The fenced blocks of a language, each as a list of lines."""
    parts = text.split("\n```")
    if len(parts) % 2 == 0:
        faults.append(f"{name}: a block is not closed")
    found = [part.split("\n") for part in parts[1::2]]
    return [lines[1:] for lines in found if lines[0] == language]


def shell_lines(name, text):
    return [line for block in blocks(name, text, "sh") for line in block]


def call(line):
    """The words of a line that calls `sinew`, without the call itself."""
    line = line.removeprefix("cargo ")
    return line.removeprefix("sinew ") if line.startswith("sinew ") else None


def said(*words):
    return subprocess.run([SINEW, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def commands():
    """Names of all commands, out of the help."""
    listed = said("--help").split("Commands:\n")[1].split("\n\n")[0]
    return [name for name in re.findall(r"^  (\S+)", listed, re.M) if name != "help"]


def run(name, lines):
    """Runs lines of a page in turn, in a folder that looks like the repository to the commands, with the example characters
    and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "examples/assets"), os.path.join(folder, "examples/assets"))
        os.makedirs(os.path.join(folder, ".local/share/bash-completion/completions"))
        for line in lines:
            words = call(line)
            done = subprocess.run(["bash", "-c", f"'{SINEW}' {words}"], cwd=folder, env={**os.environ, "HOME": folder},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if words.startswith("render ") and os.environ.get("SINEW_NO_GPU") == "1" and done.returncode == 1:
                # Without any adapter the command says so.
                if "adapter" not in done.stderr:
                    faults.append(f"{name}: {line}: {done.stderr}")
                continue
            if done.returncode:
                faults.append(f"{name}: {line}: {done.returncode} {done.stderr}")
            # A shard leaves OUT to the stitch.
            out = re.search(r" -o (\S+)", words)
            if out and "--shard" not in words:
                out = out[1].replace("####", "0001").replace("##", "01")
                if not os.path.exists(os.path.join(folder, out)):
                    faults.append(f"{name}: {line} wrote no {out}")
            report = os.path.join(folder, "report.json")
            if os.path.exists(report):
                with open(report) as source, open(os.path.join(folder, "map.json"), "w") as target:
                    json.dump(json.load(source).get("map"), target)


def run_all(is_wanted):
    """Runs the wanted calls of all pages: how many there are."""
    wanted = {name: [line for line in shell_lines(name, text) if call(line) and is_wanted(call(line))]
              for name, text in pages().items()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, wanted.keys(), wanted.values()))
    return sum(map(len, wanted.values()))


def commands_run():
    seen = set()
    for name, text in pages().items():
        for line in shell_lines(name, text):
            if call(line):
                seen.add(call(line).split(" ")[0])
            elif not line.startswith(tuple(NOT_RUN)):
                faults.append(f"{name}: is this run, or in NOT_RUN? {line}")
    faults.extend(f"no page has an example of sinew {name}" for name in commands() if name not in seen)
    run_all(lambda words: not words.startswith(("render ", "view ")))


def commands_that_draw_run():
    calls = [call(line) or "" for name, text in pages().items() for line in shell_lines(name, text)]
    drawn = [words.split()[1] for words in calls if words.startswith("render ")]
    elsewhere = [call(line) for line in shell_lines("render.md", read("docs/render.md"))
                 if any(f" -o {picture} " in line for picture in sys.argv[3:])]

    def is_wanted(words):
        out = re.search(r" -o (\S+)", words)
        return (words.startswith("render ") and words not in elsewhere) or (out and out[1] in drawn)

    run_all(is_wanted)
    assert len(drawn) >= 6, drawn


def what_is_not_run_exists():
    """Lines that no test runs name packages, programs and files that exist."""
    manifests = "".join(read(os.path.relpath(file, ROOT)) for file in
                        glob.glob(os.path.join(ROOT, "*/*/Cargo.toml")) + glob.glob(os.path.join(ROOT, "*/Cargo.toml"))
                        + [os.path.join(ROOT, "Cargo.toml")])

    def is_target(name):
        places = [os.path.join(ROOT, place, name) for place in ("tests", "examples", "*/tests", "*/*/tests")]
        return f'[[bench]]\nname = "{name}"' in manifests or any(
            [os.path.isdir(found) for place in places for found in glob.glob(place)]
            + [True for place in places for _ in glob.glob(place + ".rs")])

    named = 0
    for name, text in pages("CONTRIBUTING.md").items():
        for line in (line for line in shell_lines(name, text) if not call(line)):
            before = ""
            for word in line.split():
                if before == "-p":
                    exists = f'\nname = "{word}"\n' in manifests
                elif before in ("--test", "--bench", "--example"):
                    exists = is_target(word)
                elif "target/" in word or "/" not in word:
                    before = word
                    continue
                else:
                    exists = os.path.exists(os.path.join(ROOT, word))
                if not exists:
                    faults.append(f"{name}: there is no {word}: {line}")
                before = word
                named += 1
    assert named > 10, named


def synopses_name_the_options():
    options = lambda text: set(re.findall(r"(?<![\w-])--[\w-]+", text))  # noqa: E731
    documented = {}
    for name, text in pages().items():
        for block in blocks(name, text, "text"):
            command = None
            for line in block:
                if line.startswith("sinew "):
                    command = line.split(" ")[1]
                if command:
                    documented.setdefault(command, set()).update(options(line))
    for command, named in documented.items():
        # `-q, --quiet` or `--frames <A:B>`; a description may follow and name others.
        listed = [line.split()[:2] for line in said(command, "--help", "--all").split("\n")
                  if line.lstrip().startswith("-")]
        real = set().union(*(options(" ".join(words)) for words in listed))
        # `-o, --output <OUT>` stands as -o in a synopsis. Every command has --quiet, --verbose and --threads.
        real -= {"--help", "--output", "--quiet", "--verbose", "--threads"}
        if real != named:
            faults.append(f"sinew {command} has {sorted(real)}, its synopsis {sorted(named)}")
    faults.extend(f"no page has a synopsis of sinew {name}" for name in commands()
                  if name not in documented and name not in ("completions", "devices"))


def pages_begin_with_a_command():
    for name, text in pages().items():
        body = text.split("\n", 1)[1].lstrip()
        if name not in ("README.md", "docs/decisions.md") and not body.startswith("```sh\n"):
            faults.append(name)


def links_lead_somewhere():
    def anchor(heading):
        """The anchor that a heading has on GitHub."""
        return "".join(c for c in heading if c.isalnum() or c in " -_").lower().replace(" ", "-")

    links = 0
    more = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/farm/README.md"]
    for name, text in pages(*more).items():
        for target in re.findall(r"\]\(([^)]*)", text):
            if target.startswith("https://"):
                continue
            links += 1
            file, _, heading = target.partition("#")
            path = os.path.join(os.path.dirname(name), file) if file else name
            if not os.path.exists(os.path.join(ROOT, path)):
                faults.append(f"{name}: {target}")
            elif heading:
                titles = [line.lstrip("#").strip() for line in read(path).split("\n") if line.startswith("#")]
                if heading not in map(anchor, titles):
                    faults.append(f"{name}: {target}")
    assert links > 40, links


def lines_are_short():
    for name, text in pages("ARCHITECTURE.md", "CONTRIBUTING.md").items():
        in_block = False
        for line in text.split("\n"):
            in_block ^= line.startswith("```")
            if len(line) > 100 and not (in_block or line.startswith(("|", "!["))):
                faults.append(f"{name}: {line}")
    lines = read("README.md").count("\n")
    if lines > 150:
        faults.append(f"the README has {lines} lines")


def named_files_exist():
    """Files that sentences name by their path in the repository, such as a workaround's test. The changelog names files of
    its time."""
    rooms = ["benches", "crates", "docs", "examples", "shaders", "src", "tests"]
    files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
    for room in rooms:
        for folder, _, names in os.walk(os.path.join(ROOT, room)):
            files += [os.path.join(folder, name) for name in names if name.endswith((".md", ".rs", ".wgsl"))]
    named = 0
    for file in files:
        for word in re.findall(rf"`((?:{'|'.join(rooms)})/[\w/.-]*)(?=`)", read(file), re.A):
            if "NAME" in word:
                continue
            named += 1
            if not os.path.exists(os.path.join(ROOT, word)):
                faults.append(f"{file}: `{word}`")
    assert named > 40, named


def bevy_is_apart_and_has_our_wgpu():
    """bevy asks for a newer Rust than the workspace, which must not build it. Both share a device, so both need the same
    wgpu."""
    assert re.search(r'^exclude = .*"crates/bevy_sinew"', read("Cargo.toml"), re.M)
    ours, theirs = (re.search(r'name = "wgpu"\nversion = "(\d+)', read(lock))[1]
                    for lock in ("Cargo.lock", "crates/bevy_sinew/Cargo.lock"))
    assert ours == theirs, (ours, theirs)


def chart_has_the_figures_of_the_results():
    with tempfile.TemporaryDirectory() as folder:
        drawn = os.path.join(folder, "speed.svg")
        subprocess.run([sys.executable, os.path.join(ROOT, "benches/chart.py"), drawn], check=True)
        with open(drawn, encoding="utf-8") as file:
            if file.read() != read("docs/speed.svg"):
                faults.append("docs/speed.svg: expected what benches/chart.py draws of benches/RESULTS.md")


CHECKS = [
    bevy_is_apart_and_has_our_wgpu, chart_has_the_figures_of_the_results, commands_run, commands_that_draw_run, lines_are_short, links_lead_somewhere,
    named_files_exist, pages_begin_with_a_command, synopses_name_the_options, what_is_not_run_exists,
]

if __name__ == "__main__":
    {check.__name__: check for check in CHECKS}[sys.argv[1]]()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
