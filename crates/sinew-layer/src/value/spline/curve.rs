//! The curve between two knots.

/// A cubic polynomial by its four Bézier points, as coefficients from the cube down.
fn cubic(p: [f64; 4]) -> [f64; 4] {
    [
        -p[0] + 3.0 * p[1] - 3.0 * p[2] + p[3],
        3.0 * p[0] - 6.0 * p[1] + 3.0 * p[2],
        -3.0 * p[0] + 3.0 * p[1],
        p[0],
    ]
}

/// A polynomial's value.
fn at([a, b, c, d]: [f64; 4], t: f64) -> f64 {
    t * (t * (t * a + b) + c) + d
}

/// One end of a segment: its time, its value, and the width and the slope of its tangent.
pub(super) type End = (f64, f64, [f64; 2]);

/// The value of a Hermite segment, which has no widths.
pub(super) fn hermite(begin: End, end: End, time: f64) -> f64 {
    let span = end.0 - begin.0;
    let rise = end.1 - begin.1;
    let u = (time - begin.0) / span;
    let (from, to) = (begin.2[1] * span, end.2[1] * span);
    let a = -2.0 * rise + from + to;
    at([a, 3.0 * rise - 2.0 * from - to, from, begin.1], u)
}

/// The value of a Bézier segment.
pub(super) fn bezier(begin: End, end: End, time: f64) -> f64 {
    let [from, to] = regular_widths(end.0 - begin.0, begin.2[0], end.2[0]);
    // Times relative to the one looked for: its parameter is where the polynomial is 0.
    let times = cubic([
        begin.0 - time,
        begin.0 + from - time,
        end.0 - to - time,
        end.0 - time,
    ]);
    let t = root(times).clamp(0.0, 1.0);
    let values = cubic([
        begin.1,
        begin.1 + from * begin.2[1],
        end.1 - to * end.2[1],
        end.1,
    ]);
    at(values, t)
}

/// The widths of a segment's two tangents so that time never runs backwards: both are shortened in their
/// ratio if the curve would turn around.
fn regular_widths(span: f64, from: f64, to: f64) -> [f64; 2] {
    // Margins of usd-core: widths that are written are a little shorter, so that they pass the test.
    const READ: f64 = 1e-6;
    const WRITE: f64 = 1e-5;
    let (a, b) = (from / span, to / span);
    if a <= 1.0 && b <= 1.0 {
        return [from, to];
    }
    let (wide_a, wide_b) = (a + READ, b + READ);
    let turns = wide_a * wide_a + wide_b * wide_b - 2.0 * (wide_a + wide_b) + wide_a * wide_b + 1.0;
    if turns.is_nan() || turns <= 0.0 {
        return [from, to];
    }
    if a < READ {
        return [from, (1.0 - WRITE) * span];
    }
    if b < READ {
        return [(1.0 - WRITE) * span, to];
    }
    let ratio = a / b;
    let b = (ratio.sqrt() + ratio + 1.0) / (ratio * ratio + ratio + 1.0);
    [(ratio * b - WRITE) * span, (b - WRITE) * span]
}

/// Where a cubic polynomial that rises from 0 to 1 is 0. The closed formulas are those of usd-core, whose errors
/// near double roots are part of its results.
fn root([a, b, c, d]: [f64; 4]) -> f64 {
    const SMALL: f64 = 1e-10;
    let small = |x: f64| x.abs() < SMALL;
    if small(a) && small(b) {
        return -d / c;
    }
    if small(a) {
        let root = (c * c - 4.0 * b * d).sqrt();
        return inside(&[(-c - root) / (2.0 * b), (-c + root) / (2.0 * b)]);
    }
    let (b, c, d) = (b / a, c / a, d / a);
    let p = (3.0 * c - b * b) / 3.0;
    let q = (2.0 * b * b * b - 9.0 * b * c + 27.0 * d) / 27.0;
    let (p3, q2, b3) = (p / 3.0, q / 2.0, b / 3.0);
    let p33 = p3 * p3 * p3;
    let discriminant = q2 * q2 + p33;
    if discriminant < 0.0 {
        let r = (-p33).sqrt();
        let angle = (-q / (2.0 * r)).clamp(-1.0, 1.0).acos();
        let radius = 2.0 * r.cbrt();
        let turn = std::f64::consts::TAU;
        inside(&[0.0, turn, 2.0 * turn].map(|add| radius * ((angle + add) / 3.0).cos() - b3))
    } else if discriminant == 0.0 {
        let u = -q2.cbrt();
        inside(&[2.0 * u - b3, -u - b3])
    } else {
        let s = discriminant.sqrt();
        (s - q2).cbrt() - (s + q2).cbrt() - b3
    }
}

/// The root that is nearest to the middle of 0 to 1. Of two that are equally near it is the first.
fn inside(roots: &[f64]) -> f64 {
    let distance = |r: f64| (r - 0.5).abs();
    let nearest = |a: f64, b: f64| if distance(b) < distance(a) { b } else { a };
    roots.iter().copied().reduce(nearest).unwrap_or(0.0)
}
