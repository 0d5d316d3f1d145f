//! Small skins with poses.

use std::sync::{Arc, OnceLock};

use crate::{Failure, ensure};
use sinew::gpu::{
    Crowd, Deformed, InstanceId, OutputTarget, Prewarm, SkinId, Skinner, SkinnerOptions,
};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::skel::{Skin, SkinningMethod};

use crate::host::{Gpu, posed};
pub use crate::outputs::shown::bits;
use crate::outputs::shown::on_cpu;

use crate::cases::{self, Influences, Spec};
use crate::compare::compare;
use crate::tolerance;

/// A skin and what it is packed to.
#[derive(Clone)]
pub struct Made {
    pub skin: Skin,
    pub packed: Arc<PackedSkin>,
}

pub fn made(spec: &Spec) -> Result<Made, Failure> {
    let skin = cases::skin(spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    Ok(Made { skin, packed })
}

impl Made {
    pub fn pose(&self, seed: u64) -> PackedPose {
        PackedPose::pack(&self.packed, &cases::pose(&self.skin, seed)).expect("sizes that fit")
    }

    /// What the CPU makes of it.
    pub fn on_cpu(&self, pose: &PackedPose) -> Deformed {
        on_cpu(&self.packed, pose)
    }
}

/// Skins of every kind, each of few points, made once.
pub fn twenty() -> Result<Vec<Made>, Failure> {
    static MADE: OnceLock<Result<Vec<Made>, Failure>> = OnceLock::new();
    MADE.get_or_init(make_twenty).clone()
}

fn make_twenty() -> Result<Vec<Made>, Failure> {
    (0..20)
        .map(|i| {
            made(
                &Spec::default()
                    .seed(900 + i as u64)
                    .points(20 + 3 * i)
                    .joints(3 + i % 4)
                    .shapes([0, 3, 0, 0][i % 4])
                    .normals(i % 5 != 0)
                    .face_varying(i % 7 == 3)
                    .influences(match i % 6 {
                        0 => Influences::Vertex(1),
                        1 => Influences::Constant(2),
                        5 => Influences::None,
                        k => Influences::Vertex(k),
                    })
                    .method(match i % 3 {
                        2 => SkinningMethod::DualQuaternion,
                        _ => SkinningMethod::ClassicLinear,
                    }),
            )
        })
        .collect()
}

/// Every value of each result, as bits.
pub fn all_bits(results: &[Deformed]) -> Vec<Vec<u32>> {
    results.iter().map(bits).collect()
}

/// GPU against CPU.
pub fn agrees(got: &Deformed, want: &Deformed) -> Result<(), Failure> {
    compare(
        "points",
        &got.points,
        &want.points,
        tolerance::MIRROR_POINTS,
    )?;
    match (&got.normals, &want.normals) {
        (Some(got), Some(want)) => compare("normals", got, want, tolerance::MIRROR_NORMALS)?,
        (None, None) => {}
        _ => return Err("normals on one side only".into()),
    }
    Ok(())
}

/// A skinner that has compiled the pipelines of these skins, and their number.
pub fn prewarmed<'a>(
    gpu: &Gpu,
    skins: impl IntoIterator<Item = &'a Arc<PackedSkin>>,
) -> Result<(Skinner, usize), Failure> {
    let skinner = gpu.new_skinner(&SkinnerOptions::default())?;
    for packed in skins {
        skinner.prewarm(packed, &OutputTarget::default(), Prewarm::default())?;
    }
    let compiled = skinner.compiled();
    Ok((skinner, compiled))
}

/// Adds a skin, and an instance of it for each pose.
pub fn add_posed(
    crowd: &mut Crowd,
    packed: &Arc<PackedSkin>,
    poses: &[PackedPose],
) -> Result<Vec<InstanceId>, Failure> {
    let skin = crowd.add_skin(Arc::clone(packed))?;
    let mut ids = Vec::new();
    for pose in poses {
        ids.push(posed(crowd, skin, pose)?);
    }
    Ok(ids)
}

/// The buffers that a crowd's results are in, each with the byte after the last result.
fn outputs(crowd: &Crowd) -> Result<Vec<(wgpu::Buffer, u64)>, Failure> {
    let mut out: Vec<(wgpu::Buffer, u64)> = Vec::new();
    for id in crowd.instances() {
        let kinds = [
            crowd.points_on_gpu(id)?,
            crowd.normals_on_gpu(id)?,
            crowd.tangents_on_gpu(id)?,
            crowd.previous_on_gpu(id)?,
        ];
        for slice in kinds.iter().flatten() {
            let end = slice.offset + slice.stride * slice.count as u64;
            match out.iter_mut().find(|(buffer, _)| buffer == slice.buffer) {
                Some((_, last)) => *last = end.max(*last),
                None => out.push((slice.buffer.clone(), end)),
            }
        }
    }
    Ok(out)
}

/// Fills the buffers that a crowd's results are in with one value.
pub fn fill_outputs(gpu: &Gpu, crowd: &Crowd, value: f32) -> Result<(), Failure> {
    for (buffer, _) in outputs(crowd)? {
        let values = vec![value; buffer.size() as usize / 4];
        let bytes = bytemuck::cast_slice(&values);
        gpu.queue.write_buffer(&buffer, 0, bytes);
    }
    gpu.queue.submit([]);
    Ok(())
}

/// Runs a crowd twice, its results filled in before. Nothing behind them is written, and what was there, NaN the second
/// time, cannot pass for a result.
pub fn run_twice(gpu: &Gpu, mut crowd: Crowd) -> Result<Vec<Deformed>, Failure> {
    const BEHIND: f32 = 12345.0;
    fill_outputs(gpu, &crowd, BEHIND)?;
    let first = crowd.run()?;
    for (buffer, end) in outputs(&crowd)? {
        let words: Vec<f32> = gpu.read(&buffer)?;
        let behind = &words[end as usize / 4..];
        if let Some(i) = behind.iter().position(|v| *v != BEHIND) {
            return Err(format!("something was written {i} floats behind the outputs").into());
        }
    }
    fill_outputs(gpu, &crowd, f32::NAN)?;
    let second = crowd.run()?;
    let same = all_bits(&first) == all_bits(&second);
    ensure(same, "two runs differ in their bits")?;
    Ok(second)
}

/// Whether a crowd gives the same bits where bindings and dispatches are small.
pub fn same_in_pieces(
    gpu: &Gpu,
    small: &[SkinnerOptions],
    fill: impl Fn(Crowd) -> Result<Crowd, Failure>,
) -> Result<(), Failure> {
    let whole = all_bits(&run_twice(gpu, fill(gpu.crowd()?)?)?);
    for options in small {
        let pieces = run_twice(gpu, fill(gpu.crowd_with(options)?)?)?;
        ensure(
            all_bits(&pieces) == whole,
            "chunked results differ from whole ones",
        )?;
    }
    Ok(())
}

/// A crowd with a skin of that kind.
pub fn crowd_of(gpu: &Gpu, spec: &Spec) -> Result<(Made, Crowd, SkinId), Failure> {
    let made = made(spec)?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    Ok((made, crowd, skin))
}
