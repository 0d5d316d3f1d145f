//! Human bodies in every way that files have them: proportions, spines, poses, spaces, placements.
//!
//! A body is built from directions and lengths, so two bodies of other proportions still have bones
//! of the same directions. What is true of a pose is told by plain matrices and by the body itself.

use std::collections::BTreeMap;

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew::skel::Skeleton;
use sinew_animate::retarget::{Bone, BoneMap, Humanoid, Rig, RigPlacement};

use crate::rigs::random_turn;
use crate::rng::Rng;

/// How the placement above the skeleton is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    Identity,
    Moved,
    Scaled,
    /// About the vertical axis.
    Headed,
    /// The skeleton lies, and the placement sets it upright.
    Tilted,
    All,
    /// The skeleton is upright, and the placement lays it down.
    Laid,
    /// As from Maya's HumanIK: bind and rest are in world space, the animation is not.
    WorldRest,
}

impl Placed {
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::Moved,
        Self::Scaled,
        Self::Headed,
        Self::Tilted,
        Self::All,
        Self::Laid,
        Self::WorldRest,
    ];
}

/// The space that bind transforms are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Skeleton,
    World,
    /// Rotated and moved anyhow.
    Arbitrary,
    /// As arbitrary, and in other units.
    Units,
    /// Every joint in another way: the bind pose lies.
    Nonsense,
}

impl Bound {
    pub const ALL: [Self; 5] = [
        Self::Skeleton,
        Self::World,
        Self::Arbitrary,
        Self::Units,
        Self::Nonsense,
    ];
}

/// How the rest pose differs from the bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rested {
    Bind,
    ArmsLowered,
    /// All joints are turned, and the hips are moved.
    Everything,
}

impl Rested {
    pub const ALL: [Self; 3] = [Self::Bind, Self::ArmsLowered, Self::Everything];
}

/// How the arms are in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arms {
    T,
    A,
}

/// One side of a combination.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    pub placed: Placed,
    pub bound: Bound,
    pub rested: Rested,
    pub arms: Arms,
    pub z_up: bool,
    pub centimetres: bool,
    pub spine: usize,
    /// Quarter turns that the body faces away in its own space.
    pub quarters: i32,
    /// Twist joints in the limbs, end joints and helpers beside them.
    pub extras: bool,
    pub fingers: bool,
    pub shoulders: bool,
    pub root: bool,
}

impl Default for Ways {
    fn default() -> Self {
        Self {
            placed: Placed::Identity,
            bound: Bound::Skeleton,
            rested: Rested::Bind,
            arms: Arms::T,
            z_up: false,
            centimetres: false,
            spine: 3,
            quarters: 0,
            extras: false,
            fingers: true,
            shoulders: true,
            root: false,
        }
    }
}

fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

impl Ways {
    /// Any combination for which there is a truth.
    pub fn random(rng: &mut Rng) -> Self {
        let mut ways = Self {
            placed: pick(rng, &Placed::ALL),
            bound: pick(rng, &Bound::ALL),
            rested: pick(rng, &Rested::ALL),
            arms: pick(rng, &[Arms::T, Arms::A]),
            z_up: rng.chance(0.5),
            centimetres: rng.chance(0.5),
            spine: 1 + rng.below(5),
            quarters: pick(rng, &[0, 0, 0, 1, 2, 3]),
            extras: rng.chance(0.5),
            fingers: rng.chance(0.8),
            shoulders: rng.chance(0.8),
            root: rng.chance(0.4),
        };
        // Nothing is left to measure from if the bind pose lies and the rest pose is any pose.
        if ways.bound == Bound::Nonsense {
            ways.rested = Rested::Bind;
        }
        // Both are in world space there.
        if ways.placed == Placed::WorldRest {
            ways.bound = Bound::Skeleton;
        }
        ways
    }
}

/// A joint of the body: key, key of the parent, direction from the parent and length in metres.
type Part = (String, String, DVec3, f64);

/// The body in character space: facing +Z, Y up, origin on the ground between the feet.
fn parts(rng: &mut Rng, ways: &Ways) -> Vec<Part> {
    let v = DVec3::new;
    let mut out: Vec<Part> = Vec::new();
    let mut length = |base: f64| base * f64::from(rng.range(0.7, 1.4));
    let (thigh, shin, ankle) = (length(0.4), length(0.4), length(0.08));
    let hips = thigh + shin + ankle + 0.05;
    let mut add = |key: &str, parent: &str, direction: DVec3, length: f64| {
        out.push((key.into(), parent.into(), direction.normalize(), length));
    };
    add("hips", "", DVec3::Y, hips);
    let up = v(0.0, 1.0, 0.06);
    let trunk = length(0.5) / (ways.spine as f64 + 1.0);
    let mut top = String::from("hips");
    for i in 0..ways.spine {
        let key = format!("spine{}", i + 1);
        add(&key, &top, up, trunk);
        top = key;
    }
    add("neck", &top, up, trunk);
    add("head", "neck", v(0.0, 1.0, 0.2), length(0.09));
    let (clavicle, upper, lower) = (length(0.12), length(0.28), length(0.25));
    let (palm, finger, foot) = (length(0.09), length(0.035), length(0.14));
    for (side, x) in [("L", 1.0), ("R", -1.0)] {
        let drop = match ways.arms {
            Arms::T => 0.0,
            Arms::A => -0.75 * x,
        };
        let arm = |d: DVec3| DQuat::from_rotation_z(drop) * d;
        let key = |name: &str| format!("{side}{name}");
        let mut shoulder = top.clone();
        if ways.shoulders {
            shoulder = key("Shoulder");
            add(&shoulder, &top, v(0.3 * x, 0.6, 0.05), 0.2 * trunk);
        }
        add(&key("UpperArm"), &shoulder, v(x, 0.2, -0.05), clavicle);
        add(
            &key("LowerArm"),
            &key("UpperArm"),
            arm(v(x, 0.0, -0.02)),
            upper,
        );
        add(&key("Hand"), &key("LowerArm"), arm(v(x, 0.0, 0.03)), lower);
        if ways.fingers {
            for (name, z) in [
                ("Thumb", 0.8),
                ("Index", 0.25),
                ("Middle", 0.0),
                ("Little", -0.4),
            ] {
                let size = if name == "Thumb" { 0.4 * palm } else { palm };
                let mut above = key("Hand");
                for joint in 1..=3 {
                    let own = key(&format!("{name}{joint}"));
                    let bent = v(x, -0.02 * f64::from(joint), z);
                    let long = if joint == 1 { size } else { finger };
                    add(&own, &above, arm(bent), long);
                    above = own;
                }
            }
        }
        add(&key("UpperLeg"), "hips", v(x, -0.5, 0.0), 0.1);
        add(
            &key("LowerLeg"),
            &key("UpperLeg"),
            v(0.02 * x, -1.0, 0.01),
            thigh,
        );
        add(
            &key("Foot"),
            &key("LowerLeg"),
            v(0.01 * x, -1.0, -0.03),
            shin,
        );
        add(&key("Toes"), &key("Foot"), v(0.05 * x, -0.35, 1.0), foot);
    }
    out
}

/// The human bone of a body part.
fn bone(key: &str) -> Option<Bone> {
    let name = match key {
        "hips" | "neck" | "head" => key.to_owned(),
        "spine1" => "spine".into(),
        "spine2" => "chest".into(),
        "spine3" => "upperChest".into(),
        _ if key.starts_with("spine") => return None,
        _ => {
            let side = if key.starts_with('L') {
                "left"
            } else {
                "right"
            };
            let part = &key[1..];
            let joints = match part.starts_with("Thumb") {
                true => ["Metacarpal", "Proximal", "Distal"],
                false => ["Proximal", "Intermediate", "Distal"],
            };
            let part = match part.strip_suffix(['1', '2', '3']) {
                Some(finger) => {
                    let joint = part.as_bytes()[part.len() - 1] - b'1';
                    format!("{finger}{}", joints[usize::from(joint)])
                }
                None => part.to_owned(),
            };
            format!("{side}{part}")
        }
    };
    Some(name.parse().expect("a bone"))
}

/// A rig, and the truth about it.
pub struct Body {
    pub ways: Ways,
    pub rig: Rig,
    /// Index of each body part.
    pub at: BTreeMap<String, usize>,
    /// Key of the part that a part hangs from.
    pub above: BTreeMap<String, String>,
    /// For each joint: a helper turns about this local axis only.
    pub twists: BTreeMap<usize, DVec3>,
    /// Rotations of the joints in character space in the bind pose, and the directions to them.
    pub turns: Vec<DQuat>,
    pub directions: BTreeMap<String, DVec3>,
    /// Height of the hips above the ground in metres.
    pub height: f64,
    /// world_from_character without scale, in metres with Y up: headings that do not count.
    pub stands: DQuat,
    world_from_skel: DMat4,
}

impl Body {
    pub fn new(rng: &mut Rng, ways: Ways) -> Self {
        let parts = parts(rng, &ways);
        let metres = if ways.centimetres { 0.01 } else { 1.0 };
        let quarter =
            DQuat::from_rotation_y(f64::from(ways.quarters) * std::f64::consts::FRAC_PI_2);
        // From a world with Y up in metres to the file's.
        let file_from_world = match ways.z_up {
            true => DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
            false => DMat4::IDENTITY,
        } * DMat4::from_scale(DVec3::splat(1.0 / metres));
        let some = |rng: &mut Rng, size: f32| {
            let mut part = || f64::from(rng.range(-size, size));
            DVec3::new(part(), part(), part())
        };
        let flat = |v: DVec3| v.with_y(0.0);
        let heading = DQuat::from_rotation_y(f64::from(rng.range(-3.0, 3.0)));
        let moved = flat(some(rng, 3.0));
        let size = f64::from(rng.range(0.2, 8.0));
        // The shortest rotation that sets a direction upright, so that no heading hides in it.
        let lies = flat(some(rng, 1.0)).normalize_or(DVec3::X)
            + DVec3::Y * f64::from(rng.range(-0.4, 0.4));
        let tilt = DQuat::from_rotation_arc(lies.normalize(), DVec3::Y);
        // In the world with Y up in metres: where the skeleton is, and where the character is in it.
        let one = DVec3::ONE;
        let srt = DMat4::from_scale_rotation_translation;
        let none = DQuat::IDENTITY;
        let (placement, character_turn) = match ways.placed {
            Placed::Identity => (DMat4::IDENTITY, none),
            Placed::Moved => (srt(one, none, moved), none),
            Placed::Scaled => (srt(one * size, none, DVec3::ZERO), none),
            Placed::Headed => (srt(one, heading, DVec3::ZERO), none),
            Placed::Tilted => (srt(one, tilt, DVec3::ZERO), tilt.inverse()),
            Placed::All => (srt(one * size, heading * tilt, moved), tilt.inverse()),
            Placed::Laid | Placed::WorldRest => (srt(one, tilt.inverse(), moved), none),
        };
        let stands = match ways.placed {
            Placed::Headed | Placed::All => heading * quarter,
            _ => quarter,
        };
        // The file's skeleton space has the file's axes and units.
        let world_from_skel = file_from_world * placement * file_from_world.inverse();
        let sized = DMat4::from_scale(DVec3::splat(placement.determinant().abs().cbrt().recip()));
        let skel_from_character =
            file_from_world * sized * DMat4::from_quat(character_turn * quarter);
        let (_, turned, _) = skel_from_character.to_scale_rotation_translation();

        let mut names: Vec<String> = Vec::new();
        let mut paths: Vec<String> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut bind: Vec<DMat4> = Vec::new();
        let mut turns = Vec::new();
        let mut at = BTreeMap::new();
        let mut twists = BTreeMap::new();
        let mut positions: BTreeMap<String, DVec3> = BTreeMap::new();
        let mut holder: BTreeMap<String, usize> = BTreeMap::new();
        let mut add = |name: String, parent: Option<usize>, turn: DQuat, p: DVec3| {
            paths.push(match parent {
                Some(p) => format!("{}/{name}", paths[p]),
                None => name.clone(),
            });
            names.push(name);
            parents.push(parent);
            let placed = skel_from_character.transform_point3(p);
            bind.push(DMat4::from_rotation_translation(turned * turn, placed));
            turns.push(turn);
            bind.len() - 1
        };
        if ways.root {
            let root = add("root".into(), None, random_turn(rng), DVec3::ZERO);
            holder.insert(String::new(), root);
        }
        for (i, (key, parent, direction, length)) in parts.iter().enumerate() {
            let from = positions.get(parent).copied().unwrap_or(DVec3::ZERO);
            let p = from + *direction * *length;
            positions.insert(key.clone(), p);
            let mut above = holder.get(parent).copied();
            let in_limb = ["LowerArm", "Hand", "LowerLeg", "Foot"].contains(&&key[1..]);
            if ways.extras && in_limb {
                // A twist joint between the two, which turns about the bone.
                let turn = random_turn(rng);
                let twist = add(
                    format!("twist{i}"),
                    above,
                    turn,
                    from + *direction * *length * 0.5,
                );
                twists.insert(twist, turn.inverse() * *direction);
                above = Some(twist);
            }
            let joint = add(format!("j{i}"), above, random_turn(rng), p);
            at.insert(key.clone(), joint);
            holder.insert(key.clone(), joint);
            if ways.extras && rng.chance(0.2) {
                add(
                    format!("end{i}"),
                    Some(joint),
                    random_turn(rng),
                    p + some(rng, 0.1),
                );
            }
        }
        let local = |pose: &[DMat4]| -> Vec<DMat4> {
            let each = parents.iter().zip(pose);
            each.map(|(parent, m)| parent.map_or(*m, |p| pose[p].inverse() * *m))
                .collect()
        };
        let mut rest = local(&bind);
        match ways.rested {
            Rested::Bind => {}
            Rested::ArmsLowered => {
                for (side, sign) in [("L", -1.0), ("R", 1.0)] {
                    // About the character's forward axis.
                    let j = at[&format!("{side}UpperArm")];
                    let axis = turns[j].inverse() * DVec3::Z;
                    let angle = sign * f64::from(rng.range(0.2, 1.2));
                    rest[j] *= DMat4::from_quat(DQuat::from_axis_angle(axis, angle));
                }
            }
            Rested::Everything => {
                for (j, m) in rest.iter_mut().enumerate() {
                    let axis = twists.get(&j).copied();
                    let axis = axis.unwrap_or_else(|| random_turn(rng) * DVec3::X);
                    // The hips still tell which way the body faces.
                    let is_top = parents[j].is_none() || j == at["hips"];
                    let most = if is_top { 0.2 } else { 0.5 };
                    let angle = f64::from(rng.range(-most, most));
                    *m *= DMat4::from_quat(DQuat::from_axis_angle(axis, angle));
                }
                rest[at["hips"]].w_axis.y += 0.05 / metres;
            }
        }
        let bind: Vec<DMat4> = match ways.bound {
            Bound::Skeleton => bind,
            Bound::World => bind.iter().map(|m| world_from_skel * *m).collect(),
            Bound::Arbitrary | Bound::Units => {
                let scale = if ways.bound == Bound::Units {
                    size
                } else {
                    1.0
                };
                let any = DMat4::from_scale_rotation_translation(
                    DVec3::splat(scale),
                    random_turn(rng),
                    some(rng, 2.0),
                );
                bind.iter().map(|m| any * *m).collect()
            }
            Bound::Nonsense => {
                let any = |m: &DMat4| *m * DMat4::from_quat(random_turn(rng));
                bind.iter().map(any).collect()
            }
        };
        let skeleton = Skeleton::new("/Skel", paths, Some(bind), Some(rest)).expect("a skeleton");
        let placement = RigPlacement {
            world_from_skel,
            up: if ways.z_up { DVec3::Z } else { DVec3::Y },
            meters_per_unit: metres,
        };
        let rig = Rig::new("a body", &skeleton, placement).expect("a rig");
        let directions = parts.iter().map(|p| (p.0.clone(), p.2)).collect();
        let above = parts.iter().map(|p| (p.0.clone(), p.1.clone())).collect();
        Self {
            height: positions["hips"].y,
            ways,
            rig,
            at,
            above,
            twists,
            turns,
            directions,
            stands,
            world_from_skel,
        }
    }

    /// Binds and rests the body in other transforms, in skeleton space.
    pub fn bind_as(&mut self, bind: Vec<DMat4>) {
        let local = |(j, m): (usize, &DMat4)| match self.rig.parents()[j] {
            Some(p) => bind[p].inverse() * *m,
            None => *m,
        };
        let rest = bind.iter().enumerate().map(local).collect();
        let joints = self.rig.joints().to_vec();
        let skeleton = Skeleton::new("/Skel", joints, Some(bind), Some(rest)).expect("a skeleton");
        self.rig = Rig::new("a body", &skeleton, *self.rig.placement()).expect("a rig");
    }

    /// Binds the body in other transforms, and leaves the rest pose.
    pub fn bind_alone(&mut self, bind: Vec<DMat4>) {
        let rest = self.rig.rest().iter().map(Trs::matrix).collect();
        let joints = self.rig.joints().to_vec();
        let skeleton = Skeleton::new("/Skel", joints, Some(bind), Some(rest)).expect("a skeleton");
        self.rig = Rig::new("a body", &skeleton, *self.rig.placement()).expect("a rig");
    }

    /// The human bones; joints of the spine beyond the third have none.
    pub fn humanoid(&self) -> Humanoid {
        let all = self.at.iter();
        let bones = all.filter_map(|(key, joint)| Some((bone(key)?, *joint)));
        Humanoid::given(&self.rig, bones.collect())
    }

    /// common_from_joint of a pose, by plain matrices: in metres with Y up, as the character faces.
    pub fn world(&self, pose: &[Trs]) -> Vec<DMat4> {
        let placement = self.rig.placement();
        let upright = match placement.up == DVec3::Z {
            true => DMat4::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            false => DMat4::IDENTITY,
        };
        let metres = DMat4::from_scale(DVec3::splat(placement.meters_per_unit));
        let own = DMat4::from_quat(self.stands.inverse());
        let root = own * metres * upright * self.world_from_skel;
        let mut out: Vec<DMat4> = Vec::new();
        for (parent, local) in self.rig.parents().iter().zip(pose) {
            let m = DMat4::from_translation(local.translation)
                * DMat4::from_quat(local.rotation)
                * DMat4::from_scale(local.scale);
            out.push(parent.map_or(root, |p| out[p]) * m);
        }
        out
    }

    /// For each joint, the rotation away from the bind pose, in the character's space.
    pub fn turned(&self, world: &[DMat4]) -> Vec<DQuat> {
        let each = world.iter().zip(&self.turns);
        each.map(|(m, turn)| m.to_scale_rotation_translation().1 * turn.inverse())
            .collect()
    }

    /// A pose whose joints are turned by up to an angle from the bind pose that stands in the world,
    /// and whose hips are moved.
    pub fn random_pose(&self, rng: &mut Rng, most: f32) -> Vec<Trs> {
        // The bind pose in the character's space, as local rotations.
        let (_, turned, _) = (DMat4::from_quat(self.stands).inverse() * self.upright_from_skel())
            .to_scale_rotation_translation();
        let mut pose = self.rig.rest().to_vec();
        for (j, local) in pose.iter_mut().enumerate() {
            let above = self.rig.parents()[j].map(|p| self.turns[p]);
            let above = above.unwrap_or(turned.inverse());
            let axis = self.twists.get(&j).copied();
            let axis = axis.unwrap_or_else(|| random_turn(rng) * DVec3::X);
            let angle = f64::from(rng.range(-most, most));
            let bound = above.inverse() * self.turns[j];
            local.rotation = (bound * DQuat::from_axis_angle(axis, angle)).normalize();
        }
        let mut moved = || f64::from(rng.range(-0.5, 0.5));
        let moved = DVec3::new(moved(), moved(), moved());
        let hips = &mut pose[self.at["hips"]];
        hips.translation += moved * hips.translation.length();
        pose
    }

    fn upright_from_skel(&self) -> DMat4 {
        let upright = match self.rig.placement().up == DVec3::Z {
            true => DMat4::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            false => DMat4::IDENTITY,
        };
        upright * self.world_from_skel
    }
}

/// The pairs of two bodies.
pub fn pairs(source: &Body, target: &Body) -> BoneMap {
    let (s, t) = (source.humanoid(), target.humanoid());
    let (s, t) = ((&source.rig, &s), (&target.rig, &t));
    BoneMap::between(s, t).with_top_of_trunk(s, t)
}
