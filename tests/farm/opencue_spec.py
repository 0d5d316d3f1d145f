"""Checks a job of OpenCue, read from stdin, against the grammar of its specifications (cjsl, version 1.15).

Prints the commands of the layers, one JSON list [name, range, command] in a line. Fails with a sentence if the job is invalid.
"""

import json
import re
import sys
import xml.etree.ElementTree as ET

# Of every element that has children: their order. What is not listed holds text alone.
CHILDREN = {
    "spec": "facility? dept? show shot user email? uid? job* depends*",
    "job": "paused? priority? maxretries? maxcores? maxgpus? autoeat? localbook? os? env* layers?",
    "layers": "layer+",
    "layer": "cmd range chunk cores? threadable? memory? gpus? gpu? gpu_memory? timeout? timeout_llu? tags? limits?"
    " env* services? outputs*",
    "limits": "limit+",
    "services": "service+",
    "outputs": "output*",
    "env": "key*",
    "depends": "depend*",
    "depend": "depjob deplayer? depframe? onjob onlayer? onframe?",
}
TOKEN = r"[\w.:-]+"
# Attributes: a pattern of the value, and whether it must be there.
ATTRIBUTES = {
    "job": {"name": (TOKEN, True)},
    "layer": {"name": (TOKEN, True), "type": ("Render|Util|Post", True)},
    "output": {"name": (TOKEN, True)},
    "key": {"name": (TOKEN, True)},
    "depend": {"type": (r"(JOB|LAYER|FRAME)_ON_(JOB|LAYER|FRAME)|PREVIOUS_FRAME|FRAME_BY_FRAME", True), "anyframe": (TOKEN, False)},
}


def check(element):
    children = " ".join(child.tag for child in element) + " "
    order = CHILDREN.get(element.tag, "")
    pattern = "".join(re.sub(r"(\w+)([?*+]?)$", r"(\1 )\2", word) for word in order.split())
    if not re.fullmatch(pattern, children if len(element) else ""):
        sys.exit(f"<{element.tag}>: expected the children '{order}', found '{children.strip()}'")
    if order and (element.text or "").strip():
        sys.exit(f"<{element.tag}>: expected elements alone, found the text '{element.text.strip()}'")
    known = ATTRIBUTES.get(element.tag, {})
    for name in element.attrib.keys() - known.keys():
        sys.exit(f"<{element.tag}>: unknown attribute '{name}'")
    for name, (value, required) in known.items():
        found = element.get(name)
        if (found is None and required) or (found is not None and not re.fullmatch(value, found)):
            sys.exit(f"<{element.tag} {name}>: expected {value}, found {found!r}")
    for child in element:
        check(child)


def main():
    text = sys.stdin.read()
    if "cjsl-1.15.dtd" not in text:
        sys.exit("expected a specification of version 1.15")
    root = ET.fromstring(text)
    if root.tag != "spec":
        sys.exit(f"expected <spec>, found <{root.tag}>")
    check(root)
    names = {layer.get("name") for layer in root.iter("layer")}
    for tag in ["deplayer", "onlayer"]:
        for layer in root.iter(tag):
            if layer.text not in names:
                sys.exit(f"<{tag}>: no layer '{layer.text}'")
    for layer in root.iter("layer"):
        print(json.dumps([layer.get("name"), layer.findtext("range"), layer.findtext("cmd")]))


if __name__ == "__main__":
    main()
