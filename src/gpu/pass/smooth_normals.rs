//! Computes smooth normals from skinned points, for skins without rest normals.

use super::skin::{pose_offsets, slice_item};
use super::{Bound, Items, Pass, Wanted};
use crate::gpu::device::pipelines::Variant;
use crate::gpu::plan::frame::{InstanceItems, Scene};
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::store::output_bindings::bindings_of;
use crate::gpu::store::target::{KINDS, NORMALS};
use crate::kernel::{Kernel, SMOOTH_NORMALS, SkinItem};

#[derive(Debug, Default)]
pub struct SmoothNormals {
    items: InstanceItems<SkinItem>,
}

/// The pipeline for these output bindings.
fn variant(bindings: &[u8; KINDS]) -> Variant {
    Variant::with(0, [bindings[NORMALS]])
}

impl Pass for SmoothNormals {
    fn kernel(&self) -> &'static Kernel {
        &SMOOTH_NORMALS
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        for shown in &scene.shown {
            let pose = pose_offsets(shown);
            for (slice, out) in shown.skin.slices.iter().zip(&shown.instance.out) {
                if !slice.computes_normals() || out.kinds[NORMALS].is_none() {
                    continue;
                }
                let item = slice_item(shown, &pose, slice, out);
                let key = GroupKey {
                    skin_page: slice.page,
                    out_set: out.set,
                    variant: variant(scene.stores.outputs.bindings(out.set)),
                    ..GroupKey::default()
                };
                let make = |first_workgroup| SkinItem {
                    first_workgroup,
                    ..item
                };
                self.items.push(scene, shown, key, item.slice.count, make);
            }
        }
    }

    fn items(&mut self) -> Option<&mut dyn Items> {
        Some(&mut self.items.items)
    }

    fn edit(&mut self, removed: &[u32], scene: &Scene<'_>) {
        self.items.remove(removed, |item| item.slice.count = 0);
        self.plan(scene);
    }

    fn bind<'a>(&self, to: &Bound<'a>) -> Vec<wgpu::BindingResource<'a>> {
        vec![to.skins(), to.out(0), to.out(1), to.state()]
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        let Wanted { skin, target, .. } = wanted;
        let kinds = target.kinds(skin);
        if skin.smooth_normals().is_none() || kinds[NORMALS].is_none() {
            return Vec::new();
        }
        vec![variant(&bindings_of(&kinds))]
    }
}
