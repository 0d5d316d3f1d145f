"""Answers mod.rs beside it, one JSON object per line: usd-core is loaded once for many seeds.

{"generate": SEED, "folder": F}            writes a stage: {"file", "arc"}
{"compare": FILE, "baked": FILE, "tolerance": {...}}
                                           {"failures", "compared", "worst", "ties", "features", "left_alone"}
{"self_test": FILE, "baked": FILE, ...}    {"noticed": {PERTURBATION: true or false}}

An answer with "error" holds the traceback of a bug in here.
"""

import json
import sys
import traceback
from collections import Counter

sys.dont_write_bytecode = True

import pixar  # noqa: E402
from compare import Comparison  # noqa: E402
from coverage import features_of  # noqa: E402
from generate import generate  # noqa: E402
from pxr import Usd  # noqa: E402
from self_test import perturb_all  # noqa: E402
from targets import find_targets  # noqa: E402


def compare(file, baked, tolerance):
    theirs, instances = pixar.open_stage(file)
    targets = find_targets(theirs)
    features = {t.path: features_of(theirs, t, instances) for t in targets.values()}
    written = pixar.bake(theirs, targets)
    report = Comparison(file, theirs, written, Usd.Stage.Open(baked), tolerance).run()
    baked_prims = [path for path, names in written.items() if names & {"points", "xformOp:transform"}]
    counted = Counter(f for path in baked_prims for f in features.get(path, ()))
    return {
        "failures": report.failures,
        "compared": report.compared,
        "worst": report.worst,
        "ties": report.ties,
        "features": counted,
        "baked": len(baked_prims),
        "left_alone": len(targets.keys() - set(baked_prims)),
    }


def answer(request):
    if "generate" in request:
        file, arc = generate(request["generate"], request["folder"])
        return {"file": file, "arc": arc}
    if "compare" in request:
        return compare(request["compare"], request["baked"], request["tolerance"])
    return {"noticed": perturb_all(request["self_test"], request["baked"], request["tolerance"])}


def main():
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception:  # The other side shows it with the seed.
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
