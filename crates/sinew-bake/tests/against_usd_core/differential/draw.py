"""Random numbers from a seed, and the vectors, rotations, matrices and samples made of them."""

import random

from pxr import Gf, Sdf

# Times that samples are drawn from: whole frames, frames between them, and gaps.
TIMES = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 4.25, 5.0, 7.0, 8.0, 10.5)


class Draw(random.Random):
    """Everything that a stage draws comes from here, so that a seed names it."""

    def chance(self, p):
        return self.random() < p

    def vector(self, size=1.0):
        return Gf.Vec3d(*(self.uniform(-size, size) for _ in range(3)))

    def direction(self):
        while True:
            v = self.vector()
            if 0.1 < v.GetLength() <= 1:
                return v.GetNormalized()

    def quaternion(self):
        """Of unit length."""
        return Gf.Rotation(self.direction(), self.uniform(-180, 180)).GetQuat()

    def scale(self, mirror=0.0):
        """Factors per axis, at most two octaves apart, so that f32 keeps its digits."""
        return Gf.Vec3d(*(self.uniform(0.5, 1.6) * (-1 if self.chance(mirror) else 1) for _ in range(3)))

    def matrix(self, scaled=True, shear=0.0, mirror=0.0, reach=2.0):
        """A transform: shear, scale, rotation, translation (row vectors)."""
        m = Gf.Matrix4d(1)
        if self.chance(shear):
            m[0, 1], m[2, 0] = self.uniform(-0.5, 0.5), self.uniform(-0.5, 0.5)
        if scaled:
            m *= Gf.Matrix4d().SetScale(self.scale(mirror))
        m *= Gf.Matrix4d().SetRotate(Gf.Rotation(self.direction(), self.uniform(-180, 180)))
        return m * Gf.Matrix4d().SetTranslate(self.vector(reach))

    def times(self, counts=(0, 1, 2, 3, 5)):
        return sorted(self.sample(TIMES, self.choice(counts)))

    def animate(self, attribute, make, counts=(0, 1, 2, 3, 5), blocked=0.0):
        """Authors a default value, samples, or both; some samples are blocked."""
        times = self.times(counts)
        if not times or self.chance(0.4):
            attribute.Set(make())
        for i, time in enumerate(times):
            value = make()
            # A last sample that is a value: where all are blocked there is no animation at all.
            if i + 1 < len(times) and self.chance(blocked):
                value = Sdf.ValueBlock()
            attribute.Set(value, time)
