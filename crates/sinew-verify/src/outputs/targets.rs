//! Results in the caller's buffers.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{Failure, ensure};
use sinew::gpu::{Attribute, Crowd, Deformed, GpuError, NormalFormat, OutputTarget};
use sinew::kernel::unpack_normal;
use sinew::skel::MeshTopology;
use wgpu::BufferUsages;

use crate::cases::Spec;
use crate::check::Checks;
use crate::compare::compare;
use crate::crowds::made::{Made, made};
use crate::host::{Gpu, posed_to, tight, wrong_use};
use crate::outputs::shown::{EVERY_KIND, bits};
use crate::tolerance;

pub const CHECKS: Checks = &[
    ("interleaved_vertices_are_all_that_is_touched", interleaved),
    ("attributes_share_buffers_or_do_not", shared),
    ("windows_of_large_buffers", windows),
    ("instances_in_one_buffer_take_one_dispatch", one_dispatch),
    ("wrong_targets_are_named", refused),
    ("octahedral_normals", octahedral),
];

/// What callers' buffers hold before.
const BEFORE: u32 = 0x4321_1234;

const VERTEX: BufferUsages = BufferUsages::STORAGE
    .union(BufferUsages::VERTEX)
    .union(BufferUsages::COPY_SRC);

fn attribute(buffer: &wgpu::Buffer, offset: u64, stride: u64) -> Attribute {
    Attribute::In {
        buffer: buffer.clone(),
        offset,
        stride,
    }
}

/// Positions that go to a place of the caller's, other results to the crowd's own buffers.
fn positions(positions: Attribute) -> OutputTarget {
    OutputTarget {
        positions,
        ..OutputTarget::default()
    }
}

/// The same with normals.
fn both(positions: Attribute, normals: Attribute) -> OutputTarget {
    OutputTarget {
        positions,
        normals: Some(normals),
        ..OutputTarget::default()
    }
}

/// Normals in a format, all results in the crowd's own buffers.
fn own(normal_format: NormalFormat) -> OutputTarget {
    OutputTarget {
        normal_format,
        ..OutputTarget::default()
    }
}

/// What the first pose makes of a skin, written to a target.
fn run_to(mut crowd: Crowd, shown: &Made, target: OutputTarget) -> Result<Deformed, Failure> {
    let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
    posed_to(&mut crowd, skin, target, &shown.pose(7))?;
    Ok(crowd.run()?.remove(0))
}

/// A position, a normal of either format and a tangent, 8 bytes or more of something else in every vertex, some bytes
/// in front and behind.
fn interleaved(gpu: &Gpu) -> Result<(), Failure> {
    let formats = [NormalFormat::Floats, NormalFormat::Octahedral];
    let each = |format| EVERY_KIND.iter().map(move |shown| (shown, format));
    for (shown, format) in formats.into_iter().flat_map(each) {
        let count = shown.packed.output_count();
        let (front, stride) = (20, 48);
        let words = (front + count * stride) / 4 + 9;
        let buffer = gpu.filled(words, VERTEX, BEFORE);
        let front = front as u64;
        let has = |wanted: bool, offset: u64| {
            wanted.then(|| attribute(&buffer, front + offset, stride as u64))
        };
        let target = OutputTarget {
            positions: attribute(&buffer, front + 8, stride as u64),
            normals: has(shown.packed.has_output_normals(), 36),
            tangents: has(shown.packed.tangents().is_some(), 20),
            ..own(format)
        };
        let read = run_to(gpu.crowd()?, shown, target)?;
        let want = run_to(gpu.crowd()?, shown, own(format))?;
        ensure(
            bits(&read) == bits(&want),
            "other results than in buffers of our own",
        )?;

        let found: Vec<u32> = gpu.read(&buffer)?;
        let mut expected = vec![BEFORE; words];
        let at = |vertex: usize, byte: usize| (front as usize + vertex * stride + byte) / 4;
        for v in 0..count {
            let mut put = |byte: usize, values: &[f32]| {
                for (i, value) in values.iter().enumerate() {
                    expected[at(v, byte) + i] = value.to_bits();
                }
            };
            put(8, &want.points[v].to_array());
            match want.normals.as_ref().map(|normals| normals[v]) {
                // Each bit is the kernel's own choice.
                Some(normal) if format == NormalFormat::Octahedral => {
                    let word = found[at(v, 36)];
                    ensure(unpack_normal(word) == normal, "another normal")?;
                    put(36, &[f32::from_bits(word)]);
                }
                Some(normal) => put(36, &normal.to_array()),
                None => {}
            }
            if let Some(tangents) = &want.tangents {
                put(20, &tangents[v].to_array());
            }
        }
        ensure(
            found == expected,
            &format!(
                "{:?}: something else was touched, or not all written",
                shown.spec
            ),
        )?;
    }
    Ok(())
}

/// The first skin, which has everything, and what its first pose makes of it.
fn full(gpu: &Gpu) -> Result<(&'static Made, Deformed), Failure> {
    let shown = &EVERY_KIND[0];
    Ok((shown, run_to(gpu.crowd()?, shown, OutputTarget::default())?))
}

/// Every way of sharing two buffers among four kinds of results, our own too: what takes no more than
/// two gives the same results, and the rest is refused.
fn shared(gpu: &Gpu) -> Result<(), Failure> {
    let (shown, want) = full(gpu)?;
    let count = shown.packed.output_count();
    for number in 0..81u32 {
        let buffers = [0, 1].map(|_| gpu.filled(count * 13, VERTEX, BEFORE));
        let choice = |kind: u32| match number / 3u32.pow(kind) % 3 {
            0 => Attribute::Own,
            b => {
                let offset = [0, 12, 24, 40][kind as usize];
                attribute(&buffers[b as usize - 1], offset, 52)
            }
        };
        let target = OutputTarget {
            positions: choice(0),
            normals: Some(choice(1)),
            tangents: Some(choice(2)),
            previous: Some(choice(3)),
            ..OutputTarget::default()
        };
        // Our own buffer of positions is another one than that of the other kinds.
        let taken: BTreeSet<u32> = (0..4)
            .map(|kind| match number / 3u32.pow(kind) % 3 {
                0 if kind > 0 => 3,
                buffer => buffer,
            })
            .collect();
        if taken.len() > 2 {
            let mut crowd = gpu.crowd()?;
            let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
            wrong_use("a third buffer", crowd.add_instance_to(skin, target))?;
            continue;
        }
        let mut read = run_to(gpu.crowd()?, shown, target)?;
        ensure(
            read.previous.take().as_ref() == Some(&want.points),
            "previous positions of a first frame are other than its positions",
        )?;
        ensure(
            bits(&read) == bits(&want),
            &format!("{number}: other results"),
        )?;
    }
    Ok(())
}

/// Buffers that are larger than a binding, with results across the borders of windows.
fn windows(gpu: &Gpu) -> Result<(), Failure> {
    let (shown, want) = full(gpu)?;
    let options = tight(Some(16 << 10), None);
    let count = shown.packed.output_count();
    for offset in [0u64, 8 << 10, (16 << 10) - 4, 50_004, 100_000] {
        let words = (offset as usize + count * 64) / 4 + 5000;
        let buffer = gpu.filled(words, VERTEX, BEFORE);
        let target = positions(attribute(&buffer, offset, 12));
        let read = run_to(gpu.crowd_with(&options)?, shown, target)?;
        ensure(bits(&read) == bits(&want), "other results")?;
        let first = offset as usize / 4;
        let touched = first..first + count * 3;
        let outside = gpu.read::<u32>(&buffer)?;
        let mut outside = outside
            .iter()
            .enumerate()
            .filter(|(i, _)| !touched.contains(i));
        ensure(
            outside.all(|(_, w)| *w == BEFORE),
            "something else was touched",
        )?;
    }
    // What one slice writes has to lie within one binding.
    let buffer = gpu.filled(1 << 20, VERTEX, BEFORE);
    let mut crowd = gpu.crowd_with(&options)?;
    let id = crowd.add_skin(Arc::clone(&shown.packed))?;
    match crowd.add_instance_to(id, positions(attribute(&buffer, 0, 2048))) {
        Err(GpuError::Limit { what, .. }) => ensure(what.contains("caller's buffer"), &what),
        other => Err(format!("{other:?}").into()),
    }
}

fn one_dispatch(gpu: &Gpu) -> Result<(), Failure> {
    let (shown, want) = full(gpu)?;
    let count = shown.packed.output_count() as u64;
    let instances = 30;
    let buffer = gpu.filled((instances * count) as usize * 10, VERTEX, BEFORE);
    let mut crowd = gpu.crowd()?;
    let id = crowd.add_skin(Arc::clone(&shown.packed))?;
    for i in 0..instances {
        let first = i * count * 40;
        let target = OutputTarget {
            tangents: Some(attribute(&buffer, first + 24, 40)),
            ..both(
                attribute(&buffer, first, 40),
                attribute(&buffer, first + 12, 40),
            )
        };
        posed_to(&mut crowd, id, target, &shown.pose(7))?;
    }
    let dispatches = crowd.dispatch_count()?;
    ensure(dispatches == 1, &format!("{dispatches} dispatches"))?;
    let same = crowd.run()?.iter().all(|got| bits(got) == bits(&want));
    ensure(same, "other results")
}

fn refused(gpu: &Gpu) -> Result<(), Failure> {
    let shown = &EVERY_KIND[0];
    let count = shown.packed.output_count() as u64;
    let buffer = gpu.filled(count as usize * 10, VERTEX, BEFORE);
    let unbindable = gpu.filled(count as usize * 10, BufferUsages::VERTEX, BEFORE);
    let unreadable = gpu.filled(count as usize * 10, BufferUsages::STORAGE, BEFORE);
    let mut crowd = gpu.crowd()?;
    let id = crowd.add_skin(Arc::clone(&shown.packed))?;
    let bare = made(&Spec::default().normals(false).points(10));
    let bare = crowd.add_skin(bare.packed)?;
    let at = |offset, stride| attribute(&buffer, offset, stride);
    let overlap = "normals: expected bytes apart from the positions";
    let previous = |previous| OutputTarget {
        previous: Some(previous),
        ..OutputTarget::default()
    };
    let tangents = |tangents| OutputTarget {
        tangents: Some(tangents),
        ..OutputTarget::default()
    };
    for (skin, target, words) in [
        (
            id,
            positions(attribute(&unbindable, 0, 12)),
            "positions: expected a buffer with usage STORAGE",
        ),
        (id, positions(at(2, 12)), "multiples of 4"),
        (id, positions(at(0, 14)), "multiples of 4"),
        (
            id,
            positions(at(0, 8)),
            "positions: expected a stride of at least an element, 12 bytes, found 8",
        ),
        (id, tangents(at(0, 12)), "an element, 16 bytes, found 12"),
        (id, previous(at(32, 40)), "previous positions: "),
        (id, positions(at(u64::MAX - 3, 12)), "more than 2^64"),
        (id, positions(at(0, u64::MAX - 3)), "more than 2^64"),
        (id, both(at(0, 24), at(8, 24)), overlap),
        (id, both(at(0, 24), at(16, 24)), overlap),
        (id, both(at(0, 12), at(24, 16)), overlap),
        (id, both(at(4, 16), at(16, 16)), overlap),
        (
            bare,
            both(Attribute::Own, at(0, 12)),
            "/Case: normals: expected a skin that has",
        ),
        (
            bare,
            tangents(at(0, 16)),
            "/Case: tangents: expected a skin that has",
        ),
    ] {
        wrong_use(words, crowd.add_instance_to(skin, target))?;
    }
    ensure(crowd.instance_count() == 0, "a refused instance was added")?;
    // One byte behind the other's end is no overlap, nor are interleaved ones.
    for target in [
        both(at(0, 12), at(count * 12, 12)),
        both(at(0, 24), at(12, 24)),
        both(at(12, 24), at(0, 24)),
        both(at(28, 40), at(0, 40)),
        // Nor are octahedral normals, of 4 bytes.
        OutputTarget {
            normal_format: NormalFormat::Octahedral,
            ..both(at(4, 16), at(16, 16))
        },
    ] {
        let instance = crowd.add_instance_to(id, target)?;
        crowd.remove_instance(instance)?;
    }
    // Results that cannot be copied are written all the same.
    let target = positions(attribute(&unreadable, 0, 12));
    let instance = posed_to(&mut crowd, id, target, &shown.pose(7))?;
    crowd.submit()?;
    wrong_use("COPY_SRC", crowd.read(&[instance]))
}

/// Of plain skins, blended ones, render vertices, faceVarying and made normals.
fn octahedral(gpu: &Gpu) -> Result<(), Failure> {
    let corners = made(&Spec::default().face_varying(true).shapes(2));
    let faces: Vec<i32> = (0..900).collect();
    let faces = MeshTopology::new("/P", &[3; 300], &faces, false, 1000)?;
    let more = [corners.clone(), corners.with_faces(faces)];
    let run = |format| -> Result<_, Failure> {
        let mut crowd = gpu.crowd()?;
        for shown in EVERY_KIND.iter().chain(&more) {
            let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
            posed_to(&mut crowd, skin, own(format), &shown.pose(7))?;
        }
        Ok(crowd.run()?)
    };
    let results = run(NormalFormat::Floats)?.into_iter();
    for (want, got) in results.zip(run(NormalFormat::Octahedral)?) {
        ensure(want.points == got.points, "other points")?;
        let normals = want.normals.unwrap_or_default().into_iter();
        let want: Vec<_> = normals.map(|n| n.as_dvec3().normalize_or_zero()).collect();
        let got = got.normals.unwrap_or_default();
        compare("normals", &got, &want, tolerance::OCTAHEDRAL_NORMALS)?;
    }
    Ok(())
}
