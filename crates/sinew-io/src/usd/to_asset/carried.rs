//! Prims that joints move as a whole, and meshes that nodes carry: how closely nodes have to move for
//! them, and how far off they still are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use glam::{DMat4, DVec3};
use rayon::prelude::*;
use sinew_stage::Predicate;

use super::Maker;
use super::misfits::{self, JointError, PROMISED, SMALLEST};
use super::nodes::{JUMP, Motion, local_transform};
use super::shown::Shown;
use super::time::{Clock, merged};
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, Carrier, DrawnMesh, Scene};
use sinew::skel::Skin;
use sinew_animate::asset::{Keys, Node, Track, TrackTarget};

/// What a node carries at rest, as far as its motion has to be closer for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// The largest distance of a mesh from the node's origin, relative to the size of that mesh.
    reach: f64,
    /// 1 / the size of the smallest mesh.
    inverse_size: f64,
}

impl Load {
    /// A mesh with these points. One that has no size needs nothing.
    pub fn of(points: &[DVec3]) -> Self {
        let size = size(points.iter().copied());
        let far = points.iter().map(|p| p.length()).fold(0.0, f64::max);
        let load = Self {
            reach: far / size,
            inverse_size: 1.0 / size,
        };
        match load.reach.is_finite() && load.inverse_size.is_finite() {
            true => load,
            false => Self::default(),
        }
    }

    /// A mesh at rest, in its own space.
    pub fn of_mesh(mesh: &DrawnMesh, rest: Time) -> Self {
        Self::of(&drawn_points(mesh, rest))
    }

    /// What the prims of these meshes, and all above them, carry; by path.
    pub fn by_path(meshes: &[DrawnMesh], rest: Time) -> HashMap<&str, Self> {
        // Those that instances show are nowhere near the prims that they are copies of.
        let own = || meshes.iter().filter(|m| m.instances.is_empty());
        let Some((prims, _)) = own().next().map(|m| m.place.hierarchy()) else {
            return HashMap::new();
        };
        let mut loads = vec![Self::default(); prims.len()];
        for mesh in own() {
            if let Some(load) = loads.get_mut(mesh.place.hierarchy().1) {
                *load = load.and(Self::of_mesh(mesh, rest));
            }
        }
        for (i, prim) in prims.iter().enumerate().rev() {
            if let Some(parent) = prim.parent.filter(|_| !prim.xform.resets) {
                let carried = prim.carrier.as_ref().and_then(|c| c.local(rest));
                let local = carried.unwrap_or_else(|| prim.xform.local(rest));
                loads[parent] = loads[parent].and(loads[i].moved(&local));
            }
        }
        let paths = prims.iter().map(|p| p.path.as_str());
        paths.zip(loads).collect()
    }

    fn and(self, other: Self) -> Self {
        Self {
            reach: self.reach.max(other.reach),
            inverse_size: self.inverse_size.max(other.inverse_size),
        }
    }

    /// The same in the space that `local` leads to.
    fn moved(self, local: &DMat4) -> Self {
        let inverse_size = self.inverse_size / longest_axis(local);
        let reach = self.reach + local.w_axis.truncate().length() * inverse_size;
        match reach.is_finite() && inverse_size.is_finite() {
            true => Self {
                reach,
                inverse_size,
            },
            false => Self::default(),
        }
    }

    /// How far `off`, a difference of the node's transforms, moves a mesh, relative to its size in
    /// the node's space.
    pub fn deviation(self, off: &DMat4) -> f64 {
        longest_axis(off) * self.reach + off.w_axis.truncate().length() * self.inverse_size
    }
}

/// Length of the longest of the three axes.
pub(super) fn longest_axis(m: &DMat4) -> f64 {
    let axes = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate().length());
    axes.into_iter().fold(0.0, f64::max)
}

/// The length of the diagonal of the box around points.
fn size(points: impl Iterator<Item = DVec3>) -> f64 {
    let low_high = points.fold(None, |found: Option<[DVec3; 2]>, p| {
        let [low, high] = found.unwrap_or([p, p]);
        Some([low.min(p), high.max(p)])
    });
    low_high.map_or(0.0, |[low, high]| low.distance(high))
}

/// Points of a mesh at rest that faces have.
fn drawn_points(mesh: &DrawnMesh, rest: Time) -> Vec<DVec3> {
    let all = mesh.points.at(rest);
    let all = all.or_else(|| mesh.points.first().cloned());
    let all = all.unwrap_or_default();
    let mut is_drawn = vec![false; all.len()];
    for point in mesh.topology.corner_points() {
        if let Some(drawn) = is_drawn.get_mut(*point as usize) {
            *drawn = true;
        }
    }
    let drawn = all.iter().zip(is_drawn).filter(|(_, drawn)| *drawn);
    drawn.map(|(point, _)| point.as_dvec3()).collect()
}

/// Up to so many points of a mesh are looked at; of others those that lie farthest along the axes and
/// diagonals.
const FEW: usize = 64;

/// Points that show how large a mesh is and how far off.
fn extremes(points: Vec<DVec3>) -> Vec<DVec3> {
    if points.len() <= FEW {
        return points;
    }
    let steps = [-1.0, 0.0, 1.0];
    let directions = steps.into_iter().flat_map(|x| {
        let row = move |y| steps.map(|z| DVec3::new(x, y, z));
        steps.into_iter().flat_map(row)
    });
    let farthest = |to: DVec3| {
        let by = |a: &&DVec3, b: &&DVec3| a.dot(to).total_cmp(&b.dot(to));
        points.iter().max_by(by).copied()
    };
    let directions = directions.filter(|to| *to != DVec3::ZERO);
    directions.filter_map(farthest).collect()
}

impl<'a> Maker<'a> {
    /// Adds the nodes of prims that joints move as a whole (rule 28), which carry everything below
    /// them. Where one joint moves the prim, the joint is the node's parent. Others get a node that
    /// moves in each clip, if something is below them or a skin cannot hold them.
    pub(super) fn add_carriers(&mut self) -> Result<(), sinew_stage::Error> {
        let rest = self.clock.rest();
        let shown_by = self.shown_by.clone();
        let carriers = self.scene.carriers();
        let scenes: Vec<Arc<Scene>> = match carriers.is_empty() {
            true => Vec::new(),
            false => shown_by.iter().map(Shown::scene).collect(),
        };
        let by_clip: Vec<_> = scenes.iter().map(|scene| scene.carriers()).collect();
        for (path, carrier) in carriers {
            let Some(prim) = self.prim(&path) else {
                continue;
            };
            let bound = self.scene.bound(carrier.binding());
            let binding = bound.binding();
            let Ok(skin) = bound.skin(rest) else { continue };
            let Ok(error) = self.joint_error(bound) else {
                continue;
            };
            let joints = &self.joints[binding.instance];
            let geom_bind = binding.geom_bind.at(rest);
            let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
            let Ok(inverse) = joints.skeleton.inverse_bind() else {
                continue;
            };
            let mut fits = misfits::of_bound(binding, &skin, false).is_empty();
            fits &= !error.is_mended_by_keys();
            let whole = whole_joint(&skin).filter(|_| fits);
            let node = match whole.map(|j| skin.skeleton_joint(j)) {
                Some(Some(joint)) => {
                    let joint = joint as usize;
                    let local = local_transform(&(inverse[joint] * geom_bind));
                    let parent = Some(joints.nodes[joint]);
                    let node = self.builder.push(prim.name(), parent, local);
                    if !error.is_none() {
                        self.builder.inexact.insert(node);
                    }
                    node
                }
                Some(None) => {
                    let local = local_transform(&geom_bind);
                    self.builder.push(prim.name(), joints.space, local)
                }
                None if fits
                    && !binding.is_shape
                    && prim.children(Predicate::DEFAULT_PROXIES).next().is_none()
                    && !turns_over(by_clip.iter().map(|carriers| &carriers[&path]), rest) =>
                {
                    continue;
                }
                None => {
                    let own = &self.scene.prims[binding.prim].xform;
                    let resets = own.resets;
                    let parent = prim.parent().filter(|p| !resets && !p.path().is_root());
                    let parent = match parent {
                        Some(parent) => self.builder.space(parent)?,
                        None => None,
                    };
                    let motions = shown_by.iter().zip(&by_clip).map(|(shown, carriers)| {
                        let carrier = &carriers[&path];
                        let start = self.clock.start();
                        Motion {
                            clip: shown.clip.filter(|_| !shown.is_stage),
                            times: merged([carrier.times(), vec![start]].concat()),
                            local: Box::new(|t| carrier.local(t).unwrap_or_else(|| own.local(t))),
                        }
                    });
                    let motions: Vec<Motion<'_>> = motions.collect();
                    let load = self.builder.load(&path);
                    self.builder.add_moved(prim.name(), parent, &motions, load)
                }
            };
            self.builder.carry(prim, node);
        }
        Ok(())
    }

    /// How far nodes are from the joints of a prim's Skeleton.
    pub(super) fn joint_error(&mut self, bound: BoundSkin<'_>) -> Result<JointError, Invalid> {
        let instance = bound.binding().instance;
        if let Some(known) = self.joint_errors.get(&instance) {
            return Ok(*known);
        }
        let movements = misfits::movements(bound.index(), &self.shown_by, &self.clock);
        let error = misfits::joint_error(&movements, &self.joints[instance].moved)?;
        self.joint_errors.insert(instance, error);
        Ok(error)
    }

    /// The meshes that a node carries which is not exact.
    pub(super) fn inexact_meshes(&self) -> Vec<Carried<'a>> {
        let mut inexact = vec![false; self.builder.nodes.len()];
        // Parents come before their children.
        for (i, node) in self.builder.nodes.iter().enumerate() {
            let above = node.parent.is_some_and(|parent| inexact[parent]);
            inexact[i] = above || self.builder.inexact.contains(&i);
        }
        let meshes = self.carried.iter().filter(|(_, node)| inexact[*node]);
        let carried = meshes.map(|(mesh, node)| Carried::new(mesh, *node, self.clock.rest()));
        carried.collect()
    }

    /// Looks how far off meshes are that nodes carry in a clip.
    pub(super) fn look_at(
        &self,
        meshes: &mut [Carried<'a>],
        clip: Option<usize>,
        name: &str,
        tracks: &[Track],
    ) {
        let mut shown_by = self.shown_by.iter();
        let Some(shown) = shown_by.find(|shown| shown.clip == clip && !meshes.is_empty()) else {
            return;
        };
        let played = Played::new(&self.builder.nodes, tracks, shown, self.clock, name);
        meshes.iter_mut().for_each(|mesh| played.look_at(mesh));
    }
}

/// Whether a prim that joints move as a whole is mirrored at some of its times and not at others,
/// which a skin cannot be.
fn turns_over<'c>(by_clip: impl Iterator<Item = &'c Carrier>, rest: Time) -> bool {
    let is_mirrored = |carrier: &Carrier, time: Time| {
        let local = carrier.local(time);
        local.is_some_and(|local| local.determinant() < 0.0)
    };
    let mut all = by_clip.flat_map(|carrier| {
        let times = carrier.times().into_iter().map(Time::At);
        let times = times.chain([rest]);
        times.map(move |time| is_mirrored(carrier, time))
    });
    let first = all.next();
    all.any(|mirrored| Some(mirrored) != first)
}

/// A constant influence with a weight this near to 1 moves a prim as a whole.
const WHOLE: f32 = 1e-6;

/// The joint, in the prim's order, that moves a prim with constant influences as a whole.
fn whole_joint(skin: &Skin) -> Option<u32> {
    let mut used = skin.influences()?.of_point(0).filter(|(_, w)| *w != 0.0);
    let (joint, weight) = used.next()?;
    ((weight - 1.0).abs() <= WHOLE && used.next().is_none()).then_some(joint)
}

/// A mesh that a node carries, and how far off it is in all clips that were looked at.
pub(super) struct Carried<'a> {
    mesh: &'a DrawnMesh,
    pub node: usize,
    points: Vec<DVec3>,
    /// The largest distance.
    off: f64,
    /// The same relative to the mesh's size at its time; of a mesh that shrinks no less than a part
    /// of its largest.
    part: f64,
    /// When it is so far off.
    at: String,
}

impl<'a> Carried<'a> {
    pub fn new(mesh: &'a DrawnMesh, node: usize, rest: Time) -> Self {
        Self {
            mesh,
            node,
            points: extremes(drawn_points(mesh, rest)),
            off: 0.0,
            part: 0.0,
            at: String::new(),
        }
    }

    /// The warning about a mesh that is farther off than is promised.
    pub fn warning(&self) -> Option<Warning> {
        let told = || {
            let message = format!(
                "joints or prims above it are sheared, or move between keys as nodes of glTF cannot; points are off by up to {:.3e}, {:.3} % of the mesh's size at that time{}",
                self.off,
                self.part * 100.0,
                self.at
            );
            Warning::new("gltf-joints", &self.mesh.path, message)
        };
        (self.part >= PROMISED).then(told)
    }
}

/// A clip of the asset, and the stage as that clip moves it.
pub(super) struct Played<'a> {
    nodes: &'a [Node],
    tracks: HashMap<usize, Vec<&'a Track>>,
    is_stage: bool,
    carriers: BTreeMap<String, Carrier>,
    clock: Clock,
    name: &'a str,
}

impl<'a> Played<'a> {
    pub fn new(
        nodes: &'a [Node],
        tracks: &'a [Track],
        shown: &Shown<'_>,
        clock: Clock,
        name: &'a str,
    ) -> Self {
        let mut of_node: HashMap<usize, Vec<&Track>> = HashMap::new();
        for track in tracks {
            if let TrackTarget::Node(node) = track.target {
                of_node.entry(node).or_default().push(track);
            }
        }
        Self {
            nodes,
            tracks: of_node,
            is_stage: shown.is_stage,
            carriers: shown.scene().carriers(),
            clock,
            name,
        }
    }

    /// Looks where a mesh is at all keys and between them.
    pub fn look_at(&self, carried: &mut Carried<'_>) {
        let keys = self.chain(carried.node);
        let keys = keys.filter_map(|node| self.tracks.get(&node));
        let keys = keys.flatten().flat_map(|track| &track.curve.times);
        let keys = merged(keys.copied().collect());
        let mut found = Found::default();
        for (count, least) in LOOKS {
            if found.part >= least * PROMISED {
                found = self.errors(carried, inside(&keys, count, JUMP));
            }
        }
        if found.part > carried.part {
            let code = self.clock.codes(found.seconds);
            carried.at = format!(" (time code {code} of {})", self.name);
            carried.part = found.part;
        }
        carried.off = carried.off.max(found.off);
    }

    fn chain(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |n| self.nodes[*n].parent)
    }

    fn errors(&self, carried: &Carried<'_>, seconds: Vec<f64>) -> Found {
        let errors = seconds.par_iter().map(|seconds| {
            let got = self.world_from_node(carried.node, *seconds);
            let want = self.world_from_prim(carried.mesh, self.clock.codes(*seconds));
            let points = carried.points.iter();
            let off = points.map(|p| got.transform_point3(*p).distance(want.transform_point3(*p)));
            let points = carried.points.iter().map(|p| want.transform_point3(*p));
            (off.fold(0.0, f64::max), size(points))
        });
        let errors: Vec<(f64, f64)> = errors.collect();
        let largest = errors
            .iter()
            .fold(0.0f64, |most, (_, size)| most.max(*size));
        let mut found = Found::default();
        for ((off, size), seconds) in errors.into_iter().zip(seconds) {
            let part = off / size.max(SMALLEST * largest);
            // Nobody sees where a mesh without a size is.
            if part.is_finite() && part > found.part {
                found.part = part;
                found.seconds = seconds;
            }
            found.off = found.off.max(off);
        }
        found
    }

    fn world_from_node(&self, node: usize, seconds: f64) -> DMat4 {
        let local = |node: usize| {
            let rest = &self.nodes[node].local;
            let Some(tracks) = self.tracks.get(&node) else {
                return rest.matrix();
            };
            let mut trs = rest.trs();
            for Track { curve, .. } in tracks {
                match curve.keys {
                    Keys::Translation(_) => {
                        trs.translation = curve.vector(seconds).unwrap_or(trs.translation);
                    }
                    Keys::Rotation(_) => {
                        trs.rotation = curve.rotation(seconds).unwrap_or(trs.rotation);
                    }
                    Keys::Scale(_) => trs.scale = curve.vector(seconds).unwrap_or(trs.scale),
                    Keys::Weights { .. } => {}
                }
            }
            trs.matrix()
        };
        self.chain(node)
            .fold(DMat4::IDENTITY, |m, node| local(node) * m)
    }

    /// As a bake has it.
    fn world_from_prim(&self, mesh: &DrawnMesh, code: f64) -> DMat4 {
        let time = Time::At(code);
        if !mesh.instances.is_empty() {
            return mesh.world_from_prim(time);
        }
        let own = match self.is_stage {
            true => time,
            false => self.clock.rest(),
        };
        mesh.place.moving().fold(DMat4::IDENTITY, |m, prim| {
            let carrier = self.carriers.get(&prim.path);
            let carried = carrier.and_then(|carrier| carrier.local(time));
            carried.unwrap_or_else(|| prim.xform.local(own)) * m
        })
    }
}

/// The largest errors of a mesh, and when it is off by the largest part of its size.
#[derive(Default)]
struct Found {
    off: f64,
    part: f64,
    seconds: f64,
}

/// So many times show whether a mesh may be off by too much.
pub(super) const COARSE: usize = 64;

/// How many times are looked at, and from which part of what is promised on: where several scales are
/// rounded at once, the largest error lasts for a thousandth of a span.
const LOOKS: [(usize, f64); 3] = [(COARSE, 0.0), (1024, 0.5), (16_384, 0.8)];

/// Times, and others between each two that are not nearer than a `jump` is long: `count` in all, and
/// at least three. Scales that USD interpolates as halves are exact halfway and in quarters, so these
/// are not among them.
pub(super) fn inside(times: &[f64], count: usize, jump: f64) -> Vec<f64> {
    let spans = times.windows(2).filter(|pair| pair[1] - pair[0] > jump);
    let count = (count / spans.clone().count().max(1)).max(3);
    let inside = spans.flat_map(|pair| {
        let at = move |i: usize| pair[0] + (pair[1] - pair[0]) * (i as f64 + 0.43) / count as f64;
        (0..count).map(at)
    });
    merged(inside.chain(times.iter().copied()).collect())
}
