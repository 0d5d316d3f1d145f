"""Whether usd-core finds the same in two layers: specs, fields, sample times, values to the bit.

usage: same_layers.py A B [A B...]

Prints the number of samples of all pairs. Asset paths are not compared.
"""

import sys

import numpy
from pxr import Sdf


def bits(value):
    """What has to be equal."""
    if hasattr(type(value), "__len__") and not isinstance(value, (str, dict)):
        array = numpy.array(value)
        if array.dtype != object:
            return type(value), array.shape, array.tobytes()
    return type(value), str(value)


def infos(spec):
    """What it holds; a crate says nothing by an empty comment."""
    return {key for key in spec.ListInfoKeys() if key != "comment" or spec.GetInfo(key)}


def compare(*files):
    first, second = (Sdf.Layer.FindOrOpen(path) for path in files)
    paths = ([], [])
    first.Traverse("/", paths[0].append)
    second.Traverse("/", paths[1].append)
    # Text has properties in the order of their names.
    paths[0].sort()
    paths[1].sort()
    assert paths[0] == paths[1], set(paths[0]) ^ set(paths[1])
    count = 0
    for path in paths[0]:
        a, b = first.GetObjectAtPath(path), second.GetObjectAtPath(path)
        if a is None:
            continue
        keys = infos(a)
        assert keys == infos(b), path
        # The first is compared below; Python has no type for the second.
        for key in keys - {"timeSamples", "subLayerOffsets"}:
            value = a.GetInfo(key)
            if not isinstance(value, Sdf.AssetPath):
                assert bits(value) == bits(b.GetInfo(key)), (path, key)
        times = first.ListTimeSamplesForPath(path)
        assert times == second.ListTimeSamplesForPath(path), path
        for time in times:
            values = (layer.QueryTimeSample(path, time) for layer in (first, second))
            assert bits(next(values)) == bits(next(values)), (path, time)
            count += 1
    return count


print(sum(compare(*pair) for pair in zip(sys.argv[1::2], sys.argv[2::2])))
