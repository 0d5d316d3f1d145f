"""The files of examples/farm do what they say: each bakes in shards, and the result is that of one process, byte for byte.

    python farms.py gnu_parallel|slurm|slurm_cluster|kubernetes|opencue SINEW

GNU parallel and Slurm run them; the parts of Kubernetes and OpenCue are played here. Exits with 77 if a program is missing.
Dask has its test in crates/sinew-python.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
FARM = os.path.join(ROOT, "examples/farm")
SINEW = os.path.abspath(sys.argv[2])
# The command under test is found first.
PATH = os.pathsep.join([os.path.dirname(SINEW), os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def run(*words, expected=0, **environment):
    """Runs a program, which ends with this code: what it printed."""
    environment = {**os.environ, "PATH": PATH, "SINEW": SINEW, **environment}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == expected, f"{words}: {done.returncode}: {done.stdout}"
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program, path=PATH):
            sys.exit(77)


def listing(folder):
    """Everything in a folder, by its path there."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(place, name)
            with open(file, "rb") as source:
                found[os.path.relpath(file, folder)] = source.read()
    return found


def gnu_parallel(farm):
    need("parallel")
    # moreutils has a command of the same name.
    if "GNU parallel" not in run("parallel", "--version"):
        sys.exit(77)
    farm.bake_alone("--clip-frames 4 --frames 1:24")
    script = os.path.join(FARM, "parallel.sh")
    run(script, farm.input, farm.out, *"4 3 --frames 1:24 --backend cpu".split())
    run(script, expected=2)


def slurm(farm):
    """The script, told by the environment which task it is."""
    farm.bake_alone("--clip-frames 25")
    script = os.path.join(FARM, "slurm.sbatch")
    with open(script) as file:
        assert "\n#SBATCH --array=1-8\n" in file.read()
    # The one that stitches comes last, as the dependency has it.
    for task in "123456780":
        run("bash", script, SLURM_ARRAY_TASK_ID=task, SLURM_CPUS_PER_TASK="1", CLIP_FRAMES="25", IN=farm.input, OUT=farm.out)


def slurm_cluster(farm):
    need("mungekey", "munged", "slurmctld", "slurmd", "sbatch")
    farm.bake_alone("--frames 1:96:0.1 --clip-frames 20")
    script = os.path.join(ROOT, "tests/farm/slurm_cluster.sh")
    run("bash", script, farm.folder, IN=farm.input, OUT=farm.out)


def kubernetes(farm):
    """The commands of both Jobs, told by the environment which pod it is."""
    with open(os.path.join(FARM, "kubernetes-job.yaml")) as file:
        bake, stitch = file.read().split("\n---\n")
    value = lambda key: re.search(rf"^\s*{key}: (.*)$", bake, re.M)[1]  # noqa: E731
    assert (value("completionMode"), value("restartPolicy")) == ("Indexed", "Never")
    pods = int(value("completions"))
    assert re.search(rf'^\s*value: "{pods}"$', bake, re.M), "SHARDS"
    farm.bake_alone("--clip-frames 100")
    # The names of the manifest.
    shutil.copy(farm.input, os.path.join(farm.folder, "shot.usda"))
    out = os.path.join(farm.folder, "out")
    os.rename(os.path.dirname(farm.out), out)
    farm.out = os.path.join(out, "shot.usdc")
    for document, count in [(bake, pods), (stitch, 1)]:
        # One line, or the folded lines of `>-`.
        line = re.search(r"- -ec\n\s*- (?:>-\n((?: {14}.*\n?)+)|(.*))", document)
        line = " ".join((line[1] or line[2]).split()).replace("/shots/", farm.folder + "/")
        for pod in range(count):
            run("sh", "-ec", line, SHARDS=str(pods), JOB_COMPLETION_INDEX=str(pod))


def opencue(farm):
    """The commands that OpenCue would be given, with its token replaced as it does."""
    farm.bake_alone("--clip-frames 4 --frames 1:24")
    dry = run(sys.executable, os.path.join(FARM, "opencue_bake.py"), farm.input, farm.out,
              *"--clip-frames 4 --shards 3 --dry-run -- --frames 1:24".split())
    shard, stitch = dry.splitlines()
    for frame in "123":
        run("sh", "-ec", shard.replace("#IFRAME#", frame))
    run("sh", "-ec", stitch)


class Farm:
    """A folder for a farm, and the bake by one process to compare with."""

    def __init__(self, folder):
        self.folder = folder
        self.input = os.path.join(folder, "hatchling.usda")
        self.out = os.path.join(folder, "farm/shot.usdc")
        self.alone = os.path.join(folder, "alone")
        shutil.copy(os.path.join(ROOT, "examples/assets/hatchling.usda"), self.input)
        os.mkdir(self.alone)
        os.mkdir(os.path.dirname(self.out))

    def bake_alone(self, options):
        run(SINEW, "bake", self.input, "-o", os.path.join(self.alone, "shot.usdc"), "--backend", "cpu", *options.split())


def main():
    with tempfile.TemporaryDirectory() as folder:
        farm = Farm(folder)
        {run.__name__: run for run in (gnu_parallel, slurm, slurm_cluster, kubernetes, opencue)}[sys.argv[1]](farm)
        alone, made = listing(farm.alone), listing(os.path.dirname(farm.out))
        assert alone.keys() == made.keys() and len(alone) > 1, (alone.keys(), made.keys())
        other = [name for name in alone if alone[name] != made[name]]
        assert not other, f"{other} differ"


if __name__ == "__main__":
    main()
