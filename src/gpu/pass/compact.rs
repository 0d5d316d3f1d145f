//! Keeps the items of the instances that a frame computes, and writes the dispatches that cover
//! them.

use super::{Pass, Wanted};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::pipelines::Variant;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::plan::frame::Scene;
use crate::gpu::plan::groups::GroupKey;
use crate::gpu::plan::tables::{Bytes, Laid, Layout, OwnedTable, part};
use crate::gpu::store::Stores;
use crate::kernel::registry::compact_bits::WRITES;
use crate::kernel::{COMPACT, CompactTable, Kernel};

#[derive(Debug, Default)]
pub struct Compact {
    tables: Vec<OwnedTable>,
    launch_count: u32,
    block_count: u32,
    /// Bytes from one launch to the next.
    launch_stride: u64,
}

impl Pass for Compact {
    fn kernel(&self) -> &'static Kernel {
        &COMPACT
    }

    fn plan(&mut self, scene: &Scene<'_>) {
        let visibility = scene.stores.visibility.as_ref();
        self.launch_stride = visibility.map_or(0, |v| v.launch_stride());
    }

    fn lay(&mut self, _: &mut Layout<'_>) -> Vec<Laid> {
        // Its tables are those of all passes.
        Vec::new()
    }

    fn lay_last(&mut self, layout: &mut Layout<'_>) -> Vec<Laid> {
        (self.tables, self.launch_count) = layout.take_owned();
        let mut count = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            let record = CompactTable {
                first_sum: self.block_count,
                // Counted from the first launch of the table, because that is where it is bound.
                first_launch: 0,
                launch_stride: (self.launch_stride / 4) as u32,
                ..table.record
            };
            self.block_count += record.block_count;
            let key = GroupKey {
                table: number,
                ..GroupKey::default()
            };
            let (blocks, elements) = (record.block_count, table.element_count);
            count.extend(layout.lay_record(key, &record, blocks, elements));
        }
        let write = count.iter().map(|laid| Laid {
            key: GroupKey {
                variant: Variant::with(WRITES, []),
                ..laid.key
            },
            ..*laid
        });
        let write: Vec<Laid> = write.collect();
        count.into_iter().chain(write).collect()
    }

    fn bind_tables<'a>(
        &self,
        tables: &'a wgpu::Buffer,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let table = &self.tables[key.table];
        vec![part(tables, table.items), part(tables, table.owners)]
    }

    fn bind<'a>(
        &self,
        _: &'a Skinner,
        stores: &'a Stores,
        key: &GroupKey,
    ) -> Vec<wgpu::BindingResource<'a>> {
        let Some(visibility) = &stores.visibility else {
            return Vec::new();
        };
        let table = &self.tables[key.table];
        let launches = Bytes {
            first: visibility.launch_at(table.first_launch),
            count: visibility.launch_at(table.record.launch_count),
        };
        vec![
            visibility.actions().whole(),
            visibility.sums().whole(),
            part(visibility.kept().buffer(), table.items),
            part(visibility.launches().buffer(), launches),
        ]
    }

    fn reserve(
        &self,
        skinner: &Skinner,
        stores: &mut Stores,
        _encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let Some(visibility) = &mut stores.visibility else {
            return Ok(());
        };
        let ends = self.tables.iter().map(|t| t.items.first + t.items.count);
        let bytes = ends.max().unwrap_or(0);
        visibility.reserve_tables(skinner, bytes, self.block_count, self.launch_count)
    }

    fn variants(&self, wanted: &Wanted<'_>) -> Vec<Variant> {
        match wanted.uses.visibility {
            true => vec![Variant::default(), Variant::with(WRITES, [])],
            false => Vec::new(),
        }
    }
}
