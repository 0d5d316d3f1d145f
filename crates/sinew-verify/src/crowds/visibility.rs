//! Visibility masks and update rates: what a frame computes has the same bits as without them, and
//! it writes nothing else.

use std::sync::{Arc, OnceLock};

use crate::{Failure, ensure};
use glam::DMat4;
use sinew::gpu::{
    BoundsUse, Crowd, Deformed, InstanceId, MaskLayout, Prewarm, RigId, SkinnerOptions, UpdateRate,
    VisibilityMask,
};
use sinew::kernel::{JointTransform, PackedPose, PackedRig, PackedSkin, bounds_on_cpu};
use sinew::skel::{MeshTopology, Skin};

use crate::cases::{self, Influences, Spec};
use crate::crowds::Run;
use crate::host::{Gpu, by_rig, tight, with_previous, wrong_use};
use crate::outputs::shown::{bits, every_kind, without_previous};
use crate::posing::rigs;
use crate::rng::Rng;

pub const CHECKS: &[(&str, Run)] = &[
    ("masks_change_no_visible_result", everything),
    ("masks_in_pieces", in_pieces),
    ("update_rates_are_staggered", staggered),
    ("what_is_held_has_no_motion", held),
    ("boxes_out_of_sight_outlive_growth", growing),
    ("masks_that_cannot_be_used_are_refused", refused),
    ("masks_need_no_pipeline_that_is_not_listed", prewarmed),
];

/// An instance, and where its poses come from.
struct Member {
    id: InstanceId,
    packed: Arc<PackedSkin>,
    skin: Skin,
    rig: Option<RigId>,
}

impl Member {
    fn pose(&self, crowd: &mut Crowd, frame: u64) -> Result<(), Failure> {
        let seed = frame * 1000 + u64::from(self.id.index());
        let pose = cases::pose(&self.skin, seed);
        match self.rig {
            None => crowd.set_pose(self.id, &PackedPose::pack(&self.packed, &pose)?)?,
            Some(rig) => crowd.set_pose(
                self.id,
                by_rig(rig, &pose.out_from_skel, &pose.channel_weights),
            )?,
        }
        Ok(())
    }
}

/// A crowd of every kind of skin, with boxes, and rigs that two skins share.
struct Cast {
    crowd: Crowd,
    members: Vec<Member>,
    rigs: Vec<RigId>,
}

fn rig_spec() -> rigs::Spec {
    rigs::Spec::default().joints(40)
}

/// Quads in rows over the points, so that normals are computed.
fn with_faces(packed: PackedSkin, points: usize) -> Result<PackedSkin, Failure> {
    let quads = points as i32 / 2 - 1;
    let corners: Vec<i32> = (0..quads)
        .flat_map(|i| [2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2])
        .collect();
    let counts = vec![4; quads as usize];
    let faces = MeshTopology::new("/Case", &counts, &corners, false, points)?;
    Ok(packed.with_smooth_normals(&faces)?)
}

/// A skin, the same packed, and its number of instances.
type Counted = (Skin, Arc<PackedSkin>, usize);

/// Skins, each with its number of instances; the last two move with rigs.
fn skins() -> Result<Vec<Counted>, Failure> {
    static MADE: OnceLock<Result<Vec<Counted>, Failure>> = OnceLock::new();
    MADE.get_or_init(make_skins).clone()
}

fn make_skins() -> Result<Vec<Counted>, Failure> {
    let mut out = Vec::new();
    for shown in every_kind()?.iter().filter(|s| s.spec.points > 0) {
        out.push((shown.skin.clone(), Arc::clone(&shown.packed), 2));
    }
    // Many instances of a skin, and small ones that share workgroups.
    for (points, count) in [(200, 23), (20, 9)] {
        let spec = Spec::default().points(points).seed(points as u64);
        let skin = cases::skin(&spec);
        let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
        out.push((skin, packed, count));
    }
    for shapes in [0, 7] {
        let skin = cases::skin(&Spec::default().normals(false).shapes(shapes));
        let count = skin.points().len();
        let packed = with_faces(PackedSkin::pack("/Case", &skin)?, count)?;
        out.push((skin, Arc::new(packed), 3));
    }
    for seed in [71, 72] {
        let skin = cases::skin(
            &Spec::default()
                .seed(seed)
                .joints(rig_spec().joints)
                .influences(Influences::Vertex(3))
                .shapes(if seed == 72 { 5 } else { 0 }),
        );
        let packed = PackedSkin::pack("/Case", &skin)?;
        out.push((skin, Arc::new(packed), 7));
    }
    Ok(out)
}

impl Cast {
    fn new(gpu: &Gpu, options: &SkinnerOptions) -> Result<Self, Failure> {
        let mut crowd = gpu.crowd_with(options)?;
        crowd.enable_bounds(BoundsUse::OnGpu)?;
        let packed = PackedRig::pack(&rigs::skeleton(&rig_spec()), DMat4::IDENTITY, true)?;
        let packed = Arc::new(packed);
        let rigs: Vec<RigId> = (0..7)
            .map(|_| crowd.add_rig(Arc::clone(&packed)))
            .collect::<Result<_, _>>()?;
        let all = skins()?;
        let with_rigs = all.len() - 2;
        let mut members = Vec::new();
        for (number, (skin, packed, count)) in all.into_iter().enumerate() {
            let id = crowd.add_skin(Arc::clone(&packed))?;
            for rig in rigs.iter().cycle().take(count) {
                let id = crowd.add_instance_to(id, with_previous())?;
                members.push(Member {
                    id,
                    packed: Arc::clone(&packed),
                    skin: skin.clone(),
                    rig: (number >= with_rigs).then_some(*rig),
                });
            }
        }
        Ok(Self {
            crowd,
            members,
            rigs,
        })
    }

    fn pose(&mut self, frame: u64) -> Result<(), Failure> {
        for (number, rig) in self.rigs.iter().enumerate() {
            let joints: Vec<JointTransform> =
                rigs::locals(&rig_spec(), frame * 100 + number as u64);
            self.crowd.set_joints(*rig, &joints)?;
        }
        let mut members = self.members.iter();
        members.try_for_each(|member| member.pose(&mut self.crowd, frame))
    }

    fn read(&mut self) -> Result<Vec<Deformed>, Failure> {
        let ids: Vec<InstanceId> = self.members.iter().map(|member| member.id).collect();
        Ok(self.crowd.read(&ids)?)
    }
}

/// A mask as the host keeps it.
struct Mask {
    buffer: wgpu::Buffer,
    layout: MaskLayout,
}

impl Mask {
    fn new(gpu: &Gpu, crowd: &mut Crowd, layout: MaskLayout) -> Result<Self, Failure> {
        let words = layout.bytes(crowd.index_count()) as usize / 4;
        let buffer = gpu.filled(words, wgpu::BufferUsages::STORAGE, u32::MAX);
        crowd.set_visibility(Some(VisibilityMask {
            layout,
            ..VisibilityMask::words(buffer.clone())
        }))?;
        Ok(Self { buffer, layout })
    }

    fn words_of(&self, visible: &[bool]) -> Vec<u32> {
        match self.layout {
            MaskLayout::Words => visible.iter().map(|v| u32::from(*v) * 7).collect(),
            MaskLayout::Bits => visible
                .chunks(32)
                .map(|bits| (0..).zip(bits).map(|(i, v)| u32::from(*v) << i).sum())
                .collect(),
        }
    }

    fn write(&self, gpu: &Gpu, visible: &[bool]) {
        let words = self.words_of(visible);
        gpu.queue
            .write_buffer(&self.buffer, 0, bytemuck::cast_slice(&words));
    }
}

/// The boxes of all instance indices, as bits.
fn boxes(gpu: &Gpu, crowd: &Crowd) -> Result<Vec<[u32; 8]>, Failure> {
    gpu.read(crowd.bounds_on_gpu().ok_or("no boxes")?)
}

/// A crowd with a mask beside one without, through frames of random visibility.
fn beside(gpu: &Gpu, options: &SkinnerOptions, layout: MaskLayout) -> Result<(), Failure> {
    let (mut all, mut some) = (Cast::new(gpu, options)?, Cast::new(gpu, options)?);
    let mask = Mask::new(gpu, &mut some.crowd, layout)?;
    let count = some.members.len();
    ensure(count > 90, &format!("{count} instances"))?;
    let mut rng = Rng::new(3);
    // What the crowd with the mask has to show, and its boxes.
    let mut shown: Vec<Option<Vec<u32>>> = vec![None; count];
    let mut before = vec![false; count];
    let mut expected_boxes = vec![None; count];
    let mut positions_before: Vec<Deformed> = Vec::new();
    let shares = [0.5, 1.0, 0.1, 0.0, 0.7, 0.03, 0.9, 0.9];
    for (frame, share) in (0..).zip(shares) {
        let visible: Vec<bool> = (0..count).map(|_| rng.chance(share)).collect();
        mask.write(gpu, &visible);
        all.pose(frame)?;
        some.pose(frame)?;
        all.crowd.submit()?;
        some.crowd.submit()?;
        let (want, got) = (all.read()?, some.read()?);
        let got_boxes = boxes(gpu, &some.crowd)?;
        for (i, visible) in visible.iter().enumerate() {
            let index = some.members[i].id.index() as usize;
            let text = |what| format!("frame {frame}, instance {index}: {what}");
            if *visible {
                let same = without_previous(&got[i]) == without_previous(&want[i]);
                ensure(same, &text("other bits than without a mask"))?;
                let previous = got[i].previous.as_ref().ok_or("no previous positions")?;
                let expected = match before[i] {
                    true => &positions_before[i].points,
                    false => &got[i].points,
                };
                ensure(previous == expected, &text("previous positions"))?;
                let want = bounds_on_cpu(&got[i].points);
                let words = want.map(|corners| {
                    let corner = corners.map(|c| c.extend(0.0).to_array().map(f32::to_bits));
                    [corner[0], corner[1]].concat()
                });
                ensure(
                    words.is_none_or(|words| words == got_boxes[index]),
                    &text("its box"),
                )?;
                (shown[i], expected_boxes[i]) = (Some(bits(&got[i])), Some(got_boxes[index]));
            } else {
                let same = shown[i].as_ref().is_none_or(|kept| *kept == bits(&got[i]));
                ensure(same, &text("results changed out of sight"))?;
                let same = expected_boxes[i].is_none_or(|kept| kept == got_boxes[index]);
                ensure(same, &text("a box changed out of sight"))?;
            }
        }
        before = visible;
        positions_before = got;
    }
    // The mask alone is no work for the CPU.
    some.crowd.submit()?;
    let uploaded = some.crowd.last_upload_bytes();
    ensure(uploaded == 0, &format!("{uploaded} bytes for a mask"))?;
    ensure(shown.iter().all(Option::is_some), "some were never visible")?;
    // The last frame of some is older than the last one.
    some.crowd.set_visibility(None)?;
    some.pose(99)?;
    some.crowd.submit()?;
    for result in some.read()? {
        let has_motion = result.previous != Some(result.points);
        ensure(!has_motion, "motion over frames that a mask left out")?;
    }
    Ok(())
}

fn everything(gpu: &Gpu) -> Result<(), Failure> {
    for layout in [MaskLayout::Words, MaskLayout::Bits] {
        beside(gpu, &SkinnerOptions::default(), layout)?;
    }
    Ok(())
}

fn in_pieces(gpu: &Gpu) -> Result<(), Failure> {
    for (bytes, workgroups) in [(Some(64 << 10), Some(3)), (None, Some(2))] {
        let options = tight(bytes, workgroups);
        beside(gpu, &options, MaskLayout::Words)?;
    }
    Ok(())
}

/// Every frame computes as many, and each instance in its turn.
fn staggered(gpu: &Gpu) -> Result<(), Failure> {
    let skin = cases::skin(&Spec::default());
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    let mut crowd = gpu.crowd()?;
    let id = crowd.add_skin(Arc::clone(&packed))?;
    let ids = crowd.add_instances(id, 24)?;
    let pose = |crowd: &mut Crowd, frame: u64| -> Result<(), Failure> {
        for id in &ids {
            let seed = frame * 100 + u64::from(id.index());
            crowd.set_pose(*id, &PackedPose::pack(&packed, &cases::pose(&skin, seed))?)?;
        }
        Ok(())
    };
    let changed = |crowd: &mut Crowd, last: &mut Vec<Vec<u32>>| -> Result<Vec<bool>, Failure> {
        crowd.submit()?;
        let now: Vec<Vec<u32>> = crowd.read(&ids)?.iter().map(bits).collect();
        let changed = now.iter().zip(&*last).map(|(a, b)| a != b).collect();
        *last = now;
        Ok(changed)
    };
    for id in &ids {
        crowd.set_update_rate(*id, 4)?;
    }
    let mut last = vec![Vec::new(); ids.len()];
    pose(&mut crowd, 0)?;
    ensure(
        changed(&mut crowd, &mut last)?.iter().all(|c| *c),
        "the first frame computes all",
    )?;
    let mut turns = vec![0; ids.len()];
    for frame in 1..9 {
        pose(&mut crowd, frame)?;
        let changed = changed(&mut crowd, &mut last)?;
        let count = changed.iter().filter(|c| **c).count();
        ensure(count == 6, &format!("frame {frame}: {count} of 24"))?;
        turns
            .iter_mut()
            .zip(&changed)
            .for_each(|(t, c)| *t += usize::from(*c));
    }
    ensure(turns.iter().all(|t| *t == 2), &format!("turns: {turns:?}"))?;
    // The plan was kept: nothing but the poses is uploaded.
    crowd.set_update_rate(ids[0], 2)?;
    crowd.submit()?;
    ensure(
        crowd.last_upload_bytes() < 100,
        &format!("{} bytes for a rate", crowd.last_upload_bytes()),
    )?;
    crowd.submit()?;
    ensure(crowd.last_upload_bytes() == 0, "an upload for nothing")
}

/// Previous positions of instances at a lower rate, in both kernels that skin.
fn held(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut all = Vec::new();
    for shapes in [0, 6] {
        let skin = cases::skin(&Spec::default().shapes(shapes));
        let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
        let id = crowd.add_skin(Arc::clone(&packed))?;
        for _ in 0..5 {
            let id = crowd.add_instance_to(id, with_previous())?;
            let rate = UpdateRate {
                every: 3,
                phase: Some(0),
            };
            crowd.set_update_rate(id, rate)?;
            all.push((id, skin.clone(), Arc::clone(&packed)));
        }
    }
    let mut last: Vec<Deformed> = Vec::new();
    let (mut moved, mut settled, mut still) = (0, 0, 0);
    let mut reset = false;
    for frame in 0..12u64 {
        for (id, skin, packed) in &all {
            let pose = cases::pose(skin, frame * 50 + u64::from(id.index()));
            crowd.set_pose(*id, &PackedPose::pack(packed, &pose)?)?;
        }
        if frame == 9 {
            crowd.reset_previous(all[0].0)?;
        }
        crowd.submit()?;
        let ids: Vec<InstanceId> = all.iter().map(|(id, ..)| *id).collect();
        let now = crowd.read(&ids)?;
        for (i, (now, last)) in now.iter().zip(&last).enumerate() {
            let previous = now.previous.as_ref().ok_or("no previous positions")?;
            let moves = now.points != last.points;
            if frame == 9 && i == 0 {
                ensure(
                    moves && *previous == now.points,
                    "a reset is computed at once",
                )?;
                reset = true;
            } else if moves {
                ensure(
                    *previous == last.points,
                    &format!("frame {frame}: not the last"),
                )?;
                moved += 1;
            } else {
                ensure(
                    *previous == now.points,
                    &format!("frame {frame}: it still moves"),
                )?;
                let was_moving = last.previous.as_ref() != Some(&last.points);
                settled += usize::from(was_moving);
                still += usize::from(!was_moving);
            }
        }
        last = now;
    }
    ensure(
        reset && moved >= 30 && settled >= 25 && still >= 25,
        &format!("{moved} moved, {settled} settled, {still} stood still"),
    )
}

/// Buffers grow while all that were there are out of sight: their boxes stay.
fn growing(gpu: &Gpu) -> Result<(), Failure> {
    let mut cast = Cast::new(gpu, &SkinnerOptions::default())?;
    let (count, more) = (cast.members.len(), 900);
    let mask = gpu.filled(count + more, wgpu::BufferUsages::STORAGE, 1);
    let in_words = VisibilityMask::words(mask.clone());
    cast.crowd.set_visibility(Some(in_words))?;
    cast.pose(0)?;
    cast.crowd.submit()?;
    let before = boxes(gpu, &cast.crowd)?;
    gpu.queue.write_buffer(&mask, 0, &vec![0; count * 4]);
    let packed = Arc::clone(&cast.members[0].packed);
    let pose = PackedPose::pack(&packed, &cases::pose(&cast.members[0].skin, 1))?;
    let skin = cast.crowd.add_skin(packed)?;
    for id in cast.crowd.add_instances(skin, more)? {
        cast.crowd.set_pose(id, &pose)?;
    }
    cast.crowd.submit()?;
    let after = boxes(gpu, &cast.crowd)?;
    ensure(after[..count] == before[..count], "a box is lost")
}

fn prewarmed(gpu: &Gpu) -> Result<(), Failure> {
    let skinner = gpu.new_skinner(&SkinnerOptions::default())?;
    let all = skins()?;
    let (skin, packed, _) = all.last().ok_or("no skins")?;
    skinner.prewarm(packed, &with_previous(), Prewarm::ALL)?;
    let compiled = skinner.compiled();
    let mut crowd = skinner.crowd();
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    let rig = PackedRig::pack(&rigs::skeleton(&rig_spec()), DMat4::IDENTITY, true)?;
    let rig = crowd.add_rig(Arc::new(rig))?;
    crowd.set_joints(rig, &rigs::locals(&rig_spec(), 1))?;
    let id = crowd.add_skin(Arc::clone(packed))?;
    let member = Member {
        id: crowd.add_instance_to(id, with_previous())?,
        packed: Arc::clone(packed),
        skin: skin.clone(),
        rig: Some(rig),
    };
    member.pose(&mut crowd, 1)?;
    crowd.set_update_rate(member.id, 2)?;
    crowd.submit()?;
    for layout in [MaskLayout::Words, MaskLayout::Bits] {
        Mask::new(gpu, &mut crowd, layout)?;
        crowd.submit()?;
    }
    let more = skinner.compiled() - compiled;
    ensure(more == 0, &format!("{more} pipelines more"))
}

fn refused(gpu: &Gpu) -> Result<(), Failure> {
    let mut cast = Cast::new(gpu, &SkinnerOptions::default())?;
    let other = gpu.filled(400, wgpu::BufferUsages::VERTEX, 1);
    let result = cast
        .crowd
        .set_visibility(Some(VisibilityMask::words(other)));
    wrong_use("expected a buffer with usage STORAGE", result)?;
    let buffer = gpu.filled(400, wgpu::BufferUsages::STORAGE, 1);
    let result = cast.crowd.set_visibility(Some(VisibilityMask {
        offset: 2,
        ..VisibilityMask::words(buffer)
    }));
    wrong_use("bytes, found 2", result)?;
    ensure(
        cast.crowd.visibility().is_none(),
        "a mask in spite of errors",
    )?;
    let short = gpu.filled(3, wgpu::BufferUsages::STORAGE, 1);
    cast.crowd
        .set_visibility(Some(VisibilityMask::words(short.clone())))?;
    cast.pose(0)?;
    wrong_use("instance indices, found 12 bytes", cast.crowd.submit())?;
    // As bits it is long enough, up to 96 instances.
    ensure(cast.members.len() > 96, "a test of nothing")?;
    let result = cast.crowd.set_visibility(Some(VisibilityMask::bits(short)));
    result?;
    wrong_use("instance indices, found 12 bytes", cast.crowd.submit())?;
    cast.crowd.set_visibility(None)?;
    cast.crowd.submit()?;
    let id = cast.members[0].id;
    wrong_use("every 0 frames", cast.crowd.set_update_rate(id, 0))?;
    cast.crowd.remove_instance(id)?;
    wrong_use("another crowd", cast.crowd.set_update_rate(id, 2))
}
