//! What must not matter to a clip: the joints' axes, units, the up axis, and whether a pose of its
//! rig stands.

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew::skel::Skeleton;
use sinew_animate::retarget::{BoneMap, Retargeter, Rig, RigPlacement};

use crate::poses::humanoid;
use common::rigs::{Build, Made, random_turn, vroid};
use common::rng::Rng;
use common::walk;

/// Another file with the same walk.
struct Variant {
    /// Whether bind and rest pose stand; otherwise the legs point up and the arms across.
    stands: bool,
    /// Rotations of the joints' own axes.
    axes: Vec<DQuat>,
    units: f64,
    /// From a space with Y up to that of the file.
    space: DQuat,
}

impl Variant {
    fn plain(made: &Made, stands: bool) -> Self {
        Self {
            stands,
            axes: vec![DQuat::IDENTITY; made.rig.len()],
            units: 1.0,
            space: DQuat::IDENTITY,
        }
    }

    /// A pose in the file's way.
    fn pose(&self, made: &Made, pose: &[Trs]) -> Vec<DMat4> {
        let parents = made.rig.parents().iter().zip(pose).enumerate();
        let own = parents.map(|(j, (parent, local))| {
            let above = parent.map_or(self.space, |p| self.axes[p].inverse());
            DMat4::from_rotation_translation(
                above * local.rotation * self.axes[j],
                above * local.translation * self.units,
            )
        });
        own.collect()
    }

    /// The rig with the samples of the walk. Nothing declares which way is up.
    fn rig(&self, made: &Made) -> (Rig, Vec<Vec<DMat4>>) {
        let mut zero = made.rig.rest().to_vec();
        if !self.stands {
            for (key, axis, angle) in [
                ("LUpperLeg", DVec3::X, 2.9),
                ("RUpperLeg", DVec3::X, 2.6),
                ("LUpperArm", DVec3::Y, 2.5),
                ("head", DVec3::X, 0.2),
            ] {
                let joint = &mut zero[made.at[key]];
                joint.rotation *= DQuat::from_axis_angle(axis, angle);
            }
        }
        let rest = self.pose(made, &zero);
        let mut bind: Vec<DMat4> = Vec::new();
        for (local, parent) in rest.iter().zip(made.rig.parents()) {
            bind.push(parent.map_or(*local, |p| bind[p] * *local));
        }
        let joints = made.rig.joints().to_vec();
        let skeleton = Skeleton::new("/Skel", joints, Some(bind), Some(rest)).unwrap();
        let placement = RigPlacement {
            meters_per_unit: 1.0 / self.units,
            ..RigPlacement::default()
        };
        let mut rig = Rig::new("a walk", &skeleton, placement).unwrap();
        let poses = (0..120).map(|i| walk::pose(made, walk::HIPS[0], f64::from(i) / 60.0));
        let poses: Vec<Vec<DMat4>> = poses.map(|pose| self.pose(made, &pose)).collect();
        for pose in &poses {
            rig.add_sample(DMat4::IDENTITY, pose);
        }
        rig.find_up(&humanoid(made));
        assert!(rig.placement().up.distance(self.space * DVec3::Y) < 1e-9);
        (rig, poses)
    }

    /// Where the target's joints are over the walk, and what the source was measured on.
    fn moved(&self, made: &Made, target: &Made) -> (Vec<Vec<DMat4>>, &'static str) {
        let (rig, poses) = self.rig(made);
        let map = BoneMap::between((&rig, &humanoid(made)), (&target.rig, &humanoid(target)));
        let mut retargeter = Retargeter::new(&rig, &target.rig, &map, &Default::default()).unwrap();
        let mut out = vec![Trs::IDENTITY; target.rig.len()];
        let mut frame = |pose: &Vec<DMat4>| {
            let pose: Vec<Trs> = pose.iter().map(Trs::from_matrix).collect();
            retargeter.retarget(&pose, &mut out);
            target.world(&out)
        };
        let frames = poses.iter().map(&mut frame).collect();
        (frames, retargeter.measured()[0].reference)
    }
}

/// The largest distance between two ways of the same joints, after a turn about the vertical.
fn apart(a: &[Vec<DMat4>], b: &[Vec<DMat4>], turn: DQuat) -> f64 {
    let joints = a.iter().flatten().zip(b.iter().flatten());
    let off = joints.map(|(a, b)| (turn * a.w_axis.truncate()).distance(b.w_axis.truncate()));
    off.fold(0.0, f64::max)
}

fn target(rng: &mut Rng) -> Made {
    Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(rng)),
        reshape: &|_, at| at * 0.8,
        ..Build::default()
    }
    .make()
}

#[test]
fn axes_units_and_up_do_not_matter() {
    let mut rng = Rng::new(41);
    let made = Build::default().make();
    let target = target(&mut rng);
    for stands in [true, false] {
        let (plain, reference) = Variant::plain(&made, stands).moved(&made, &target);
        assert_eq!(reference, if stands { "bind" } else { "clip" });
        let turned = Variant {
            axes: (0..made.rig.len()).map(|_| random_turn(&mut rng)).collect(),
            ..Variant::plain(&made, stands)
        };
        let units = Variant {
            units: 37.0,
            ..Variant::plain(&made, stands)
        };
        let swapped = Variant {
            space: DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
            ..Variant::plain(&made, stands)
        };
        for (name, variant) in [("axes", turned), ("units", units), ("up", swapped)] {
            let (frames, again) = variant.moved(&made, &target);
            assert_eq!(again, reference);
            let off = apart(&plain, &frames, DQuat::IDENTITY);
            assert!(off < 1e-6, "{name}, {reference}: {off} m");
        }
    }
}

/// A clip whose rig stands in no pose goes where the clip of the same rig with a T-pose goes.
#[test]
fn a_clip_says_how_its_body_is_built() {
    let mut rng = Rng::new(42);
    let made = Build::default().make();
    let target = target(&mut rng);
    let [(plain, _), (solved, _)] =
        [true, false].map(|stands| Variant::plain(&made, stands).moved(&made, &target));
    for (a, b) in plain.iter().zip(&solved) {
        for (from, to, degrees) in [
            ("LUpperLeg", "LLowerLeg", 0.01),
            ("RLowerLeg", "RFoot", 0.01),
            ("LUpperArm", "LLowerArm", 0.01),
            ("RLowerArm", "RHand", 0.01),
            ("hips", "spine", 8.0),
            ("neck", "head", 16.0),
            ("LFoot", "LToes", 8.0),
        ] {
            let off = target
                .direction(a, from, to)
                .angle_between(target.direction(b, from, to));
            assert!(off.to_degrees() < degrees, "{from}: {}", off.to_degrees());
        }
    }
    // The feet stand where they stand in the target's own pose.
    let lowest = |frame: &Vec<DMat4>| {
        let toes = ["LToes", "RToes"].map(|key| target.position(frame, key).y);
        toes[0].min(toes[1])
    };
    let stands = lowest(&target.world(target.rig.rest()));
    let mut heights: Vec<f64> = solved.iter().map(lowest).collect();
    heights.sort_by(f64::total_cmp);
    let off = heights[heights.len() / 2] - stands;
    assert!(off.abs() < 0.02, "{off} m");
}
