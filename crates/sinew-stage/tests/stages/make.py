"""Random stages from seeds: small layers with all arcs.

    make.py FOLDER FIRST END    writes the layers of each seed into FOLDER/000123; root.usda is the root layer
"""

import pathlib
import sys

ROOTS, CHILDREN = ["A", "B", "C", "D"], ["X", "Y", "Z"]
SETS, VARIANTS = ["v", "w"], ["one", "two"]
MASK = (1 << 64) - 1


class Rng:
    """xorshift64*."""

    def __init__(self, seed):
        self.state = seed * 0x9E37_79B9_7F4A_7C15 & MASK | 1

    def bits(self):
        self.state ^= self.state >> 12
        self.state ^= self.state << 25 & MASK
        self.state ^= self.state >> 27
        return self.state * 0x2545_F491_4F6C_DD1D & MASK

    def below(self, end):
        return (self.bits() >> 33) % end

    def once_in(self, times):
        """True once in so many times."""
        return self.below(times) == 0

    def pick(self, items):
        return items[self.below(len(items))]


def name(layer):
    return f"l{layer}.usda" if layer else "root.usda"


class Maker:
    """A layer that is written. Layer 0 is the root layer."""

    def __init__(self, rng, layer, layers):
        self.rng, self.layer, self.layers = rng, layer, layers
        self.lines = []

    def write(self, subs):
        rng, out = self.rng, self.lines
        out += ["#usda 1.0", "("]
        default = {0: "/B/X", 1: "None"}.get(rng.below(4), "A")
        out.append(f'    defaultPrim = "{default}"')
        if rng.once_in(4):
            out.append(f"    timeCodesPerSecond = {rng.pick(['12', '24', '48'])}")
        if rng.once_in(3):
            variant, n = rng.pick(VARIANTS), 1 + rng.below(self.layers)
            out.append(f'    expressionVariables = {{\n        string V = "{variant}"\n        string L = "l{n}"\n    }}')
        if subs:
            out.append(f"    subLayers = [{', '.join(f'@./{name(s)}@{self.offset()}' for s in subs)}]")
        if rng.once_in(4):
            moves = [self.move() for _ in range(1 + rng.below(2))]
            out.append(f"    relocates = {{ {', '.join(moves)} }}")
        out.append(")")
        for root in ROOTS:
            if not rng.once_in(4):
                self.prim(root, f"/{root}", 1, 0)
        return "\n".join(out) + "\n"

    def move(self):
        rng = self.rng
        source = f"{self.root()}/{rng.pick(CHILDREN)}"
        match rng.below(4):
            case 0:
                target = f"/{rng.pick(['M', 'N'])}"
            case 1:
                target = ""
            case _:
                target = f"{self.root()}/{rng.pick(['M', 'N'])}"
        return f"<{source}>: <{target}>"

    def offset(self):
        return [" (offset = 10)", " (offset = -4; scale = 2)", " (scale = 0.5)", "", "", ""][self.rng.below(6)]

    def root(self):
        return f"/{self.rng.pick(ROOTS)}"

    def any_prim(self):
        path = self.root()
        for _ in range(self.rng.below(3)):
            path = f"{path}/{self.rng.pick(CHILDREN)}"
        return path

    def target(self, source):
        """The path of a prim that an arc of a prim in the same layer stack may lead to."""
        while True:
            path = self.any_prim()
            # Later roots only: no circles.
            if path[1] > source[1]:
                return path
            if source[1] == "D":
                return "/E"

    def reference(self, source):
        rng = self.rng
        offset = self.offset()
        if rng.once_in(4) or self.layer + 1 >= self.layers:
            return f"<{self.target(source)}>{offset}"
        following = self.layer + 1
        layer = following + rng.below(self.layers - following)
        kind = rng.below(10)
        asset = f"./{name(layer)}"
        if kind == 0:
            asset = "./missing.usda"
        elif kind == 1 and self.layer == 0:
            # Only the root layer's variable is known to name a later layer.
            asset = '`"./${L}.usda"`'
        return f"@{asset}@{offset}" if rng.below(4) == 0 else f"@{asset}@<{self.any_prim()}>{offset}"

    def arcs(self, path):
        rng, lines = self.rng, []
        for field, rarity in ("references", 4), ("payload", 12), ("inherits", 8), ("specializes", 16):
            if not rng.once_in(rarity):
                continue
            op = rng.pick(["prepend ", "prepend ", "append ", "", "delete ", "add "])
            items = []
            for _ in range(1 + rng.below(2)):
                is_asset = field in ("references", "payload")
                item = self.reference(path) if is_asset else f"<{self.target(path)}>"
                if items[-1:] != [item]:
                    items.append(item)
            lines.append(f"{op}{field} = [{', '.join(items)}]")
        if rng.once_in(3):
            variants, kind = rng.pick(SETS), rng.below(6)
            variant = "`${V}`" if kind == 0 else "" if kind == 1 else rng.pick(VARIANTS)
            lines.append(f'variants = {{ string {variants} = "{variant}" }}')
        if rng.once_in(8):
            lines.append("instanceable = true")
        if rng.once_in(20):
            lines.append("active = false")
        return lines

    def prim(self, prim, path, depth, in_variant):
        rng, out = self.rng, self.lines
        kind = rng.pick(["def", "def", "over", "class"])
        lines = self.arcs(path)
        has_sets = in_variant < 2 and rng.once_in(6)
        variants = rng.pick(SETS)
        if has_sets:
            lines.append(f'prepend variantSets = "{variants}"')
        indented = "\n    ".join(lines)
        out.append(f'{kind} "{prim}" (\n    {indented}\n)\n{{')
        self.body(path, depth, in_variant)
        if has_sets:
            out.append(f'variantSet "{variants}" = {{')
            for variant in VARIANTS:
                indented = "\n    ".join(self.arcs(path))
                out.append(f'"{variant}" (\n    {indented}\n) {{')
                self.body(path, depth, in_variant + 1)
                out.append("}")
            out.append("}")
        out.append("}")

    def body(self, path, depth, in_variant):
        """What is in a prim or a variant."""
        rng, out = self.rng, self.lines
        if rng.once_in(3):
            names = '["Z", "X"]' if rng.once_in(2) else '["Y", "M", "X"]'
            out.append(f"reorder nameChildren = {names}")
        if rng.once_in(2):
            out.append(f"int {rng.pick(['p', 'q'])} = {self.layer}")
        if depth >= 3:
            return
        for child in CHILDREN:
            if rng.once_in(3 + in_variant):
                self.prim(child, f"{path}/{child}", depth + 1, in_variant)


def stage(seed):
    """The layers of a stage: names and texts."""
    rng = Rng(seed + 1)
    layers = 2 + rng.below(3)
    # Layers that are sublayers of another; a layer is one only once.
    parents = [rng.below(i) if i > 0 and rng.once_in(3) else None for i in range(layers)]
    for layer in range(layers):
        subs = [s for s in range(layers) if parents[s] == layer]
        yield name(layer), Maker(rng, layer, layers).write(subs)


def main(folder, first, end):
    for seed in range(int(first), int(end)):
        made = pathlib.Path(folder, f"{seed:06}")
        made.mkdir(parents=True, exist_ok=True)
        for layer, text in stage(seed):
            (made / layer).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
