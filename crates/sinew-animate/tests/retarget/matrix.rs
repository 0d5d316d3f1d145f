//! The target in every combination of placement, bind space, rest pose, proportions and joints: all
//! its bones point as the source's do, and its root moves in proportion.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew_animate::retarget::{BoneMap, Retargeter, RigPlacement};

use crate::poses::{TOP, arms_down, humanoid, leg, moved, point_alike};
use common::rigs::{Build, Made, body, mixamo, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;

/// Combinations of a run.
const COMBINATIONS: u64 = 1000;

/// How the placement above the skeleton is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Placed {
    Identity,
    Moved,
    Scaled,
    /// About the vertical axis.
    Headed,
    /// The skeleton lies, and the placement sets it upright.
    Tilted,
    All,
    /// Bind and rest are upright, the placement lays them down, and the animation does not lie: as
    /// from Maya's HumanIK, which is bound in world space.
    Laid,
}

/// The space that bind transforms are in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Skeleton,
    World,
    /// It lies, or is upside down, with another origin and another unit.
    Own,
    /// Every joint is turned anyhow.
    Nonsense,
}

/// How the rest pose differs from the bind pose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rested {
    Bind,
    ArmsLowered,
    /// All joints are turned, and the hips are moved.
    Everything,
}

/// One side of a combination.
#[derive(Clone, Copy, Debug)]
struct Ways {
    placed: Placed,
    bound: Bound,
    rested: Rested,
    is_a_pose: bool,
    z_up: bool,
    centimetres: bool,
    /// Joints of the spine, of which a fourth one is no human bone.
    spine: usize,
    /// Quarter turns that the body faces away in its own space.
    quarters: usize,
    /// Twist joints, ends and helpers.
    extras: bool,
    fingers: bool,
    shoulders: bool,
    root: bool,
}

impl Ways {
    fn random(rng: &mut Rng) -> Self {
        use Placed::{All, Headed, Identity, Laid, Moved, Scaled, Tilted};
        let bound = [Bound::Skeleton, Bound::World, Bound::Own, Bound::Nonsense][rng.below(4)];
        let rested = [Rested::Bind, Rested::ArmsLowered, Rested::Everything][rng.below(3)];
        // What lies in a space of its own must not stand by accident, and one of the two poses stands
        // in a space that is known.
        let is_known = matches!(bound, Bound::Skeleton | Bound::World);
        let tilts = if is_known { 7 } else { 4 };
        Self {
            placed: [Identity, Moved, Scaled, Headed, Tilted, All, Laid][rng.below(tilts)],
            rested: match (bound, rested) {
                (Bound::Nonsense, _) => Rested::Bind,
                (Bound::Own, Rested::Everything) => Rested::ArmsLowered,
                _ => rested,
            },
            bound,
            is_a_pose: rng.chance(0.5),
            z_up: rng.chance(0.5),
            centimetres: rng.chance(0.5),
            spine: 1 + rng.below(4),
            quarters: rng.below(4),
            extras: rng.chance(0.5),
            fingers: rng.chance(0.8),
            shoulders: rng.chance(0.8),
            root: rng.chance(0.4),
        }
    }

    /// Whether the files tell how high the hips are when the body stands.
    fn height_is_known(&self) -> bool {
        self.rested != Rested::Everything || self.placed != Placed::Laid
    }

    fn has(&self, key: &str) -> bool {
        let chest = [("chest", 2), ("upperChest", 3)];
        let is_short = |(part, least): &(&str, usize)| key == *part && self.spine < *least;
        let fingers = ["Thumb", "Index", "Middle", "Little"];
        let is_finger = fingers.iter().any(|f| key[1..].starts_with(f));
        !(chest.iter().any(is_short)
            || is_finger && !self.fingers
            || key.ends_with("Shoulder") && !self.shoulders)
    }
}

/// A rig, and the truth about it.
struct Side {
    /// Bound and at rest where the body stands.
    plain: Made,
    made: Made,
    /// Heading of the character in the world, which does not count.
    stands: DQuat,
    /// The pose that stands in the world.
    standing: Vec<Trs>,
    /// Brings what is posed from the plain rest upright in the world.
    upright: DMat4,
}

fn some(rng: &mut Rng, size: f32) -> DVec3 {
    let mut part = || f64::from(rng.range(-size, size));
    DVec3::new(part(), part(), part())
}

/// Bones of the same directions and of other lengths, the same on both sides.
fn proportions(rng: &mut Rng, ways: &Ways) -> BTreeMap<String, DVec3> {
    let mut factors: BTreeMap<String, f64> = BTreeMap::new();
    let mut out: BTreeMap<String, DVec3> = BTreeMap::new();
    let plain: BTreeMap<String, DVec3> = body().into_iter().map(|p| (p.0, p.2)).collect();
    for (key, parent, at) in body() {
        // Knuckles are no bones of their own.
        let part = ["Index1", "Little1", "Middle1"]
            .iter()
            .any(|k| key.ends_with(k));
        let part = if part { "palm" } else { &key[1..] };
        let factor = *factors
            .entry(part.to_owned())
            .or_insert_with(|| f64::from(rng.range(0.7, 1.4)));
        let from = plain.get(&parent).copied().unwrap_or_default();
        let above = out.get(&parent).copied().unwrap_or_default();
        out.insert(key, above + (at - from) * factor);
    }
    if ways.is_a_pose {
        let shoulders = ["LUpperArm", "RUpperArm"].map(|key| out[key]);
        for (key, at) in &mut out {
            *at = arms_down(key, *at, shoulders[usize::from(key.starts_with('R'))]);
        }
    }
    out
}

impl Side {
    fn new(rng: &mut Rng, ways: Ways, name: &dyn Fn(&str) -> String) -> Self {
        let metres = if ways.centimetres { 0.01 } else { 1.0 };
        let quarter = DQuat::from_rotation_y(ways.quarters as f64 * FRAC_PI_2);
        // From a world with Y up in metres to the file's.
        let up = DMat4::from_rotation_x(if ways.z_up { FRAC_PI_2 } else { 0.0 });
        let file_from_world = up * DMat4::from_scale(DVec3::splat(1.0 / metres));
        let heading = DQuat::from_rotation_y(f64::from(rng.range(-3.0, 3.0)));
        let moved = some(rng, 3.0).with_y(0.0);
        let size = f64::from(rng.range(0.2, 8.0));
        // The shortest rotation that sets a direction upright, so that no heading hides in it.
        let lies = some(rng, 1.0).with_y(0.0).normalize_or(DVec3::X);
        let lies = lies + DVec3::Y * f64::from(rng.range(-0.4, 0.4));
        let tilt = DQuat::from_rotation_arc(lies.normalize(), DVec3::Y);
        let placed = DMat4::from_scale_rotation_translation;
        let (one, none) = (DVec3::ONE, DQuat::IDENTITY);
        let (placement, lying) = match ways.placed {
            Placed::Identity => (DMat4::IDENTITY, none),
            Placed::Moved => (placed(one, none, moved), none),
            Placed::Scaled => (placed(one * size, none, DVec3::ZERO), none),
            Placed::Headed => (placed(one, heading, DVec3::ZERO), none),
            Placed::Tilted => (placed(one, tilt, DVec3::ZERO), tilt.inverse()),
            Placed::All => (placed(one * size, heading * tilt, moved), tilt.inverse()),
            Placed::Laid => (placed(one, tilt.inverse(), moved), none),
        };
        let stands = match ways.placed {
            Placed::Headed | Placed::All => heading * quarter,
            _ => quarter,
        };
        let world_from_skel = file_from_world * placement * file_from_world.inverse();
        let sized = DVec3::splat(placement.determinant().abs().cbrt().recip());
        let body = placed(sized, lying * quarter, DVec3::ZERO);
        let positions = proportions(rng, &ways);
        let mut extra = Vec::new();
        if ways.spine == 4 {
            extra.push(("upperChest", TOP, true));
        }
        if ways.extras {
            extra.extend([
                ("LHand", "handEnd", false),
                ("RUpperLeg", "thighHelper", false),
            ]);
        }
        let mut plain = Build {
            name,
            orient: Box::new(|_| random_turn(rng)),
            reshape: &|key, _| positions[key],
            has: &|key| ways.has(key),
            extra,
            placement: RigPlacement {
                world_from_skel,
                up: if ways.z_up { DVec3::Z } else { DVec3::Y },
                meters_per_unit: metres,
            },
            skel_from_body: file_from_world * body,
            root: ways.root.then_some("root"),
        }
        .make();
        let top = plain.rig.find(TOP);
        plain.at.extend(top.map(|joint| (TOP.to_owned(), joint)));
        let upright = match ways.placed {
            Placed::Laid => {
                world_from_skel.inverse()
                    * DMat4::from_translation(world_from_skel.w_axis.truncate())
            }
            _ => DMat4::IDENTITY,
        };
        let standing = set_upright(plain.rig.rest().to_vec(), upright);
        Self {
            made: rebound(rng, (&plain, &standing, stands), &ways, size),
            plain,
            standing,
            stands,
            upright,
        }
    }

    /// A pose whose joints are turned by up to an angle from the bind pose that stands in the world.
    fn pose(&self, rng: &mut Rng, most: f32) -> Vec<Trs> {
        set_upright(self.plain.random_pose(rng, most), self.upright)
    }

    /// Where the hips are as the body faces, in metres.
    fn hips(&self, pose: &[Trs]) -> DVec3 {
        self.stands.inverse() * self.plain.position(&self.plain.world(pose), "hips")
    }

    /// How the topmost joint of the trunk is turned from where it stands, as the body faces.
    fn top(&self, pose: &[Trs]) -> DQuat {
        let tops = [TOP, "upperChest", "chest", "spine"];
        let top = tops.iter().find_map(|key| self.plain.at.get(*key)).unwrap();
        let [now, stood] = [pose, &self.standing].map(|pose| {
            let (_, turn, _) = self.plain.world(pose)[*top].to_scale_rotation_translation();
            self.stands.inverse() * turn
        });
        now * stood.inverse()
    }
}

/// A pose of the plain rig, upright in the world.
fn set_upright(mut pose: Vec<Trs>, upright: DMat4) -> Vec<Trs> {
    pose[0] = Trs::from_matrix(&(upright * pose[0].matrix()));
    pose
}

/// The rig with bind and rest transforms as they may be.
fn rebound(
    rng: &mut Rng,
    (plain, standing, stands): (&Made, &[Trs], DQuat),
    ways: &Ways,
    size: f64,
) -> Made {
    let bind = plain.skeleton.bind();
    let mut rest = plain.skeleton.rest().unwrap().to_vec();
    // The body as it stands, in metres, facing +Z.
    let stood = plain.world(standing);
    let stood = stood
        .iter()
        .map(|m| DMat4::from_quat(stands.inverse()) * *m);
    let stood: Vec<DMat4> = stood.collect();
    let turn = |m: &mut DMat4, axis: DVec3, angle: f32| {
        *m *= DMat4::from_quat(DQuat::from_axis_angle(axis, f64::from(angle)));
    };
    match ways.rested {
        Rested::Bind => {}
        Rested::ArmsLowered => {
            for (key, sign) in [("LUpperArm", -1.0), ("RUpperArm", 1.0)] {
                let joint = plain.at[key];
                let (_, own, _) = stood[joint].to_scale_rotation_translation();
                let ahead = own.inverse() * DVec3::Z;
                turn(&mut rest[joint], ahead, sign * rng.range(0.2, 0.8));
            }
        }
        Rested::Everything => {
            for (j, m) in rest.iter_mut().enumerate() {
                // The hips still tell which way the body faces.
                let is_top = j == 0 || j == plain.at["hips"];
                let most = if is_top { 0.2 } else { 0.5 };
                turn(m, random_turn(rng) * DVec3::X, rng.range(-most, most));
            }
            let hips = &mut rest[plain.at["hips"]].w_axis;
            hips.y += 0.05 * hips.truncate().length();
        }
    }
    let bind = match ways.bound {
        Bound::Skeleton => bind.to_vec(),
        Bound::World => {
            let space = plain.rig.placement().world_from_skel;
            bind.iter().map(|m| space * *m).collect()
        }
        Bound::Own => {
            let turn = DQuat::from_rotation_x((1 + rng.below(3)) as f64 * FRAC_PI_2);
            let at = some(rng, 2.0);
            let space = DMat4::from_scale_rotation_translation(DVec3::splat(size), turn, at);
            stood.iter().map(|m| space * *m).collect()
        }
        Bound::Nonsense => {
            let mut own = |m: &DMat4| *m * DMat4::from_quat(random_turn(rng));
            bind.iter().map(&mut own).collect()
        }
    };
    plain.bound(bind, rest)
}

/// None but the hips moves, none scales, and joints that are no human bones keep their rest to the last bit.
fn joints_keep_their_rest(what: &str, target: &Made, pose: &[Trs]) {
    for (j, (local, rest)) in pose.iter().zip(target.rig.rest()).enumerate() {
        assert_eq!(local.scale, rest.scale, "{what}: {j}");
        if j != target.at["hips"] {
            assert_eq!(local.translation, rest.translation, "{what}: {j}");
        }
        if !target.at.values().any(|bone| *bone == j) && target.rig.names()[j] != TOP {
            assert_eq!(local, rest, "{what}: {}", target.rig.names()[j]);
        }
    }
}

#[test]
fn every_combination_points_as_the_source_does() {
    let (mut bones, mut heights) = (0, 0);
    let seeds = common::seeds(COMBINATIONS);
    for seed in seeds.clone() {
        let mut rng = Rng::new(seed);
        let ways = [Ways::random(&mut rng), Ways::random(&mut rng)];
        let source = Side::new(&mut rng, ways[0], &mixamo);
        let target = Side::new(&mut rng, ways[1], &vroid);
        let what = format!("seed {seed}: {ways:?}");
        let (s, t) = (humanoid(&source.plain), humanoid(&target.plain));
        let (s, t) = ((&source.made.rig, &s), (&target.made.rig, &t));
        let map = BoneMap::between(s, t).with_top_of_trunk(s, t);
        let mut retargeter = Retargeter::new(s.0, t.0, &map, &Default::default()).expect("pairs");
        let mut went = Vec::new();
        for most in [0.0, 1.0, 2.0] {
            let pose = source.pose(&mut rng, most);
            let out = moved(&mut retargeter, &target.made, &pose);
            let sides = [
                (&source.plain, &pose[..], source.stands),
                (&target.plain, &out[..], target.stands),
            ];
            bones += point_alike(&what, sides);
            joints_keep_their_rest(&what, &target.made, &out);
            // What the target has above its last pair keeps its rest.
            if ways[0].spine >= ways[1].spine {
                let off = source.top(&pose).angle_between(target.top(&out));
                assert!(
                    off < tolerance::ANGLE_BY_ACOS,
                    "{what}: the trunk is {off} off"
                );
            }
            went.push([source.hips(&pose), target.hips(&out)]);
        }
        // The root moves in proportion.
        let scale = retargeter.root_scale();
        let [from, to] = [&source, &target].map(|side| side.hips(&side.standing).y);
        for pair in went.windows(2) {
            let [a, b] = [0, 1].map(|i| pair[1][i] - pair[0][i]);
            let off = (b - a * scale).length() / to;
            assert!(
                off < tolerance::ROOT_OF_BODIES,
                "{what}: the root is {off} off"
            );
        }
        if ways.iter().all(Ways::height_is_known) {
            heights += 1;
            let want = to + scale * (went[0][0].y - from);
            let off = (went[0][1].y - want).abs() / to;
            let scales = (scale / (leg(&target.plain) / leg(&source.plain)) - 1.0).abs();
            assert!(
                off.max(scales) < tolerance::ROOT_OF_BODIES,
                "{what}: {off}, {scales}"
            );
        }
    }
    assert!(bones as u64 > 50 * seeds.end && heights > seeds.end / 4);
}
