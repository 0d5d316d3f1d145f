"""Prints which attributes about motion have a value in a bake of the base `limb` of bakes.txt: for the mesh that is baked, and for one that is not."""

import sys

from pxr import Usd

stage = Usd.Stage.Open(sys.argv[1])
for path in ["/Hero/Body", "/Prop"]:
    prim = stage.GetPrimAtPath(path)
    names = ["velocities", "accelerations", "primvars:v", "primvars:accel"]
    print(*(n for n in names if prim.GetAttribute(n).Get(5) is not None))
