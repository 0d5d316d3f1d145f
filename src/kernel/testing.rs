//! Random values for the tests of this module.

use std::sync::Arc;

use glam::Vec3;

use crate::skel::{BlendShape, Inbetween};

/// xorshift64*.
pub(super) struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    pub fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) - 0.5
    }
}

/// A random shape of `count` offsets over stretches of consecutive points, whose indices are in no
/// order and some twice. Every third one has three in-betweens, and every second one has normals of
/// its own if there are any.
pub(super) fn shape(
    rng: &mut Rng,
    points: usize,
    number: usize,
    count: usize,
    stretch: usize,
    normals: bool,
) -> Arc<BlendShape> {
    let mut first = 0;
    let point = |i: usize| {
        if i.is_multiple_of(stretch) {
            first = rng.below(points);
        }
        ((first + i % stretch) % points) as i64
    };
    let mut indices: Vec<i64> = (0..count).map(point).collect();
    indices[1] = indices[0];
    let mut offsets = || -> Vec<Vec3> {
        let some = (0..count).map(|i| rng.vector() * (i % (8 + stretch)).min(1) as f32);
        some.collect()
    };
    let (own, own_normals, between) = (offsets(), offsets(), offsets());
    let weights: &[f32] = match number % 3 {
        0 => &[0.25, 0.5, 0.75],
        _ => &[],
    };
    let inbetweens = weights.iter().map(|weight| Inbetween {
        name: format!("at{weight}"),
        weight: Some(*weight),
        offsets: between.clone(),
        normal_offsets: normals.then(|| between.clone()),
    });
    let between = inbetweens.collect();
    let normals = (normals && number.is_multiple_of(2)).then_some(own_normals);
    let path = format!("/S{number}");
    let indices = Some(&indices[..]);
    let warnings = &mut Vec::new();
    let shape = BlendShape::new(path, indices, own, normals, between, points, warnings);
    Arc::new(shape)
}
