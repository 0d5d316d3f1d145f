//! Palettes that instances share by id.

use std::collections::HashSet;
use std::sync::Arc;

use super::slots::{Slots, new_id};
use crate::gpu::device::error::GpuError;
use crate::kernel::Palette;

new_id! {
    /// Identifies a palette of a [`crate::gpu::Crowd`]. After the palette is removed the id is
    /// refused.
    PaletteId, "a palette"
}

/// The palettes that instances refer to.
#[derive(Clone, Debug, Default)]
pub struct PaletteStore {
    palettes: Slots<PaletteId, SharedPalette>,
}

#[derive(Clone, Debug)]
struct SharedPalette {
    palette: Arc<Palette>,
    /// Indices of the instances that refer to it.
    users: HashSet<u32>,
}

impl PaletteStore {
    pub fn add(&mut self, palette: Arc<Palette>) -> PaletteId {
        self.palettes.insert(SharedPalette {
            palette,
            users: HashSet::new(),
        })
    }

    /// Removes a palette that no instance refers to.
    pub fn remove(&mut self, id: PaletteId) -> Result<(), GpuError> {
        let users = self.palettes.get(id)?.users.len();
        if users > 0 {
            return Err(GpuError::InUse {
                what: "a palette".into(),
                by: "instances",
                users,
            });
        }
        self.palettes.remove(id).map(|_| ())
    }

    pub fn get(&self, id: PaletteId) -> Result<&Arc<Palette>, GpuError> {
        Ok(&self.palettes.get(id)?.palette)
    }

    /// Sets the joints of a palette. The new palette must have the same size, method and normals.
    pub fn set(&mut self, id: PaletteId, palette: &Arc<Palette>) -> Result<(), GpuError> {
        let shared = self.palettes.get_mut(id)?;
        let kind = |p: &Palette| (p.entry_count(), p.method(), p.normals().is_some());
        let (expected, found) = (kind(&shared.palette), kind(palette));
        if expected != found {
            let text = |(entries, method, normals): (usize, _, bool)| {
                let with = if normals { "with" } else { "without" };
                format!("a {method:?} palette of {entries} entries {with} normals")
            };
            let (expected, found) = (text(expected), text(found));
            return Err(GpuError::invalid("a palette", expected, found));
        }
        shared.palette.clone_from(palette);
        Ok(())
    }

    /// The indices of the instances that refer to a palette, in any order.
    pub fn users(&self, id: PaletteId) -> impl Iterator<Item = u32> + '_ {
        let shared = self.palettes.find(id);
        shared.into_iter().flat_map(|s| s.users.iter().copied())
    }

    /// Records that an instance refers to a palette.
    pub fn add_user(&mut self, id: PaletteId, index: u32) {
        if let Ok(shared) = self.palettes.get_mut(id) {
            shared.users.insert(index);
        }
    }

    /// Records that an instance no longer refers to a palette.
    pub fn remove_user(&mut self, id: PaletteId, index: u32) {
        if let Ok(shared) = self.palettes.get_mut(id) {
            shared.users.remove(&index);
        }
    }

    /// Records that no instance is left.
    pub fn remove_users(&mut self) {
        self.palettes.values_mut().for_each(|s| s.users.clear());
    }
}
