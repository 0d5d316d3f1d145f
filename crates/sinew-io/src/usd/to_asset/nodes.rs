//! Prims as nodes: their hierarchy, their transforms, and how these move.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, DQuat, DVec3};
use sinew_layer::{Path, Value};
use sinew_stage::{Predicate, Prim, Stage};

use super::carried::{Load, longest_axis};
use super::extras::extras;
use super::misfits::{PROMISED, SMALLEST};
use super::time::{Clock, merged};
use crate::gltf::without_shear;
use crate::usd::read::xforms::read_stack;
use sinew::sampled::{Interpolation, Time};
use sinew::scene::XformStack;
use sinew_animate::asset::{
    Curve, CurveInterpolation, Keys, LocalTransform, Node, Track, TrackTarget, Trs,
};

/// Deviation between keys that a moving transform may have, relative to its size.
const TOLERANCE: f64 = 2e-4;

/// A deviation that more keys always mend: a matrix that is singular on its way has a rotation and
/// scales that jump. A smaller one that does not shrink comes of scales that USD interpolates as
/// halves, in steps.
const LARGE: f64 = 1e-3;

/// How often the span between two keys is halved where keys alone are not enough.
const MOST_HALVINGS: u32 = 16;

/// Deviation between keys that a mesh below a moving transform may have, relative to its own size.
const TOLERANCE_OF_MESH: f64 = 0.25 * PROMISED;

/// Deviation between keys that is small enough for every mesh, relative to the transform's size.
const FINEST: f64 = 1e-5;

/// How a clip moves a node.
pub(super) struct Motion<'m> {
    /// Index of the clip's plan; `None` for what the stage shows.
    pub clip: Option<usize>,
    pub times: Vec<f64>,
    pub local: Box<dyn Fn(Time) -> DMat4 + 'm>,
}

/// The nodes of a stage while they are made.
pub(super) struct NodeBuilder<'s> {
    pub nodes: Vec<Node>,
    /// Keys of prims that move on the stage's time line.
    pub tracks: Vec<Track>,
    /// Keys of what moves in other clips, by the clip's plan.
    pub clip_tracks: Vec<(usize, Track)>,
    /// Nodes that are not exactly where the stage has them between keys.
    pub inexact: HashSet<usize>,
    clock: Clock,
    /// What the prims carry, by path.
    loads: HashMap<&'s str, Load>,
    /// The node whose space a prim's children are in; `None` for the world.
    space_of: HashMap<Path, Option<usize>>,
    /// The only root prim, which is no node if it does not move anything.
    only_root: Option<Prim<'s>>,
}

impl<'s> NodeBuilder<'s> {
    pub fn new(stage: &'s Stage, clock: Clock, loads: HashMap<&'s str, Load>) -> Self {
        let mut roots = stage.pseudo_root().children(Predicate::DEFAULT);
        let first = roots.next();
        Self {
            nodes: Vec::new(),
            tracks: Vec::new(),
            clip_tracks: Vec::new(),
            inexact: HashSet::new(),
            clock,
            loads,
            space_of: HashMap::new(),
            only_root: first.filter(|_| roots.next().is_none()),
        }
    }

    /// The stage's only root prim.
    pub fn only_root(&self) -> Option<Prim<'s>> {
        self.only_root
    }

    /// The node in whose space a prim's points are, with nodes for all prims above it. `None` if
    /// that is the world.
    pub fn space(&mut self, prim: Prim<'s>) -> Result<Option<usize>, sinew_stage::Error> {
        self.space_of_prim(prim, true)
    }

    /// As [`NodeBuilder::space`], without a node for the prim itself if its transform is the
    /// identity.
    pub fn space_unless_identity(
        &mut self,
        prim: Prim<'s>,
    ) -> Result<Option<usize>, sinew_stage::Error> {
        self.space_of_prim(prim, false)
    }

    fn space_of_prim(
        &mut self,
        prim: Prim<'s>,
        always: bool,
    ) -> Result<Option<usize>, sinew_stage::Error> {
        // Prims whose node is not known yet, the innermost first.
        let mut chain = Vec::new();
        let mut at = Some(prim);
        let mut space = None;
        while let Some(prim) = at.filter(|p| !p.path().is_root()) {
            if let Some(known) = self.space_of.get(&prim.path()) {
                space = *known;
                break;
            }
            chain.push(prim);
            at = prim.parent();
        }
        for next in chain.into_iter().rev() {
            space = self.add_prim(next, space, always || next != prim)?;
            self.space_of.insert(next.path(), space);
        }
        Ok(space)
    }

    /// The space of a prim below a known one.
    fn add_prim(
        &mut self,
        prim: Prim<'s>,
        above: Option<usize>,
        always: bool,
    ) -> Result<Option<usize>, sinew_stage::Error> {
        let stack = match prim.is_a("Xformable") {
            // The scene's reader has warned of what is wrong with it.
            true => read_stack(&prim, Interpolation::Linear, &mut Vec::new())?,
            false => XformStack::default(),
        };
        let parent = above.filter(|_| !stack.resets);
        let still = !stack.is_animated() && is_identity(&stack, self.clock.rest());
        let is_needless_root = self.only_root == Some(prim) && !prim.is_a("Gprim");
        if still && (is_needless_root || !always) {
            return Ok(parent);
        }
        let name = display_name(prim)?;
        let load = self.load(prim.path().as_str());
        let node = self.add(&name, parent, &stack, load);
        // Those of a mesh are its mesh's, and of others the camera's or the light's.
        if prim.type_name() == "Xform" || prim.type_name() == "SkelRoot" {
            self.nodes[node].extras = extras(prim)?;
        }
        Ok(Some(node))
    }

    /// Makes a node the one in whose space a prim and everything below it are.
    pub fn carry(&mut self, prim: Prim<'s>, node: usize) {
        self.space_of.insert(prim.path(), Some(node));
    }

    /// The node that carries a prim.
    pub fn carried(&self, path: &str) -> Option<usize> {
        *self.space_of.get(&Path::parse(path).ok()?)?
    }

    /// Adds a node with a prim's transform; gives the one in whose space the prim is.
    fn add(&mut self, name: &str, parent: Option<usize>, stack: &XformStack, load: Load) -> usize {
        if !stack.is_animated() {
            let local = local_transform(&stack.local(self.clock.rest()));
            return self.push(name, parent, local);
        }
        let mut times = stack.times();
        if stack.has_curves() {
            times.extend(self.clock.frames());
        }
        self.add_moving(name, parent, merged(times), load, |time| stack.local(time))
    }

    /// What the prim at a path carries.
    pub fn load(&self, path: &str) -> Load {
        self.loads.get(path).copied().unwrap_or_default()
    }

    /// Adds a node that does not move.
    pub fn push(&mut self, name: &str, parent: Option<usize>, local: LocalTransform) -> usize {
        self.nodes.push(Node {
            name: name.to_owned(),
            parent,
            local,
            ..Node::default()
        });
        self.nodes.len() - 1
    }

    /// Adds a node that moves on the stage's time line, as [`NodeBuilder::add_moved`].
    pub fn add_moving(
        &mut self,
        name: &str,
        parent: Option<usize>,
        times: Vec<f64>,
        load: Load,
        local: impl Fn(Time) -> DMat4,
    ) -> usize {
        let motion = Motion {
            clip: None,
            times,
            local: Box::new(local),
        };
        self.add_moved(name, parent, &[motion], load)
    }

    /// Adds a node with a transform over time, and its keys to the tracks: at `times`, and between
    /// them where linear keys cannot hold the transform as closely as what the node carries (`load`)
    /// needs. If the transform has shear, a second node below the first holds the rest of it. Gives
    /// the innermost node. It rests as the first of its motions begins.
    pub fn add_moved(
        &mut self,
        name: &str,
        parent: Option<usize>,
        motions: &[Motion<'_>],
        load: Load,
    ) -> usize {
        let jump = JUMP * self.clock.codes(1.0);
        let keyed = |motion: &Motion<'_>| {
            Keyed::new(&motion.times, |t| (motion.local)(Time::At(t)), (load, jump))
        };
        let keys: Vec<Keyed> = motions.iter().map(keyed).collect();
        let outer = self.add_keyed(name, parent, motions, &keys, |key| key.0);
        if keys.iter().any(|keys| keys.off > FINEST) {
            self.inexact.insert(outer);
        }
        if !keys.iter().any(Keyed::is_sheared) {
            return outer;
        }
        let name = format!("{name}_shear");
        self.add_keyed(&name, Some(outer), motions, &keys, |key| {
            key.1.unwrap_or_default()
        })
    }

    fn add_keyed(
        &mut self,
        name: &str,
        parent: Option<usize>,
        motions: &[Motion<'_>],
        keys: &[Keyed],
        part: impl Fn(&Parts) -> Trs,
    ) -> usize {
        let first = keys.first().and_then(|keys| keys.parts.first());
        let rest = first.map_or_else(Trs::default, &part);
        let node = self.push(name, parent, LocalTransform::Trs(rest));
        for (motion, keys) in motions.iter().zip(keys) {
            let seconds: Vec<f64> = keys.times.iter().map(|t| self.clock.seconds(*t)).collect();
            let parts: Vec<Trs> = keys.parts.iter().map(&part).collect();
            let tracks = tracks(node, &seconds, &parts, rest);
            match motion.clip {
                None => self.tracks.extend(tracks),
                Some(clip) => {
                    let of_clip = tracks.into_iter().map(|track| (clip, track));
                    self.clip_tracks.extend(of_clip);
                }
            }
        }
        node
    }
}

/// What a prim is called: its displayName, or else its own name.
pub(super) fn display_name(prim: Prim<'_>) -> Result<String, sinew_stage::Error> {
    Ok(match prim.metadata("displayName")? {
        Some(Value::String(name)) if !name.is_empty() => name.as_str().to_owned(),
        _ => prim.name().to_owned(),
    })
}

fn is_identity(stack: &XformStack, time: Time) -> bool {
    stack.local(time) == DMat4::IDENTITY
}

/// A transform that does not move. Only one with shear stays a matrix.
pub(super) fn local_transform(m: &DMat4) -> LocalTransform {
    match without_shear(m) {
        (trs, None) => LocalTransform::Trs(trs),
        _ => LocalTransform::Matrix(*m),
    }
}

/// A transform without shear, and what is inside of it where it has some.
type Parts = (Trs, Option<Trs>);

/// Keys of a transform.
struct Keyed {
    times: Vec<f64>,
    parts: Vec<Parts>,
    /// How far off the transform is between them, relative to its size.
    off: f64,
}

impl Keyed {
    /// `jump` is the longest time, in time codes, in which the transform jumps.
    fn new(times: &[f64], local: impl Fn(f64) -> DMat4, (load, jump): (Load, f64)) -> Self {
        let mut out = Vec::new();
        let mut off = 0.0f64;
        for (i, time) in times.iter().enumerate() {
            let key = (*time, without_shear(&local(*time)));
            if i > 0 && time - times[i - 1] > jump {
                let last = out[out.len() - 1];
                let before = [f64::INFINITY; 2];
                off = off.max(refine(last, key, (&local, load), (0, before), &mut out));
            }
            out.push(key);
        }
        let (times, parts) = out.into_iter().unzip();
        Self { times, parts, off }
    }

    fn is_sheared(&self) -> bool {
        self.parts.iter().any(|(_, inner)| inner.is_some())
    }
}

/// Adds keys between two others until the components in between, interpolated, give the transform.
/// The span was halved so often before, and deviated by so much then: relative to the transform, and
/// to the meshes of the load. Gives how far off the transform still is.
fn refine(
    from: (f64, Parts),
    to: (f64, Parts),
    (local, load): (&impl Fn(f64) -> DMat4, Load),
    (halved, before): (u32, [f64; 2]),
    out: &mut Vec<(f64, Parts)>,
) -> f64 {
    let at = |alpha: f64| from.0 + (to.0 - from.0) * alpha;
    let (a, b) = (from.1, to.1);
    let scale = |key: &Parts| key.0.scale.abs().max_element();
    let most = scale(&a).max(scale(&b));
    let mut here = [0.0f64; 2];
    for alpha in [0.25, 0.5, 0.75] {
        let m = local(at(alpha));
        let mut mixed = mix(&a.0, &b.0, alpha).matrix();
        if a.1.is_some() || b.1.is_some() {
            let inner = [a.1, b.1].map(Option::unwrap_or_default);
            mixed *= mix(&inner[0], &inner[1], alpha).matrix();
        }
        let largest = |m: DMat4| {
            let values = m.to_cols_array().into_iter();
            values.fold(1e-30f64, |largest, v| largest.max(v.abs()))
        };
        let off = mixed - m;
        let size = longest_axis(&m).max(SMALLEST * most);
        here[0] = here[0].max(largest(off) / largest(m));
        here[1] = here[1].max(load.deviation(&off) / size.max(f64::MIN_POSITIVE));
    }
    let [of_transform, of_mesh] = here;
    let shrinks = [0, 1].map(|i| of_transform > LARGE || here[i] < 0.7 * before[i]);
    let is_far = of_transform > TOLERANCE && shrinks[0];
    let is_far_for_meshes = of_transform > FINEST && of_mesh > TOLERANCE_OF_MESH && shrinks[1];
    if !(is_far || is_far_for_meshes) || halved == MOST_HALVINGS {
        return of_transform;
    }
    let middle = (at(0.5), without_shear(&local(at(0.5))));
    let next = (halved + 1, here);
    let first = refine(from, middle, (local, load), next, out);
    out.push(middle);
    first.max(refine(middle, to, (local, load), next, out))
}

/// The components between two keys, as glTF interpolates them.
pub(super) fn mix(a: &Trs, b: &Trs, alpha: f64) -> Trs {
    Trs {
        translation: a.translation.lerp(b.translation, alpha),
        rotation: a.rotation.slerp(b.rotation, alpha).normalize(),
        scale: a.scale.lerp(b.scale, alpha),
    }
}

/// Tracks of a node's components. A component that stays at rest has none.
pub(super) fn tracks(node: usize, seconds: &[f64], keys: &[Trs], rest: Trs) -> Vec<Track> {
    let translations: Vec<DVec3> = keys.iter().map(|k| k.translation).collect();
    let rotations: Vec<DQuat> = keys.iter().map(|k| k.rotation).collect();
    let scales: Vec<DVec3> = keys.iter().map(|k| k.scale).collect();
    let moving = [
        component(seconds, &translations, |v| v == rest.translation)
            .map(|(times, how, v)| (times, how, Keys::Translation(v))),
        component(seconds, &rotations, |v| {
            v == rest.rotation || v == -rest.rotation
        })
        .map(|(times, how, v)| (times, how, Keys::Rotation(v))),
        component(seconds, &scales, |v| v == rest.scale)
            .map(|(times, how, v)| (times, how, Keys::Scale(v))),
    ];
    let track = |(times, interpolation, keys)| Track {
        target: TrackTarget::Node(node),
        curve: Curve {
            times,
            interpolation,
            keys,
        },
    };
    moving.into_iter().flatten().map(track).collect()
}

/// The keys of a component; `None` if it is always as it is at rest. Only the first and the last key
/// are left if all are equal, and steps if it jumps from one value to the next.
fn component<T: Copy + PartialEq>(
    seconds: &[f64],
    values: &[T],
    is_rest: impl Fn(T) -> bool,
) -> Option<(Vec<f64>, CurveInterpolation, Vec<T>)> {
    let first = *values.first()?;
    let pick = |indices: &[usize]| {
        let times = indices.iter().map(|i| seconds[*i]).collect();
        (times, indices.iter().map(|i| values[*i]).collect())
    };
    if values.iter().all(|v| *v == first) {
        if is_rest(first) {
            return None;
        }
        let ends: &[usize] = if values.len() == 1 {
            &[0]
        } else {
            &[0, values.len() - 1]
        };
        let (times, values) = pick(ends);
        return Some((times, CurveInterpolation::Linear, values));
    }
    match steps(seconds, values) {
        Some(kept) => {
            let (times, values) = pick(&kept);
            Some((times, CurveInterpolation::Step, values))
        }
        None => Some((
            seconds.to_vec(),
            CurveInterpolation::Linear,
            values.to_vec(),
        )),
    }
}

/// The longest time, in seconds, in which a value jumps. USD has no steps between time samples, so
/// files have two samples close to each other.
pub(super) const JUMP: f64 = 1e-4;

/// The keys of a value that stays between jumps: the first, the last, and the end of each jump.
/// `None` if it moves in between.
pub(super) fn steps<T: PartialEq>(seconds: &[f64], values: &[T]) -> Option<Vec<usize>> {
    let mut kept = vec![0];
    for i in 1..values.len() {
        let jumps = values[i] != values[i - 1];
        if jumps && seconds[i] - seconds[i - 1] > JUMP {
            return None;
        }
        if jumps || i + 1 == values.len() {
            kept.push(i);
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_turn_between_two_keys_turns() {
        let keys = Keyed::new(
            &[0.0, 10.0],
            |t| DMat4::from_rotation_y(t * 0.6),
            (Load::default(), 0.0),
        );
        assert!(keys.times.len() >= 3 && !keys.is_sheared());
        for i in 0..=50 {
            let t = f64::from(i) / 5.0;
            let next = keys
                .times
                .partition_point(|k| *k <= t)
                .min(keys.times.len() - 1);
            let (a, b) = (next - 1, next);
            let alpha = (t - keys.times[a]) / (keys.times[b] - keys.times[a]);
            let m = mix(&keys.parts[a].0, &keys.parts[b].0, alpha).matrix();
            let want = DMat4::from_rotation_y(t * 0.6);
            assert!(m.abs_diff_eq(want, 1e-4), "{t}");
        }
    }

    #[test]
    fn straight_moves_get_no_further_keys() {
        let straight = |t: f64| DMat4::from_translation(DVec3::X * t);
        let keys = Keyed::new(&[0.0, 1.0, 5.0], straight, (Load::default(), 0.0));
        assert_eq!(keys.times, [0.0, 1.0, 5.0]);
        let sheared = |t: f64| {
            let stretch = DMat4::from_scale(DVec3::new(1.0, 1.0 + t, 1.0));
            stretch * DMat4::from_rotation_z(0.5)
        };
        let keys = Keyed::new(&[0.0, 1.0], sheared, (Load::default(), 0.0));
        assert!(keys.is_sheared());
    }

    #[test]
    fn keys_are_as_close_as_the_smallest_mesh_needs() {
        // On an arc of radius 100 whose chord is 0.011 away.
        let arc =
            |t: f64| DMat4::from_rotation_z(0.03 * t) * DMat4::from_translation(DVec3::X * 100.0);
        let cube = |size: f64| Load::of(&[DVec3::ZERO, DVec3::X * size]);
        let keys = |load| Keyed::new(&[0.0, 1.0], arc, (load, 0.0)).times.len();
        assert_eq!([Load::default(), cube(100.0), cube(0.0)].map(keys), [2; 3]);
        assert!(keys(cube(1.0)) > 4);
        // Not much closer than f32 can hold.
        assert!(keys(cube(1e-9)) < 20);
        // In a jump there is nothing to see.
        let jump = Keyed::new(&[0.0, 1.0], arc, (cube(1.0), 1.0));
        assert_eq!(jump.times.len(), 2);
    }

    #[test]
    fn what_stays_at_rest_has_no_track() {
        let rest = Trs::IDENTITY;
        let moved = Trs {
            translation: DVec3::X,
            ..rest
        };
        assert!(tracks(0, &[0.0, 1.0], &[rest; 2], rest).is_empty());
        let found = tracks(0, &[0.0, 1.0, 2.0], &[moved; 3], rest);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].curve.times, [0.0, 2.0]);
    }

    #[test]
    fn jumps_are_steps() {
        let values = [1, 1, 2, 2, 3, 3];
        let seconds = [0.0, 0.99999, 1.0, 1.99999, 2.0, 3.0];
        assert_eq!(steps(&seconds, &values), Some(vec![0, 2, 4, 5]));
        assert_eq!(steps(&[0.0, 1.0, 2.0], &[1, 2, 2]), None);
    }
}
