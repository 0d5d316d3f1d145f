//! Rigs that play in front of a mask: they go on out of sight, and their instances come back as if
//! they had been seen all the time.

use glam::Vec4;
use sinew::gpu::{Crowd, MaskLayout, PlayedClip, Playing, RigId, UpdateRate, VisibilityMask};
use sinew::skel::SkinningMethod;

use super::Run;
use super::figure::{Figure, Member, Uploaded};
use crate::host::Gpu;
use crate::outputs::shown::bits;
use crate::{Failure, ensure};

pub const CHECKS: &[(&str, Run)] = &[
    ("rigs_that_play_go_on_out_of_sight", out_of_sight),
    ("rigs_that_play_hold_results_in_turns", held_in_turns),
];

const COUNT: usize = 24;

/// A crowd of figures that play, with the same of everything in each crowd that is made.
struct Stage {
    crowd: Crowd,
    uploaded: Uploaded,
    members: Vec<Member>,
}

impl Stage {
    fn new(gpu: &Gpu, figure: &Figure) -> Result<Self, Failure> {
        let mut crowd = gpu.crowd()?;
        let uploaded = figure.upload(&mut crowd)?;
        let members = (0..COUNT).map(|_| figure.add(&mut crowd, &uploaded));
        let members: Vec<Member> = members.collect::<Result<_, _>>()?;
        for (number, member) in members.iter().enumerate() {
            let clip = PlayedClip::new(uploaded.clips[number % 4]).at(number as f32 * 0.05);
            crowd.set_playing(member.rig, &Playing::new(clip))?;
        }
        Ok(Self {
            crowd,
            uploaded,
            members,
        })
    }

    /// Some fade to another clip, seen or not.
    fn frame(&mut self, frame: usize) -> Result<(), Failure> {
        self.crowd.set_clock(frame as f64 * 0.1);
        for number in (frame % 5..COUNT).step_by(5) {
            let clip = self.uploaded.clips[(number + frame) % 4];
            let playing = Playing::new(clip).fade(0.35);
            self.crowd.set_playing(self.members[number].rig, &playing)?;
        }
        Ok(self.crowd.submit()?)
    }

    /// The results of each figure.
    fn results(&mut self) -> Result<Vec<Vec<u32>>, Failure> {
        let members = self.members.iter();
        let read = members.map(|m| {
            let all = self.crowd.read(&m.instances)?;
            Ok(all.iter().flat_map(bits).collect())
        });
        read.collect()
    }

    fn palette(&self, gpu: &Gpu, figure: &Figure, rig: RigId) -> Result<Vec<[u32; 4]>, Failure> {
        let found = self.crowd.palette_on_gpu(rig)?.ok_or("no palette")?;
        let rows: Vec<Vec4> = gpu.read(found.buffer)?;
        let rows = &rows[found.points as usize..][..figure.rig.entry_count() * 3];
        let words = rows.iter().map(|row| row.to_array().map(f32::to_bits));
        Ok(words.collect())
    }
}

fn out_of_sight(gpu: &Gpu) -> Result<(), Failure> {
    for method in [
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    ] {
        let figure = Figure::new(method, 12)?;
        let (mut all, mut some) = (Stage::new(gpu, &figure)?, Stage::new(gpu, &figure)?);
        let words = MaskLayout::Words.bytes(some.crowd.index_count()) as usize / 4;
        let mask = gpu.filled(words, wgpu::BufferUsages::STORAGE, 1);
        some.crowd
            .set_visibility(Some(VisibilityMask::words(mask.clone())))?;
        let (mut left, mut back) = (0, 0);
        let mut kept: Vec<Vec<u32>> = Vec::new();
        let mut was_seen = [true; COUNT];
        for frame in 0..12 {
            // Each is out of sight for two to four frames, and then seen again.
            let seen = |number: usize| frame == 0 || (frame + number) % 7 < 3 + number % 3;
            let mut words = vec![0u32; words];
            for (number, member) in some.members.iter().enumerate() {
                for instance in &member.instances {
                    words[instance.index() as usize] = u32::from(seen(number));
                }
            }
            gpu.queue
                .write_buffer(&mask, 0, bytemuck::cast_slice(&words));
            all.frame(frame)?;
            some.frame(frame)?;
            let (want, got) = (all.results()?, some.results()?);
            for number in 0..COUNT {
                let text = |what: &str| format!("frame {frame}, figure {number}: {what}");
                let palette =
                    |stage: &Stage| stage.palette(gpu, &figure, stage.members[number].rig);
                ensure(palette(&some)? == palette(&all)?, &text("another palette"))?;
                if seen(number) {
                    ensure(
                        got[number] == want[number],
                        &text("other bits than without a mask"),
                    )?;
                    back += usize::from(!was_seen[number]);
                } else {
                    let same = got[number] == kept[number];
                    ensure(same, &text("results changed out of sight"))?;
                    left += 1;
                }
                was_seen[number] = seen(number);
            }
            kept = got;
        }
        ensure(
            left > COUNT * 3 && back > COUNT / 2,
            &format!("{left} out of sight, {back} back"),
        )?;
    }
    Ok(())
}

/// Instances with an update rate, whose rig goes on: results of the frames in which it is their turn.
fn held_in_turns(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    let (mut all, mut some) = (Stage::new(gpu, &figure)?, Stage::new(gpu, &figure)?);
    for (number, member) in some.members.iter().enumerate() {
        let every = [1, 3][number % 2];
        for instance in &member.instances {
            some.crowd
                .set_update_rate(*instance, UpdateRate::every(every))?;
        }
    }
    let mut last: Vec<Vec<u32>> = Vec::new();
    let mut turns = [0; COUNT];
    for frame in 0..9 {
        all.frame(frame)?;
        some.frame(frame)?;
        let (want, got) = (all.results()?, some.results()?);
        for number in 0..COUNT {
            let text = |what: &str| format!("frame {frame}, figure {number}: {what}");
            let (is_new, is_held) = match last.get(number) {
                Some(last) => (got[number] == want[number], got[number] == *last),
                None => (got[number] == want[number], false),
            };
            ensure(
                is_new != is_held,
                &text("neither its result nor its last one"),
            )?;
            turns[number] += usize::from(is_new);
        }
        let in_turn = (0..COUNT)
            .filter(|n| n % 2 == 1 && got[*n] == want[*n])
            .count();
        ensure(
            frame == 0 || in_turn == COUNT / 6,
            &format!("frame {frame}: {in_turn} in turn"),
        )?;
        last = got;
    }
    let expected = |number: usize| [9..=9, 3..=4][number % 2].contains(&turns[number]);
    ensure((0..COUNT).all(expected), &format!("turns: {turns:?}"))
}
