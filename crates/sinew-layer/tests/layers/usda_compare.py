"""Compares layers as usd-core reads them: usda_compare.py A B [A B ...]. Prints the differences; exit code 1 if there are any."""
import sys

from pxr import Sdf


LISTS = ("explicitItems", "addedItems", "prependedItems", "appendedItems", "deletedItems", "orderedItems")


def show(value):
    """A text that is equal for equal values and shows types."""
    if hasattr(value, "explicitItems"):
        return f"{value.isExplicit} {[[show(item) for item in getattr(value, name)] for name in LISTS]}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {show(value[key])}' for key in sorted(value))}}}"
    # Of splines Python shows no more than an address; their text is compared below.
    text = repr(value)
    return f"{type(value).__name__} {'' if ' object at 0x' in text else text}"


def fields(spec):
    found = {}
    for key in sorted(spec.ListInfoKeys()):
        try:
            found[key] = show(spec.GetInfo(key))
        except TypeError:
            # Python has no such type; the text shows the value.
            found[key] = "?"
    return found


def describe(layer):
    """All specs with their fields and lists of children, in order."""
    found = {}

    def visit(path):
        spec = layer.GetObjectAtPath(path)
        if spec is None:
            return
        entry = {"fields": fields(spec)}
        for name in ("nameChildren", "properties", "variantSets", "variants"):
            children = getattr(spec, name, None)
            if children is not None:
                entry[name] = [child.name for child in children]
        found[str(path)] = entry

    layer.Traverse("/", visit)
    return found


def compare(one, other):
    a, b = (Sdf.Layer.OpenAsAnonymous(name) for name in (one, other))
    problems = []
    left, right = describe(a), describe(b)
    for path in sorted(set(left) | set(right)):
        if left.get(path) != right.get(path):
            problems.append(f"{path}: {str(left.get(path))[:1500]} != {str(right.get(path))[:1500]}")
    # The text has what Python cannot ask for: fields that no schema knows, and all digits.
    texts = [layer.ExportToString().split("\n", 1)[1] for layer in (a, b)]
    if texts[0] != texts[1]:
        lines = zip(texts[0].split("\n"), texts[1].split("\n"))
        problems += [f"{x.strip()[:300]} != {y.strip()[:300]}" for x, y in lines if x != y][:5] or ["lengths"]
    return problems


def main(names):
    failed = 0
    for one, other in zip(names[::2], names[1::2]):
        try:
            problems = compare(one, other)
        except Exception as error:
            problems = [str(error)]
        for problem in problems[:8]:
            print(f"{one}: {problem}")
        failed += bool(problems)
    print(f"{len(names) // 2} compared, {failed} differ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
