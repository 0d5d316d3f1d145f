//! The frames of the walk: what each computes, and the crowd made anew that it is compared with.

use glam::Vec4;
use sinew::gpu::{Deformed, InstanceId, MaskLayout};
use sinew::kernel::registry::{COMPUTED, FRESH, UPDATES_PREVIOUS};
use sinew::kernel::{Clock, ScheduleItem, bounds_on_cpu, schedule_on_cpu};

use super::{BEFORE, Edit, INDICES, Live, Member, OWN, POINTS, STRIDES, Source, To, Walk, target};
use crate::outputs::shown::{bits, without_previous};
use crate::{Failure, ensure};

impl Walk<'_> {
    /// What a crowd has that is made for this frame alone, without a mask, rates and lists of blend
    /// entries: each instance's results.
    fn anew(&self) -> Result<Vec<Deformed>, Failure> {
        let mut options = self.options.clone();
        options.never_active_lists = true;
        let crowd = self.gpu.crowd_with(&options)?;
        let mut live = Live::new(crowd, &self.made, &self.palettes, &self.moves)?;
        let skin = live.uploaded.skins[1];
        live.crowd.set_clip_channels(skin, &self.driven())?;
        live.crowd.set_clock(self.clock);
        for member in self.members.iter().filter(|member| !member.hidden) {
            let to = match member.to {
                To::Own { normals, .. } => To::Own {
                    normals,
                    previous: false,
                },
                To::Host(_) => OWN,
            };
            let skin = live.skins[member.kind];
            let id = live.crowd.add_instance_to(skin, target(to, 0, &[]))?;
            live.set_source(id, &member.source)?;
        }
        Ok(live.crowd.run()?)
    }

    /// Decides who is visible in the frames of a submit, and what the host's buffers hold before.
    fn begin(&mut self) {
        for host in &self.hosts {
            let words = vec![BEFORE; host.size() as usize / 4];
            let bytes = bytemuck::cast_slice(&words);
            self.gpu.queue.write_buffer(host, 0, bytes);
        }
        let words = self.hosts.iter().map(|host| host.size() as usize / 4);
        self.expected = words.map(|words| vec![BEFORE; words]).collect();
        self.members.iter_mut().for_each(|m| m.is_new = false);
        self.visible = vec![1; INDICES];
        if let Some(mask) = &self.mask {
            self.visible.fill_with(|| self.rng.below(3).min(1) as u32);
            let words = match mask.layout {
                MaskLayout::Words => self.visible.clone(),
                MaskLayout::Bits => (self.visible.chunks(32))
                    .map(|bits| (0..).zip(bits).map(|(i, v)| v << i).sum())
                    .collect(),
            };
            let bytes = bytemuck::cast_slice(&words);
            self.gpu.queue.write_buffer(&mask.buffer, 0, bytes);
        }
    }

    /// What the next frame does with each instance: by index.
    fn schedule(&mut self) -> Vec<u32> {
        let Some(state) = &mut self.state else {
            let mut all = vec![COMPUTED; INDICES];
            for member in self.members.iter().filter(|member| member.fresh) {
                all[member.id.index() as usize] |= FRESH;
            }
            return all;
        };
        let shown = self.members.iter().filter(|member| !member.hidden);
        let item = |member: &Member| ScheduleItem {
            index: member.id.index(),
            every: member.rate.every,
            phase: member.rate.phase.unwrap_or(match &member.source {
                Source::Own(_) => member.id.index(),
                // None was removed, so its number is its index.
                Source::Shared(number, _) => *number as u32,
                Source::Rig(number, _) => self.live.rigs[*number].index(),
            }),
            flags: if member.fresh { FRESH } else { 0 },
        };
        let items: Vec<ScheduleItem> = shown.map(item).collect();
        // Who is hidden or gone has no part in the frame.
        state.resize(1 + INDICES, 0);
        let mut before = std::mem::replace(state, vec![0; 1 + INDICES]);
        state[0] = before[0];
        for item in &items {
            let at = 1 + item.index as usize;
            state[at] = std::mem::take(&mut before[at]);
        }
        let visible = &self.visible;
        schedule_on_cpu(&items, |index| visible[index as usize] > 0, state);
        state[1..].to_vec()
    }

    /// Encodes a frame, and finds what it has to write.
    pub(super) fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), Failure> {
        self.clock += 0.0625;
        self.live.crowd.set_clock(self.clock);
        let actions = self.schedule();
        self.live.crowd.encode(encoder)?;
        let mut results = self.anew()?.into_iter();
        for member in &mut self.members {
            if member.hidden {
                (member.fresh, member.bounds) = (true, None);
                continue;
            }
            let mut result = results.next().ok_or("too few results")?;
            let action = actions[member.id.index() as usize];
            let was_fresh = std::mem::take(&mut member.fresh);
            if action & COMPUTED == 0 {
                // It keeps what it had, apart from its motion.
                let settles = action & UPDATES_PREVIOUS != 0;
                if was_fresh && !settles {
                    member.bounds = None;
                }
                if let Some(shows) = member.shows.as_mut().filter(|_| settles) {
                    let points = &shows.points;
                    shows.previous = shows.previous.is_some().then(|| points.clone());
                }
                continue;
            }
            let (mut before, now) = (member.shows.take(), &result.points);
            if action & FRESH != 0 {
                before = None;
            }
            let before = before.map_or_else(|| now.clone(), |before| before.points);
            member.bounds = bounds_on_cpu(now).filter(|_| self.has_boxes);
            match member.to {
                To::Own { previous, .. } => result.previous = previous.then_some(before),
                To::Host(number) => {
                    let stride = STRIDES[number] / 4;
                    let first = member.slot * POINTS * stride;
                    for (at, point) in now.iter().enumerate() {
                        let words = point.to_array().map(f32::to_bits);
                        self.expected[number][first + at * stride..][..3].copy_from_slice(&words);
                    }
                }
            }
            (member.shows, member.is_new) = (Some(result), true);
        }
        ensure(results.next().is_none(), "too many results")
    }

    /// Runs a frame, or two in one submit between which buffers grow and poses change, and compares
    /// everything.
    pub(super) fn frames(&mut self, is_double: bool) -> Result<(), Failure> {
        let mut encoder = self.gpu.encoder();
        self.begin();
        self.encode(&mut encoder)?;
        if is_double {
            self.edit(Edit::Grow, 0)?;
            self.edit(Edit::PoseMany, 0)?;
            self.encode(&mut encoder)?;
        }
        self.gpu.queue.submit([encoder.finish()]);
        let is_known =
            |m: &&Member| m.shows.is_some() && (m.is_new || matches!(m.to, To::Own { .. }));
        let known: Vec<&Member> = self.members.iter().filter(is_known).collect();
        let ids: Vec<InstanceId> = known.iter().map(|member| member.id).collect();
        for (found, member) in self.live.crowd.read(&ids)?.iter().zip(known) {
            let Some(shows) = &member.shows else {
                continue;
            };
            let (index, is_new) = (member.id.index(), member.is_new);
            let text = |what| format!("instance {index}, computed {is_new}: {what}");
            let same = without_previous(found) == without_previous(shows);
            ensure(same, &text("other results"))?;
            ensure(bits(found) == bits(shows), &text("comes from elsewhere"))?;
        }
        for (number, (host, expected)) in self.hosts.iter().zip(&self.expected).enumerate() {
            let is_right = self.gpu.read::<u32>(host)? == *expected;
            ensure(is_right, &format!("buffer {number} holds something else"))?;
        }
        self.check_boxes()
    }

    /// Frames without an edit upload the clock alone, once the first two have told what is fresh.
    pub(super) fn quiet(&mut self) -> Result<(), Failure> {
        for _ in 0..3 {
            self.frames(false)?;
        }
        let bytes = self.live.crowd.last_upload_bytes();
        let is_quiet = bytes == size_of::<Clock>() as u64;
        ensure(is_quiet, &format!("{bytes} bytes for nothing"))
    }

    fn check_boxes(&self) -> Result<(), Failure> {
        let Some(boxes) = self.live.crowd.bounds_on_gpu() else {
            return ensure(!self.has_boxes, "no boxes");
        };
        let boxes: Vec<[Vec4; 2]> = self.gpu.read(boxes)?;
        let mut wanted = vec![None; self.live.crowd.index_count() as usize];
        let shown = self.members.iter().filter(|member| !member.hidden);
        for member in shown {
            wanted[member.id.index() as usize] = member.bounds;
        }
        for (index, wanted) in wanted.iter().enumerate() {
            let [low, high] = boxes[index].map(Vec4::truncate);
            let found = low.cmple(high).all().then_some([low, high]);
            let text = format!("instance {index}: a box of {found:?}, not {wanted:?}");
            ensure(found == *wanted, &text)?;
        }
        Ok(())
    }
}
