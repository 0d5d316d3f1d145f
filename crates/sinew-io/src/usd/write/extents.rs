//! Extents of SkelRoots, written with an open file.

use std::collections::HashMap;

use glam::{DMat4, DVec3};
use rayon::prelude::*;
use sinew_layer::{Layer, Path};

use super::edits::author;
use crate::error::Result;
use crate::usd::file::UsdFile;
use crate::usd::read::values::vectors;
use sinew::math::try_inverse;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, Geometry, Placement, Scene};
use sinew::skel::BlendShape;

impl UsdFile {
    /// Has the file written with an `extent` of SkelRoots, for the animation that is bound in
    /// `scene`: one value each, which replaces samples. Of `prims`, if there are some, only the
    /// SkelRoots at or above them get one, and otherwise all do. The open stage stays as it is.
    ///
    /// The box encloses the meshes and curves below, as joints and blend shapes move them, at all
    /// times of the animation and at three between each two; it may be a little larger. Influences are
    /// taken to be at least 0 with a sum of 1. A SkelRoot without meshes gets the box of its joints
    /// ([`Scene::skel_root_extent_of_clip`]).
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn author_extents(&mut self, scene: &Scene, prims: Option<&[String]>) -> Result<()> {
        let drawn = drawn_below_roots(scene, &self.geometry(scene)?);
        for root in &scene.skel_roots {
            let path = root.path.as_str();
            let is_above = |prim: &String| {
                let below = prim.strip_prefix(path);
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !prims.is_none_or(|prims| prims.iter().any(is_above)) {
                continue;
            }
            let extent = match drawn.get(&root.prim) {
                Some(extent) => Some([extent.low.as_vec3(), extent.high.as_vec3()]),
                None => scene.skel_root_extent_of_clip(path)?,
            };
            self.extents.extend(extent.map(|e| (path.to_owned(), e)));
        }
        Ok(())
    }

    /// Authors the extents in a layer that is to be written: the root layer, or a flattened one, which
    /// has no prims in instances.
    pub(super) fn write_extents(&self, layer: &mut Layer, is_flattened: bool) {
        for (path, corners) in &self.extents {
            let has_prim = |path: Path| layer.spec(&path).is_some();
            if !is_flattened || Path::parse(path).is_ok_and(has_prim) {
                let value = vec![(Time::Default, vectors(corners))];
                author(layer, path, "extent", "float3[]", value);
            }
        }
    }
}

/// A box that is not empty.
#[derive(Clone, Copy)]
struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    fn and(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The box around this one after a transform.
    fn moved(self, m: &DMat4) -> Self {
        let half = (self.high - self.low) * 0.5;
        let middle = m.transform_point3(self.low + half);
        let axes = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate().abs());
        let half = axes[0] * half.x + axes[1] * half.y + axes[2] * half.z;
        Self {
            low: middle - half,
            high: middle + half,
        }
    }

    fn is_finite(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

fn include(all: &mut Option<Bounds>, more: Bounds) {
    if more.is_finite() {
        *all = Some(all.map_or(more, |all| all.and(more)));
    }
}

/// The boxes around what is drawn below each SkelRoot, in its space, by its prim.
fn drawn_below_roots(scene: &Scene, geometry: &Geometry) -> HashMap<usize, Bounds> {
    let roots = scene.skel_roots.iter();
    let roots: HashMap<&str, usize> = roots.map(|r| (r.path.as_str(), r.prim)).collect();
    let mut out: HashMap<usize, Option<Bounds>> = HashMap::new();
    // What joints move, by SkelRoot and Skeleton: a box of each joint's points, in bind space.
    let mut by_joint: HashMap<(usize, usize), Vec<Option<Bounds>>> = HashMap::new();
    let root_from_world = |root, time| try_inverse(scene.world_from_prim(root, time));
    for mesh in geometry.meshes.iter().chain(&geometry.curves) {
        let place = mesh.instances.last().map_or(&mesh.place, |i| &i.place);
        let Some(root) = root_above(place, &roots) else {
            continue;
        };
        let bound = mesh.binding.map(|binding| scene.bound(binding));
        let bound = bound.filter(|b| b.binding().unsupported.is_none());
        let own = point_boxes(mesh, bound);
        let skinned = bound.filter(|_| mesh.instances.is_empty());
        if let Some(bound) = skinned
            && let Some(joints) = joint_boxes(bound, &own)
        {
            let all = by_joint.entry((root, bound.binding().instance));
            let all = all.or_insert_with(|| vec![None; joints.len()]);
            for (all, more) in all.iter_mut().zip(joints) {
                more.into_iter().for_each(|more| include(all, more));
            }
            continue;
        }
        let Some(own) = own.into_iter().reduce(Bounds::and) else {
            continue;
        };
        let mut times = scene.transform_times(root);
        times.extend(mesh.place.times());
        times.extend(mesh.instances.iter().flat_map(|i| i.place.times()));
        let of_mesh = around(times, |time| {
            let root_from_mesh = root_from_world(root, time)? * mesh.world_from_prim(time);
            Some(own.moved(&root_from_mesh))
        });
        let all = out.entry(root).or_default();
        of_mesh.into_iter().for_each(|more| include(all, more));
    }
    for ((root, instance), boxes) in by_joint {
        let placed = &scene.instances[instance];
        let mut times: Vec<f64> = scene.transform_times(placed.prim);
        times.extend(scene.transform_times(root));
        let animation = placed.instance.animation();
        times.extend(animation.iter().flat_map(|a| a.joint_times()));
        let of_joints = around(times, |time| {
            let joints = placed.instance.skinning_transforms(time).ok()?;
            let root_from_skel =
                root_from_world(root, time)? * scene.world_from_prim(placed.prim, time);
            let moved = boxes.iter().enumerate().filter_map(|(joint, bounds)| {
                // Joints that the Skeleton lacks do not move.
                let joint = joints.get(joint).copied().unwrap_or(DMat4::IDENTITY);
                Some((*bounds)?.moved(&(root_from_skel * joint)))
            });
            moved.reduce(Bounds::and)
        });
        let all = out.entry(root).or_default();
        of_joints.into_iter().for_each(|more| include(all, more));
    }
    let found = out.into_iter();
    found.filter_map(|(root, all)| Some((root, all?))).collect()
}

/// The box around what there is at times and at three between each two; at the default time if there are
/// no times.
fn around(mut times: Vec<f64>, at: impl Fn(Time) -> Option<Bounds> + Sync) -> Option<Bounds> {
    times.retain(|t| t.is_finite());
    times.sort_by(f64::total_cmp);
    times.dedup();
    if times.is_empty() {
        return at(Time::Default);
    }
    let between: Vec<f64> = times
        .windows(2)
        .flat_map(|t| [0.25, 0.5, 0.75].map(|share| t[0] + (t[1] - t[0]) * share))
        .collect();
    let all = times.par_iter().chain(&between);
    let boxes = all.filter_map(|time| at(Time::At(*time)));
    boxes.reduce_with(Bounds::and)
}

/// The innermost of some prims at or above a placement.
fn root_above(place: &Placement, roots: &HashMap<&str, usize>) -> Option<usize> {
    let (prims, mut index) = place.hierarchy();
    loop {
        let prim = prims.get(index)?;
        if let Some(root) = roots.get(prim.path.as_str()) {
            return Some(*root);
        }
        index = prim.parent?;
    }
}

/// The box of each point of a mesh in its own space: where samples and blend shapes lead it.
fn point_boxes(mesh: &DrawnMesh, bound: Option<BoundSkin<'_>>) -> Vec<Bounds> {
    let mut out: Vec<Bounds> = Vec::new();
    for points in mesh.points.values() {
        out.resize_with(out.len().max(points.len()), || Bounds {
            low: DVec3::INFINITY,
            high: DVec3::NEG_INFINITY,
        });
        for (all, point) in out.iter_mut().zip(points.iter()) {
            let [low, high] = [point.as_dvec3(); 2];
            *all = all.and(Bounds { low, high });
        }
    }
    let Some(bound) = bound else { return out };
    let (binding, instance) = (bound.binding(), &bound.skeleton().instance);
    let animation = instance.animation();
    let times = animation.iter().flat_map(|a| a.blend_shape_weights.times());
    let times = times.map(Time::At).chain([Time::Default]);
    let weights: Vec<Vec<f32>> = times
        .map(|time| binding.channel_weights(instance, time).0)
        .collect();
    for (channel, shape) in binding.shapes.iter().enumerate() {
        let Some(shape) = &shape.shape else { continue };
        let range = weights.iter().map(|w| f64::from(w[channel]));
        let range = range.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], w| {
            [low.min(w), high.max(w)]
        });
        for (point, offset) in reach(shape, range) {
            if let Some(all) = out.get_mut(point) {
                all.low += offset.low;
                all.high += offset.high;
            }
        }
    }
    out
}

/// How far a blend shape moves each of its points with weights of a range.
fn reach(shape: &BlendShape, [low, high]: [f64; 2]) -> Vec<(usize, Bounds)> {
    let subs = shape.sub_shapes();
    // Between the weights of sub-shapes, and between them and 0, offsets are linear.
    let knots = subs.iter().map(|s| f64::from(s.weight)).chain([0.0]);
    let weights = knots.filter(|w| low < *w && *w < high).chain([low, high]);
    let parts: Vec<Vec<f64>> = weights.map(|w| shape.sub_shape_weights(w)).collect();
    let entries = subs.iter().map(|s| s.offsets.len()).max().unwrap_or(0);
    let of_entry = |entry: usize| {
        let at = |parts: &Vec<f64>| {
            let parts = parts.iter().zip(subs).filter(|(part, _)| **part != 0.0);
            let offsets = parts.filter_map(|(part, sub)| Some((part, sub.offsets.get(entry)?)));
            let offset: DVec3 = offsets.map(|(part, o)| o.as_dvec3() * *part).sum();
            Bounds {
                low: offset,
                high: offset,
            }
        };
        let bounds = parts.iter().map(at).reduce(Bounds::and)?;
        Some((shape.point_of(entry), bounds))
    };
    (0..entries).filter_map(of_entry).collect()
}

/// Of each joint of the Skeleton the box of the points that it moves, in bind space; the last one is
/// that of joints that the Skeleton lacks. `None` for a prim without influences.
fn joint_boxes(bound: BoundSkin<'_>, points: &[Bounds]) -> Option<Vec<Option<Bounds>>> {
    let binding = bound.binding();
    let rest = Time::At(f64::MIN);
    let skin = bound
        .skin(rest)
        .or_else(|_| bound.skin(Time::Default))
        .ok()?;
    let influences = skin.influences()?;
    let geom_bind = binding.geom_bind.at(rest);
    let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
    let mut out = vec![None; skin.joint_count() + 1];
    let count = skin.points().len();
    for (point, bounds) in points.iter().enumerate().take(count) {
        let bounds = bounds.moved(&geom_bind);
        for (joint, weight) in influences.of_point(point) {
            let joint = skin
                .skeleton_joint(joint)
                .map_or(skin.joint_count(), |j| j as usize);
            if weight > 0.0
                && let Some(all) = out.get_mut(joint)
            {
                include(all, bounds);
            }
        }
    }
    Some(out)
}
