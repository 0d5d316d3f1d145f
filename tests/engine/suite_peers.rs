//! The suite's baselines: each peer's kernel gives what the CPU mirror gives, so that its time is that of the same work.

use std::sync::Arc;

use crate::load::{Load, Peer};
use crate::peers::{bevy, godot, hydra, ozz, three};
use crate::workloads::{Kind, Size, Workload};
use common::trials::Trial;
use common::{gpu, tolerance};
use glam::{DMat4, DQuat, DVec3};
use sinew::gpu::{GpuDevice, GpuError};
use sinew::skel::{InfluenceInterpolation, JointInfluences, RestNormals, Skin};

type Run = fn(&GpuDevice, &Load<'_>, usize) -> Result<Peer, GpuError>;

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
        let peer = run(device, load, 1).unwrap_or_else(|e| panic!("{name}: {e}"));
        let worst = &peer.worst;
        println!("{} {name} {worst:?} {} B", load.name, peer.bytes_per_point);
        assert!(
            peer.seconds.iter().all(|s| *s > 0.0) && !peer.seconds.is_empty(),
            "{name}: {peer:?}"
        );
        let packed = name == "godot";
        let limits = match packed {
            true => (
                tolerance::PEER_UNORM16_POINTS,
                tolerance::PEER_OCTAHEDRAL_NORMALS,
            ),
            false => (tolerance::PEER_POINTS, tolerance::PEER_NORMALS),
        };
        let points = limits.0 * f64::from(worst.reach.max(1.0));
        // Rest points would not pass for results.
        assert!(f64::from(worst.moved) > points * 100.0, "{name}: {worst:?}");
        match wanted(name) {
            Wanted::Points => assert!(f64::from(worst.points) < points, "{name}: {worst:?}"),
            Wanted::Both => {
                assert!(f64::from(worst.points) < points, "{name}: {worst:?}");
                assert!(f64::from(worst.normals) < limits.1, "{name}: {worst:?}");
            }
            Wanted::Any => assert!(worst.points < worst.moved, "{name}: {worst:?}"),
        }
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

fn body() {
    hold_kind(Kind::Body, |name| match name {
        "bevy" => Wanted::Points,
        _ => Wanted::Both,
    });
}

fn mixed_body() {
    hold_kind(Kind::MixedBody, |name| match name {
        "hydra" => Wanted::Both,
        _ => Wanted::Any,
    });
}

fn crowd() {
    hold_kind(Kind::Crowd, |_| Wanted::Points);
}

fn faces() {
    hold_kind(Kind::Face, |_| Wanted::Points);
    hold_kind(Kind::ScatteredFace, |_| Wanted::Points);
}

fn dust() {
    hold_kind(Kind::Dust, |_| Wanted::Points);
}

/// A rig's rest points with so many influences each and a joint order of its own.
fn body_of(work: &Workload, count: usize) -> Arc<Skin> {
    let from = &work.skins[0];
    let (points, joints) = (from.points().len(), from.joint_count());
    let indices: Vec<i32> = (0..points * count)
        .map(|i| (i * 7 % joints) as i32)
        .collect();
    let weights =
        (0..points * count).map(|i| (1 + i % count) as f32 / (count * (count + 1) / 2) as f32);
    let vertex = InfluenceInterpolation::Vertex;
    let influences = JointInfluences::new(
        "/P",
        vertex,
        count,
        &indices,
        weights.collect(),
        points,
        joints,
    );
    // Joints from last to first, one of which the skeleton lacks.
    let order = (0..joints)
        .rev()
        .map(|j| (j != 3).then_some(j as u32))
        .collect();
    let normals = RestNormals::per_point(Arc::new(from.normals().expect("a body's").to_vec()));
    let points = Arc::new(from.points().to_vec());
    let skin = Skin::new(
        "/P",
        points,
        Some(normals),
        influences.ok(),
        Some(order),
        joints,
        Vec::new(),
    );
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
        let alone = ozz::run(&load, false, 1).expect("points");
        let peer = ozz::run(&load, true, 1).expect("both");
        let worst = &peer.worst;
        println!("{worst:?} {} B", peer.bytes_per_point);
        assert!(peer.bytes_per_point == alone.bytes_per_point + 24.0);
        let points = (tolerance::PEER_POINTS * f64::from(worst.reach.max(1.0))) as f32;
        assert!(
            worst.points < points && alone.worst.points < points,
            "{worst:?}"
        );
        assert!(worst.moved > points * 100.0, "{worst:?}");
        assert!(
            f64::from(worst.normals) < tolerance::PEER_NORMALS,
            "{worst:?}"
        );
    }
}

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let mut trials = common::trials::named([
        ("body", body as fn(), ignored),
        ("mixed_body", mixed_body, ignored),
        ("crowd", crowd, ignored),
        ("faces", faces, ignored),
        ("dust", dust, ignored),
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
