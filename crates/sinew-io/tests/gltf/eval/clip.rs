//! Animations: channels and their interpolation (glTF 2.0, 3.11 and appendix C).

use gltf::animation::{Interpolation, Property};
use gltf::buffer::Data;
use serde_json::{Value, json};

use super::mesh::numbers;

pub struct Clip {
    pub name: String,
    pub channels: Vec<Channel>,
}

pub struct Channel {
    pub node: usize,
    pub property: Property,
    pub times: Vec<f64>,
    pub interpolation: Interpolation,
    /// Of each key (for splines: in-tangent, value, out-tangent) so many numbers.
    width: usize,
    values: Vec<f64>,
}

impl Clip {
    pub fn read(animation: &gltf::Animation<'_>, buffers: &[Data]) -> Self {
        let channels = animation.channels();
        Self {
            name: animation.name().unwrap_or_default().to_owned(),
            channels: channels.map(|c| Channel::read(&c, buffers)).collect(),
        }
    }

    /// The union of all channels' key times, in seconds.
    pub fn key_times(&self) -> Vec<f64> {
        let times = self.channels.iter().flat_map(|c| &c.times);
        let mut times: Vec<f64> = times.copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Seconds of the first and the last key; zeros where there is none.
    pub fn range(&self) -> (f64, f64) {
        let times = self.key_times();
        let or_zero = |time: Option<&f64>| time.copied().unwrap_or(0.0);
        (or_zero(times.first()), or_zero(times.last()))
    }

    pub fn animates(&self, property: Property) -> bool {
        self.channels.iter().any(|c| c.property == property)
    }
}

impl Channel {
    fn read(channel: &gltf::animation::Channel<'_>, buffers: &[Data]) -> Self {
        let sampler = channel.sampler();
        let times = numbers(&sampler.input(), buffers);
        let values = numbers(&sampler.output(), buffers);
        let each = match sampler.interpolation() {
            Interpolation::CubicSpline => 3,
            _ => 1,
        };
        Self {
            node: channel.target().node().index(),
            property: channel.target().property(),
            interpolation: sampler.interpolation(),
            width: values.len() / (each * times.len()),
            times,
            values,
        }
    }

    /// The animated numbers at a time.
    pub fn at(&self, time: f64) -> Vec<f64> {
        let last = self.times.len() - 1;
        // The key at or before the time; before the first and after the last one, that key holds.
        let (key, next) = match self.times.iter().rposition(|t| *t <= time) {
            None => (0, 0),
            Some(key) => (key, (key + 1).min(last)),
        };
        let span = self.times[next] - self.times[key];
        let t = match span > 0.0 {
            true => (time - self.times[key]) / span,
            false => 0.0,
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

/// Gives channels with KHR_animation_pointer, which the crate does not know, a node and a path, and drops those that move no
/// node.
pub fn plain_targets(json: &mut Value) {
    let animations = json.get_mut("animations").and_then(Value::as_array_mut);
    for animation in animations.into_iter().flatten() {
        let channels = animation["channels"].as_array_mut().expect("channels");
        channels.retain_mut(|channel| {
            let pointer = channel.pointer("/target/extensions/KHR_animation_pointer/pointer");
            if let Some((node, path)) = pointer.and_then(Value::as_str).and_then(node_and_path) {
                channel["target"] = json!({ "node": node, "path": path });
            }
            let target = &channel["target"];
            let path = target["path"].as_str().unwrap_or_default();
            target["node"].is_u64() && PATHS.contains(&path)
        });
    }
}

const PATHS: [&str; 4] = ["translation", "rotation", "scale", "weights"];

/// `/nodes/3/rotation`
fn node_and_path(pointer: &str) -> Option<(usize, String)> {
    let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    Some((node.parse().ok()?, path.to_owned()))
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
