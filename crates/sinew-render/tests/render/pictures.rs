//! Pictures and measures of a stage that are no row of `pictures.txt`.

use common::pictures::differing;
use common::trials::Trial;
use common::{gpu, tolerance};
use libtest_mimic::Failed;
use sinew::gpu::{GpuError, mapped, wait_for};
use sinew::wgpu::{self, TextureFormat, TextureUsages};
use sinew_render::{Bounds, Control, Focus, JointId, Look};

use super::drawing::{Done, Drawing, SIZE, bare, scene};

type Named = (&'static str, fn() -> Done);

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let trials: [Named; 7] = [
        ("backends_differ_by_rounding_alone", backends),
        ("shape_weights_can_be_set", shapes),
        ("limits_are_named", limits),
        ("two_pictures_in_one_submit", two_in_one_submit),
        ("focus_frames_a_part", focus),
        ("skinned_prototypes_stand_under_their_instancer", instanced),
        ("the_strongest_joint_has_the_most_weight", strongest),
    ];
    let trials = trials.map(|(name, run)| Trial::test(name, run).with_ignored_flag(ignored));
    trials.into()
}

fn hatchling() -> Result<Drawing, Failed> {
    Drawing::open(scene("hatchling.usda"))
}

fn backends() -> Done {
    let mut drawing = hatchling()?;
    drawing.at(30.0, &Control::default())?;
    let difference = drawing.stage.difference()?;
    assert_eq!(difference.points, drawing.stage.deformed_points());
    let size = drawing.stage.bounds().diagonal();
    assert!(
        difference.largest <= size * tolerance::MIRROR_POINTS,
        "{difference:?}"
    );
    assert!(difference.points > 1000 && difference.mean <= difference.largest);
    Ok(())
}

fn shapes() -> Done {
    let mut drawing = hatchling()?;
    drawing.at(1.0, &Control::default())?;
    let camera = drawing.camera(0.0);
    let before = drawing.draw(&camera, &bare())?;
    let channels = drawing.stage.channels();
    assert!(!channels.is_empty());
    let control = Control {
        weights: channels.keys().map(|name| (name.clone(), 1.0)).collect(),
        ..Control::default()
    };
    drawing.at(1.0, &control)?;
    assert!(drawing.stage.channels().values().all(|w| *w == 1.0));
    assert!(differing(&before, &drawing.draw(&camera, &bare())?) > 0.001);
    drawing.at(1.0, &Control::default())?;
    assert_eq!(drawing.stage.channels(), channels);
    Ok(())
}

fn limits() -> Done {
    let mut drawing = Drawing::open(scene("walk.bvh"))?;
    let camera = drawing.camera(0.0);
    for (size, word) in [
        ([1_000_000, 10], "max_texture_dimension_2d"),
        ([0, 10], "0 x 10"),
        ([10, 0], "10 x 0"),
    ] {
        match drawing.draw_of_size(&camera, &bare(), size) {
            Err(sinew_render::Error::Gpu(
                e @ (GpuError::Limit { .. } | GpuError::Invalid { .. }),
            )) => {
                assert!(e.to_string().contains(word), "{e}");
            }
            other => return Err(format!("{size:?}: {:?}", other.map(|p| p.dimensions())).into()),
        }
    }
    // What fits is drawn afterwards, a single pixel too.
    let one = drawing.draw_of_size(&camera, &bare(), [1, 1])?;
    assert_eq!(one.dimensions(), (1, 1));
    Ok(())
}

/// Poses, uniforms and results of two times recorded into one encoder do not mix.
fn two_in_one_submit() -> Done {
    let gpu = gpu::device()?;
    let mut drawing = hatchling()?;
    drawing.at(1.0, &Control::default())?;
    let camera = drawing.camera(0.3);
    let times = [1.0, 50.0];
    let mut apart = Vec::new();
    for time in times {
        drawing.at(time, &Control::default())?;
        apart.push(drawing.draw(&camera, &bare())?);
    }
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut renderer = sinew_render::Renderer::new(gpu.device(), format, 4)?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    // A row of 320 pixels is 1280 bytes, which is a multiple of 256.
    let bytes = u64::from(SIZE[0] * 4 * SIZE[1]);
    let size = wgpu::Extent3d {
        width: SIZE[0],
        height: SIZE[1],
        depth_or_array_layers: 1,
    };
    let mut read = Vec::new();
    for time in times {
        drawing.at(time, &Control::default())?;
        drawing.stage.encode(&mut encoder)?;
        let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        renderer.draw(&mut encoder, &view, SIZE, &drawing.stage, &camera, &bare())?;
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let to = wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(SIZE[0] * 4),
                rows_per_image: None,
            },
        };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), to, size);
        read.push(buffer);
    }
    gpu.queue().submit([encoder.finish()]);
    for (buffer, apart) in read.into_iter().zip(apart) {
        let same = mapped(gpu.device(), &buffer, bytes, |b| b == apart.as_raw());
        let same = wait_for(gpu.device(), same)??;
        assert!(same, "another picture than alone");
    }
    gpu.check()?;
    Ok(())
}

fn focus() -> Done {
    let drawing = hatchling()?;
    let stage = &drawing.stage;
    let box_of = |focus: &Focus| -> Result<Bounds, Failed> {
        Ok(Bounds::of(stage.framed(&Look::default(), Some(focus))?))
    };
    let joint = |name: &str| -> Result<Focus, Failed> {
        let mut joints = stage.skeletons()[0].joints.iter();
        let joint = joints.position(|j| j.name == name).ok_or("a joint")?;
        Ok(Focus::Joint(JointId { skeleton: 0, joint }))
    };
    let all = stage.bounds();
    let head = box_of(&joint("head")?)?;
    assert!(head.diagonal() < 0.8 * all.diagonal() && head.diagonal() > 0.1 * all.diagonal());
    assert!(head.center().y > all.center().y, "{head:?} {all:?}");
    let root = box_of(&joint("root")?)?;
    assert_eq!(root, all, "everything hangs on the root");
    let body = box_of(&Focus::Prim("/Hatchling/Geo/Body".into()))?;
    assert!(!body.is_empty() && body.diagonal() <= all.diagonal());
    let none = box_of(&Focus::Prim("/Hatchling/Geo/Bo".into()))?;
    assert!(none.is_empty(), "no such prim");
    // Bones are framed with what they are drawn over.
    let look = Look {
        joints: true,
        ..Look::default()
    };
    let with_bones = Bounds::of(stage.framed(&look, None)?);
    for skeleton in stage.skeletons() {
        assert_eq!(with_bones.union(skeleton.bounds()), with_bones);
    }
    Ok(())
}

fn instanced() -> Done {
    let mut drawing = Drawing::open(scene("instanced.usda"))?;
    drawing.at(1.0, &Control::default())?;
    assert_eq!(drawing.stage.meshes().len(), 2);
    let bounds = drawing.stage.bounds();
    let found = [bounds.low, bounds.high].map(|v| v.to_array());
    assert_eq!(found, [[100.0, 0.0, 0.0], [106.0, 8.0, 0.0]]);
    Ok(())
}

fn strongest() -> Done {
    let drawing = hatchling()?;
    let id = drawing.stage.strongest_joint().ok_or("no joint")?;
    let joint = &drawing.stage.skeletons()[id.skeleton].joints[id.joint];
    // The head has the most points by far; the root has none.
    assert_eq!(joint.name, "head");
    // Without influences there is none.
    let sheet = Drawing::open(scene("sheet.usda"))?;
    assert_eq!(sheet.stage.strongest_joint(), None);
    Ok(())
}
