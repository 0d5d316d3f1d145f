//! Animations: channels and their interpolation (glTF 2.0, 3.11 and appendix C).

use serde_json::Value;

use super::accessor;
use super::file::{File, index, list};

pub struct Clip {
    pub name: String,
    pub channels: Vec<Channel>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    Translation,
    Rotation,
    Scale,
    Weights,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    Linear,
    Step,
    CubicSpline,
}

pub struct Channel {
    pub node: usize,
    pub property: Property,
    pub times: Vec<f64>,
    pub interpolation: Interpolation,
    /// Of each key (for splines: in-tangent, value, out-tangent) so many numbers.
    pub width: usize,
    pub values: Vec<f64>,
}

impl Clip {
    pub fn read(file: &File, animation: &Value) -> Self {
        let channels = list(&animation["channels"]);
        Self {
            name: animation["name"].as_str().unwrap_or("").to_owned(),
            channels: channels
                .iter()
                .filter_map(|c| Channel::read(file, animation, c))
                .collect(),
        }
    }

    /// The union of all channels' key times, in seconds.
    pub fn key_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self
            .channels
            .iter()
            .flat_map(|c| &c.times)
            .copied()
            .collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    pub fn animates(&self, property: Property) -> bool {
        self.channels.iter().any(|c| c.property == property)
    }
}

impl Channel {
    /// None for a channel that moves no node.
    fn read(file: &File, animation: &Value, channel: &Value) -> Option<Self> {
        let (node, property) = target(&channel["target"])?;
        let sampler = &animation["samplers"][index(&channel["sampler"])?];
        let times = accessor::read(file, index(&sampler["input"])?);
        let values = accessor::read(file, index(&sampler["output"])?);
        let interpolation = match sampler["interpolation"].as_str() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(other) => panic!("interpolation {other}"),
        };
        let keys = times.len()
            * if interpolation == Interpolation::CubicSpline {
                3
            } else {
                1
            };
        Some(Self {
            node,
            property,
            interpolation,
            width: values.len() / keys,
            times,
            values,
        })
    }

    /// The animated numbers at a time.
    pub fn at(&self, time: f64) -> Vec<f64> {
        let last = self.times.len() - 1;
        // The key at or before the time; before the first and after the last one, that key holds.
        let key = self.times.iter().rposition(|t| *t <= time);
        let (key, next) = match key {
            None => (0, 0),
            Some(key) => (key, (key + 1).min(last)),
        };
        let span = self.times[next] - self.times[key];
        let t = if span > 0.0 {
            (time - self.times[key]) / span
        } else {
            0.0
        };
        let numbers = |i: usize| &self.values[i * self.width..(i + 1) * self.width];
        let mut out = match self.interpolation {
            Interpolation::Step => numbers(key).to_vec(),
            Interpolation::Linear if self.property == Property::Rotation => {
                slerp(numbers(key), numbers(next), t)
            }
            Interpolation::Linear => {
                let both = numbers(key).iter().zip(numbers(next));
                both.map(|(a, b)| a * (1.0 - t) + b * t).collect()
            }
            Interpolation::CubicSpline => {
                let (value, out_tangent) = (numbers(3 * key + 1), numbers(3 * key + 2));
                let (in_tangent, next_value) = (numbers(3 * next), numbers(3 * next + 1));
                let (t2, t3) = (t * t, t * t * t);
                let one = |i: usize| {
                    (2.0 * t3 - 3.0 * t2 + 1.0) * value[i]
                        + span * (t3 - 2.0 * t2 + t) * out_tangent[i]
                        + (-2.0 * t3 + 3.0 * t2) * next_value[i]
                        + span * (t3 - t2) * in_tangent[i]
                };
                (0..self.width).map(one).collect()
            }
        };
        if self.property == Property::Rotation {
            normalize(&mut out);
        }
        out
    }
}

fn target(target: &Value) -> Option<(usize, Property)> {
    let property = |name: &str| match name {
        "translation" => Some(Property::Translation),
        "rotation" => Some(Property::Rotation),
        "scale" => Some(Property::Scale),
        "weights" => Some(Property::Weights),
        _ => None,
    };
    let path = target["path"].as_str()?;
    if path != "pointer" {
        return Some((index(&target["node"])?, property(path)?));
    }
    // KHR_animation_pointer: /nodes/3/rotation
    let pointer = target["extensions"]["KHR_animation_pointer"]["pointer"].as_str()?;
    let (node, name) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    Some((node.parse().ok()?, property(name)?))
}

/// The short way round (appendix C.4), from unit quaternions.
pub fn slerp(a: &[f64], b: &[f64], t: f64) -> Vec<f64> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    normalize(&mut a);
    normalize(&mut b);
    let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    // From the length of the chord: an arc cosine near 1 has half the digits.
    let chord: f64 = a.iter().zip(&b).map(|(a, b)| (a - sign * b).powi(2)).sum();
    let angle = 2.0 * (0.5 * chord.sqrt()).min(1.0).asin();
    let (fa, fb) = match angle < 1e-9 {
        true => (1.0 - t, t),
        false => {
            let sine = angle.sin();
            ((angle * (1.0 - t)).sin() / sine, (angle * t).sin() / sine)
        }
    };
    let both = a.iter().zip(&b);
    both.map(|(a, b)| fa * a + sign * fb * b).collect()
}

fn normalize(quaternion: &mut [f64]) {
    let length = quaternion.iter().map(|c| c * c).sum::<f64>().sqrt();
    quaternion.iter_mut().for_each(|c| *c /= length);
}
