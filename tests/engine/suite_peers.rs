//! The suite's baselines: each peer's kernel gives what the CPU mirror gives, so that its time is that of the same work.

use std::sync::Arc;

use crate::measure::Runs;
use crate::peers::{Load, Run, bevy, godot, hydra, ozz, three};
use crate::workloads::{Kind, Size, Workload};
use common::trials::Trial;
use common::{gpu, tolerance};
use glam::{DMat4, DQuat, DVec3};
use sinew::skel::{InfluenceInterpolation, JointInfluences, RestNormals, Skin};

const PEERS: [(&str, Run); 4] = [
    ("hydra", hydra::run),
    ("godot", godot::run),
    ("bevy", bevy::run),
    ("three", three::run),
];

fn small(kind: Kind) -> Workload {
    let whole = Size::of(kind, 1.0);
    let size = Size {
        points: whole.points.min(500),
        joints: whole.joints.min(30),
        meshes: whole.meshes.min(3),
        characters: whole.characters.min(7),
        ..whole
    };
    Workload::sized(kind, size)
}

/// What is asked of a peer on a load.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// The mirror's points.
    Points,
    /// The mirror's points and normals.
    Both,
    /// Results, but the peer drops influences or blends normals by a rule of its own.
    Any,
}

fn hold(load: &Load<'_>, wanted: impl Fn(&str) -> Wanted) {
    let device = gpu::device().expect("a device");
    for (name, run) in PEERS {
        let peer = run(device, load, Runs::exactly(1)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let worst = &peer.worst;
        println!("{} {name} {worst:?} {} B", load.name, peer.bytes_per_point);
        assert!(peer.times.median() > 0.0, "{name}: {peer:?}");
        use tolerance::{PEER_NORMALS, PEER_OCTAHEDRAL_NORMALS, PEER_POINTS, PEER_UNORM16_POINTS};
        let (points, normals) = match name {
            "godot" => (PEER_UNORM16_POINTS, PEER_OCTAHEDRAL_NORMALS),
            _ => (PEER_POINTS, PEER_NORMALS),
        };
        let is_right = match wanted(name) {
            Wanted::Points => worst.is_within(points, f64::INFINITY),
            Wanted::Both => worst.is_within(points, normals),
            Wanted::Any => worst.points < worst.moved,
        };
        assert!(is_right, "{name}: {worst:?}");
    }
}

fn hold_kind(kind: Kind, wanted: impl Fn(&str) -> Wanted) {
    let work = small(kind);
    let instances = work.instances(3);
    let load = Load {
        name: kind.name(),
        skins: &work.skins,
        instances: &instances,
    };
    hold(&load, wanted);
}

/// The load of each kind: Bevy's normals go by a rule of their own, and Hydra alone has more than four or eight influences.
fn kinds(kinds: &[Kind]) {
    for kind in kinds {
        hold_kind(*kind, |name| match (kind, name) {
            (Kind::Body, "bevy") => Wanted::Points,
            (Kind::Body, _) | (Kind::MixedBody, "hydra") => Wanted::Both,
            (Kind::MixedBody, _) => Wanted::Any,
            _ => Wanted::Points,
        });
    }
}

/// A rig's rest points with so many influences each and a joint order of its own.
fn body_of(work: &Workload, count: usize) -> Arc<Skin> {
    let from = &work.skins[0];
    let (points, joints) = (from.points().len(), from.joint_count());
    let places = 0..points * count;
    let indices: Vec<i32> = places.clone().map(|i| (i * 7 % joints) as i32).collect();
    let sum = (count * (count + 1) / 2) as f32;
    let weights = places.map(|i| (1 + i % count) as f32 / sum).collect();
    let vertex = InfluenceInterpolation::Vertex;
    let influences =
        JointInfluences::new("/P", vertex, count, &indices, weights, points, joints).ok();
    // Joints from last to first, one of which the skeleton lacks.
    let order = (0..joints as u32).rev().map(|j| (j != 3).then_some(j));
    let normals = from.normals().expect("a body's").to_vec();
    let normals = Some(RestNormals::per_point(Arc::new(normals)));
    let points = Arc::new(from.points().to_vec());
    let order = Some(order.collect());
    let skin = Skin::new("/P", points, normals, influences, order, joints, Vec::new());
    Arc::new(skin.expect("valid"))
}

fn other_counts() {
    let work = small(Kind::Body);
    let mut instances = work.instances(5);
    let way =
        DMat4::from_rotation_translation(DQuat::from_rotation_y(1.0), DVec3::new(1.0, 2.0, 3.0));
    instances[0].1.out_from_skel = way;
    for count in [1, 3, 8] {
        let load = Load {
            name: "counts",
            skins: &[body_of(&work, count)],
            instances: &instances,
        };
        hold(&load, |name| match (name, count) {
            (_, 1) | ("hydra" | "godot", _) => Wanted::Both,
            (_, 8) => Wanted::Any,
            ("bevy", _) => Wanted::Points,
            _ => Wanted::Both,
        });
    }
}

/// ozz's loops, whose normals are not normalised, which the comparison leaves out.
fn ozz_on_the_cpu() {
    let (body, mixed) = (small(Kind::Body), small(Kind::MixedBody));
    let mut instances = body.instances(5);
    instances[0].1.out_from_skel =
        DMat4::from_rotation_translation(DQuat::from_rotation_y(1.0), DVec3::X);
    let skins = [1, 2, 3, 4, 8].map(|count| body_of(&body, count));
    let other_counts = skins.iter().map(|s| (vec![s.clone()], instances.clone()));
    let loads = [&body, &mixed].map(|w| (w.skins.clone(), w.instances(3)));
    for (skins, instances) in loads.into_iter().chain(other_counts) {
        let load = Load {
            name: "ozz",
            skins: &skins,
            instances: &instances,
        };
        let alone = ozz::run(&load, false, Runs::exactly(1)).expect("points");
        let peer = ozz::run(&load, true, Runs::exactly(1)).expect("both");
        let worst = &peer.worst;
        println!("{worst:?} {} B", peer.bytes_per_point);
        assert!(peer.bytes_per_point == alone.bytes_per_point + 24.0);
        let [points, normals] = [tolerance::PEER_POINTS, tolerance::PEER_NORMALS];
        assert!(worst.is_within(points, normals), "{worst:?}");
        assert!(alone.worst.is_within(points, normals), "{worst:?}");
    }
}

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let mut trials = common::trials::named([
        ("body", (|| kinds(&[Kind::Body])) as fn(), ignored),
        ("mixed_body", || kinds(&[Kind::MixedBody]), ignored),
        ("crowd", || kinds(&[Kind::Crowd]), ignored),
        (
            "faces",
            || kinds(&[Kind::Face, Kind::ScatteredFace]),
            ignored,
        ),
        ("dust", || kinds(&[Kind::Dust]), ignored),
        ("other_counts", other_counts, ignored),
    ]);
    let available = ozz::is_available();
    let ozz = Trial::test("ozz_on_the_cpu", || {
        ozz_on_the_cpu();
        Ok(())
    });
    let reason = if available { "" } else { "needs AVX2" };
    trials.push(ozz.with_kind(reason).with_ignored_flag(!available));
    trials
}
