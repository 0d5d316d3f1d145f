//! Values of splines at times, as `Ts.Spline.Eval` computes them.

use super::curve;
use super::{Extrapolation, Interpolation, Knot, LoopParams, Spline, SplineType};

/// From which side a time is looked at, where the value jumps.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// Just before the time.
    Before,
    /// At the time.
    At,
}

/// Where a spline is looked at, and what is added to the value there.
#[derive(Clone, Copy)]
struct Place {
    time: f64,
    side: Side,
    add: f64,
}

/// A knot without its custom data. Loops move copies of knots.
#[derive(Clone, Copy)]
struct Point {
    time: f64,
    value: f64,
    pre_value: Option<f64>,
    next: Interpolation,
    /// Widths and slopes.
    before: [f64; 2],
    after: [f64; 2],
}

impl Point {
    fn new(knot: &Knot) -> Self {
        Self {
            time: knot.time,
            value: knot.value,
            pre_value: knot.pre_value,
            next: knot.next,
            before: [knot.pre_tangent.width, knot.pre_tangent.slope],
            after: [knot.post_tangent.width, knot.post_tangent.slope],
        }
    }

    /// The value at which the segment before this knot ends.
    fn arrival(&self) -> f64 {
        self.pre_value.unwrap_or(self.value)
    }

    /// This knot in the inner loop's repetition `count` after the first.
    fn repeated(mut self, params: &LoopParams, count: f64) -> Self {
        self.time += count * (params.end - params.start);
        self.value += count * params.value_offset;
        self.pre_value = self.pre_value.map(|v| v + count * params.value_offset);
        self
    }

    /// The slope of the straight line to the next knot.
    fn slope_to(&self, next: &Self) -> f64 {
        (next.arrival() - self.value) / (next.time - self.time)
    }
}

/// The inner loop of a spline, if it repeats anything.
#[derive(Clone, Copy)]
struct InnerLoop {
    params: LoopParams,
    /// The knots in the range: the first, and the one after the last.
    first: usize,
    end: usize,
    /// The times between which knots are repeated ones.
    from: f64,
    to: f64,
}

impl InnerLoop {
    fn new(spline: &Spline) -> Option<Self> {
        let mut params = spline.inner_loop?;
        params.pre_loops = params.pre_loops.max(0);
        params.post_loops = params.post_loops.max(0);
        let span = params.end - params.start;
        if params.pre_loops == 0 && params.post_loops == 0 || span.is_nan() || span <= 0.0 {
            return None;
        }
        let knots = &spline.knots;
        let first = knots.partition_point(|k| k.time < params.start);
        knots.get(first).filter(|k| k.time == params.start)?;
        Some(Self {
            params,
            first,
            end: knots.partition_point(|k| k.time < params.end),
            from: params.start - f64::from(params.pre_loops) * span,
            to: params.end + f64::from(params.post_loops) * span,
        })
    }

    /// In which repetition a time of the looped range is: 0 between the loop's start and end.
    fn repetition(&self, time: f64) -> f64 {
        let span = self.params.end - self.params.start;
        if time < self.params.start {
            -((self.params.start - time) / span).ceil()
        } else if time >= self.params.end {
            ((time - self.params.end) / span).trunc() + 1.0
        } else {
            0.0
        }
    }
}

/// The knots with all repetitions of the inner loop, which are made when they are asked for.
struct Points<'a> {
    knots: &'a [Knot],
    inner: Option<InnerLoop>,
}

impl Points<'_> {
    fn point(&self, index: usize) -> Point {
        Point::new(&self.knots[index])
    }

    /// The first knot of the loop in a repetition.
    fn start_of(&self, inner: &InnerLoop, count: f64) -> Point {
        self.point(inner.first).repeated(&inner.params, count)
    }

    /// The value at a knot that is authored, in a spline with an inner loop, or at a repetition of it. usd-core
    /// looks there only at authored knots: the first one has nothing before it and the last one nothing after
    /// it, whatever the loop puts there. None if there is no knot at this time.
    fn at_authored(
        &self,
        time: f64,
        side: Side,
        pre: &Extrapolation,
        post: &Extrapolation,
    ) -> Option<Option<f64>> {
        self.inner.as_ref()?;
        let index = self.knots.partition_point(|k| k.time < time);
        let knot = self.knots.get(index).filter(|k| k.time == time)?;
        let previous = index.checked_sub(1).map(|i| &self.knots[i]);
        Some(match (side, previous.map(|k| k.next)) {
            (Side::Before, None) if *pre == Extrapolation::Block => None,
            (Side::Before, Some(Interpolation::Block)) => None,
            (Side::Before, Some(Interpolation::Held)) => previous.map(|k| k.value),
            (Side::Before, _) => Some(knot.pre_value.unwrap_or(knot.value)),
            (Side::At, _) => {
                let blocked = match index + 1 == self.knots.len() {
                    true => *post == Extrapolation::Block,
                    false => knot.next == Interpolation::Block,
                };
                (!blocked).then_some(knot.value)
            }
        })
    }

    /// The last knot at or before a time, which is not in a repetition.
    fn at_or_before(&self, time: f64) -> Option<Point> {
        if let Some(inner) = &self.inner {
            let last = f64::from(inner.params.post_loops) + 1.0;
            if time >= inner.to {
                let after = self.knots.partition_point(|k| k.time <= time);
                let plain = after.checked_sub(1).map(|i| self.point(i));
                // The loop's end is a knot too, and hides one that is there.
                return Some(
                    plain
                        .filter(|p| p.time > inner.to)
                        .unwrap_or_else(|| self.start_of(inner, last)),
                );
            }
        }
        let after = self.knots.partition_point(|k| k.time <= time);
        after.checked_sub(1).map(|i| self.point(i))
    }

    /// The first knot after a time, which is not in a repetition.
    fn after(&self, time: f64) -> Option<Point> {
        let index = self.knots.partition_point(|k| k.time <= time);
        let plain = self.knots.get(index).map(Point::new);
        match &self.inner {
            Some(inner) if time >= inner.params.start && time < inner.params.end => {
                let inside = plain.filter(|p| p.time < inner.params.end);
                Some(inside.unwrap_or_else(|| self.start_of(inner, 1.0)))
            }
            Some(inner) if time < inner.from => {
                let start = self.start_of(inner, -f64::from(inner.params.pre_loops));
                Some(plain.filter(|p| p.time < inner.from).unwrap_or(start))
            }
            _ => plain,
        }
    }

    /// The last knot before a time, which is not in a repetition.
    fn before(&self, time: f64) -> Option<Point> {
        let index = self.knots.partition_point(|k| k.time < time);
        let plain = index.checked_sub(1).map(|i| self.point(i));
        match &self.inner {
            Some(inner) if time > inner.to => {
                let last = self.start_of(inner, f64::from(inner.params.post_loops) + 1.0);
                Some(plain.filter(|p| p.time > inner.to).unwrap_or(last))
            }
            _ => plain,
        }
    }

    fn first(&self) -> Option<Point> {
        let plain = self.knots.first().map(Point::new)?;
        Some(match &self.inner {
            Some(inner) if inner.from < plain.time => {
                self.start_of(inner, -f64::from(inner.params.pre_loops))
            }
            _ => plain,
        })
    }

    fn last(&self) -> Option<Point> {
        let plain = self.knots.last().map(Point::new)?;
        Some(match &self.inner {
            Some(inner) if inner.to > plain.time => {
                self.start_of(inner, f64::from(inner.params.post_loops) + 1.0)
            }
            _ => plain,
        })
    }
}

impl Spline {
    /// The value at a time. None where the spline has none: without knots, and in blocked segments and
    /// extrapolations.
    ///
    /// The result is f64 also if the values have another type ([`Spline::value`] rounds it).
    #[must_use]
    pub fn eval(&self, time: f64) -> Option<f64> {
        self.eval_side(time, Side::At)
    }

    /// The value just before a time, which differs from [`Self::eval`] only where the curve jumps.
    #[must_use]
    pub fn eval_pre(&self, time: f64) -> Option<f64> {
        self.eval_side(time, Side::Before)
    }

    fn eval_side(&self, time: f64, side: Side) -> Option<f64> {
        if !time.is_finite() {
            return None;
        }
        let points = Points {
            knots: &self.knots,
            inner: InnerLoop::new(self),
        };
        let (first, last) = (points.first()?, points.last()?);
        let mut place = Place {
            time,
            side,
            add: 0.0,
        };
        let [pre, post] = self.leave_loops(&points, &mut place);
        if let Some(inner) = &points.inner
            && place.time >= inner.from
            && place.time <= inner.to
        {
            // Repetitions are looked up in the loop's range.
            let count = inner.repetition(place.time);
            place.time -= count * (inner.params.end - inner.params.start);
            place.add += count * inner.params.value_offset;
        }
        let Place { time, side, add } = place;
        let value = if let Some(value) = points.at_authored(
            time,
            side,
            &self.pre_extrapolation,
            &self.post_extrapolation,
        ) {
            value
        } else if time < first.time || (time == first.time && side == Side::Before) {
            extrapolate_before(&points, &first, pre, time)
        } else if time > last.time || (time == last.time && side == Side::At) {
            extrapolate_after(&points, &last, post, time)
        } else {
            let (begin, end) = match side {
                Side::At => (points.at_or_before(time)?, points.after(time)?),
                Side::Before => (points.before(time)?, points.before_end(time)?),
            };
            self.interpolate(&begin, &end, time)
        };
        value.map(|v| v + add)
    }

    /// Moves a place in a looping extrapolation to the range that repeats. Gives the extrapolations, which hold
    /// or have no value where a loop has nothing to repeat.
    fn leave_loops(&self, points: &Points<'_>, place: &mut Place) -> [Extrapolation; 2] {
        let mut both = [self.pre_extrapolation, self.post_extrapolation];
        for (extrapolation, is_pre) in both.iter_mut().zip([true, false]) {
            let Some([from, to]) = self.loop_range(points, is_pre, extrapolation) else {
                continue;
            };
            let distance = if is_pre {
                from.time - place.time
            } else {
                place.time - to.time
            };
            // The first knot itself belongs to the range, the last one to what comes after it.
            if distance < 0.0 || (distance == 0.0 && is_pre == (place.side == Side::At)) {
                continue;
            }
            let span = to.time - from.time;
            let whole = (distance / span).trunc();
            // At a boundary of two repetitions the side decides.
            let nearer = whole == distance / span && (is_pre == (place.side == Side::At));
            let count = if nearer { whole } else { whole + 1.0 };
            let count = if is_pre { count } else { -count };
            place.time += count * span;
            match extrapolation {
                Extrapolation::LoopRepeat(_) if is_pre => {
                    place.add = -count * (to.arrival() - from.arrival());
                }
                Extrapolation::LoopRepeat(_) => place.add = -count * (to.value - from.value),
                Extrapolation::LoopOscillate(_) if count % 2.0 != 0.0 => {
                    place.time = from.time + (span - (place.time - from.time));
                    place.side = match place.side {
                        Side::Before => Side::At,
                        Side::At => Side::Before,
                    };
                }
                _ => {}
            }
            break;
        }
        both
    }

    /// The knots between which an extrapolation repeats. None if it is no loop or has nothing to repeat, and then
    /// it becomes what it is instead.
    fn loop_range(
        &self,
        points: &Points<'_>,
        is_pre: bool,
        extrapolation: &mut Extrapolation,
    ) -> Option<[Point; 2]> {
        if !extrapolation.is_loop() {
            return None;
        }
        let (mut from, mut to) = (points.first()?, points.last()?);
        if from.time == to.time {
            *extrapolation = Extrapolation::Held;
            return None;
        }
        if let Some(boundary) = extrapolation.loop_boundary() {
            let at = self.knots.partition_point(|k| k.time < boundary);
            let Some(knot) = self.knots.get(at).filter(|k| k.time == boundary) else {
                *extrapolation = Extrapolation::Block;
                return None;
            };
            let inner = if is_pre { &mut to } else { &mut from };
            *inner = Point::new(knot);
            if from.time >= to.time {
                *extrapolation = Extrapolation::Held;
                return None;
            }
        }
        Some([from, to])
    }

    /// The value in the segment between two knots.
    fn interpolate(&self, begin: &Point, end: &Point, time: f64) -> Option<f64> {
        if time == begin.time && begin.next != Interpolation::Block {
            return Some(begin.value);
        }
        match begin.next {
            Interpolation::Block => None,
            Interpolation::Held => Some(begin.value),
            _ if time == end.time => Some(end.arrival()),
            Interpolation::Linear => Some(begin.value + begin.slope_to(end) * (time - begin.time)),
            Interpolation::Curve => {
                let from = (begin.time, begin.value, begin.after);
                let to = (end.time, end.arrival(), end.before);
                Some(match self.spline_type {
                    SplineType::Bezier => curve::bezier(from, to, time),
                    SplineType::Hermite => curve::hermite(from, to, time),
                })
            }
        }
    }

    /// This spline with the repetitions of its inner loop as knots of their own. A million of them at most.
    pub(super) fn without_inner_loop(&self) -> Self {
        let mut out = self.clone();
        out.inner_loop = None;
        let Some(inner) = InnerLoop::new(self) else {
            return out;
        };
        let range = &self.knots[inner.first..inner.end];
        let most = (1_000_000 / range.len()) as i32;
        let copy = |knot: &Knot, count: i32| {
            let moved = Point::new(knot).repeated(&inner.params, f64::from(count));
            Knot {
                time: moved.time,
                value: self.value_type.round(moved.value),
                pre_value: moved.pre_value.map(|v| self.value_type.round(v)),
                custom_data: crate::value::Dictionary::new(),
                ..knot.clone()
            }
        };
        let mut knots: Vec<Knot> = Vec::new();
        knots.extend(self.knots.iter().filter(|k| k.time < inner.from).cloned());
        let (pre, post) = (
            inner.params.pre_loops.min(most),
            inner.params.post_loops.min(most),
        );
        for count in -pre..=post {
            knots.extend(range.iter().map(|k| copy(k, count)));
        }
        knots.push(copy(&range[0], post + 1));
        knots.extend(self.knots.iter().filter(|k| k.time > inner.to).cloned());
        out.knots = knots;
        out
    }
}

impl Points<'_> {
    /// Whether linear extrapolation from this knot goes on with the slope of the segment beside it. It does not where
    /// the value jumps, and not from the only authored knot, also if that is repeated.
    fn has_slope(&self, end: &Point) -> bool {
        end.pre_value.is_none() && self.knots.len() > 1
    }

    /// The knot after the first one. usd-core takes the authored one unless the first is a repeated one.
    fn second(&self, first: &Point) -> Option<Point> {
        match &self.inner {
            Some(inner) if self.knots.first()?.time != first.time => {
                let count = -f64::from(inner.params.pre_loops);
                Some(match inner.end - inner.first > 1 {
                    true => self.point(inner.first + 1).repeated(&inner.params, count),
                    false => self.start_of(inner, count + 1.0),
                })
            }
            _ => self.knots.get(1).map(Point::new),
        }
    }

    /// The knot before the last one, likewise.
    fn second_last(&self, last: &Point) -> Option<Point> {
        match &self.inner {
            Some(inner) if self.knots.last()?.time != last.time => {
                let count = f64::from(inner.params.post_loops);
                Some(self.point(inner.end - 1).repeated(&inner.params, count))
            }
            _ => self.knots.iter().nth_back(1).map(Point::new),
        }
    }

    /// The first knot at or after a time.
    fn before_end(&self, time: f64) -> Option<Point> {
        let at = self.at_or_before(time);
        at.filter(|p| p.time == time).or_else(|| self.after(time))
    }
}

/// The value before the first knot.
fn extrapolate_before(
    points: &Points<'_>,
    first: &Point,
    extrapolation: Extrapolation,
    time: f64,
) -> Option<f64> {
    let slope = match extrapolation {
        Extrapolation::Block => return None,
        Extrapolation::Sloped(slope) => slope,
        Extrapolation::Linear if points.has_slope(first) => match points.second(first) {
            Some(second) => match first.next {
                Interpolation::Linear => first.slope_to(&second),
                Interpolation::Curve => first.after[1],
                _ => 0.0,
            },
            None => 0.0,
        },
        _ => 0.0,
    };
    Some(first.arrival() - slope * (first.time - time))
}

/// The value at and after the last knot.
fn extrapolate_after(
    points: &Points<'_>,
    last: &Point,
    extrapolation: Extrapolation,
    time: f64,
) -> Option<f64> {
    let slope = match extrapolation {
        Extrapolation::Block => return None,
        Extrapolation::Sloped(slope) => slope,
        Extrapolation::Linear if points.has_slope(last) => match points.second_last(last) {
            Some(previous) => match previous.next {
                Interpolation::Linear => previous.slope_to(last),
                Interpolation::Curve => last.before[1],
                _ => 0.0,
            },
            None => 0.0,
        },
        _ => 0.0,
    };
    Some(last.value + slope * (time - last.time))
}
