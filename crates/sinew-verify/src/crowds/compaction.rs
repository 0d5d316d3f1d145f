//! The kernels that choose what a frame computes, alone, against their mirrors.

use std::borrow::Cow;

use crate::{Failure, ensure};
use sinew::gpu::guarded;
use sinew::kernel::registry::{
    BEGINS, COMPUTED, ELEMENTS_PER_BLOCK, FRESH, HELD, OWNER_MASK, SETTLES, compact_bits, due_bits,
};
use sinew::kernel::{
    Access, COMPACT, CompactTable, DUE, Dispatch, DueItem, Kernel, LAUNCH_WORDS, NONE,
    WORKGROUP_SIZE, compact_on_cpu, due_on_cpu,
};

use crate::crowds::Run;
use crate::host::Gpu;
use crate::rng::Rng;

pub const CHECKS: &[(&str, Run)] = &[
    ("compacting_equals_its_mirror", compacting),
    ("due_equals_its_mirror", due),
];

/// A kernel's pipelines and the buffers that they bind.
struct Stage<'a> {
    gpu: &'a Gpu,
    kernel: &'static Kernel,
    buffers: Vec<wgpu::Buffer>,
}

impl<'a> Stage<'a> {
    /// One buffer of words for each binding.
    fn new(gpu: &'a Gpu, kernel: &'static Kernel, contents: &[Cow<'_, [u32]>]) -> Self {
        let buffer = |(words, binding): (&Cow<'_, [u32]>, &sinew::kernel::Binding)| {
            let usage = match binding.access {
                Access::Uniform => wgpu::BufferUsages::UNIFORM,
                _ => wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            };
            let buffer = gpu.filled(words.len().max(8), usage, 0);
            gpu.queue
                .write_buffer(&buffer, 0, bytemuck::cast_slice(words));
            buffer
        };
        Self {
            gpu,
            kernel,
            buffers: contents.iter().zip(kernel.bindings).map(buffer).collect(),
        }
    }

    /// Dispatches these variants, one after the other.
    fn run(&self, variants: &[usize], workgroups: u32) -> Result<(), Failure> {
        let device = &self.gpu.device;
        let module = guarded(device, || {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(self.kernel.name),
                source: wgpu::ShaderSource::Wgsl(self.kernel.wgsl.into()),
            })
        })?;
        let entries: Vec<_> = (self.kernel.bindings.iter())
            .map(sinew::kernel::Binding::layout_entry)
            .collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let entries: Vec<_> = (0..)
            .zip(&self.buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        for bits in variants {
            let names = self.kernel.overrides.iter().enumerate();
            let constants: Vec<(&str, f64)> = names
                .map(|(i, name)| (*name, f64::from((bits >> i & 1) as u8)))
                .collect();
            let pipeline = guarded(device, || {
                device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(self.kernel.name),
                    layout: Some(&pipeline_layout),
                    module: &module,
                    entry_point: Some(self.kernel.entry),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..Default::default()
                    },
                    cache: None,
                })
            })?;
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        Ok(())
    }

    fn read(&self, binding: usize) -> Result<Vec<u32>, Failure> {
        self.gpu.read(&self.buffers[binding])
    }
}

fn record(workgroups: u32, item_count: u32) -> Dispatch {
    Dispatch {
        item_count,
        first_workgroup: 0,
        end_workgroup: workgroups,
        row_width: workgroups,
        items_per_unit: 0.0,
    }
}

fn words_of<T: bytemuck::NoUninit>(value: &T) -> Cow<'static, [u32]> {
    Cow::Owned(bytemuck::cast_slice(std::slice::from_ref(value)).to_vec())
}

/// A random table: its record, its items and their owners.
fn table(rng: &mut Rng, items: usize, poses: usize) -> (CompactTable, Vec<u32>, Vec<u32>) {
    let mut record = CompactTable {
        elements_per_item: poses as u32,
        item_words: 5,
        flags_word: [1, NONE][rng.below(2)],
        pose_count_word: NONE,
        poses_word: NONE,
        pose_words: 1,
        units_per_workgroup: [1, WORKGROUP_SIZE][rng.below(2)],
        first_sum: rng.below(3) as u32,
        block_count: ((items * poses) as u32).div_ceil(ELEMENTS_PER_BLOCK),
        launch_count: 1 + rng.below(4) as u32,
        launch_stride: 64,
        first_launch: 64,
        per_dimension: 1 + rng.below(7) as u32,
        ..CompactTable::default()
    };
    record.per_dispatch = record.per_dimension.pow(2);
    if poses > 1 {
        record.item_words = 3 + 4 * poses as u32;
        (record.flags_word, record.pose_count_word) = (2, 1);
        (record.poses_word, record.pose_words) = (3, 4);
    }
    let (mut words, mut owners) = (Vec::new(), Vec::new());
    let mut in_run = 0;
    // Items of a run have the same size.
    let mut units = 1;
    for _ in 0..items {
        let begins = in_run == 0;
        if begins {
            in_run = 1 + rng.below(40);
            units = 1 + rng.below(90) as u32;
        }
        in_run -= 1;
        let at = words.len();
        words.extend((0..record.item_words).map(|_| rng.bits() as u32));
        words[at] = record.unit_count;
        record.unit_count += units;
        for pose in 0..poses {
            let begins = if begins && pose == 0 { BEGINS } else { 0 };
            let settles = if rng.chance(0.5) { SETTLES } else { 0 };
            owners.push(match rng.below(9) {
                0 if pose > 0 => NONE,
                1 => OWNER_MASK | begins,
                _ => rng.below(1000) as u32 | begins | settles,
            });
        }
    }
    (record, words, owners)
}

fn compacting(gpu: &Gpu) -> Result<(), Failure> {
    let mut rng = Rng::new(11);
    let sizes = [
        (1, 1),
        (63, 4),
        (64, 4),
        (65, 4),
        (256, 1),
        (257, 1),
        (3000, 1),
        (1700, 4),
        // More blocks than lanes of a workgroup.
        (20_000, 1),
    ];
    for (items, poses) in sizes {
        for share in [0.0, 0.02, 0.3, 1.0] {
            let (record_of_table, words, owners) = table(&mut rng, items, poses);
            let actions: Vec<u32> = (0..1000)
                .map(|_| match rng.chance(share) {
                    false => 0,
                    true => [COMPUTED, COMPUTED | FRESH, HELD][rng.below(3)],
                })
                .collect();
            let blocks = record_of_table.block_count;
            let sums = vec![0; 2 * (blocks as usize + 3)];
            let launches = vec![77; 64 * (1 + record_of_table.launch_count as usize)];
            let contents = [
                words_of(&record(blocks, owners.len() as u32)),
                words_of(&record_of_table),
                Cow::Borrowed(&words[..]),
                Cow::Borrowed(&owners[..]),
                Cow::Borrowed(&actions[..]),
                Cow::Owned(sums),
                Cow::Owned(vec![0; words.len()]),
                Cow::Owned(launches),
            ];
            let stage = Stage::new(gpu, &COMPACT, &contents);
            stage.run(&[0, compact_bits::WRITES], blocks)?;
            let want = compact_on_cpu(&record_of_table, &words, &owners, &actions);
            let text = |what| format!("{items} items of {poses}, share {share}: {what}");
            let kept = stage.read(6)?;
            ensure(
                kept[..want.words.len()] == want.words,
                &text("other items are kept"),
            )?;
            ensure(
                kept[want.words.len()..].iter().all(|word| *word == 0),
                &text("words behind the kept items"),
            )?;
            let got = stage.read(7)?;
            for (number, (dispatch, [x, y])) in want.launches.iter().enumerate() {
                let got = &got[64 * (number + 1)..][..LAUNCH_WORDS as usize];
                let guess = f32::from_bits(got[4]);
                let near = (guess - dispatch.items_per_unit).abs() <= guess * f32::EPSILON;
                ensure(near, &text("items per unit"))?;
                let words = words_of(dispatch);
                ensure(got[..4] == words[..4], &text("another dispatch"))?;
                ensure(got[5..] == [*x, *y, 1], &text("other workgroups"))?;
            }
        }
    }
    Ok(())
}

fn due(gpu: &Gpu) -> Result<(), Failure> {
    const COUNT: u32 = 700;
    const RIGS: u32 = 50;
    let mut rng = Rng::new(12);
    let items: Vec<DueItem> = (0..COUNT)
        .map(|index| DueItem {
            index,
            every: rng.below(5) as u32,
            phase: rng.bits() as u32 & 0xffff,
            flags: [0, 0, 0, FRESH][rng.below(4)],
            rig: match rng.below(3) {
                0 => NONE,
                _ => COUNT + rng.below(RIGS as usize) as u32,
            },
        })
        .collect();
    let workgroups = COUNT.div_ceil(WORKGROUP_SIZE);
    let zeros = |count: u32| Cow::Owned(vec![0; count as usize]);
    for (bits, as_bits) in [
        (due_bits::WITH_MASK, false),
        (due_bits::WITH_MASK | due_bits::MASK_OF_BITS, true),
        (due_bits::WITH_BOUNDS, false),
    ] {
        let contents = [
            words_of(&record(workgroups, COUNT)),
            Cow::Borrowed(bytemuck::cast_slice(&items[..])),
            zeros(COUNT),
            zeros(1 + COUNT),
            zeros(COUNT + RIGS),
            Cow::Owned(vec![5; COUNT as usize * 8]),
        ];
        let stage = Stage::new(gpu, &DUE, &contents);
        let mut state = vec![0; 1 + COUNT as usize];
        let mut actions = vec![0; (COUNT + RIGS) as usize];
        let mut forgotten = vec![false; COUNT as usize];
        for frame in 0..12 {
            let masked = bits & due_bits::WITH_MASK != 0;
            let visible: Vec<bool> = items
                .iter()
                .map(|_| !masked || rng.chance(if frame % 3 == 2 { 0.9 } else { 0.6 }))
                .collect();
            let mask: Vec<u32> = match as_bits {
                false => visible.iter().map(|v| u32::from(*v)).collect(),
                true => visible
                    .chunks(32)
                    .map(|bits| (0..).zip(bits).map(|(i, v)| u32::from(*v) << i).sum())
                    .collect(),
            };
            gpu.queue
                .write_buffer(&stage.buffers[2], 0, bytemuck::cast_slice(&mask));
            stage.run(&[due_bits::TICKS, bits], workgroups)?;
            due_on_cpu(&items, |i| visible[i as usize], &mut state, &mut actions);
            let text = |what| format!("frame {frame} of variant {bits}: {what}");
            ensure(stage.read(3)? == state, &text("another state"))?;
            ensure(stage.read(4)? == actions, &text("other actions"))?;
            for (item, forgotten) in items.iter().zip(&mut forgotten) {
                let computed = actions[item.index as usize] & COMPUTED != 0;
                *forgotten |= computed || item.every == 0 || item.flags & FRESH != 0;
            }
            let keys = stage.read(5)?;
            let bounds = bits & due_bits::WITH_BOUNDS != 0;
            for (keys, forgotten) in keys.chunks(8).zip(&forgotten) {
                let want = if bounds && *forgotten { 0 } else { 5 };
                ensure(keys.iter().all(|key| *key == want), &text("keys of boxes"))?;
            }
        }
    }
    Ok(())
}
