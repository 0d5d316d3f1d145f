"""Checks a file of examples/farm against the schema of its scheduler, and that the schema refuses wrong ones.

    python manifests.py kubernetes|opencue

Exits with 77 if the module with the schema is not installed.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FARM = os.path.join(HERE, "../../examples/farm")


def need(module):
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if not found:
        sys.exit(77)


def run(*arguments, **more):
    return subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def refuses(check, text, changes):
    """A text with each of the changes is no good."""
    for right, wrong in changes:
        assert right in text, f"{right}: {text}"
        assert check(text.replace(right, wrong)).returncode, f"{wrong} is accepted"


def kubernetes():
    """Both Jobs, against the schemas of Kubernetes."""
    need("kubernetes_validate")

    def check(text):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            return run("-m", "kubernetes_validate", "--strict", file.name)

    with open(os.path.join(FARM, "kubernetes-job.yaml")) as file:
        text = file.read()
    checked = check(text)
    assert checked.returncode == 0, checked.stdout
    for job in ["job/sinew-bake", "job/sinew-stitch"]:
        assert f"passed for resource {job}" in checked.stdout, checked.stdout
    refuses(check, text, [
        ("backoffLimitPerIndex: 3", "backoffLimitPerIndexes: 3"),
        ("completions: 8", "completions: eight"),
        ("    - name: shots\n", "    - nam: shots\n"),
    ])


def opencue():
    """The job that pyoutline makes, against the grammar of OpenCue; its commands are those of --dry-run."""
    need("outline.cuerun")
    # pyoutline asks who submits the job.
    environment = {**os.environ, "USER": "artist"}

    def made(mode):
        bake = [os.path.join(FARM, "opencue_bake.py"), "a shot.usda", "out/its bake.usdc", "--shards", "3", mode]
        made = subprocess.run([sys.executable, *bake, "--", "--frames", "1:24"], stdout=subprocess.PIPE, text=True,
                              check=True, env=environment)
        return made.stdout

    def check(text):
        return run(os.path.join(HERE, "opencue_spec.py"), input=text)

    spec, commands = made("--spec"), made("--dry-run").splitlines()
    checked = check(spec)
    assert checked.returncode == 0, checked.stdout
    layers = [json.loads(line) for line in checked.stdout.splitlines()]
    assert layers == [["bake", "1-3", commands[0]], ["stitch", "1", commands[1]]], layers
    assert "LAYER_ON_LAYER" in spec, spec
    refuses(check, spec, [
        ("<chunk>1</chunk>", "<chunks>1</chunks>"),
        ('type="Render"', 'type="Bake"'),
        ('name="sinew-bake-its_bake', 'name="sinew-bake-its bake'),
        ("<onlayer>bake", "<onlayer>baked"),
    ])


if __name__ == "__main__":
    {"kubernetes": kubernetes, "opencue": opencue}[sys.argv[1]]()
