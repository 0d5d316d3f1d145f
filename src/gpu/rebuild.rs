//! A crowd again, on another device.

use std::sync::Arc;

use super::crowd::foreign_skin;
use super::skinner::Skinner;
use super::slices;
use super::target::{Attribute, OutputTarget};
use super::{Crowd, GpuError};

impl Crowd {
    /// Makes everything again on a skinner's device, after the crowd's own is lost or to move it: the same skins,
    /// instances and poses under the same ids, as many slots, hidden where they were, bounds where they were
    /// enabled. Results are there after the next frame, which has no frame before it. Readings that are under
    /// way stay with the old crowd.
    ///
    /// Buffers of the caller's are of the old device: their results go to the crowd's own, until
    /// [`Crowd::set_target`] says otherwise.
    ///
    /// # Errors
    /// Limits of the new device; no memory.
    pub fn rebuild(&self, skinner: &Skinner) -> Result<Self, GpuError> {
        let mut out = skinner.crowd();
        out.skins = self.skins.clone();
        for held in out.skins.values_mut() {
            held.gpu = slices::upload(&out.skinner, &mut out.skin_pages, &held.packed)?;
        }
        out.rigs = self.rigs.rebuild(&out.skinner, &mut out.skin_pages)?;
        out.instances = self.instances.clone();
        (out.order, out.slots) = (self.order.clone(), self.slots);
        out.poses = self.poses.clone();
        for id in out.order.clone() {
            let Some(instance) = out.instances.get(id) else {
                continue;
            };
            let (skin, target) = (instance.skin, own(&instance.target));
            out.output_bytes += out.out_bytes(skin, &target)?.total();
            // It is counted by now.
            out.check_room(skin, 0, &target)?;
            let places = out.place(skin, &target)?;
            let instance = out.instances.get_mut(id).ok_or_else(foreign_skin)?;
            instance.out = places;
            instance.target = match *target == *out.own_target {
                true => Arc::clone(&out.own_target),
                false => target,
            };
            (instance.fresh, instance.written, instance.since) = (true, false, 0);
        }
        if let Some(bounds) = &self.bounds {
            out.enable_bounds(bounds.wanted)?;
        }
        Ok(out)
    }
}

/// The same kinds of results, all in the crowd's own buffers.
fn own(target: &Arc<OutputTarget>) -> Arc<OutputTarget> {
    let all = [&target.normals, &target.tangents, &target.previous];
    let is_callers = |attribute: &Attribute| *attribute != Attribute::Own;
    if !is_callers(&target.positions) && !all.into_iter().flatten().any(is_callers) {
        return Arc::clone(target);
    }
    let here = |attribute: &Option<Attribute>| attribute.as_ref().map(|_| Attribute::Own);
    Arc::new(OutputTarget {
        positions: Attribute::Own,
        normals: here(&target.normals),
        normal_format: target.normal_format,
        tangents: here(&target.tangents),
        previous: here(&target.previous),
    })
}
