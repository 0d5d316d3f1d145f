//! The clips of a crowd, in one buffer that all rigs play from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::skin_pages::{OwnedRanges, SkinPages};
use super::skins::SkinId;
use super::slots::{Slots, new_id};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::arena::Arena;
use crate::kernel::{NONE, PackedClip};

new_id! {
    /// Identifies a clip of a [`crate::gpu::Crowd`]. After the clip is removed the id is refused.
    ClipId, "a clip"
}

/// A clip on the device.
#[derive(Clone, Debug)]
pub struct ResidentClip {
    pub packed: Arc<PackedClip>,
    /// Its first word in the buffer.
    pub first: u32,
}

/// Which channel of clips drives each channel of a skin.
#[derive(Clone, Debug)]
pub struct ChannelTable {
    /// For each channel of the skin a channel of clips, or [`NONE`].
    words: Vec<u32>,
    pub page: usize,
    /// First word of the table in its page.
    pub first: u32,
    ranges: OwnedRanges,
}

/// The clips of a crowd.
#[derive(Debug, Default)]
pub struct ClipStore {
    clips: Slots<ClipId, ResidentClip>,
    channels: BTreeMap<SkinId, ChannelTable>,
    /// `None` before the first clip.
    words: Option<Arena>,
    /// Counts changes of tables of channels.
    version: u64,
}

impl ClipStore {
    /// Uploads a clip.
    pub fn add(&mut self, skinner: &Skinner, packed: Arc<PackedClip>) -> Result<ClipId, GpuError> {
        let first = self.upload(skinner, &packed)?;
        Ok(self.clips.insert(ResidentClip { packed, first }))
    }

    fn upload(&mut self, skinner: &Skinner, packed: &PackedClip) -> Result<u32, GpuError> {
        let words = match &mut self.words {
            Some(words) => words,
            none => none.insert(words_of_clips(skinner)?),
        };
        let first = words.append(skinner, &[bytemuck::cast_slice(packed.words())])?;
        // Clips are freed by their own ranges.
        words.take_appended();
        Ok((first / 4) as u32)
    }

    /// Removes a clip that no rig plays.
    pub fn remove(&mut self, id: ClipId) -> Result<(), GpuError> {
        let clip = self.clips.remove_unused(id, "rigs", |_| "a clip".into())?;
        let bytes = clip.packed.words().len() as u64 * 4;
        let first = u64::from(clip.first) * 4;
        if let Some(words) = &mut self.words {
            words.give_back(first, bytes);
        }
        Ok(())
    }

    pub fn get(&self, id: ClipId) -> Result<&ResidentClip, GpuError> {
        self.clips.get(id)
    }

    /// The clip of an id, if there is one.
    pub fn find(&self, id: Option<ClipId>) -> Option<&ResidentClip> {
        self.clips.find(id?)
    }

    /// Records that a rig plays these clips.
    pub fn add_users(&mut self, ids: &[Option<ClipId>]) {
        let ids = ids.iter().flatten();
        ids.for_each(|id| self.clips.add_user(*id));
    }

    /// Records that a rig no longer plays these clips.
    pub fn remove_users(&mut self, ids: &[Option<ClipId>]) {
        let ids = ids.iter().flatten();
        ids.for_each(|id| self.clips.remove_user(*id));
    }

    /// Whether there ever was a clip, so that frames have players.
    pub fn is_used(&self) -> bool {
        self.words.is_some()
    }

    /// Sets which channel of clips drives each channel of a skin.
    pub fn set_channels(
        &mut self,
        skinner: &Skinner,
        pages: &mut SkinPages,
        skin: SkinId,
        channels: &[Option<u32>],
    ) -> Result<(), GpuError> {
        let words: Vec<u32> = channels.iter().map(|c| c.unwrap_or(NONE)).collect();
        let table = upload_table(skinner, pages, words)?;
        self.remove_channels(pages, skin);
        self.channels.insert(skin, table);
        self.version += 1;
        Ok(())
    }

    /// Forgets the table of a skin.
    pub fn remove_channels(&mut self, pages: &mut SkinPages, skin: SkinId) {
        if let Some(table) = self.channels.remove(&skin) {
            pages.give_back(table.ranges);
            self.version += 1;
        }
    }

    /// The table of a skin, if clips drive its channels.
    pub fn channels(&self, skin: SkinId) -> Option<&ChannelTable> {
        self.channels.get(&skin)
    }

    /// Counts what a plan depends on.
    pub fn version(&self) -> u64 {
        let words = self.words.as_ref();
        self.version + words.map_or(0, |words| words.growable.replaced + 1)
    }

    /// Binds all clips.
    pub fn whole(&self) -> Option<wgpu::BindingResource<'_>> {
        Some(self.words.as_ref()?.growable.whole())
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.words.as_ref().map_or(0, |words| words.growable.size())
    }

    /// Creates the same clips on another device. Their users stay.
    pub fn rebuild(&self, skinner: &Skinner, pages: &mut SkinPages) -> Result<Self, GpuError> {
        let mut out = Self {
            clips: self.clips.clone(),
            ..Self::default()
        };
        let mut clips = std::mem::take(&mut out.clips);
        for clip in clips.values_mut() {
            clip.first = out.upload(skinner, &clip.packed)?;
        }
        out.clips = clips;
        for (skin, table) in &self.channels {
            let table = upload_table(skinner, pages, table.words.clone())?;
            out.channels.insert(*skin, table);
        }
        if self.is_used() && out.words.is_none() {
            out.words = Some(words_of_clips(skinner)?);
        }
        Ok(out)
    }
}

/// A buffer for the words of all clips.
fn words_of_clips(skinner: &Skinner) -> Result<Arena, GpuError> {
    /// The shader counts the bits of all clips in u32.
    const MOST_BYTES: u64 = 1 << 29;
    let limit = skinner.limits.binding_bytes.min(MOST_BYTES);
    Arena::new(skinner, "play.clips", wgpu::BufferUsages::STORAGE, limit)
}

fn upload_table(
    skinner: &Skinner,
    pages: &mut SkinPages,
    words: Vec<u32>,
) -> Result<ChannelTable, GpuError> {
    let part = bytemuck::cast_slice(&words);
    let ((page, first), ranges) = pages.owning(|pages| pages.append(skinner, &[part]))?;
    Ok(ChannelTable {
        words,
        page,
        first,
        ranges,
    })
}
