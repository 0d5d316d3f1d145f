//! The data of a prim that changes with time, in flat arrays.

use std::sync::Arc;

use glam::{DMat3, DMat4};

use super::{PackedSkin, Palette};
use crate::error::Invalid;
use crate::math::{self, Rows};
use crate::skel::Pose;

/// A [`Pose`] as the kernels read it: a palette, the matrices from skeleton space to the space of
/// the results, and the weights of blend shapes.
#[derive(Debug, Default, PartialEq)]
pub struct PackedPose {
    palette: Option<Arc<Palette>>,
    post: Rows,
    post_normal: Rows,
    channel_weights: Vec<f32>,
    /// Whether points and normals need a sum of the palette's matrices. Linear blend skinning
    /// always does. Dual quaternion skinning does if some joint of the prim has scale or shear
    /// ([`Palette::scales`]); otherwise all use the last matrix of the palette, which is
    /// geomBindTransform alone.
    pub(crate) scales: [bool; 2],
    /// Whether geomBindTransform and `out_from_skel` together mirror the mesh. The joints do not
    /// count. If they mirror it, smooth normals are negated, so that they agree with rest normals,
    /// which are transformed by the inverse transpose.
    pub(crate) mirrors: bool,
    /// Whether the GPU computes the palette ([`super::POSE_RIG`]).
    posed_on_gpu: bool,
    /// Row of that palette where the rigid motions begin, for dual quaternions.
    pub(crate) motion_row: Option<u32>,
}

impl Clone for PackedPose {
    fn clone(&self) -> Self {
        Self {
            palette: self.palette.clone(),
            channel_weights: self.channel_weights.clone(),
            ..*self
        }
    }

    /// Copies into the buffers of `self`, without allocating.
    fn clone_from(&mut self, from: &Self) {
        self.palette.clone_from(&from.palette);
        self.channel_weights.clone_from(&from.channel_weights);
        (self.post, self.post_normal) = (from.post, from.post_normal);
        (self.scales, self.mirrors) = (from.scales, from.mirrors);
        (self.posed_on_gpu, self.motion_row) = (from.posed_on_gpu, from.motion_row);
    }
}

impl PackedPose {
    /// Packs a pose for a skin, with a palette of its own.
    ///
    /// # Errors
    /// A pose with another number of joints or of channel weights than the skin; matrices or
    /// weights that are not finite.
    pub fn pack(skin: &PackedSkin, pose: &Pose) -> Result<Self, Invalid> {
        let mut out = Self::default();
        out.update(skin, pose)?;
        Ok(out)
    }

    /// As [`PackedPose::pack`], into the buffers of this pose. If a pose is packed this way
    /// every frame, nothing is allocated, unless something else holds the palette's `Arc`: then
    /// this pose gets a new palette.
    ///
    /// # Errors
    /// As [`PackedPose::pack`]. After an error this pose is unchanged.
    pub fn update(&mut self, skin: &PackedSkin, pose: &Pose) -> Result<(), Invalid> {
        check(skin, pose)?;
        self.channel_weights.clone_from(&pose.channel_weights);
        if let (Some(skinning), Some(_)) = (&pose.skinning, skin.influences()) {
            let palette = self.palette.get_or_insert_default();
            if Arc::get_mut(palette).is_none() {
                *palette = Arc::default();
            }
            if let Some(palette) = Arc::get_mut(palette) {
                let with_normals = skin.normals().is_some();
                palette.fill(skin.method(), skinning, pose.geom_bind, with_normals);
            }
        } else {
            self.palette = None;
        }
        self.lead_out(skin, pose.out_from_skel);
        Ok(())
    }

    /// Packs a pose over a palette that other prims of the same skeleton instance,
    /// geomBindTransform and method may share. If `palette` is `None`, the prim only blends and
    /// stays in prim space; `out_from_skel` is not used then (rule 20).
    ///
    /// # Errors
    /// A palette or weights of another size than the skin's; a palette for another method; a
    /// palette without matrices for normals if the skin has normals.
    pub fn with_palette(
        skin: &PackedSkin,
        palette: Option<Arc<Palette>>,
        out_from_skel: DMat4,
        channel_weights: Vec<f32>,
    ) -> Result<Self, Invalid> {
        let mut out = Self {
            palette: palette.filter(|_| skin.influences().is_some()),
            channel_weights,
            ..Self::default()
        };
        out.lead_out(skin, out_from_skel);
        out.fits(skin)?;
        Ok(out)
    }

    /// Computes everything that depends on the palette and on `out_from_skel`.
    fn lead_out(&mut self, skin: &PackedSkin, out_from_skel: DMat4) {
        let palette = self.palette.as_ref();
        (self.post, self.post_normal) = match palette {
            Some(_) => (
                math::rows(out_from_skel),
                math::rows3(math::normal_matrix(out_from_skel)),
            ),
            None => (math::rows(DMat4::IDENTITY), math::rows3(DMat3::IDENTITY)),
        };
        self.note_palette(skin);
    }

    /// Computes `scales` and `mirrors` from the palette, which is its own, and `post`.
    fn note_palette(&mut self, skin: &PackedSkin) {
        (self.posed_on_gpu, self.motion_row) = (false, None);
        let palette = self.palette.as_ref();
        self.scales = palette.map_or([true; 2], |p| p.scales(&skin.own_indices));
        let binds_mirrored = palette.and_then(|p| p.points().last());
        self.mirrors = binds_mirrored.is_some_and(math::mirrors) != math::mirrors(&self.post);
    }

    /// Checks that this pose fits `skin`. The error says what differs.
    pub(crate) fn fits(&self, skin: &PackedSkin) -> Result<(), Invalid> {
        match &self.palette {
            Some(palette) => self.fits_with(skin, palette),
            None => sizes_fit(skin, self.channel_weights.len(), None),
        }
    }

    /// Checks that this pose would fit `skin` with `palette` in place of its own.
    pub(crate) fn fits_with(&self, skin: &PackedSkin, palette: &Palette) -> Result<(), Invalid> {
        let entries = Some(palette.entry_count());
        sizes_fit(skin, self.channel_weights.len(), entries)?;
        if palette.rigid().is_some() != skin.method().has_rigid_motions() {
            let expected = format!("a {:?} palette", skin.method());
            return misfit(skin, expected, format!("{:?}", palette.method()));
        }
        if skin.normals().is_some() && palette.normals().is_none() {
            return misfit(skin, "a palette with normal matrices", "none");
        }
        Ok(())
    }

    /// Replaces the palette. The new one must fit the skin.
    #[cfg(feature = "gpu")]
    pub(crate) fn replace_palette(&mut self, skin: &PackedSkin, palette: &Arc<Palette>) {
        self.palette = Some(Arc::clone(palette));
        self.note_palette(skin);
    }

    /// Turns this pose into one over a palette that the GPU computes for `rig`.
    ///
    /// # Errors
    /// A rig that does not fit the skin, another number of channel weights, or numbers that are not
    /// finite.
    #[cfg(feature = "gpu")]
    pub(crate) fn set_posed_on_gpu(
        &mut self,
        skin: &PackedSkin,
        rig: &super::PackedRig,
        out_from_skel: &DMat4,
        channel_weights: &[f32],
    ) -> Result<(), Invalid> {
        if skin.influences().is_none() {
            let expected = "a skin with influences, to move with a rig";
            return misfit(skin, expected, "none");
        }
        if skin.method().has_rigid_motions() != rig.method().has_rigid_motions() {
            let expected = format!("a rig that was packed for {:?}", skin.method());
            return misfit(skin, expected, format!("{:?}", rig.method()));
        }
        if rig.entry_count() != skin.palette_entry_count() {
            let expected = format!("a rig of {} joints", skin.palette_entry_count() - 1);
            return misfit(skin, expected, rig.joint_count().to_string());
        }
        if skin.normals().is_some() && !rig.has_normals() {
            return misfit(skin, "a rig that was packed with normals", "one without");
        }
        sizes_fit(skin, channel_weights.len(), Some(rig.entry_count()))?;
        check_finite(skin, &[("out_from_skel", out_from_skel)], channel_weights)?;
        self.palette = None;
        (self.posed_on_gpu, self.motion_row) = (true, rig.motion_row());
        self.scales = [true; 2];
        self.post = math::rows(*out_from_skel);
        self.post_normal = math::rows3(math::normal_matrix(*out_from_skel));
        self.mirrors = rig.mirrors() != math::mirrors(&self.post);
        self.channel_weights.clear();
        self.channel_weights.extend_from_slice(channel_weights);
        Ok(())
    }

    /// Whether its prim is skinned, by a palette of its own or by one that the GPU computes.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_skinned(&self) -> bool {
        self.palette.is_some() || self.posed_on_gpu
    }

    /// The palette; `None` if the prim only blends.
    #[must_use]
    pub fn palette(&self) -> Option<&Arc<Palette>> {
        self.palette.as_ref()
    }

    /// Rows of `out_from_skel`: the matrix from skeleton space to the space of the results.
    #[must_use]
    pub fn post(&self) -> &Rows {
        &self.post
    }

    /// Rows of the matrix that takes normals from skeleton space to the space of the results.
    #[must_use]
    pub fn post_normal(&self) -> &Rows {
        &self.post_normal
    }

    /// The channel weight of each blend shape, in the order of skel:blendShapes.
    #[must_use]
    pub fn channel_weights(&self) -> &[f32] {
        &self.channel_weights
    }
}

/// Checks that a pose is finite and that its sizes are those of a skin.
fn check(skin: &PackedSkin, pose: &Pose) -> Result<(), Invalid> {
    let matrices = [
        ("geomBindTransform", &pose.geom_bind),
        ("out_from_skel", &pose.out_from_skel),
    ];
    check_finite(skin, &matrices, &pose.channel_weights)?;
    let skinning = pose.skinning.as_deref().filter(|s| !math::all_finite(s));
    let mut joints = skinning.into_iter().flatten().enumerate();
    if let Some((i, m)) = joints.find(|(_, m)| !math::is_finite(m)) {
        let (expected, found) = ("finite skinning transforms", format!("{m} for joint {i}"));
        return Err(Invalid::new(skin.prim(), "joints", expected, found));
    }
    let entries = pose.skinning.as_ref().map(|s| s.len() + 1);
    let entries = entries.filter(|_| skin.influences().is_some());
    sizes_fit(skin, pose.channel_weights.len(), entries)
}

/// Checks that matrices and channel weights are finite.
fn check_finite(
    skin: &PackedSkin,
    matrices: &[(&str, &DMat4)],
    weights: &[f32],
) -> Result<(), Invalid> {
    let wrong = |property: &str, expected: &str, found: String| {
        Err(Invalid::new(skin.prim(), property, expected, found))
    };
    for (name, m) in matrices {
        if !math::is_finite(m) {
            return wrong(name, "a finite matrix", m.to_string());
        }
    }
    if let Some(i) = weights.iter().position(|w| !w.is_finite()) {
        let found = format!("{} at {i}", weights[i]);
        return wrong("blendShapeWeights", "finite weights", found);
    }
    Ok(())
}

/// The error for something that does not fit a skin.
fn misfit(
    skin: &PackedSkin,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Result<(), Invalid> {
    Err(Invalid::new(skin.prim(), "", expected, found))
}

/// Checks the number of channel weights, and the size of the palette, against a skin.
fn sizes_fit(skin: &PackedSkin, channels: usize, entries: Option<usize>) -> Result<(), Invalid> {
    if channels != skin.channel_count() {
        let expected = format!("a pose with {} channel weights", skin.channel_count());
        return misfit(skin, expected, channels.to_string());
    }
    match entries {
        Some(_) if skin.influences().is_none() => {
            let expected = "a pose without a palette, for a prim that only blends";
            misfit(skin, expected, "one")
        }
        Some(entries) if entries != skin.palette_entry_count() => {
            let expected = format!("a palette of {} entries", skin.palette_entry_count());
            misfit(skin, expected, entries.to_string())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use super::*;
    use crate::skel::{Skeleton, SkinBuilder};

    /// The same numbers as of a pose that is packed anew, whatever was there before.
    #[test]
    fn updating_in_place_is_packing() {
        let names = ["A", "B"].map(String::from).to_vec();
        let bind = vec![DMat4::IDENTITY; 2];
        let rig = Skeleton::from_parents("/Rig", names, &[None, Some(0)], bind, None);
        let rig = rig.expect("a chain");
        let influences = [vec![(0, 1.0)], vec![(0, 0.5), (1, 0.5)], vec![(1, 1.0)]];
        let skin = SkinBuilder::new("/Mesh", vec![Vec3::X; 3]).influences_of_points(&influences);
        let skin = PackedSkin::pack("/Mesh", &skin.build(&rig).expect("valid")).expect("packs");
        let posed = |time: i32| {
            let turn = DMat4::from_rotation_z(f64::from(time));
            let pose = Pose::from_local(&rig, &[turn, turn]).expect("two joints");
            pose.with_out_from_skel(DMat4::from_translation(DVec3::X * f64::from(time)))
        };
        let packed = |time: i32| PackedPose::pack(&skin, &posed(time)).expect("sizes that fit");
        let mut reused = packed(0);
        for time in 1..6 {
            let kept = (time == 3).then(|| reused.clone());
            reused.update(&skin, &posed(time)).expect("sizes that fit");
            assert!(reused == packed(time), "other numbers in place");
            let kept = kept.is_none_or(|kept| kept == packed(time - 1));
            assert!(kept, "a shared palette was written");
        }
        let (mut not_finite, mut one_more) = (posed(9), posed(9));
        not_finite.out_from_skel = DMat4::NAN;
        one_more.channel_weights.push(0.0);
        for bad in [not_finite, one_more] {
            assert!(reused.update(&skin, &bad).is_err());
            assert!(reused == packed(5), "an error changed the pose");
        }
    }
}
