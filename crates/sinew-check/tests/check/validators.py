# What usd-core's validators find in files: a list of [file, error, prim, attribute]. A file of the tests that usd-core
# does not parse is an error "unreadable".

import json
import re
import sys

from pxr import Sdf, Usd, UsdValidation

NAMES = [
    "usdSkelValidators:SkelBindingApiValidator",
    "usdSkelValidators:SkelBindingApiAppliedValidator",
    "usdValidation:AttributeTypeMismatch",
]
MISMATCH = r"</([^.]*)[.](.*)>. Expected attribute type is '(.*)' but defined as '(.*)' in"


# Roles may differ: what a vector3f[] holds is read as point3f[].
def plain(name):
    return re.sub("(point|vector|normal|color)3", "float3", name).replace("float3d", "double3")


registry = UsdValidation.ValidationRegistry()
context = UsdValidation.ValidationContext([registry.GetOrLoadValidatorByName(n) for n in NAMES])
out = []
for name in sys.argv[1:]:
    if name.endswith("/in.usda"):
        try:
            Sdf.Layer.FindOrOpen(name).rootPrims
        except Exception as e:
            out.append([name, f"unreadable: {e}", "", ""])
    try:
        stage = Usd.Stage.Open(name)
    except Exception:
        continue
    for error in context.Validate(stage):
        for site in error.GetSites():
            if site.IsPrim():
                out.append([name, error.GetName(), str(site.GetPrim().GetPath()), ""])
        # Types are told by the message alone.
        told = re.search(MISMATCH, error.GetMessage())
        if told:
            prim, attribute, want, found = told.groups()
            other = attribute.startswith("primvars:") and not attribute.startswith("primvars:skel:")
            if plain(want) != plain(found) and not other:
                out.append([name, error.GetName(), "/" + prim, attribute])
print(json.dumps(out))
