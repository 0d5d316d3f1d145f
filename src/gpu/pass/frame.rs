//! A frame that is planned once and encoded again as long as its plan is valid.

use super::{Bound, Pass, all};
use crate::gpu::device::error::{GpuError, guarded};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::device::timing::Timing;
use crate::gpu::memory::dirty_ranges::Mirrored;
use crate::gpu::memory::growable_buffer::GrowableBuffer;
use crate::gpu::memory::upload::{Content, Upload};
use crate::gpu::plan::frame::{Scene, place_poses, pose_of};
use crate::gpu::plan::pose_pages::{GAP, PosePages};
use crate::gpu::plan::tables::{Layout, PlacedDispatch, part};
use crate::gpu::store::{Stores, Versions};

/// Bytes for the first tables that edits add.
const SPARE: u64 = 64 << 10;

/// One dispatch with everything that it binds.
#[derive(Clone, Debug)]
struct Launch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    /// First byte of the dispatch record that its bindings have without a dynamic offset.
    record: u64,
    /// The version of the output buffers that it binds.
    out_version: u64,
}

/// A pass and its dispatches.
#[derive(Debug)]
struct PlannedPass {
    pass: Box<dyn Pass>,
    dispatches: Vec<PlacedDispatch>,
    launches: Vec<Launch>,
}

/// The plan of a frame: where poses lie, the items of all passes, and their dispatches.
#[derive(Debug)]
pub struct PlannedFrame {
    pub poses: PosePages,
    passes: Vec<PlannedPass>,
    /// The words of all item tables and dispatch records.
    tables: Mirrored<u32>,
    /// The versions of the stores for which this plan was made.
    versions: Versions,
    /// How often buffers were replaced before its bind groups were created.
    replaced: u64,
    /// Number of instance indices that it has room for.
    index_room: u32,
}

impl PlannedFrame {
    /// Plans a frame, without calling the device.
    pub fn plan(skinner: &Skinner, stores: &Stores) -> Result<Self, GpuError> {
        let plan = Self::plan_with(skinner, stores, true)?;
        match plan.tables.bytes() <= skinner.limits.buffer_bytes {
            true => Ok(plan),
            // One buffer holds all tables; it may hold them without room for edits.
            false => Self::plan_with(skinner, stores, false),
        }
    }

    fn plan_with(skinner: &Skinner, stores: &Stores, has_spare: bool) -> Result<Self, GpuError> {
        check_mask(skinner, stores)?;
        let poses = place_poses(&skinner.limits, stores)?;
        let shown = stores.instances.shown();
        let scene = Scene::new(&skinner.limits, stores, &poses, shown)?;
        let mut tables = Mirrored::default();
        let mut layout = Layout::new(&skinner.limits, &mut tables, scene.skips());
        layout.has_spare = has_spare;
        let planned = all().into_iter().map(|mut pass| {
            pass.plan(&scene);
            PlannedPass {
                dispatches: pass.lay(&mut layout),
                launches: Vec::new(),
                pass,
            }
        });
        let passes = planned.collect();
        Ok(Self {
            poses,
            passes,
            tables,
            versions: stores.versions(),
            replaced: 0,
            index_room: stores.instances.index_room(),
        })
    }

    /// Reserves the buffers of the plan on the device. What was bound before has to be
    /// bound again.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        stores: &mut Stores,
        buffer: &mut Option<GrowableBuffer>,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let pages = self.poses.pages.iter().map(|page| page.bytes());
        stores.pose_buffers.reserve(skinner, pages)?;
        for planned in &mut self.passes {
            planned.launches.clear();
            planned.pass.reserve(skinner, stores, encoder)?;
        }
        let buffer = match buffer {
            Some(there) => there,
            none => none.insert(GrowableBuffer::new(
                skinner,
                "sinew.items",
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM,
                skinner.limits.buffer_bytes,
            )?),
        };
        let bytes = (self.tables.bytes() + SPARE).min(skinner.limits.buffer_bytes);
        // Tables that outgrow their buffer while they are edited are not uploaded again.
        buffer.reserve_in(skinner, bytes, buffer.size(), encoder)?;
        self.replaced = stores.replaced();
        Ok(())
    }

    /// Whether the next frame may use this plan.
    pub fn is_current(&self, stores: &Stores) -> bool {
        self.versions == stores.versions()
    }

    /// Whether a buffer that its bind groups bind was replaced, or has to be: that of the tables.
    pub fn is_bound_elsewhere(&self, stores: &Stores, tables: &GrowableBuffer) -> bool {
        self.replaced != stores.replaced() || self.tables.bytes() > tables.size()
    }

    /// Gives instances that were edited other places and items, or none. False if that needs another
    /// plan.
    ///
    /// # Errors
    /// An instance without a pose.
    pub fn edit(&mut self, skinner: &Skinner, stores: &Stores) -> Result<bool, GpuError> {
        let edited = stores.instances.edited.iter();
        let mut indices: Vec<u32> = edited.map(|id| id.index()).collect();
        if indices.is_empty() {
            return Ok(true);
        }
        indices.sort_unstable();
        indices.dedup();
        check_mask(skinner, stores)?;
        let keeps_indices = stores.bounds.is_some() || stores.visibility.is_some();
        let has_indices = stores.instances.index_room() <= self.index_room;
        if keeps_indices && !has_indices {
            return Ok(false);
        }
        // What was freed last is taken first: so an instance that stays takes what it had.
        let removed = indices.iter().rev();
        removed.for_each(|index| self.poses.remove(*index));
        let shown = indices.iter().filter_map(|index| {
            let id = stores.poses.id(*index)?;
            let instance = stores.instances.find(id)?;
            (!instance.hidden).then_some((id, instance))
        });
        for (id, instance) in shown.clone() {
            let new = pose_of(stores, id, instance)?;
            if !self.poses.add(&new) {
                return Ok(false);
            }
        }
        // A crowd that shrinks does not keep more room than it uses.
        if self.poses.is_sparse() {
            return Ok(false);
        }
        let scene = Scene::new(&skinner.limits, stores, &self.poses, shown)?;
        for planned in &mut self.passes {
            planned.pass.edit(&indices, &scene);
        }
        Ok(true)
    }

    /// Number of dispatches.
    pub fn dispatch_count(&self) -> usize {
        let dispatches = self.passes.iter().flat_map(|pass| &pass.dispatches);
        dispatches.filter(|placed| placed.has_work()).count()
    }

    /// Updates the items that depend on more than the plan, and joins the changed ranges. False if
    /// edits need another plan.
    pub fn update(&mut self, skinner: &Skinner, stores: &Stores) -> bool {
        let skips = stores.visibility.is_some();
        let mut layout = Layout::new(&skinner.limits, &mut self.tables, skips);
        let mut has_room = true;
        for planned in &mut self.passes {
            planned.pass.refresh(stores);
            if let Some(items) = planned.pass.items() {
                has_room &= items.update(&mut layout, &mut planned.dispatches);
            }
        }
        self.tables.join(GAP);
        self.poses.join();
        has_room
    }

    /// Creates the bind groups of dispatches that have none, or that write to other buffers of the
    /// host since.
    pub fn bind(
        &mut self,
        skinner: &Skinner,
        stores: &Stores,
        tables: &wgpu::Buffer,
    ) -> Result<(), GpuError> {
        for PlannedPass {
            pass,
            dispatches,
            launches,
        } in &mut self.passes
        {
            for (number, placed) in dispatches.iter().enumerate() {
                let version = stores.outputs.set_version(placed.key.out_set);
                let old = launches.get(number);
                if old.is_some_and(|old| old.out_version == version) {
                    continue;
                }
                // Dispatches of one table differ in their records alone.
                let same = number.checked_sub(1).filter(|before| {
                    let before = &dispatches[*before];
                    (before.key, before.items) == (placed.key, placed.items)
                });
                let new = match same {
                    Some(before) => launches[before].clone(),
                    None => launch(skinner, stores, &**pass, placed, tables)?,
                };
                match launches.get_mut(number) {
                    Some(old) => *old = new,
                    None => launches.push(new),
                }
            }
        }
        Ok(())
    }

    /// The ranges of tables and poses that still have to be uploaded.
    pub fn uploads<'a>(
        &'a self,
        stores: &'a Stores,
        tables: &'a wgpu::Buffer,
    ) -> impl Iterator<Item = Upload<'a>> + Clone {
        let to_tables = self.tables.changes(0);
        let to_tables = to_tables.map(move |(offset, bytes)| Upload {
            to: tables,
            offset,
            content: Content::Bytes(bytes),
        });
        let to_pages = self.poses.pages.iter().enumerate();
        to_tables.chain(to_pages.flat_map(move |(number, page)| {
            page.changes().map(move |(kind, offset, bytes)| Upload {
                to: stores.pose_buffers.buffer(number, kind),
                offset,
                content: Content::Bytes(bytes),
            })
        }))
    }

    /// Clears the marks, after everything was uploaded.
    pub fn set_uploaded(&mut self) {
        self.tables.set_uploaded();
        self.poses.set_uploaded();
    }

    /// Records all passes that have work.
    pub fn encode(
        &self,
        stores: &Stores,
        mut timing: Option<&mut Timing>,
        encoder: &mut wgpu::CommandEncoder,
    ) {
        for (number, planned) in self.passes.iter().enumerate() {
            planned.pass.prepare(stores, encoder);
            let has_work = planned.dispatches.iter().any(PlacedDispatch::has_work);
            if let Some(timing) = &mut timing {
                timing.set_written(number, has_work);
            }
            if !has_work {
                continue;
            }
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(planned.pass.kernel().name),
                timestamp_writes: timing.as_ref().map(|timing| timing.around(number)),
            });
            let all = planned.launches.iter().zip(&planned.dispatches);
            for (launch, placed) in all.filter(|(_, placed)| placed.has_work()) {
                pass.set_pipeline(&launch.pipeline);
                let record = (placed.record.first - launch.record) as u32;
                pass.set_bind_group(0, &launch.bindings, &[record]);
                pass.dispatch_workgroups(placed.size.0, placed.size.1, 1);
            }
        }
        if let Some(timing) = timing {
            timing.resolve(encoder);
        }
    }
}

/// Checks that the host's mask has room for all instances.
fn check_mask(skinner: &Skinner, stores: &Stores) -> Result<(), GpuError> {
    let count = stores.instances.index_count;
    let visibility = stores.visibility.as_ref();
    visibility.map_or(Ok(()), |v| v.check_size(&skinner.limits, count))
}

/// Binds the dispatch record, the items if there are any, and then what the pass binds.
fn launch(
    skinner: &Skinner,
    stores: &Stores,
    pass: &dyn Pass,
    placed: &PlacedDispatch,
    tables: &wgpu::Buffer,
) -> Result<Launch, GpuError> {
    let bound = Bound {
        skinner,
        stores,
        key: placed.key,
    };
    let resources = std::iter::once(part(tables, placed.record))
        .chain(placed.items.map(|items| part(tables, items)))
        .chain(pass.bind(&bound));
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    let pipelines = skinner.pipelines(pass.kernel());
    let pipeline = pipelines.get(&skinner.device, placed.key.variant)?;
    let bindings = guarded(&skinner.device, || {
        skinner
            .device
            .create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sinew.frame"),
                layout: &pipelines.layout,
                entries: &entries,
            })
    })?;
    Ok(Launch {
        pipeline,
        bindings,
        record: placed.record.first,
        out_version: stores.outputs.set_version(placed.key.out_set),
    })
}
