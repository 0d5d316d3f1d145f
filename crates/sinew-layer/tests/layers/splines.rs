//! Splines against usd-core: `make_splines.py` writes random ones with their values.

use sinew_layer::value::{LayerOffset, Spline, SplineType, Tangent};

use super::{Done, python};

/// What may differ, relative to the value and to the numbers that it is computed from.
const TOLERANCE: f64 = 1e-12;

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn number(text: &str) -> Option<f64> {
    (text != "-").then(|| text.parse().unwrap())
}

/// The largest number that values are computed from, as the scale of rounding errors.
fn scale(spline: &Spline) -> f64 {
    let height = |t: Tangent| t.width * t.slope;
    let numbers = spline.knots.iter().flat_map(|k| {
        let before = k.pre_value.unwrap_or(0.0);
        [
            k.value,
            before,
            height(k.pre_tangent),
            height(k.post_tangent),
        ]
    });
    numbers.fold(1.0, |a, b| a.max(b.abs()))
}

fn same(a: Option<f64>, b: Option<f64>, scale: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || (a - b).abs() <= TOLERANCE * b.abs().max(scale),
        (a, b) => a == b,
    }
}

/// Checks all lines and gives the number of splines and values.
fn check(text: &str) -> (usize, usize) {
    let mut spline = Spline::default();
    let mut wrong = Vec::new();
    let (mut splines, mut values) = (0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["spline", hex] => {
                let hex = bytes(hex);
                spline = Spline::from_crate(&hex, []).unwrap();
                assert_eq!(spline.to_crate().0, hex, "{spline:?}");
                let mut updated = spline.clone();
                updated.update_tangents();
                if spline.spline_type == SplineType::Hermite {
                    // Widths are not stored.
                    for (knot, old) in updated.knots.iter_mut().zip(&spline.knots) {
                        knot.pre_tangent.width = old.pre_tangent.width;
                        knot.post_tangent.width = old.post_tangent.width;
                    }
                }
                if !close(&updated, &spline) {
                    wrong.push(format!("tangents {updated:?} but usd-core {spline:?}"));
                }
                splines += 1;
            }
            ["at", time, value, before] => {
                let time: f64 = time.parse().unwrap();
                let ours = [spline.eval(time), spline.eval_pre(time)];
                let theirs = [number(value), number(before)];
                let scale = scale(&spline);
                if !(0..2).all(|i| same(ours[i], theirs[i], scale)) {
                    wrong.push(format!(
                        "{time}: {ours:?} but usd-core {theirs:?} {spline:?}"
                    ));
                }
                values += 2;
            }
            ["scaled", offset, factor, hex] => {
                let offset = LayerOffset {
                    offset: offset.parse().unwrap(),
                    scale: factor.parse().unwrap(),
                };
                let theirs = Spline::from_crate(&bytes(hex), []).unwrap();
                // Reversed inner loops become knots; usd-core's own result has other values than the spline.
                if offset.scale < 0.0 && spline.inner_loop.is_some() {
                    continue;
                }
                let ours = spline.offset(&offset);
                if !close(&ours, &theirs) {
                    wrong.push(format!("{offset:?} {spline:?} {ours:?} but {theirs:?}"));
                }
            }
            _ => panic!("{line}"),
        }
    }
    wrong.sort_by_key(String::len);
    let first: String = wrong.iter().take(3).map(|w| format!("{w}\n")).collect();
    assert!(wrong.is_empty(), "{} of {values}: {first}", wrong.len());
    (splines, values)
}

/// Whether two splines are the same up to the rounding of times.
fn close(a: &Spline, b: &Spline) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * a.abs().max(10.0);
    let mut rounded = a.clone();
    for (knot, other) in rounded.knots.iter_mut().zip(&b.knots) {
        let pairs = [
            (&mut knot.time, other.time),
            (&mut knot.value, other.value),
            (&mut knot.pre_tangent.width, other.pre_tangent.width),
            (&mut knot.pre_tangent.slope, other.pre_tangent.slope),
            (&mut knot.post_tangent.width, other.post_tangent.width),
            (&mut knot.post_tangent.slope, other.post_tangent.slope),
        ];
        for (a, b) in pairs {
            if near(*a, b) {
                *a = b;
            }
        }
        if let (Some(a), Some(b)) = (&mut knot.pre_value, other.pre_value)
            && near(*a, b)
        {
            *a = b;
        }
    }
    rounded == *b
}

/// 60 splines that `make_splines.py 60 1` wrote with usd-core 26.11.
pub fn kept() -> Done {
    let (splines, values) = check(include_str!("splines.txt"));
    match splines >= 40 && values > 1000 {
        true => Ok(()),
        false => Err(format!("{splines} splines, {values} values").into()),
    }
}

/// Thousands of other splines.
pub fn many() -> Done {
    let seed = std::env::var("SINEW_SEED").unwrap_or_else(|_| "2".to_owned());
    let (splines, _) = check(&python("make_splines.py", &["3000", &seed])?);
    match splines {
        3000 => Ok(()),
        _ => Err(format!("{splines} splines").into()),
    }
}
