//! Joint palettes for hosts that skin in a shader of their own.

use std::collections::HashSet;
use std::ops::Range;

use glam::DMat4;
use range_alloc::RangeAllocator;
use slotmap::SlotMap;

use super::crowd::Crowd;
use super::device::error::GpuError;
use super::device::skinner::Skinner;
use super::memory::dirty_ranges::Mirrored;
use super::memory::growable_buffer::GrowableBuffer;
use super::memory::upload::{Staging, Upload};
use super::store::palettes::PaletteId;
use super::store::rigs::RigId;
use crate::kernel::{PackedPose, PackedSkin, Palette};
use crate::math::{self, Rows, multiplied};
use crate::skel::SkinningMethod;

/// Where the matrices of a palette begin, counted in rows (`vec4<f32>`). The places are the same in
/// [`JointPalettes::buffer`] and in [`JointPalettes::previous`]. A 3x4 matrix is three rows: `p' =
/// (dot(row0, (p, 1)), dot(row1, (p, 1)), dot(row2, (p, 1)))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaletteRows {
    /// First row of the matrices for points. The matrix of palette index `i` begins at `points + 3
    /// * i`. It goes from prim space to skeleton space and includes geomBindTransform.
    pub points: u32,
    /// First row of the matrices for normals, if the skin has normals: the inverse transpose, with
    /// a fourth column of zeros.
    pub normals: Option<u32>,
    /// First row of the joints' rigid motions, for dual quaternions. Each joint has three rows: the
    /// rotation of points as (x, y, z, w), half their translation times that rotation, and the
    /// rotation of normals.
    pub motions: Option<u32>,
    /// First of three rows of `out_from_skel` for points; three rows for normals follow. Apply them
    /// after the weighted sum: folding them into each joint is the same only if the weights sum to
    /// 1 ([`JointPalettes::set_pose_folded`]). `None` for a single transform.
    pub post: Option<u32>,
}

#[derive(Clone, Debug)]
struct Entry {
    rows: PaletteRows,
    /// The blocks of three rows that it takes.
    place: Range<u32>,
    /// Number of matrices of each kind, and the method; `None` for a single transform.
    palette: Option<(usize, SkinningMethod)>,
    /// The rig of a crowd whose palette it is, and the blocks of its `out_from_skel`.
    rig: Option<(RigId, Range<u32>)>,
    /// An entry is *fresh* until one frame has written its previous pose, and again after
    /// [`JointPalettes::reset_previous`]. Its previous rows then equal its current ones.
    fresh: bool,
    /// Whether it has a pose.
    posed: bool,
}

/// Holds the joint palettes of many skeleton instances in one storage buffer, and those of the
/// previous frame in another, for hosts that skin in their own vertex shader. The same buffers hold
/// transforms of rigid prims.
///
/// The matrices are those of [`PackedPose`], so results equal a crowd's. [`PackedSkin::influences`]
/// has palette indices and weights for vertex attributes. Prims that share a palette (skeleton
/// instance, geomBindTransform and method) need one id.
#[derive(Debug)]
pub struct JointPalettes {
    skinner: Skinner,
    entries: SlotMap<PaletteId, Entry>,
    free: RangeAllocator<u32>,
    /// The blocks that `current` holds, or will hold after the next frame.
    blocks: Mirrored<Rows>,
    current: GrowableBuffer,
    previous: GrowableBuffer,
    /// Number of blocks that the last frame left in `current`.
    encoded: u64,
    staging: Staging,
    /// Copies of palettes of rigs.
    copies: RigCopies,
}

/// Copies from the palettes of a crowd's rigs. Neighbours are joined, so that characters that were
/// added one after the other take one copy.
#[derive(Debug, Default)]
struct RigCopies {
    /// The crowd's [`Crowd::number`] and [`Crowd::palettes_generation`] that they were made for;
    /// `None` if entries changed since.
    made_for: Option<(u64, u64)>,
    copies: Vec<RigCopy>,
    /// Those whose rigs no frame poses yet.
    missing: HashSet<PaletteId>,
}

#[derive(Clone, Debug)]
struct RigCopy {
    buffer: wgpu::Buffer,
    /// Byte offsets.
    from: u64,
    to: u64,
    bytes: u64,
}

const BLOCK: u64 = size_of::<Rows>() as u64;

impl Skinner {
    /// Creates an empty store of palettes, for a host that skins in its own shader.
    ///
    /// # Errors
    /// Out of memory.
    pub fn joint_palettes(&self) -> Result<JointPalettes, GpuError> {
        JointPalettes::new(self)
    }
}

impl JointPalettes {
    fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let limit = skinner.limits.binding_bytes;
        // A host may take rigid transforms as attributes of its instances.
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
        let buffer = |label| GrowableBuffer::new(skinner, label, usage, limit);
        Ok(Self {
            skinner: skinner.clone(),
            entries: SlotMap::with_key(),
            // Rows are counted in u32, three to a block.
            free: RangeAllocator::new(0..(limit / BLOCK).min(u64::from(u32::MAX / 3)) as u32),
            blocks: Mirrored::default(),
            current: buffer("palettes.current")?,
            previous: buffer("palettes.previous")?,
            encoded: 0,
            staging: Staging::new(),
            copies: RigCopies::default(),
        })
    }

    /// Makes room for the palette of a skin. Its rows are zero until [`JointPalettes::set_pose`].
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a skin without influences (use [`JointPalettes::add_transform`]);
    /// [`GpuError::Limit`] if all palettes together are larger than a binding.
    pub fn add(&mut self, skin: &PackedSkin) -> Result<PaletteId, GpuError> {
        if skin.influences().is_none() {
            let text = format!("{}: no influences, so no palette", skin.prim());
            return Err(GpuError::Mismatch(text));
        }
        let entries = skin.palette_entry_count() as u32;
        let normals = skin.normals().is_some();
        let motions = skin.method() == SkinningMethod::DualQuaternion;
        let kinds = 1 + u32::from(normals) + u32::from(motions);
        let place = self.place(entries * kinds + 2)?;
        let block = |kind: u32| (place.start + kind * entries) * 3;
        let rows = PaletteRows {
            points: block(0),
            normals: normals.then(|| block(1)),
            motions: motions.then(|| block(kinds - 1)),
            post: Some(block(kinds)),
        };
        Ok(self.insert(rows, place, Some((entries as usize, skin.method()))))
    }

    /// Makes room for one transform, such as that of a rigid prim
    /// ([`crate::scene::PoseCache::rigid_out_from_prim`]), and for the matrix of its normals.
    ///
    /// # Errors
    /// As [`JointPalettes::add`].
    pub fn add_transform(&mut self) -> Result<PaletteId, GpuError> {
        let place = self.place(2)?;
        let rows = PaletteRows {
            points: place.start * 3,
            normals: Some(place.start * 3 + 3),
            motions: None,
            post: None,
        };
        Ok(self.insert(rows, place, None))
    }

    /// Makes room for the palette of a rig of a crowd, which [`JointPalettes::encode_with`] copies on
    /// the GPU. Its `out_from_skel` is the identity until [`JointPalettes::set_out_from_skel`].
    ///
    /// ```no_run
    /// # use sinew::gpu::{Crowd, GpuError, JointPalettes, RigId};
    /// # fn f(crowd: &mut Crowd, palettes: &mut JointPalettes, rig: RigId, encoder: &mut sinew::wgpu::CommandEncoder)
    /// # -> Result<(), GpuError> {
    /// crowd.keep_palette(rig, true)?;
    /// let id = palettes.add_rig(crowd, rig)?;
    /// // Every frame:
    /// crowd.encode(encoder)?;
    /// palettes.encode_with(encoder, crowd)?;
    /// let first = palettes.rows(id)?.points;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Many thousands of rigs are larger than one binding. [`Crowd::palette_on_gpu`] gives their
    /// palettes without a copy, in as many buffers as they need.
    ///
    /// # Errors
    /// As [`JointPalettes::add`]; [`GpuError::Mismatch`] for a rig of another crowd.
    pub fn add_rig(&mut self, crowd: &Crowd, rig: RigId) -> Result<PaletteId, GpuError> {
        let packed = crowd.packed_rig(rig)?;
        let entries = packed.entry_count() as u32;
        let place = self.place(packed.blocks() as u32)?;
        // Elsewhere, so that palettes of rigs lie side by side.
        let post = match self.place(2) {
            Ok(post) => post,
            Err(error) => {
                self.free.free_range(place);
                return Err(error);
            }
        };
        let identity = math::rows(DMat4::IDENTITY);
        self.blocks.write(post.start, &[&[identity, identity]]);
        let first = place.start * 3;
        let rows = PaletteRows {
            points: first,
            normals: packed.has_normals().then_some(first + entries * 3),
            motions: packed.motion_row().map(|row| first + row),
            post: Some(post.start * 3),
        };
        let palette = Some((entries as usize, packed.method()));
        let id = self.insert(rows, place, palette);
        if let Some(entry) = self.entries.get_mut(id) {
            entry.rig = Some((rig, post));
            entry.posed = true;
        }
        self.copies.made_for = None;
        Ok(id)
    }

    /// Sets the matrix from skeleton space to the host's space of a palette of a rig.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or a palette that is not that of a rig.
    pub fn set_out_from_skel(
        &mut self,
        id: PaletteId,
        out_from_skel: DMat4,
    ) -> Result<(), GpuError> {
        let entry = self.entries.get(id).ok_or_else(foreign)?;
        let Some((_, post)) = &entry.rig else {
            let text = "this is no palette of a rig: use set_pose";
            return Err(GpuError::Mismatch(text.into()));
        };
        let normals = math::rows3(math::normal_matrix(out_from_skel));
        let rows = [math::rows(out_from_skel), normals];
        self.blocks.write(post.start, &[&rows]);
        Ok(())
    }

    fn place(&mut self, blocks: u32) -> Result<Range<u32>, GpuError> {
        let place = self.free.allocate_range(blocks).map_err(|_| {
            let asked = (self.blocks.len() as u64 + u64::from(blocks)) * BLOCK;
            self.current.beyond_limit(asked)
        })?;
        let missing = (place.end as usize).saturating_sub(self.blocks.len());
        // A new buffer is zero, too.
        self.blocks
            .extend_from_slice(&vec![Rows::default(); missing]);
        let zeros = vec![Rows::default(); place.len()];
        self.blocks.write(place.start, &[&zeros]);
        Ok(place)
    }

    fn insert(
        &mut self,
        rows: PaletteRows,
        place: Range<u32>,
        palette: Option<(usize, SkinningMethod)>,
    ) -> PaletteId {
        self.entries.insert(Entry {
            rows,
            place,
            palette,
            rig: None,
            fresh: true,
            posed: false,
        })
    }

    /// Removes a palette or transform. Its rows may be reused.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn remove(&mut self, id: PaletteId) -> Result<(), GpuError> {
        let entry = self.entries.remove(id).ok_or_else(foreign)?;
        self.free.free_range(entry.place);
        if let Some((_, post)) = entry.rig {
            self.free.free_range(post);
            self.copies.made_for = None;
        }
        Ok(())
    }

    /// The rows of a palette or transform. They stay the same until it is removed.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn rows(&self, id: PaletteId) -> Result<PaletteRows, GpuError> {
        Ok(self.entries.get(id).ok_or_else(foreign)?.rows)
    }

    /// Sets the pose of a palette for all coming frames. `out_from_skel` is a separate matrix
    /// ([`PaletteRows::post`]).
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or a pose whose palette does not fit the one that
    /// was added.
    pub fn set_pose(&mut self, id: PaletteId, pose: &PackedPose) -> Result<(), GpuError> {
        let (first, palette) = self.check(id, pose)?;
        let [points, normals, motions] = palette.parts();
        let post = [*pose.post(), *pose.post_normal()];
        self.blocks.write(first, &[points, normals, motions, &post]);
        self.set_posed(id)
    }

    /// As [`JointPalettes::set_pose`], with `out_from_skel` multiplied into every joint and
    /// [`PaletteRows::post`] set to identity: for a shader that does not read `post`. If the
    /// weights of a point do not sum to 1, the translation of `out_from_skel` is scaled by their
    /// sum, which is wrong by that factor. Normals have the right direction, but not unit length.
    ///
    /// # Errors
    /// As [`JointPalettes::set_pose`]; [`GpuError::Mismatch`] for dual quaternions, because
    /// `out_from_skel` may not be rigid.
    pub fn set_pose_folded(&mut self, id: PaletteId, pose: &PackedPose) -> Result<(), GpuError> {
        let (first, palette) = self.check(id, pose)?;
        if palette.method() != SkinningMethod::ClassicLinear {
            let text = "out_from_skel cannot be folded into dual quaternions";
            return Err(GpuError::Mismatch(text.into()));
        }
        let points = palette.points().iter().map(|m| multiplied(pose.post(), m));
        let normals = palette.normals().unwrap_or_default().iter();
        let normals = normals.map(|m| multiplied(pose.post_normal(), m));
        let identity = math::rows(DMat4::IDENTITY);
        let all = points.chain(normals).chain([identity, identity]);
        self.blocks.write(first, &[&all.collect::<Vec<_>>()]);
        self.set_posed(id)
    }

    /// Sets a single transform for all coming frames, such as `world_from_prim` of a rigid prim.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or that of a palette.
    pub fn set_transform(&mut self, id: PaletteId, out_from_prim: DMat4) -> Result<(), GpuError> {
        let entry = self.entries.get(id).ok_or_else(foreign)?;
        if entry.palette.is_some() {
            return Err(GpuError::Mismatch("this is a palette: use set_pose".into()));
        }
        let normals = math::rows3(math::normal_matrix(out_from_prim));
        let rows = [math::rows(out_from_prim), normals];
        self.blocks.write(entry.place.start, &[&rows]);
        self.set_posed(id)
    }

    fn set_posed(&mut self, id: PaletteId) -> Result<(), GpuError> {
        self.entries.get_mut(id).ok_or_else(foreign)?.posed = true;
        Ok(())
    }

    /// Checks that the palette of a pose fits, and returns its first block and that palette.
    fn check<'a>(
        &self,
        id: PaletteId,
        pose: &'a PackedPose,
    ) -> Result<(u32, &'a Palette), GpuError> {
        let entry = self.entries.get(id).ok_or_else(foreign)?;
        let mismatch = |text: String| Err(GpuError::Mismatch(text));
        let Some((entries, method)) = entry.palette else {
            return mismatch("this is a single transform: use set_transform".into());
        };
        if entry.rig.is_some() {
            return mismatch("this is the palette of a rig: use set_out_from_skel".into());
        }
        let Some(palette) = pose.palette() else {
            return mismatch("expected a pose with a palette, found one that only blends".into());
        };
        let fits = (
            palette.entry_count(),
            palette.method(),
            palette.normals().is_some(),
        );
        if fits != (entries, method, entry.rows.normals.is_some()) {
            let with = |normals| if normals { "with" } else { "without" };
            return mismatch(format!(
                "expected a {method:?} palette of {entries} entries {} normals, found {:?} of {} {}",
                with(entry.rows.normals.is_some()),
                palette.method(),
                palette.entry_count(),
                with(fits.2)
            ));
        }
        Ok((entry.place.start, palette))
    }

    /// Tells the next frame that the palette jumped, as after a cut or a teleport: the frame uses
    /// its new rows as the previous rows too.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn reset_previous(&mut self, id: PaletteId) -> Result<(), GpuError> {
        self.entries.get_mut(id).ok_or_else(foreign)?.fresh = true;
        Ok(())
    }

    /// Records one frame: copies the current rows to the previous ones, then uploads the palettes
    /// that changed. A new palette has its first pose in both. It submits nothing. A later frame in
    /// the same submit uses its own poses.
    ///
    /// If palettes were added, this call may replace the buffers (see
    /// [`JointPalettes::generation`]). No other call does.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        self.encode_frame(encoder, None)
    }

    /// As [`JointPalettes::encode`], and copies the palettes of rigs as the crowd's last encoded
    /// frame writes them. Encode the crowd before, into the same encoder or an earlier one. A rig
    /// whose palette no frame computes keeps its last rows.
    ///
    /// The copies are found once and kept until the crowd plans a frame anew or rigs are added here.
    ///
    /// # Errors
    /// As [`JointPalettes::encode`]; [`GpuError::Mismatch`] if a rig was removed from the crowd.
    pub fn encode_with(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        crowd: &Crowd,
    ) -> Result<(), GpuError> {
        self.copies.find(&self.entries, crowd)?;
        self.encode_frame(encoder, Some(crowd))
    }

    fn encode_frame(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        crowd: Option<&Crowd>,
    ) -> Result<(), GpuError> {
        let skinner = &self.skinner;
        let bytes = self.blocks.len() as u64 * BLOCK;
        let before = self.encoded * BLOCK;
        self.current.reserve_in(skinner, bytes, before, encoder)?;
        self.previous.reserve_in(skinner, bytes, 0, encoder)?;
        if before > 0 {
            let (from, to) = (self.current.buffer(), self.previous.buffer());
            encoder.copy_buffer_to_buffer(from, 0, to, 0, before);
        }
        if self.staging.take_dropped() {
            // The uploads of a dropped encoder never reached the GPU.
            self.blocks.mark_all();
        }
        self.blocks.join(0);
        let (current, previous) = (self.current.buffer(), self.previous.buffer());
        let changed = self.blocks.changes(0).map(|(offset, bytes)| Upload {
            to: current,
            offset,
            bytes,
        });
        let fresh = self.entries.values().filter(|entry| entry.fresh);
        let posts = fresh.clone().filter_map(|entry| entry.rig.as_ref());
        let posts = posts.map(|(_, post)| post);
        let own = fresh.filter(|entry| entry.rig.is_none());
        let fresh = own.map(|entry| &entry.place).chain(posts).map(|place| {
            let place = place.start as usize..place.end as usize;
            Upload {
                to: previous,
                offset: place.start as u64 * BLOCK,
                bytes: bytemuck::cast_slice(&self.blocks.values()[place]),
            }
        });
        self.staging
            .record(skinner, encoder, changed.chain(fresh))?;
        self.blocks.set_uploaded();
        if crowd.is_some() {
            for copy in &self.copies.copies {
                let to = self.current.buffer();
                encoder.copy_buffer_to_buffer(&copy.buffer, copy.from, to, copy.to, copy.bytes);
            }
            // They have no previous pose, so it equals the current one.
            let of_rigs = |entry: &&Entry| entry.fresh && entry.rig.is_some();
            for entry in self.entries.values().filter(of_rigs) {
                let (at, bytes) = (
                    u64::from(entry.place.start) * BLOCK,
                    entry.place.len() as u64 * BLOCK,
                );
                let (from, to) = (self.current.buffer(), self.previous.buffer());
                encoder.copy_buffer_to_buffer(from, at, to, at, bytes);
            }
        }
        for (id, entry) in &mut self.entries {
            let is_copied = crowd.is_some() && !self.copies.missing.contains(&id);
            if entry.rig.is_some() && !is_copied {
                continue;
            }
            // An entry without a pose stays fresh: its rows are zero, which is no previous pose.
            entry.fresh &= !entry.posed;
        }
        self.encoded = self.blocks.len() as u64;
        Ok(())
    }

    /// Creates the same palettes on another skinner's device, as [`super::Crowd::rebuild`]: ids,
    /// rows and poses stay. After the next frame, previous rows equal current ones.
    ///
    /// # Errors
    /// A limit of the new device; out of memory.
    pub fn rebuild(&self, skinner: &Skinner) -> Result<Self, GpuError> {
        let mut out = Self::new(skinner)?;
        let end = out.free.initial_range().end;
        if self.blocks.len() > end as usize {
            let asked = self.blocks.len() as u64 * BLOCK;
            return Err(out.current.beyond_limit(asked));
        }
        // Takes everything, then frees the gaps between the entries.
        let whole = out.free.allocate_range(end);
        let mut next = whole.map_or(0, |range| range.start);
        for taken in self.free.allocated_ranges() {
            if next < taken.start {
                out.free.free_range(next..taken.start);
            }
            next = taken.end;
        }
        if next < end {
            out.free.free_range(next..end);
        }
        // The crowd is rebuilt as well, and gives the copies anew.
        out.entries = self.entries.clone();
        for entry in out.entries.values_mut() {
            entry.fresh = true;
        }
        out.blocks = self.blocks.values().to_vec().into();
        Ok(out)
    }

    /// This frame's rows, to be bound as `array<vec4<f32>>` (read-only storage).
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        self.current.buffer()
    }

    /// The rows of the previous frame, at the same places.
    #[must_use]
    pub fn previous(&self) -> &wgpu::Buffer {
        self.previous.buffer()
    }

    /// A number that grows whenever [`JointPalettes::encode`] replaced a buffer. Then create bind
    /// groups over it again.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.current.replaced() + self.previous.replaced()
    }
}

impl RigCopies {
    /// Finds the copies for the plan of a crowd, unless they are found already.
    fn find(&mut self, entries: &SlotMap<PaletteId, Entry>, crowd: &Crowd) -> Result<(), GpuError> {
        let made_for = Some((crowd.number(), crowd.palettes_generation()));
        if self.made_for == made_for {
            return Ok(());
        }
        let mut copies: Vec<RigCopy> = Vec::new();
        let mut missing = HashSet::new();
        let of_rigs = entries
            .iter()
            .filter_map(|(id, entry)| Some((id, entry.rig.as_ref()?, entry)));
        for (id, (rig, _), entry) in of_rigs {
            let Some(palette) = crowd.palette_on_gpu(*rig)? else {
                missing.insert(id);
                continue;
            };
            copies.push(RigCopy {
                buffer: palette.buffer.clone(),
                from: u64::from(palette.points) * 16,
                to: u64::from(entry.place.start) * BLOCK,
                bytes: entry.place.len() as u64 * BLOCK,
            });
        }
        copies.sort_by_key(|copy| copy.to);
        copies.dedup_by(|next, kept| {
            let joins = next.buffer == kept.buffer
                && next.from == kept.from + kept.bytes
                && next.to == kept.to + kept.bytes;
            if joins {
                kept.bytes += next.bytes;
            }
            joins
        });
        *self = Self {
            made_for,
            copies,
            missing,
        };
        Ok(())
    }
}

fn foreign() -> GpuError {
    GpuError::Mismatch("a palette of another host, or one that was removed".into())
}
