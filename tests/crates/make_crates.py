#!/usr/bin/env python3
"""Writes base.usda beside this file in every crate version that usd-core 26.11 can write."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = ["0.2.0", "0.3.0"] + ["0.%d.0" % n for n in range(4, 14)]
EXPORT = "import sys; from pxr import Sdf; Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2])"

for version in VERSIONS:
    env = dict(os.environ, USD_WRITE_NEW_USDC_FILES_AS_VERSION=version)
    out = os.path.join(HERE, "v%s.usdc" % version)
    # usd-core warns of old versions, and ends with an error after it has written one.
    subprocess.run([sys.executable, "-c", EXPORT, os.path.join(HERE, "base.usda"), out], env=env)
    assert os.path.getsize(out) > 0, version
