"""Two baked stages of one file, compared in world space at every time that either samples and between them."""

from collections import Counter

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from passed_through import PassedThrough
from ties import hemisphere_ties


class Report:
    """What was compared, what differs, and how far off the worst value of each kind is."""

    def __init__(self):
        self.failures = []
        self.compared = Counter()
        self.worst = Counter()
        self.ties = 0

    def fail(self, path, text):
        self.failures.append(f"{path}: {text}")


class Comparison:
    """`theirs` is Pixar's stage and `written` what its bake wrote; `path` is the file both are baked from.

    `tolerance` holds `points`, `normals`, `transforms` and `tie`: crates/sinew-verify/src/tolerance.rs says why.
    """

    def __init__(self, path, theirs, written, ours, tolerance):
        self.path, self.theirs, self.ours = path, theirs, ours
        self.written, self.tolerance = written, tolerance
        self.report = Report()
        self._rest = None

    def run(self):
        pairs = self._pairs()
        times = evaluated_times(sample_times(self.theirs) | sample_times(self.ours))
        failed = set()
        for time in times:
            code = Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)
            caches = UsdGeom.XformCache(code), UsdGeom.XformCache(code)
            for theirs, ours in pairs:
                path = str(theirs.GetPath())
                if path in failed:
                    continue  # One time of a prim tells enough.
                before = len(self.report.failures)
                self._prim(path, theirs, ours, caches, code)
                if len(self.report.failures) > before:
                    failed.add(path)
        return self.report

    def _pairs(self):
        """Prims that are somewhere, as both stages have them."""
        pairs = []
        for prim in Usd.PrimRange(self.theirs.GetPseudoRoot()):
            if not prim.IsA(UsdGeom.Xformable):
                continue
            path = str(prim.GetPath())
            other = self.ours.GetPrimAtPath(path)
            if not other or not other.IsActive():
                self.report.fail(path, "is not there")
            elif not self._retyped(prim, other):
                self.report.fail(path, f"is a {other.GetTypeName()}, at Pixar's a {prim.GetTypeName()}")
            else:
                pairs.append((prim, other))
        return pairs

    def _retyped(self, theirs, ours):
        """SkelRoots are Xforms where something below them is baked (rule 32, see differences.py)."""
        want, got = theirs.GetTypeName(), ours.GetTypeName()
        if want == got or (want == "SkelRoot" and got == "Xform"):
            return True
        inside = f"{theirs.GetPath()}/"
        baked = any(p.startswith(inside) and names & {"points", "xformOp:transform"} for p, names in self.written.items())
        return got == "SkelRoot" and want == "Xform" and not baked

    def _prim(self, path, theirs, ours, caches, code):
        if self._resets_between_samples(path, ours, code):
            return
        want, got = (
            np.array(cache.GetLocalToWorldTransform(prim)) for cache, prim in zip(caches, (theirs, ours))
        )
        self._same(path, "transform", code, got, want, self._allowed_transform(want))
        if theirs.IsA(UsdGeom.PointBased) and "failed" not in self.written.get(path, ()):
            self._points(path, theirs, ours, want, got, code)
            # Normals alone are what is left of a bake that failed (rule 22, see differences.py).
            if self.written.get(path) != {"normals"}:
                self._normals(path, theirs, ours, want, got, code)
        if {"extent", "points"} <= self.written.get(path, set()):
            self._extent(path, theirs, ours, want, code)
        if "extentsHint" in self.written.get(path, ()):
            self._hint(path, theirs, ours, code)

    def _allowed_transform(self, matrix):
        """Relative to the larger of 1 and the translation."""
        return self.tolerance["transforms"] * max(1.0, np.abs(matrix[3, :3]).max())

    def _resets_between_samples(self, path, ours, code):
        """A rigid prim that resets the transform stack, where it has no sample (rule 28, see differences.py)."""
        if "xformOp:transform" not in self.written.get(path, ()):
            return False
        xformable = UsdGeom.Xformable(ours)
        return xformable.GetResetXformStack() and code.GetValue() not in xformable.GetTimeSamples()

    def _points(self, path, theirs, ours, their_world, our_world, code):
        want, got = (_array(p.GetAttribute("points"), code) for p in (theirs, ours))
        if not self._same_shape(path, "points", code, got, want):
            return
        scale = _scale(want, their_world)
        want, got = (p @ m[:3, :3] + m[3, :3] for p, m in ((want, their_world), (got, our_world)))
        self._vectors(path, "points", code, got, want, scale)

    def _extent(self, path, theirs, ours, world, code):
        if not _sampled_at(theirs.GetAttribute("extent"), code):
            return
        want, got = (_array(p.GetAttribute("extent"), code) for p in (theirs, ours))
        if self._same_shape(path, "extent", code, got, want):
            # In the prim's own space, where a box is a box.
            self._vectors(path, "extent", code, got, want, _scale(want, np.eye(4)), world)

    def _hint(self, path, theirs, ours, code):
        """The hint is what usd-core computes from the baked prims below, on our stage (see differences.py)."""
        left = any(_bounded_otherwise(p) for p in Usd.PrimRange(ours))
        sampled = all(_sampled_at(p.GetAttribute("extentsHint"), code) for p in (theirs, ours))
        if left or not sampled:
            return
        boxes = UsdGeom.BBoxCache(code, UsdGeom.Imageable.GetOrderedPurposeTokens(), False)
        model = UsdGeom.ModelAPI(ours)
        want = np.array(model.ComputeExtentsHint(boxes), dtype=np.float64).reshape(-1, 3)
        got = _array(ours.GetAttribute("extentsHint"), code)
        if self._same_shape(path, "extentsHint", code, got, want):
            self._vectors(path, "extentsHint", code, got, want, _scale(want, np.eye(4)))

    def _normals(self, path, theirs, ours, their_world, our_world, code):
        want, got = (_array(p.GetAttribute("normals"), code) for p in (theirs, ours))
        if not self._same_shape(path, "normals", code, got, want):
            return
        want, got = (n @ np.linalg.inv(m[:3, :3]).T for n, m in ((want, their_world), (got, our_world)))
        longest = max(1.0, np.sqrt((want**2).sum(axis=1)).max(initial=0))
        # The inverse magnifies what the transform may be off by.
        off = self._allowed_transform(their_world) * np.linalg.norm(np.linalg.inv(their_world[:3, :3]), 2)
        self._vectors(path, "normals", code, got, want, longest * (1 + off / self.tolerance["normals"]))

    def _same_shape(self, path, what, code, got, want):
        if want is None and got is None:
            return False
        if want is None or got is None:
            self.report.fail(path, f"{what} at {code}: a value {'here' if want is None else 'at Pixar only'}")
            return False
        if got.shape != want.shape:
            self.report.fail(path, f"{what} at {code}: {len(got)} elements, at Pixar's {len(want)}")
            return False
        return len(want) > 0

    def _vectors(self, path, what, code, got, want, scale, world=None):
        """Compares rows, in steps: what only looks wrong costs more to look at."""
        tolerance = self.tolerance["normals" if what == "normals" else "points"]
        errors = _errors(got, want)
        bad = errors > tolerance * scale
        if bad.any() and what in ("points", "normals"):
            tied = self._rest_scene().ties(path, self._sampled_around(path, code), len(want), self.tolerance["tie"])
            self.report.ties += int((bad & tied).sum())
            errors = np.where(tied, 0, errors)
            bad &= ~tied
        if bad.any() and what in ("points", "extent"):
            scale = max(scale, self._rest_scene().scale(path, code, world))
            bad = errors > tolerance * scale
        self.report.compared[what] += len(want)
        self._note(path, what, code, got, want, errors, tolerance * scale)

    def _sampled_around(self, path, code):
        """The samples that a time lies between, which are what is deformed."""
        attribute = self.theirs.GetPrimAtPath(path).GetAttribute("points")
        if code.IsDefault() or not attribute.GetTimeSamples():
            return [code]
        return [Usd.TimeCode(t) for t in attribute.GetBracketingTimeSamples(code.GetValue())]

    def _same(self, path, what, code, got, want, allowed):
        self.report.compared[what] += 1
        self._note(path, what, code, got, want, _errors(got, want), allowed)

    def _note(self, path, what, code, got, want, errors, allowed):
        worst = int(np.argmax(errors))
        used = errors[worst] / allowed
        self.report.worst[what] = max(self.report.worst[what], float(used))
        # A NaN is infinitely wrong, on either side.
        if not used <= 1:
            self.report.fail(
                path,
                f"{what} at {code}: off by {errors[worst]:.2e}, {used:.3g} times what is allowed, at {worst}: "
                f"{_text(got[worst])}, at Pixar's {_text(want[worst])}",
            )

    def _rest_scene(self):
        """The file before the bake, opened where it is needed to judge a difference."""
        if self._rest is None:
            self._rest = PassedThrough(self.path, hemisphere_ties)
        return self._rest


def sample_times(stage):
    """Every time at which a bake wrote anything that is compared."""
    times = set()
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        xformable = UsdGeom.Xformable(prim)
        if not xformable:
            continue
        times.update(xformable.GetTimeSamples())
        for name in ("points", "normals", "extent", "extentsHint"):
            attribute = prim.GetAttribute(name)
            if attribute:
                times.update(attribute.GetTimeSamples())
    return times


def evaluated_times(samples):
    """The samples, what lies half way between two, and a little beyond both ends; or the default time."""
    if not samples:
        return [None]
    samples = sorted(samples)
    between = [(a + b) / 2 for a, b in zip(samples, samples[1:])]
    return sorted(samples + between + [samples[0] - 1, samples[-1] + 1])


def _bounded_otherwise(prim):
    """Prims that usd-core bounds by other things than sinew (see differences.py)."""
    points = UsdGeom.PointBased(prim)
    moving = points and points.GetPointsAttr().ValueMightBeTimeVarying()
    return prim.IsA(UsdSkel.Root) or (moving and not points.GetExtentAttr().HasAuthoredValue())


def _sampled_at(attribute, code):
    times = attribute.GetTimeSamples()
    return not times or code.GetValue() in times


def _array(attribute, code):
    value = attribute.Get(code) if attribute else None
    return None if value is None else np.array(value, dtype=np.float64).reshape(-1, 3)


def _scale(points, world):
    """The larger of the points' size and their largest coordinate, in prim space as seen from the world and there."""
    stretch = np.abs(world[:3, :3]).sum(axis=0).max()
    largest = np.abs(points).max(initial=0) * max(stretch, 1e-30)
    placed = points @ world[:3, :3] + world[3, :3]
    size = np.sqrt((np.ptp(placed, axis=0) ** 2).sum())
    return max(largest, np.abs(placed).max(), size)


def _errors(got, want):
    """The largest error of each row; infinity where a number is none."""
    errors = np.abs(got - want).max(axis=-1)
    return np.where(np.isfinite(errors), errors, np.inf)


def _text(row):
    return "(" + ", ".join(f"{x:.7g}" for x in row) + ")"
