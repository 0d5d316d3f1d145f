//! The half of one prim that changes with time, flat.

use std::sync::Arc;

use glam::{DMat3, DMat4};

use super::{PackedSkin, Palette};
use crate::error::Invalid;
use crate::math::{self, Rows};
use crate::skel::Pose;

/// A [`Pose`] as the kernels read it.
#[derive(Debug, PartialEq)]
pub struct PackedPose {
    palette: Option<Arc<Palette>>,
    post: Rows,
    post_normal: Rows,
    channel_weights: Vec<f32>,
    /// See [`Palette::scales`].
    scales: [bool; 2],
    mirrors: bool,
}

impl Clone for PackedPose {
    fn clone(&self) -> Self {
        Self {
            palette: self.palette.clone(),
            channel_weights: self.channel_weights.clone(),
            ..*self
        }
    }

    /// Into the buffers that are there.
    fn clone_from(&mut self, from: &Self) {
        self.palette.clone_from(&from.palette);
        self.channel_weights.clone_from(&from.channel_weights);
        (self.post, self.post_normal) = (from.post, from.post_normal);
        (self.scales, self.mirrors) = (from.scales, from.mirrors);
    }
}

/// Why a pose is one for another skin.
#[derive(Debug, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub(crate) struct Misfit {
    expected: String,
    found: String,
}

impl PackedPose {
    /// Packs a pose for a skin, with a palette of its own.
    ///
    /// # Panics
    /// Where the pose was made for another skin: another number of joints or blend shape slots.
    #[must_use]
    pub fn pack(skin: &PackedSkin, pose: &Pose) -> Self {
        let out = Self::build(skin, pose);
        out.expect_fits(skin);
        out
    }

    /// As [`PackedPose::pack`], for a pose that a host made.
    ///
    /// # Errors
    /// A pose for another skin: another number of joints or of channel weights; matrices or weights that are not finite.
    pub fn try_pack(skin: &PackedSkin, pose: &Pose) -> Result<Self, Invalid> {
        let wrong = |property: &str, expected: &str, found: String| {
            Err(Invalid::new(skin.prim(), property, expected, found))
        };
        for (name, m) in [
            ("geomBindTransform", &pose.geom_bind),
            ("out_from_skel", &pose.out_from_skel),
        ] {
            if !math::is_finite(m) {
                return wrong(name, "a finite matrix", m.to_string());
            }
        }
        let weights = &pose.channel_weights;
        if let Some(i) = weights.iter().position(|w| !w.is_finite()) {
            let found = format!("{} at {i}", weights[i]);
            return wrong("blendShapeWeights", "finite weights", found);
        }
        let joints = pose.skinning.iter().flat_map(|s| s.iter());
        if let Some((i, m)) = joints.enumerate().find(|(_, m)| !math::is_finite(m)) {
            let found = format!("{m} for joint {i}");
            return wrong("joints", "finite skinning transforms", found);
        }
        let out = Self::build(skin, pose);
        match out.fits(skin) {
            Ok(()) => Ok(out),
            Err(Misfit { expected, found }) => wrong("", &expected, found),
        }
    }

    fn build(skin: &PackedSkin, pose: &Pose) -> Self {
        let palette = match (&pose.skinning, skin.influences()) {
            (Some(skinning), Some(_)) => Some(Arc::new(Palette::pack(
                skin.method(),
                skinning,
                pose.geom_bind,
                skin.normals().is_some(),
            ))),
            _ => None,
        };
        let weights = pose.channel_weights.clone();
        Self::over_palette(skin, palette, pose.out_from_skel, weights)
    }

    /// A pose over a palette that other prims of the same skeleton instance, geomBindTransform and
    /// method share. Without a palette the prim only blends, and stays in prim space whatever
    /// `out_from_skel` says (rule 20).
    ///
    /// # Panics
    /// As [`PackedPose::pack`], where the palette is for another method, and where the skin has normals
    /// and the palette no normal matrices.
    #[must_use]
    pub fn with_palette(
        skin: &PackedSkin,
        palette: Option<Arc<Palette>>,
        out_from_skel: DMat4,
        channel_weights: Vec<f32>,
    ) -> Self {
        let out = Self::over_palette(skin, palette, out_from_skel, channel_weights);
        out.expect_fits(skin);
        out
    }

    fn over_palette(
        skin: &PackedSkin,
        palette: Option<Arc<Palette>>,
        out_from_skel: DMat4,
        channel_weights: Vec<f32>,
    ) -> Self {
        let palette = palette.filter(|_| skin.influences().is_some());
        let (post, post_normal) = if palette.is_some() {
            (
                math::rows(out_from_skel),
                math::rows3(math::normal_matrix(out_from_skel)),
            )
        } else {
            (math::rows(DMat4::IDENTITY), math::rows3(DMat3::IDENTITY))
        };
        let scales = palette
            .as_ref()
            .map_or([true; 2], |p| p.scales(&skin.own_slots));
        let binds_mirrored = palette.as_ref().and_then(|p| p.points().last());
        let mirrors = binds_mirrored.is_some_and(math::mirrors) != math::mirrors(&post);
        Self {
            mirrors,
            palette,
            scales,
            post,
            post_normal,
            channel_weights,
        }
    }

    fn expect_fits(&self, skin: &PackedSkin) {
        if let Err(reason) = self.fits(skin) {
            panic!("{}: {reason}", skin.prim());
        }
    }

    /// Whether this pose is one for `skin`, and what is not.
    pub(crate) fn fits(&self, skin: &PackedSkin) -> Result<(), Misfit> {
        let misfit = |expected: String, found: String| Err(Misfit { expected, found });
        if self.channel_weights.len() != skin.channel_count() {
            let expected = format!("a pose with {} channel weights", skin.channel_count());
            return misfit(expected, self.channel_weights.len().to_string());
        }
        let Some(palette) = &self.palette else {
            return Ok(());
        };
        if skin.influences().is_none() {
            let expected = "a pose without a palette, for a prim that only blends";
            return misfit(expected.into(), "one".into());
        }
        if palette.slots() != skin.palette_slots() {
            let expected = format!("a palette of {} slots", skin.palette_slots());
            return misfit(expected, palette.slots().to_string());
        }
        if palette.method() != skin.method() {
            let expected = format!("a {:?} palette", skin.method());
            return misfit(expected, format!("{:?}", palette.method()));
        }
        if skin.normals().is_some() && palette.normals().is_none() {
            return misfit("a palette with normal matrices".into(), "none".into());
        }
        Ok(())
    }

    /// Palette, or `None` where the prim only blends.
    #[must_use]
    pub fn palette(&self) -> Option<&Arc<Palette>> {
        self.palette.as_ref()
    }

    /// Rows of the matrix from skeleton space to where the result is wanted.
    #[must_use]
    pub fn post(&self) -> &Rows {
        &self.post
    }

    /// Rows of the matrix that carries normals there.
    #[must_use]
    pub fn post_normal(&self) -> &Rows {
        &self.post_normal
    }

    /// Whether the palette's matrices are summed up for points: always by linear blend skinning, and by
    /// dual quaternions where some joint of the prim has scale or shear. Elsewhere all points go by
    /// the matrix of the last slot, geomBindTransform alone.
    pub(crate) fn scales_points(&self) -> bool {
        self.scales[0]
    }

    /// The same for normals.
    pub(crate) fn scales_normals(&self) -> bool {
        self.scales[1]
    }

    /// Whether geomBindTransform and the way out of skeleton space together mirror the mesh, joints apart: made
    /// normals point the other way then, as rest normals do that go by the inverse transpose.
    pub(crate) fn mirrors(&self) -> bool {
        self.mirrors
    }

    /// Channel weight of each blend shape slot.
    #[must_use]
    pub fn channel_weights(&self) -> &[f32] {
        &self.channel_weights
    }
}
