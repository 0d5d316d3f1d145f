//! Numbers that a row of `pictures.txt` takes from pictures.

use common::pictures::differing;
use common::tolerance;
use image::RgbaImage;
use libtest_mimic::Failed;

use super::drawing::{BEHIND, covered, extent, inside};

/// Of a pixel: red, green, blue, alpha, the largest of the colours.
const CHANNELS: &str = "rgbav";

fn channel(name: &str) -> Result<usize, Failed> {
    let index = CHANNELS.find(name).filter(|_| name.len() == 1);
    Ok(index.ok_or_else(|| format!("no channel {name:?}"))?)
}

fn value([r, g, b, a]: [u8; 4], channel: usize) -> f64 {
    f64::from([r, g, b, a, r.max(g).max(b)][channel])
}

/// What pixels must be, such as `r>b+60,g<90`.
pub struct Condition(Vec<Comparison>);

struct Comparison {
    channel: usize,
    is_greater: bool,
    other: Option<usize>,
    offset: f64,
}

impl Condition {
    pub fn parse(text: &str) -> Result<Self, Failed> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        let parts = parts.map(|part| {
            let right = &part[2..];
            let other = match right.starts_with(char::is_alphabetic) {
                true => Some(channel(&right[..1])?),
                false => None,
            };
            let offset = &right[usize::from(other.is_some())..];
            Ok(Comparison {
                channel: channel(&part[..1])?,
                is_greater: &part[1..2] == ">",
                other,
                offset: if offset.is_empty() {
                    0.0
                } else {
                    offset.parse()?
                },
            })
        });
        Ok(Self(parts.collect::<Result<_, Failed>>()?))
    }

    pub fn holds(&self, pixel: [u8; 4]) -> bool {
        self.0.iter().all(|c| {
            let right = c.other.map_or(0.0, |other| value(pixel, other)) + c.offset;
            let left = value(pixel, c.channel);
            if c.is_greater {
                left > right
            } else {
                left < right
            }
        })
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let values = Vec::from_iter(values);
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The mean colour inside of what is drawn.
fn mean_color(picture: &RgbaImage) -> Result<[f64; 3], Failed> {
    let pixels = inside(picture);
    if pixels.len() < 1000 {
        return Err(format!("{} pixels are drawn", pixels.len()).into());
    }
    let of = |channel| {
        mean(
            pixels
                .iter()
                .map(|p| value(picture.get_pixel(p.0, p.1).0, channel)),
        )
    };
    Ok([0, 1, 2].map(of))
}

/// Takes a number from pictures of one name: `words` is the measure, then its further arguments.
pub fn of_pictures(words: &[&str], of: &[RgbaImage], others: &[RgbaImage]) -> Result<f64, Failed> {
    let (a, b) = (&of[0], others.first());
    let b = || b.ok_or("a second picture");
    let argument = |i: usize| words.get(i).copied().unwrap_or("");
    let condition = || Condition::parse(argument(1));
    type Places = fn(&RgbaImage) -> Vec<(u32, u32)>;
    // The pixels of all the pictures that are covered, or lie inside of what is, and fulfil a condition.
    let pixels = |places: Places, condition: Condition| -> Vec<[u8; 4]> {
        let all = of.iter().flat_map(|picture| {
            let places = places(picture).into_iter();
            places.map(|(x, y)| picture.get_pixel(x, y).0)
        });
        all.filter(|pixel| condition.holds(*pixel)).collect()
    };
    let pairs = |a: &RgbaImage, b: &RgbaImage, far: fn([u8; 4], [u8; 4]) -> bool| {
        let pairs = a.pixels().zip(b.pixels());
        pairs.filter(|(a, b)| far(a.0, b.0)).count() as f64
    };
    let edges = || extent(a);
    Ok(match words[0] {
        "covered" => pixels(covered, condition()?).len() as f64,
        "inside" => pixels(inside, condition()?).len() as f64,
        "share" => {
            let all = pixels(inside, Condition::parse(argument(2))?);
            let condition = condition()?;
            all.iter().filter(|p| condition.holds(**p)).count() as f64 / all.len().max(1) as f64
        }
        "all" => {
            let condition = condition()?;
            a.pixels().filter(|p| condition.holds(p.0)).count() as f64
        }
        "mean" => mean_color(a)?[channel(argument(1))?],
        "most" | "least" => {
            let channel = channel(argument(1))?;
            let all = pixels(inside, Condition::parse(argument(2))?);
            let all = all.into_iter().map(|p| value(p, channel));
            match words[0] {
                "most" => all.fold(f64::NEG_INFINITY, f64::max),
                _ => all.fold(f64::INFINITY, f64::min),
            }
        }
        // Mean brightness of what is drawn in one half.
        "left" | "right" => {
            let middle = a.width() / 2;
            let places = covered(a).into_iter();
            let half = places.filter(|(x, _)| (*x < middle) == (words[0] == "left"));
            mean(half.map(|(x, y)| {
                let pixel = a.get_pixel(x, y).0;
                (0..3).map(|c| value(pixel, c)).sum::<f64>() / 3.0
            }))
        }
        // Mean row of what fulfils a condition, and the row that 98 % of it are above.
        "row" | "deepest-row" => {
            let condition = condition()?;
            let places = covered(a).into_iter();
            let rows = places.filter(|(x, y)| condition.holds(a.get_pixel(*x, *y).0));
            let rows: Vec<f64> = rows.map(|(_, y)| f64::from(y)).collect();
            match words[0] {
                // Pixels are in the order of their rows.
                "deepest-row" => rows[rows.len() * 98 / 100],
                _ => mean(rows),
            }
        }
        "low-x" => edges()[0].x,
        "low-y" => edges()[0].y,
        "high-x" => edges()[1].x,
        "high-y" => edges()[1].y,
        "differing" => differing(a, b()?),
        "changed" => pairs(a, b()?, |a, b| a != b),
        "outline" => pairs(a, b()?, |a, b| (a == BEHIND) != (b == BEHIND)),
        "changed-inside" => {
            let b = b()?;
            let places = inside(a).into_iter();
            places
                .filter(|(x, y)| a.get_pixel(*x, *y) != b.get_pixel(*x, *y))
                .count() as f64
        }
        // Difference of the mean colours.
        "off" => {
            let (a, b) = (mean_color(a)?, mean_color(b()?)?);
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max)
        }
        // Pixels of a transparent picture that are not those before one colour. Edges have a colour of their own.
        "other-than" => pairs(a, b()?, |clear, solid| match clear[3] {
            0 => solid != BEHIND,
            255 => clear
                .iter()
                .zip(solid)
                .any(|(a, b)| a.abs_diff(b) > tolerance::SAME_COLOR),
            _ => false,
        }),
        word => return Err(format!("no measure {word:?}").into()),
    })
}
