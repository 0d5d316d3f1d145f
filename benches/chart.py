"""Draws a chart of the tables of benches/RESULTS.md, as SVG.

    python benches/chart.py docs/speed.svg

Each panel is a work load, with an axis of its own that begins at 0. A bar is the median of its runs, in millions of points a
second. Every program that was measured on the load has its bar, also where it is the faster one.
"""

import os
import re
import sys
from xml.sax.saxutils import escape

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "RESULTS.md")

# The letter of a table, what is done, threads (of rows of the CPU), and the title of the panel.
PANELS = [
    ("A", "points", "2", "CPU, 2 threads: one mesh of 1 M points, 4 influences"),
    ("D", "blend", "2", "CPU, 2 threads: a face of 50,000 points, 120 of 800 blend shapes active"),
    ("A", "points", "", "GPU kernels: one mesh of 1 M points, 4 influences"),
    ("C", "points", "", "GPU kernels: 2,000 characters of 5,000 points, of 20 kinds"),
    ("D", "blend", "", "GPU kernels: a face of 50,000 points, 120 of 800 blend shapes active"),
]
# How a row is called in the chart. Other rows are variants, which stand in the tables.
NAMES = {
    "sinew, CPU": "sinew",
    "sinew, CPU, baseline loops": "sinew without AVX2",
    "usd-core 26.11": "usd-core 26.11",
    "ozz-animation 0.16.0 (original, C++ -O3, AVX2, FMA)": "ozz-animation",
    "ozz-animation's loops": "ozz-animation's loops",
    "sinew, GPU": "sinew",
    "Hydra (Storm)": "Hydra (Storm)",
    "Godot": "Godot",
    "Bevy (CacheSkin)": "Bevy",
    "three.js vertex stage, as compute": "three.js",
}
WIDTH, LEFT, RIGHT, BAR, TITLE = 720, 160, 70, 20, 34


def tables(text):
    """The rows of each table, by the letter before the colon of its heading."""
    found = {}
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        letter = part.split(":", 1)[0]
        lines = [line.strip().strip("|").split("|") for line in part.split("\n") if line.startswith("| ")]
        found.setdefault(letter, [[cell.strip() for cell in line] for line in lines[1:]])
    return found


def bars(rows, case, threads):
    """Names and rates of the rows of a panel, in the order of the table."""
    wanted = [row for row in rows if row[1] == case and row[2] == threads and row[0] in NAMES]
    return [(NAMES[row[0]], float(row[4])) for row in wanted]


def step(most):
    """The distance of marks on an axis: 1, 2 or 5 of a power of ten, at most five of them."""
    for power in range(-3, 6):
        for digit in (1, 2, 5):
            if digit * 10**power * 5 >= most:
                return digit * 10**power
    return most


def chart(text):
    found = tables(text)
    adapter = re.search(r"^Adapter (.*?) by .*?; CPU (.*?), \d+ cores", text, re.M)
    day = re.search(r"^## .*, (\d{4}-\d{2}-\d{2})$", text, re.M)
    is_software = ", software)" in text
    out, top = [], 30
    for letter, case, threads, title in PANELS:
        rows = bars(found[letter], case, threads)
        if not rows:
            raise SystemExit(f"{RESULTS}: expected rows of {letter}, {case}, found none")
        scale = (WIDTH - LEFT - RIGHT) / max(rate for _, rate in rows)
        out.append(f'<text x="12" y="{top}" class="title">{escape(title)}</text>')
        top += 12
        bottom = top + BAR * len(rows)
        mark = step(max(rate for _, rate in rows))
        for i in range(6):
            x = LEFT + i * mark * scale
            if x <= WIDTH - RIGHT + 1:
                out.append(f'<path d="M{x:.1f} {top - 4}V{bottom}" class="axis"/>')
                out.append(f'<text x="{x:.1f}" y="{bottom + 13}" class="mark">{i * mark:g}</text>')
        for name, rate in rows:
            own = " own" if name.startswith("sinew") else ""
            out.append(f'<text x="{LEFT - 8}" y="{top + 13}" class="name">{escape(name)}</text>')
            out.append(f'<rect x="{LEFT}" y="{top + 2}" width="{rate * scale:.1f}" height="{BAR - 5}" class="bar{own}"/>')
            out.append(f'<text x="{LEFT + rate * scale + 5:.1f}" y="{top + 13}">{rate:g}</text>')
            top += BAR
        top += TITLE + 8
    notes = [
        "Million points a second; longer is faster. Medians of benches/RESULTS.md, each axis from 0.",
        f"{adapter[2]}, {day[1]}. GPU kernels on {adapter[1]}"
        + (", a software driver:" if is_software else "."),
        *(["their times say little about hardware."] if is_software else []),
        "The other engines' kernels are written anew from their published layouts. Where dense shapes do not fit a binding,",
        "fewer points were measured.",
    ]
    for note in notes:
        out.append(f'<text x="12" y="{top - 14}" class="note">{escape(note)}</text>')
        top += 16
    style = (
        "text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:13px}.name{text-anchor:end}"
        ".mark{text-anchor:middle;fill:#666;font-size:10px}.note{fill:#555;font-size:11px}"
        ".bar{fill:#9aa5b1}.own{fill:#1f9e9a}.axis{stroke:#ddd}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}">'
        f'<style>{style}</style><rect width="{WIDTH}" height="{top}" fill="#fff"/>\n' + "\n".join(out) + "\n</svg>\n"
    )


if __name__ == "__main__":
    with open(RESULTS, encoding="utf-8") as results:
        drawn = chart(results.read())
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(drawn)
