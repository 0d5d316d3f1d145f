//! A frame that is planned once and encoded again as long as its plan is valid.

use super::{Pass, all};
use crate::gpu::device::error::{GpuError, guarded};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::device::timing::Timing;
use crate::gpu::memory::growable_buffer::GrowableBuffer;
use crate::gpu::memory::upload::Upload;
use crate::gpu::plan::frame::{Scene, place_poses};
use crate::gpu::plan::pose_pages::PosePages;
use crate::gpu::plan::tables::{Bytes, ItemTables, Laid, Layout, part};
use crate::gpu::store::instances::InstanceId;
use crate::gpu::store::{Stores, Versions};

/// Two changed ranges of the tables with at most this many bytes between them are uploaded as one.
const GAP: u32 = 4096;

/// One dispatch with everything that it binds.
#[derive(Debug)]
struct Launch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    size: Size,
}

/// The workgroups of a dispatch.
#[derive(Debug)]
enum Size {
    /// In x and y.
    Known(u32, u32),
    /// At a byte of a buffer that the kernel `compact` writes.
    Indirect(wgpu::Buffer, u64),
}

/// A pass and its dispatches.
#[derive(Debug)]
struct PlannedPass {
    pass: Box<dyn Pass>,
    laid: Vec<Laid>,
    launches: Vec<Launch>,
}

/// The plan of a frame: where poses lie, the items of all passes, and their dispatches.
#[derive(Debug)]
pub struct PlannedFrame {
    poses: PosePages,
    passes: Vec<PlannedPass>,
    tables: ItemTables,
    /// Instances with blend shapes.
    blended: Vec<InstanceId>,
    /// The versions of the stores for which this plan was made.
    versions: Versions,
}

impl PlannedFrame {
    /// Plans a frame, without calling the device.
    pub fn plan(skinner: &Skinner, stores: &Stores) -> Result<Self, GpuError> {
        let poses = place_poses(&skinner.limits, stores)?;
        let scene = Scene::new(&skinner.limits, stores, &poses)?;
        let mut layout = Layout::new(&skinner.limits, scene.leaves_out());
        let planned = all().into_iter().map(|mut pass| {
            pass.plan(&scene);
            PlannedPass {
                laid: pass.lay(&mut layout),
                launches: Vec::new(),
                pass,
            }
        });
        let mut passes: Vec<PlannedPass> = planned.collect();
        for planned in &mut passes {
            planned.laid.extend(planned.pass.lay_last(&mut layout));
        }
        let blended = scene.blended();
        Ok(Self {
            poses,
            passes,
            tables: layout.finish(),
            blended,
            versions: stores.versions(),
        })
    }

    /// Reserves the buffers of the plan on the device, and creates its bind groups.
    pub fn bind(
        &mut self,
        skinner: &Skinner,
        stores: &mut Stores,
        buffer: &mut Option<GrowableBuffer>,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let pages = self.poses.pages().iter().map(|page| page.bytes());
        stores.pose_buffers.reserve(skinner, pages)?;
        for planned in &self.passes {
            planned.pass.reserve(skinner, stores, encoder)?;
        }
        let buffer = match buffer {
            Some(held) => held,
            none => none.insert(GrowableBuffer::new(
                skinner,
                "sinew.items",
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM,
                skinner.limits.buffer_bytes,
            )?),
        };
        buffer.reserve(skinner, self.tables.words().bytes(), None)?;
        for PlannedPass {
            pass,
            laid,
            launches,
        } in &mut self.passes
        {
            let launch = |laid: &Laid| launch(skinner, stores, &**pass, laid, buffer.buffer());
            *launches = laid.iter().map(launch).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Whether the next frame may use this plan.
    pub fn is_current(&self, stores: &Stores) -> bool {
        self.versions == stores.versions() && !self.poses.is_outdated()
    }

    pub fn poses(&self) -> &PosePages {
        &self.poses
    }

    pub fn poses_mut(&mut self) -> &mut PosePages {
        &mut self.poses
    }

    /// The instances with blend shapes.
    pub fn blended(&self) -> &[InstanceId] {
        &self.blended
    }

    /// Number of dispatches.
    pub fn dispatch_count(&self) -> usize {
        self.passes.iter().map(|pass| pass.laid.len()).sum()
    }

    /// Marks everything for upload again.
    pub fn mark_all(&mut self) {
        self.tables.words_mut().mark_all();
        self.poses.mark_all();
    }

    /// Updates the items that depend on more than the plan, and joins the changed ranges.
    pub fn update(&mut self, stores: &Stores) {
        for planned in &self.passes {
            planned.pass.update(stores, &mut self.tables);
        }
        self.tables.words_mut().join(GAP);
        self.poses.join();
    }

    /// The ranges of tables and poses that still have to be uploaded.
    pub fn uploads<'a>(
        &'a self,
        stores: &'a Stores,
        tables: &'a wgpu::Buffer,
    ) -> impl Iterator<Item = Upload<'a>> + Clone {
        let upload = |to| move |(offset, bytes)| Upload { to, offset, bytes };
        let to_tables = self.tables.words().changes(0).map(upload(tables));
        let to_pages = self.poses.pages().iter().enumerate();
        let to_pages = to_pages.flat_map(move |(number, page)| {
            let buffers = stores.pose_buffers.page(number);
            let palettes = page.palette_changes();
            let channels = page.channel_changes();
            let joints = page.joint_changes();
            let players = page.player_changes();
            palettes
                .map(upload(buffers.palettes.buffer()))
                .chain(channels.map(upload(buffers.channels.buffer())))
                .chain(joints.map(upload(buffers.joints.buffer())))
                .chain(players.map(upload(buffers.players.buffer())))
        });
        to_tables.chain(to_pages)
    }

    /// Clears the marks, after everything was uploaded.
    pub fn set_uploaded(&mut self) {
        self.tables.words_mut().set_uploaded();
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
            let has_work = !planned.launches.is_empty();
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
            for launch in &planned.launches {
                pass.set_pipeline(&launch.pipeline);
                pass.set_bind_group(0, &launch.bindings, &[]);
                match &launch.size {
                    Size::Known(x, y) => pass.dispatch_workgroups(*x, *y, 1),
                    Size::Indirect(buffer, at) => pass.dispatch_workgroups_indirect(buffer, *at),
                }
            }
        }
        if let Some(timing) = timing {
            timing.resolve(encoder);
        }
    }
}

/// Binds the dispatch record, the items if there are any, and then what the pass binds. If a frame
/// leaves out some of the items, the record and the items are those that the kernel `compact`
/// writes.
fn launch(
    skinner: &Skinner,
    stores: &Stores,
    pass: &dyn Pass,
    laid: &Laid,
    tables: &wgpu::Buffer,
) -> Result<Launch, GpuError> {
    let kept = laid.launch.zip(stores.visibility.as_ref());
    let (dispatch, items, size) = match kept {
        None => {
            let items = laid.items.map(|items| part(tables, items));
            let size = Size::Known(laid.size.0, laid.size.1);
            (part(tables, laid.dispatch), items, size)
        }
        Some((number, visibility)) => {
            let launches = visibility.launches().buffer();
            let record = Bytes {
                first: visibility.launch_at(number),
                ..laid.dispatch
            };
            let items = laid
                .items
                .map(|items| part(visibility.kept().buffer(), items));
            let size = Size::Indirect(launches.clone(), record.first + record.count);
            (part(launches, record), items, size)
        }
    };
    let resources = std::iter::once(dispatch)
        .chain(items)
        .chain(pass.bind_tables(tables, &laid.key))
        .chain(pass.bind(skinner, stores, &laid.key));
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    let pipelines = skinner.pipelines(pass.kernel());
    let pipeline = pipelines.get(&skinner.device, laid.key.variant)?;
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
        size,
    })
}
