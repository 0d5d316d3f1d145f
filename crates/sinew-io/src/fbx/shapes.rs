//! Blend channels as morph targets.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use super::budget::Budget;
use super::convert::dvec3;
use sinew::error::Invalid;
use sinew::skel::InbetweenDef;
use sinew_animate::asset::MorphTarget;

/// A blend channel with at least one shape.
pub struct Channel<'a> {
    pub element_id: u32,
    pub name: String,
    /// Weight of the channel at which the last shape holds; FBX's weights count in it.
    pub full: f64,
    /// At rest, 1 at `full`.
    pub weight: f64,
    shape: &'a ufbx::BlendShape,
    /// With their weights, 1 at `full`.
    inbetweens: Vec<(f64, &'a ufbx::BlendShape)>,
}

/// The channels of a mesh, deformer after deformer.
pub fn channels(mesh: &ufbx::Mesh) -> Vec<Channel<'_>> {
    let deformers = mesh.blend_deformers.into_iter();
    deformers
        .flat_map(|d| &d.channels)
        .filter_map(channel)
        .collect()
}

fn channel(channel: &ufbx::BlendChannel) -> Option<Channel<'_>> {
    // A shape at weight 0 would be there at rest.
    let keys = channel
        .keyframes
        .iter()
        .filter(|k| k.target_weight.is_finite() && k.target_weight != 0.0);
    let last = keys.clone().max_by(|a, b| {
        // The largest, the one furthest from 0 where all are negative.
        let rank = |w: f64| (w > 0.0, w.abs());
        rank(a.target_weight)
            .partial_cmp(&rank(b.target_weight))
            .unwrap_or(std::cmp::Ordering::Equal)
    })?;
    let full = last.target_weight;
    let mut inbetweens: Vec<(f64, &ufbx::BlendShape)> = Vec::new();
    for key in keys {
        let weight = key.target_weight / full;
        // In-betweens of one weight contradict each other; f32, as UsdSkel has them.
        let is_free = |w: f64| w as f32 != weight as f32;
        if is_free(1.0) && is_free(0.0) && inbetweens.iter().all(|(w, _)| is_free(*w)) {
            inbetweens.push((weight, key.shape.as_ref()));
        }
    }
    let name = channel.element.name.to_string();
    Some(Channel {
        element_id: channel.element.element_id,
        name: if name.is_empty() {
            last.shape.element.name.to_string()
        } else {
            name
        },
        full,
        weight: channel.weight / full,
        shape: last.shape.as_ref(),
        inbetweens,
    })
}

impl Channel<'_> {
    /// What the channel does to the points that `local` leads to; `u32::MAX` leads to none.
    pub fn target(&self, local: &[u32], budget: &mut Budget) -> Result<MorphTarget, Invalid> {
        let shapes = || self.inbetweens.iter().map(|(_, s)| *s).chain([self.shape]);
        // All its shapes have offsets for the same points.
        let mut touched: BTreeMap<u32, usize> = BTreeMap::new();
        for shape in shapes() {
            for vertex in &shape.offset_vertices {
                match local.get(*vertex as usize) {
                    Some(point) if *point != u32::MAX => touched.insert(*point, 0),
                    _ => continue,
                };
            }
        }
        for (slot, value) in touched.values_mut().enumerate() {
            *value = slot;
        }
        budget.spend::<[Vec3; 2]>(touched.len() * (self.inbetweens.len() + 1), &self.name)?;
        let offsets = |shape: &ufbx::BlendShape, values: &[ufbx::Vec3]| {
            let mut sums = vec![DVec3::ZERO; touched.len()];
            for (vertex, value) in shape.offset_vertices.iter().zip(values) {
                let point = local.get(*vertex as usize).unwrap_or(&u32::MAX);
                if let Some(slot) = touched.get(point) {
                    sums[*slot] += dvec3(*value);
                }
            }
            sums.into_iter().map(DVec3::as_vec3).collect::<Vec<Vec3>>()
        };
        let normals = |shape: &ufbx::BlendShape| {
            let has_normals = !shape.normal_offsets.is_empty();
            has_normals.then(|| offsets(shape, &shape.normal_offsets))
        };
        let inbetweens = self.inbetweens.iter().enumerate();
        let inbetweens = inbetweens.map(|(i, (weight, shape))| InbetweenDef {
            name: format!("inbetween_{}", i + 1),
            weight: *weight as f32,
            offsets: offsets(shape, &shape.position_offsets),
            normal_offsets: normals(shape),
        });
        Ok(MorphTarget {
            inbetweens: inbetweens.collect(),
            offsets: offsets(self.shape, &self.shape.position_offsets),
            normal_offsets: normals(self.shape).unwrap_or_default(),
            tangent_offsets: Vec::new(),
            point_indices: Some(touched.into_keys().collect()),
        })
    }
}
