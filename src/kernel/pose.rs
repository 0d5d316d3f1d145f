//! The half of one prim that changes with time, flat.

use std::sync::Arc;

use glam::{DMat3, DMat4};

use super::{PackedSkin, Palette};
use crate::math::{self, Rows};
use crate::skel::Pose;

/// A [`Pose`] as the kernels read it.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedPose {
    palette: Option<Arc<Palette>>,
    post: Rows,
    post_normal: Rows,
    channel_weights: Vec<f32>,
    /// See [`Palette::scales`].
    scales: [bool; 2],
}

impl PackedPose {
    /// Packs a pose for a skin, with a palette of its own.
    ///
    /// # Panics
    /// Where the pose was made for another skin: another number of joints or blend shape slots.
    #[must_use]
    pub fn pack(skin: &PackedSkin, pose: &Pose) -> Self {
        let palette = match (&pose.skinning, skin.influences()) {
            (Some(skinning), Some(_)) => Some(Arc::new(Palette::pack(
                skin.method(),
                skinning,
                pose.geom_bind,
                skin.normals().is_some(),
            ))),
            _ => None,
        };
        Self::with_palette(
            skin,
            palette,
            pose.out_from_skel,
            pose.channel_weights.clone(),
        )
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
        let out = Self {
            palette,
            scales,
            post,
            post_normal,
            channel_weights,
        };
        if let Err(reason) = out.fits(skin) {
            panic!("{}: {reason}", skin.prim());
        }
        out
    }

    /// Whether this pose is one for `skin`; the text says what is not.
    pub(crate) fn fits(&self, skin: &PackedSkin) -> Result<(), String> {
        if self.channel_weights.len() != skin.channel_count() {
            let (want, found) = (skin.channel_count(), self.channel_weights.len());
            return Err(format!(
                "expected a pose with {want} channel weights, found {found}"
            ));
        }
        let Some(palette) = &self.palette else {
            return Ok(());
        };
        if skin.influences().is_none() {
            return Err("expected a pose without a palette, for a prim that only blends".into());
        }
        if palette.slots() != skin.palette_slots() {
            let (want, found) = (skin.palette_slots(), palette.slots());
            return Err(format!("expected a palette of {want} slots, found {found}"));
        }
        if palette.method() != skin.method() {
            let (want, found) = (skin.method(), palette.method());
            return Err(format!("expected a {want:?} palette, found {found:?}"));
        }
        if skin.normals().is_some() && palette.normals().is_none() {
            return Err("expected a palette with normal matrices, found none".into());
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

    /// Channel weight of each blend shape slot.
    #[must_use]
    pub fn channel_weights(&self) -> &[f32] {
        &self.channel_weights
    }
}
