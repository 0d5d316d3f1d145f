//! Reads splines.

use super::lexer::{Lexer, Number, Parsed, fail_at};
use super::read_dictionary::dictionary;
use crate::value::{
    Extrapolation, Interpolation, Knot, LoopParams, Spline, SplineType, SplineValueType, Tangent,
    TangentAlgorithm,
};

/// A spline in braces, of an attribute of this type.
pub(super) fn spline(lexer: &mut Lexer, type_name: &str) -> Parsed<Spline> {
    let Some(value_type) = SplineValueType::from_name(type_name) else {
        return lexer.fail(format!("an attribute of type {type_name} has no spline"));
    };
    let mut spline = Spline {
        value_type,
        ..Spline::default()
    };
    lexer.bracketed(b'{', b'}', |lexer| item(lexer, &mut spline))?;
    // Of knots at one time the first counts; -0 and 0 are one time.
    let order = |a: &Knot, b: &Knot| a.time.partial_cmp(&b.time);
    spline
        .knots
        .sort_by(|a, b| order(a, b).unwrap_or(std::cmp::Ordering::Equal));
    spline
        .knots
        .dedup_by(|later, earlier| later.time == earlier.time);
    Ok(spline)
}

fn item(lexer: &mut Lexer, spline: &mut Spline) -> Parsed<()> {
    match () {
        () if lexer.keyword("bezier") => spline.spline_type = SplineType::Bezier,
        () if lexer.keyword("hermite") => spline.spline_type = SplineType::Hermite,
        () if lexer.keyword("pre") => {
            colon(lexer)?;
            spline.pre_extrapolation = extrapolation(lexer, spline.value_type)?;
        }
        () if lexer.keyword("post") => {
            colon(lexer)?;
            spline.post_extrapolation = extrapolation(lexer, spline.value_type)?;
        }
        () if lexer.keyword("loop") => {
            colon(lexer)?;
            spline.inner_loop = Some(inner_loop(lexer)?);
        }
        () => spline.knots.push(knot(lexer, spline.value_type)?),
    }
    Ok(())
}

fn colon(lexer: &mut Lexer) -> Parsed<()> {
    lexer.inline();
    lexer.expect(b':')?;
    lexer.inline();
    Ok(())
}

fn any_number(lexer: &mut Lexer) -> Parsed<Number> {
    match lexer.number()? {
        Some(number) => Ok(number),
        None => lexer.expected("a number"),
    }
}

fn number(lexer: &mut Lexer) -> Parsed<f64> {
    Ok(any_number(lexer)?.to_f64())
}

/// A number that is finite in the spline's type.
fn value(lexer: &mut Lexer, kind: SplineValueType) -> Parsed<f64> {
    let start = lexer.pos;
    let value = kind.round(number(lexer)?);
    match value.is_finite() {
        true => Ok(value),
        false => fail_at(start, "a number of a spline has to be finite"),
    }
}

fn extrapolation(lexer: &mut Lexer, kind: SplineValueType) -> Parsed<Extrapolation> {
    Ok(match () {
        () if lexer.keyword("none") => Extrapolation::Block,
        () if lexer.keyword("held") => Extrapolation::Held,
        () if lexer.keyword("linear") => Extrapolation::Linear,
        () if lexer.keyword("sloped") => {
            let slope = in_parentheses(lexer, |lexer| value(lexer, kind))?;
            Extrapolation::Sloped(slope)
        }
        () if lexer.keyword("loop") => {
            lexer.gap()?;
            let make = match () {
                () if lexer.keyword("repeat") => Extrapolation::LoopRepeat,
                () if lexer.keyword("reset") => Extrapolation::LoopReset,
                () if lexer.keyword("oscillate") => Extrapolation::LoopOscillate,
                () => return lexer.expected("'repeat', 'reset' or 'oscillate'"),
            };
            let before = lexer.pos;
            lexer.inline();
            match lexer.peek() {
                b'(' => make(Some(in_parentheses(lexer, number)?)),
                _ => {
                    lexer.pos = before;
                    make(None)
                }
            }
        }
        () => return lexer.expected("'none', 'held', 'linear', 'sloped' or 'loop'"),
    })
}

fn in_parentheses<T>(lexer: &mut Lexer, read: impl Fn(&mut Lexer) -> Parsed<T>) -> Parsed<T> {
    lexer.inline();
    lexer.expect(b'(')?;
    lexer.inline();
    let value = read(lexer)?;
    lexer.inline();
    lexer.expect(b')')?;
    Ok(value)
}

fn comma(lexer: &mut Lexer) -> Parsed<()> {
    lexer.inline();
    lexer.expect(b',')?;
    lexer.inline();
    Ok(())
}

/// `(start, end, loops before, loops after, offset)`.
fn inner_loop(lexer: &mut Lexer) -> Parsed<LoopParams> {
    let count = |lexer: &mut Lexer| {
        let start = lexer.pos;
        let number = any_number(lexer)?;
        match number.to_int() {
            Some(count) if number.to_f64().fract() == 0.0 => Ok(count),
            _ => fail_at(start, "expected a whole number of loops"),
        }
    };
    in_parentheses(lexer, |lexer| {
        let start = number(lexer)?;
        comma(lexer)?;
        let end = number(lexer)?;
        comma(lexer)?;
        let pre_loops = count(lexer)?;
        comma(lexer)?;
        let post_loops = count(lexer)?;
        comma(lexer)?;
        Ok(LoopParams {
            start,
            end,
            pre_loops,
            post_loops,
            value_offset: number(lexer)?,
        })
    })
}

/// `time: value`, or `time: value before & value`, and parts after semicolons.
fn knot(lexer: &mut Lexer, kind: SplineValueType) -> Parsed<Knot> {
    let start = lexer.pos;
    let Some(time) = lexer.number()?.map(Number::to_f64) else {
        return lexer.expected("a knot's time, 'pre', 'post', 'loop', 'bezier', 'hermite' or '}'");
    };
    if !time.is_finite() {
        return fail_at(start, "the time of a knot has to be finite");
    }
    colon(lexer)?;
    let mut knot = Knot {
        time,
        value: value(lexer, kind)?,
        ..Knot::default()
    };
    lexer.inline();
    if lexer.eat(b'&') {
        lexer.inline();
        knot.pre_value = Some(knot.value);
        knot.value = value(lexer, kind)?;
    }
    loop {
        lexer.line();
        if !lexer.eat(b';') {
            return Ok(knot);
        }
        lexer.space();
        if matches!(lexer.peek(), b',' | b'}') {
            return Ok(knot);
        }
        part(lexer, kind, &mut knot)?;
    }
}

fn part(lexer: &mut Lexer, kind: SplineValueType, knot: &mut Knot) -> Parsed<()> {
    if lexer.keyword("pre") {
        lexer.gap()?;
        knot.pre_tangent = tangent(lexer, kind)?;
    } else if lexer.keyword("post") {
        lexer.gap()?;
        knot.next = match () {
            () if lexer.keyword("none") => Interpolation::Block,
            () if lexer.keyword("held") => Interpolation::Held,
            () if lexer.keyword("linear") => Interpolation::Linear,
            () if lexer.keyword("curve") => Interpolation::Curve,
            () => return lexer.expected("'none', 'held', 'linear' or 'curve'"),
        };
        let before = lexer.pos;
        lexer.inline();
        match lexer.peek() {
            b'(' => knot.post_tangent = tangent(lexer, kind)?,
            _ => lexer.pos = before,
        }
    } else if lexer.peek() == b'{' {
        knot.custom_data = dictionary(lexer)?;
    } else {
        return lexer.expected("'pre', 'post' or a dictionary");
    }
    Ok(())
}

/// `(width, slope)` or `(slope)`, and maybe the algorithm.
fn tangent(lexer: &mut Lexer, kind: SplineValueType) -> Parsed<Tangent> {
    in_parentheses(lexer, |lexer| {
        let start = lexer.pos;
        // If a second number follows, then this one is the width, which is a double in any spline.
        let width = number(lexer)?;
        let mut tangent = Tangent::default();
        lexer.inline();
        let mut more = lexer.eat(b',');
        lexer.inline();
        if more && lexer.peek_word().is_empty() {
            tangent.width = width;
            tangent.slope = value(lexer, kind)?;
            lexer.inline();
            more = lexer.eat(b',');
            lexer.inline();
        } else {
            tangent.slope = kind.round(width);
        }
        if !tangent.width.is_finite() || tangent.width < 0.0 || !tangent.slope.is_finite() {
            return fail_at(
                start,
                "a tangent has to be finite and its width not negative",
            );
        }
        if more {
            tangent.algorithm = match () {
                () if lexer.keyword("custom") => TangentAlgorithm::Custom,
                () if lexer.keyword("autoEase") => TangentAlgorithm::AutoEase,
                () => return lexer.expected("'custom' or 'autoEase'"),
            };
        }
        Ok(tangent)
    })
}
