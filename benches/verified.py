"""Adds what was found of each adapter of a report to the last table of benches/RESULTS.md.

    python benches/verified.py REPORT.json

REPORT.json is what `sinew devices --verify --report REPORT.json` writes, or what the viewer's page copies; `-` reads it from
stdin. A row that is there already is not added again.
"""

import json
import os
import sys

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "RESULTS.md")


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def row(report, adapter):
    subjects = adapter["subjects"]
    worst = max((s["worst"] for s in subjects if s["worst"]), default=None, key=lambda w: w["error"] and w["error"] / w["allowed"])
    rates = [r["count"] / r["seconds"] for r in adapter["rates"] if r["subject"] == "linear" and r["unit"] == "points"]
    failed = ", ".join(f["check"] for f in adapter["failures"])
    cells = [
        adapter["name"] or adapter["device_type"], adapter["driver"], report["system"], report["sinew"],
        sum(s["checks"] for s in subjects), adapter["error"] or failed or "none",
        f"{worst['error']:.1e}, {worst['allowed']:.1e}" if worst else "", f"{rates[0] / 1e6:.1f} M" if rates else "",
    ]
    return "| " + " | ".join(cell(c) for c in cells) + " |"


with (sys.stdin if sys.argv[1] == "-" else open(sys.argv[1], encoding="utf-8")) as source:
    found = json.load(source)
with open(RESULTS, encoding="utf-8") as results:
    lines = results.read().splitlines()
new = [row(found, adapter) for adapter in found["adapters"]]
lines += [r for r in new if r not in lines]
with open(RESULTS, "w", encoding="utf-8") as results:
    results.write("\n".join(lines) + "\n")
print("\n".join(new))
