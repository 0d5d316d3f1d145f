//! Pictures: what is drawn lies where the f64 reference puts it, and nothing else is touched.

use crate::scenes;
use common::command::Bench;
use common::pictures::{differing, square};
use common::trials::Trial;
use common::{gpu, tolerance};
use glam::{DMat4, DVec2, DVec3};
use image::RgbaImage;
use libtest_mimic::Failed;
use sinew::gpu::{GpuError, Skinner};
use sinew::sampled::Time;
use sinew::scene::OutSpace;
use sinew::skel::{SkinningMethod, reference};
use sinew_render::{
    Background, Bounds, Camera, Control, DrawBackend, Fixed, JointId, Look, Offscreen, Stage,
};

const HATCHLING: &str = "../../examples/assets/hatchling.usda";
const SIZE: [u32; 2] = [320, 240];

/// Nothing that is drawn here has this colour.
pub const BEHIND: [u8; 4] = [255, 0, 255, 255];

type Done = Result<(), Failed>;
type Named = (&'static str, fn() -> Done);

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let trials: Vec<Named> = vec![
        ("silhouette_is_where_the_reference_projects", silhouette),
        ("blended_rigid_and_static_meshes_too", other_kinds),
        ("rigid_prims_blend_too", rigid_blends),
        ("faces_are_flat_where_nothing_is_smooth", flat_faces),
        ("pictures_change_with_time", changes_with_time),
        ("both_backends_draw_the_same", backends),
        ("methods_differ_and_come_back", methods),
        ("shape_weights_can_be_set", shapes),
        ("z_up_and_centimetres_look_the_same", units),
        ("far_from_the_origin_looks_the_same", far_away),
        ("a_camera_of_the_file_sees_what_it_should", camera_of_file),
        ("heat_is_where_the_weight_is", heat),
        ("overlays_draw_and_only_what_was_asked", overlays),
        ("nothing_behind_is_transparent", transparent),
        ("textures_stand_upright", textures),
        ("what_lies_on_the_ground_hides_it", on_the_ground),
        ("normals_along_their_face_make_no_noise", normals_along),
        ("points_with_samples_alone_are_drawn", samples_alone),
        ("a_broken_mesh_does_not_stop_the_rest", broken_mesh),
        ("limits_are_named", limits),
        ("two_pictures_in_one_submit", two_in_one_submit),
    ];
    let trials = trials
        .into_iter()
        .map(|(name, run)| Trial::test(name, run).with_ignored_flag(ignored));
    trials.collect()
}

/// A stage of a file, and what draws it.
pub struct Drawing {
    pub stage: Stage,
    offscreen: Offscreen,
}

impl Drawing {
    pub fn open(file: impl AsRef<std::path::Path>) -> Result<Self, Failed> {
        let gpu = gpu::device()?;
        let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default())?;
        Ok(Self {
            stage: Stage::open(&skinner, file, &Default::default())?,
            offscreen: Offscreen::new(gpu.device(), gpu.queue())?,
        })
    }

    pub fn of_text(text: &str) -> Result<Self, Failed> {
        let bench = Bench::new();
        Self::open(bench.write("stage.usda", text))
    }

    fn at(&mut self, time: f64, control: &Control) -> Result<(), Failed> {
        Ok(self.stage.set_time(Time::At(time), control)?)
    }

    /// A camera that frames what is drawn now.
    pub fn camera(&self, yaw: f64) -> Camera {
        let mut camera = Camera::new(self.stage.up_axis());
        camera.orbit_mut(&Bounds::EMPTY).yaw = yaw;
        camera.frame(
            &self.stage.bounds(),
            f64::from(SIZE[0]) / f64::from(SIZE[1]),
        );
        camera
    }

    pub fn draw(&mut self, camera: &Camera, look: &Look) -> Result<RgbaImage, Failed> {
        Ok(self
            .offscreen
            .picture(&mut self.stage, camera, look, SIZE)?)
    }
}

/// Surfaces alone, before one colour.
pub fn bare() -> Look {
    Look {
        background: Background::Color([1.0, 0.0, 1.0]),
        grid: false,
        ..Look::default()
    }
}

pub fn covered(picture: &RgbaImage) -> Vec<DVec2> {
    let drawn = picture.enumerate_pixels().filter(|(_, _, p)| p.0 != BEHIND);
    drawn
        .map(|(x, y, _)| DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5))
        .collect()
}

fn corners(pixels: impl IntoIterator<Item = DVec2>) -> (DVec2, DVec2) {
    let all = pixels.into_iter();
    all.fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(a, b), p| {
        (a.min(p), b.max(p))
    })
}

/// Every point of the file's meshes in world space, by the f64 reference. Points that no face has are rare in the files
/// of this test.
fn reference_points(file: &str, time: f64) -> Result<Vec<DVec3>, Failed> {
    let time = Time::At(time);
    let file = sinew_io::open(file)?;
    let scene = file.scene(Default::default())?;
    let mut cache = scene.at(time, OutSpace::World);
    let mut out = Vec::new();
    for bound in scene.bound_skins() {
        let pose = cache.pose(bound)?;
        let skin = bound.skin(time)?;
        let world_from_out = match skin.influences() {
            Some(_) => DMat4::IDENTITY,
            None => scene.world_from_prim(bound.binding().prim, time),
        };
        let points = reference::deform(&skin, &pose).unwrap().points;
        out.extend(points.iter().map(|p| world_from_out.transform_point3(*p)));
    }
    for mesh in file
        .geometry(&scene)?
        .meshes
        .iter()
        .filter(|m| m.binding.is_none())
    {
        let world_from_prim = mesh.world_from_prim(time);
        let points = mesh.points.at(time).ok_or("points")?;
        out.extend(
            points
                .iter()
                .map(|p| world_from_prim.transform_point3(p.as_dvec3())),
        );
    }
    Ok(out)
}

/// The picture's covered pixels reach as far as the points project, and no farther; each point has one beside it.
fn lies_where(picture: &RgbaImage, camera: &Camera, points: &[DVec3]) -> Done {
    let pixels = covered(picture);
    let projected: Vec<DVec2> = points
        .iter()
        .filter_map(|p| camera.project(*p, SIZE))
        .map(|(pixel, _)| pixel)
        .collect();
    if projected.len() != points.len() || pixels.is_empty() {
        return Err(format!(
            "{} of {} points in {} pixels",
            projected.len(),
            points.len(),
            pixels.len()
        )
        .into());
    }
    let (drawn, wanted) = (corners(pixels), corners(projected.iter().copied()));
    let off = (drawn.0 - wanted.0)
        .abs()
        .max((drawn.1 - wanted.1).abs())
        .max_element();
    if off > tolerance::SILHOUETTE_PIXELS {
        return Err(format!("drawn {drawn:?}, projected {wanted:?}").into());
    }
    let is_covered = |p: DVec2| {
        let d = tolerance::SILHOUETTE_PIXELS;
        let near = [-d, 0.0, d].map(|dx| [-d, 0.0, d].map(|dy| (p.x + dx, p.y + dy)));
        near.into_iter().flatten().any(|(x, y)| {
            let inside = x >= 0.0 && y >= 0.0 && x < f64::from(SIZE[0]) && y < f64::from(SIZE[1]);
            inside && picture.get_pixel(x as u32, y as u32).0 != BEHIND
        })
    };
    match projected.iter().find(|p| !is_covered(**p)) {
        Some(p) => Err(format!("nothing is drawn at {p}, where a point is").into()),
        None => Ok(()),
    }
}

fn silhouette() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    for (time, yaw) in [(1.0, 0.0), (40.0, 1.2), (77.5, 3.0)] {
        let points = reference_points(HATCHLING, time)?;
        for backend in [DrawBackend::Gpu, DrawBackend::Cpu] {
            let control = Control {
                backend,
                ..Control::default()
            };
            drawing.at(time, &control)?;
            let camera = drawing.camera(yaw);
            let picture = drawing.draw(&camera, &bare())?;
            lies_where(&picture, &camera, &points)?;
            // Another place is noticed.
            let moved: Vec<_> = points.iter().map(|p| *p + DVec3::X * 0.05).collect();
            if lies_where(&picture, &camera, &moved).is_ok() {
                return Err("points moved aside fit as well".into());
            }
        }
    }
    Ok(())
}

fn other_kinds() -> Done {
    let bench = Bench::new();
    let file = bench.write("kinds.usda", scenes::KINDS);
    let name = file.to_str().ok_or("a name")?;
    let mut drawing = Drawing::open(&file)?;
    let kinds: Vec<bool> = drawing.stage.meshes().iter().map(|m| m.deforms).collect();
    // Blended, skinned, rigid, static.
    assert_eq!(
        kinds,
        [true, true, false, false],
        "{:?}",
        drawing.stage.messages()
    );
    for time in [0.0, 10.0] {
        drawing.at(time, &Control::default())?;
        let camera = drawing.camera(0.4);
        let picture = drawing.draw(&camera, &bare())?;
        lies_where(&picture, &camera, &reference_points(name, time)?)?;
    }
    Ok(())
}

fn rigid_blends() -> Done {
    const POINTS: &str = "point3f[] points = [(0.5, 0, 0), (1.5, 0, 0), (1, 1, 0)]";
    let shape = r#"
        uniform token[] skel:blendShapes = ["high"]
        rel skel:blendShapeTargets = </Root/Rigid/High>

        def BlendShape "High"
        {
            uniform vector3f[] offsets = [(0, 2, 0)]
            uniform int[] pointIndices = [2]
        }
"#;
    let text = scenes::KINDS.replace(POINTS, &format!("{POINTS}{shape}"));
    assert_ne!(text, scenes::KINDS);
    let bench = Bench::new();
    let file = bench.write("rigid.usda", text);
    let mut drawing = Drawing::open(&file)?;
    for time in [0.0, 10.0] {
        drawing.at(time, &Control::default())?;
        let camera = drawing.camera(0.4);
        let picture = drawing.draw(&camera, &bare())?;
        let points = reference_points(file.to_str().ok_or("a name")?, time)?;
        lies_where(&picture, &camera, &points)?;
    }
    Ok(())
}

/// A roof without normals: of two flat sides, or round as a subdivision surface is.
fn flat_faces() -> Done {
    for skinned in [false, true] {
        let draw = |scheme: &str| {
            let mut drawing = Drawing::of_text(&scenes::roof(scheme, skinned))?;
            assert_eq!(drawing.stage.meshes()[0].deforms, skinned);
            let camera = drawing.camera(0.0);
            drawing.draw(&camera, &bare())
        };
        let (flat, round) = (draw("none")?, draw("catmullClark")?);
        assert_eq!(covered(&flat), covered(&round));
        assert!(differing(&flat, &round) > 0.05, "skinned: {skinned}");
    }
    Ok(())
}

fn changes_with_time() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    drawing.at(1.0, &Control::default())?;
    let camera = drawing.camera(0.3);
    let first = drawing.draw(&camera, &Look::default())?;
    let again = drawing.draw(&camera, &Look::default())?;
    assert_eq!(first, again, "the same time looks the same");
    drawing.at(50.0, &Control::default())?;
    let later = drawing.draw(&camera, &Look::default())?;
    assert!(
        differing(&first, &later) > 0.02,
        "{}",
        differing(&first, &later)
    );
    drawing.at(1.0, &Control::default())?;
    assert_eq!(drawing.draw(&camera, &Look::default())?, first, "and back");
    Ok(())
}

fn backends() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    let mut pictures = Vec::new();
    for backend in [DrawBackend::Gpu, DrawBackend::Cpu, DrawBackend::Gpu] {
        let control = Control {
            backend,
            ..Control::default()
        };
        drawing.at(30.0, &control)?;
        let camera = drawing.camera(0.3);
        pictures.push(drawing.draw(&camera, &Look::default())?);
    }
    assert_eq!(pictures[0], pictures[2]);
    assert!(differing(&pictures[0], &pictures[1]) < tolerance::SAME_PICTURE);
    let difference = drawing.stage.difference()?;
    assert_eq!(difference.points, drawing.stage.deformed_points());
    let size = drawing.stage.bounds().diagonal();
    assert!(
        difference.largest <= size * tolerance::MIRROR_POINTS,
        "{difference:?}"
    );
    assert!(difference.points > 1000 && difference.mean <= difference.largest);
    // As colours, until the next time is set.
    assert_eq!(drawing.stage.show_difference()?, difference);
    let camera = drawing.camera(0.3);
    assert!(differing(&pictures[0], &drawing.draw(&camera, &Look::default())?) > 0.05);
    drawing.at(30.0, &Control::default())?;
    assert_eq!(drawing.draw(&camera, &Look::default())?, pictures[0]);
    Ok(())
}

fn methods() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    let mut pictures = Vec::new();
    let methods = [
        None,
        Some(SkinningMethod::DualQuaternion),
        Some(SkinningMethod::ClassicLinear),
        None,
    ];
    for method in methods {
        let control = Control {
            method,
            ..Control::default()
        };
        drawing.at(50.0, &control)?;
        let camera = drawing.camera(0.3);
        pictures.push(drawing.draw(&camera, &bare())?);
    }
    assert_eq!(pictures[0], pictures[3]);
    assert!(
        differing(&pictures[1], &pictures[2]) > 0.0,
        "joints bend, so the methods differ"
    );
    Ok(())
}

fn shapes() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    drawing.at(1.0, &Control::default())?;
    let camera = drawing.camera(0.0);
    let before = drawing.draw(&camera, &bare())?;
    let channels = drawing.stage.channels();
    assert!(!channels.is_empty());
    let weights = channels.keys().map(|name| (name.clone(), 1.0)).collect();
    let control = Control {
        weights,
        ..Control::default()
    };
    drawing.at(1.0, &control)?;
    assert!(drawing.stage.channels().values().all(|w| *w == 1.0));
    assert!(differing(&before, &drawing.draw(&camera, &bare())?) > 0.001);
    drawing.at(1.0, &Control::default())?;
    assert_eq!(drawing.stage.channels(), channels);
    Ok(())
}

fn units() -> Done {
    let mut pictures = Vec::new();
    for (up_axis, unit) in [('Y', 1.0), ('Z', 1.0), ('Y', 0.01), ('Z', 0.01)] {
        let mut drawing = Drawing::of_text(&scenes::steps(up_axis, unit, DVec3::ZERO))?;
        let camera = drawing.camera(0.5);
        pictures.push(drawing.draw(&camera, &Look::default())?);
    }
    for other in &pictures[1..] {
        let share = differing(&pictures[0], other);
        assert!(share < tolerance::SAME_PICTURE, "{share}");
    }
    // A unit that is not what it says it is shows in the lines on the ground.
    let text =
        scenes::steps('Y', 1.0, DVec3::ZERO).replace("metersPerUnit = 1", "metersPerUnit = 0.3");
    let mut drawing = Drawing::of_text(&text)?;
    let camera = drawing.camera(0.5);
    assert!(differing(&pictures[0], &drawing.draw(&camera, &Look::default())?) > 0.01);
    Ok(())
}

fn far_away() -> Done {
    let mut pictures = Vec::new();
    for offset in [DVec3::ZERO, DVec3::new(3e6, 0.0, -2e6)] {
        let mut drawing = Drawing::of_text(&scenes::steps('Y', 1.0, offset))?;
        let camera = drawing.camera(0.5);
        pictures.push(drawing.draw(&camera, &bare())?);
    }
    let share = differing(&pictures[0], &pictures[1]);
    assert!(share < tolerance::SAME_PICTURE, "{share}");
    Ok(())
}

fn camera_of_file() -> Done {
    let mut drawing = Drawing::of_text(scenes::CAMERA)?;
    let [stage_camera] = drawing.stage.cameras() else {
        return Err("one camera".into());
    };
    let fixed = Fixed::of_stage(stage_camera, Time::Default);
    let picture = drawing.draw(&Camera::fixed('Y', fixed), &bare())?;
    // By hand: a square 2 wide, 10 before the camera, with a focal length of 5 and an aperture of 4 by 3 that is shifted
    // right by 0.5: 10 of 10 tenths are 1.0 on a film of 4, so a quarter of the width, and its middle an eighth to the left.
    let (low, high) = corners(covered(&picture));
    let [width, height] = SIZE.map(f64::from);
    let wanted = (
        DVec2::new(width * (0.5 - 0.125 - 0.125), height * (0.5 - 1.0 / 6.0)),
        DVec2::new(width * (0.5 - 0.125 + 0.125), height * (0.5 + 1.0 / 6.0)),
    );
    let off = (low - wanted.0)
        .abs()
        .max((high - wanted.1).abs())
        .max_element();
    assert!(
        off <= tolerance::SILHOUETTE_PIXELS,
        "{low} {high}, not {wanted:?}"
    );
    Ok(())
}

fn heat() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    let skeleton = &drawing.stage.skeletons()[0];
    let head = skeleton
        .joints
        .iter()
        .position(|j| j.name == "head")
        .ok_or("a head")?;
    let control = Control {
        heat: Some(JointId {
            skeleton: 0,
            joint: head,
        }),
        ..Control::default()
    };
    drawing.at(1.0, &control)?;
    let camera = drawing.camera(0.0);
    let picture = drawing.draw(&camera, &bare())?;
    // Yellow is what the joint moves alone, dark violet what it does not move.
    let is_hot = |p: &[u8; 4]| p[0] > p[2].saturating_add(60) && p[1] > p[2].saturating_add(60);
    let is_cold = |p: &[u8; 4]| p[2] > p[1].saturating_add(15) && p[0] < 140;
    let rows = |wanted: &dyn Fn(&[u8; 4]) -> bool| -> Vec<f64> {
        let drawn = picture
            .enumerate_pixels()
            .filter(|(_, _, p)| p.0 != BEHIND && wanted(&p.0));
        drawn.map(|(_, y, _)| f64::from(y)).collect()
    };
    let (hot, cold) = (rows(&is_hot), rows(&is_cold));
    let mean = |rows: &[f64]| rows.iter().sum::<f64>() / rows.len().max(1) as f64;
    let all = covered(&picture).len();
    assert!(
        hot.len() > all / 20 && cold.len() > all / 5,
        "{} and {} of {all}",
        hot.len(),
        cold.len()
    );
    let neck = skeleton_height(&drawing, head, &camera)?;
    assert!(
        mean(&hot) < neck && mean(&cold) > neck,
        "{} {neck} {}",
        mean(&hot),
        mean(&cold)
    );
    let below = hot.iter().filter(|y| **y > neck + 12.0).count();
    assert!(
        below * 50 < hot.len(),
        "{below} of {} far below the joint",
        hot.len()
    );
    // And off again.
    drawing.at(1.0, &Control::default())?;
    assert!(differing(&picture, &drawing.draw(&camera, &bare())?) > 0.1);
    Ok(())
}

fn skeleton_height(drawing: &Drawing, joint: usize, camera: &Camera) -> Result<f64, Failed> {
    let at = drawing.stage.skeletons()[0].world_from_joint[joint]
        .w_axis
        .truncate();
    Ok(camera.project(at, SIZE).ok_or("before the camera")?.0.y)
}

fn overlays() -> Done {
    let mut drawing = Drawing::open("../../examples/assets/puppet.glb")?;
    let camera = drawing.camera(0.3);
    let plain = drawing.draw(&camera, &bare())?;
    let on: [fn(&mut Look); 4] = [
        |look| look.wireframe = true,
        |look| look.normals = true,
        |look| look.joints = true,
        |look| look.bounds = true,
    ];
    let mut pictures = Vec::new();
    for set in on {
        let mut look = bare();
        set(&mut look);
        pictures.push(drawing.draw(&camera, &look)?);
        let last = pictures.last().ok_or("a picture")?;
        assert!(
            differing(&plain, last) > 0.002,
            "overlay {}",
            pictures.len()
        );
    }
    for (i, a) in pictures.iter().enumerate() {
        assert!(
            pictures[..i].iter().all(|b| differing(a, b) > 0.002),
            "overlay {i}"
        );
    }
    // Boxes enclose what is drawn, edges stay on it.
    let (inner, outer) = (corners(covered(&plain)), corners(covered(&pictures[3])));
    assert!(
        outer.0.cmple(inner.0).all() && outer.1.cmpge(inner.1).all(),
        "{inner:?} {outer:?}"
    );
    let edges = corners(covered(&pictures[0]));
    assert!((edges.0 - inner.0).abs().max_element() <= tolerance::SILHOUETTE_PIXELS);
    // Without faces there is nothing but the overlay.
    let hidden = Look {
        surface: false,
        ..bare()
    };
    assert!(covered(&drawing.draw(&camera, &hidden)?).is_empty());
    Ok(())
}

fn transparent() -> Done {
    let mut drawing = Drawing::open(HATCHLING)?;
    let look = Look {
        background: Background::Transparent,
        ..bare()
    };
    let camera = drawing.camera(0.0);
    let picture = drawing.draw(&camera, &look)?;
    let before = drawing.draw(&camera, &bare())?;
    for (clear, solid) in picture.pixels().zip(before.pixels()) {
        match (clear.0[3], solid.0) {
            (0, behind) => assert_eq!(behind, BEHIND),
            (255, drawn) => {
                let off = clear
                    .0
                    .iter()
                    .zip(drawn)
                    .all(|(a, b)| a.abs_diff(b) <= tolerance::SAME_COLOR);
                assert!(off, "{clear:?} {solid:?}");
            }
            // An edge: its own colour, without the one behind.
            _ => {}
        }
    }
    let count = |alpha: u8| picture.pixels().filter(|p| p.0[3] == alpha).count();
    assert!(
        count(0) > 10_000 && count(255) > 10_000,
        "{} {}",
        count(0),
        count(255)
    );
    Ok(())
}

fn textures() -> Done {
    // Red is at the lower left of the picture's file, green at the lower right, blue above.
    let picture = RgbaImage::from_fn(2, 2, |x, y| match (x, y) {
        (_, 0) => image::Rgba([0, 0, 255, 255]),
        (0, _) => image::Rgba([255, 0, 0, 255]),
        _ => image::Rgba([0, 255, 0, 255]),
    });
    let bench = Bench::new();
    picture.save(bench.path("colors.png"))?;
    let mut drawing = Drawing::open(bench.write("square.usda", scenes::TEXTURED))?;
    assert!(
        drawing.stage.messages().is_empty(),
        "{:?}",
        drawing.stage.messages()
    );
    let mut camera = drawing.camera(0.0);
    camera.orbit_mut(&Bounds::EMPTY).pitch = 0.0;
    let drawn = drawing.draw(&camera, &bare())?;
    let color = |x: f64, y: f64| -> Result<[u8; 3], Failed> {
        let (pixel, _) = camera.project(DVec3::new(x, y, 0.0), SIZE).ok_or("seen")?;
        let [r, g, b, _] = drawn.get_pixel(pixel.x as u32, pixel.y as u32).0;
        Ok([r, g, b])
    };
    let strongest = |c: [u8; 3]| (0..3).max_by_key(|i| c[*i]).unwrap_or(0);
    let found = [
        color(-0.9, -0.9)?,
        color(0.9, -0.9)?,
        color(-0.9, 0.9)?,
        color(0.9, 0.9)?,
    ];
    assert_eq!(found.map(strongest), [0, 1, 2, 2], "{found:?}");
    Ok(())
}

/// A square in the ground plane is drawn whole: neither lines nor shadow come through.
fn on_the_ground() -> Done {
    let mut drawing = Drawing::of_text(&square(
        "(-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1)",
        "(0, 1, 0)",
    ))?;
    for yaw in [0.4, 2.0] {
        let camera = drawing.camera(yaw);
        let alone = drawing.draw(&camera, &bare())?;
        let ground = drawing.draw(
            &camera,
            &Look {
                grid: true,
                ..bare()
            },
        )?;
        let inner = inside(&alone);
        if inner.len() < 1000 {
            return Err(format!("{} pixels of the square are seen", inner.len()).into());
        }
        let changed = |&&(x, y): &&(u32, u32)| alone.get_pixel(x, y) != ground.get_pixel(x, y);
        let changed = inner.iter().filter(changed).count();
        if changed > 0 {
            return Err(format!("{changed} pixels show the ground through the square").into());
        }
    }
    Ok(())
}

/// A face whose normals lie in it is one colour, not a noise of its two sides.
fn normals_along() -> Done {
    let mut drawing = Drawing::of_text(&square(
        "(-1, 0, 0), (1, 0, 0), (1, 2, 0), (-1, 2, 0)",
        "(0, 1, 0)",
    ))?;
    let camera = drawing.camera(0.3);
    let picture = drawing.draw(&camera, &bare())?;
    let inner = inside(&picture);
    let brightness = |&(x, y): &(u32, u32)| picture.get_pixel(x, y).0[1];
    let (least, most) = (
        inner.iter().map(brightness).min(),
        inner.iter().map(brightness).max(),
    );
    match (least, most) {
        (Some(least), Some(most)) if most - least < 60 => Ok(()),
        range => Err(format!("one face of many colours: {range:?}").into()),
    }
}

/// Points that have samples alone are drawn in a file that names no time.
fn samples_alone() -> Done {
    let text = square("(-1, 0, 0), (1, 0, 0), (1, 2, 0), (-1, 2, 0)", "(0, 0, 1)");
    let sampled = text.replace(
        "point3f[] points = [",
        "point3f[] points.timeSamples = { 3: [",
    );
    let sampled = sampled.replace("(-1, 2, 0)]", "(-1, 2, 0)] }");
    let mut pictures = Vec::new();
    for text in [&text, &sampled] {
        let mut drawing = Drawing::of_text(text)?;
        let camera = drawing.camera(0.3);
        pictures.push(drawing.draw(&camera, &bare())?);
    }
    assert_ne!(text, sampled);
    match pictures[0] == pictures[1] && inside(&pictures[0]).len() > 1000 {
        true => Ok(()),
        false => Err("another picture".into()),
    }
}

/// Pixels that something is drawn on, and on all around them too.
pub fn inside(picture: &RgbaImage) -> Vec<(u32, u32)> {
    let drawn = |x: u32, y: u32| picture.get_pixel(x, y).0 != BEHIND;
    let (width, height) = picture.dimensions();
    let pixels = (1..height - 1).flat_map(|y| (1..width - 1).map(move |x| (x, y)));
    pixels
        .filter(|&(x, y)| (x - 1..=x + 1).all(|x| (y - 1..=y + 1).all(|y| drawn(x, y))))
        .collect()
}

fn broken_mesh() -> Done {
    let broken = scenes::KINDS.replace(
        "int[] primvars:skel:jointIndices = [0, 1, 1, 0]",
        "int[] primvars:skel:jointIndices = [0, 1, 99, 0]",
    );
    assert_ne!(broken, scenes::KINDS);
    let mut drawing = Drawing::of_text(&broken)?;
    let messages = drawing.stage.messages().join("\n");
    assert!(
        messages.contains("/Root/Skinned") && messages.contains("99"),
        "{messages}"
    );
    assert_eq!(
        drawing.stage.meshes().iter().filter(|m| m.visible).count(),
        3
    );
    let camera = drawing.camera(0.4);
    assert!(!covered(&drawing.draw(&camera, &bare())?).is_empty());
    Ok(())
}

fn limits() -> Done {
    let mut drawing = Drawing::open("../../examples/assets/walk.bvh")?;
    let camera = drawing.camera(0.0);
    for (size, word) in [
        ([1_000_000, 10], "max_texture_dimension_2d"),
        ([0, 10], "0 x 10"),
        ([10, 0], "10 x 0"),
    ] {
        let refused = drawing
            .offscreen
            .picture(&mut drawing.stage, &camera, &bare(), size);
        match refused {
            Err(sinew_render::Error::Gpu(e @ (GpuError::Limit { .. } | GpuError::Mismatch(_)))) => {
                assert!(e.to_string().contains(word), "{e}");
            }
            other => return Err(format!("{size:?}: {:?}", other.map(|p| p.dimensions())).into()),
        }
    }
    // What fits is drawn afterwards, a single pixel too.
    let one = drawing
        .offscreen
        .picture(&mut drawing.stage, &camera, &bare(), [1, 1])?;
    assert_eq!(one.dimensions(), (1, 1));
    Ok(())
}

/// Poses, uniforms and results of two times recorded into one encoder do not mix.
fn two_in_one_submit() -> Done {
    let gpu = gpu::device()?;
    let mut drawing = Drawing::open(HATCHLING)?;
    drawing.at(1.0, &Control::default())?;
    let camera = drawing.camera(0.3);
    let times = [1.0, 50.0];
    let mut apart = Vec::new();
    for time in times {
        drawing.at(time, &Control::default())?;
        apart.push(drawing.draw(&camera, &bare())?);
    }
    let format = sinew::wgpu::TextureFormat::Rgba8UnormSrgb;
    let mut renderer = sinew_render::Renderer::new(gpu.device(), format, 4)?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut read = Vec::new();
    for time in times {
        drawing.at(time, &Control::default())?;
        drawing.stage.encode(&mut encoder)?;
        let texture = scenes::texture(gpu.device(), format, SIZE);
        let view = texture.create_view(&Default::default());
        renderer.draw(&mut encoder, &view, SIZE, &drawing.stage, &camera, &bare())?;
        read.push(scenes::read_later(
            gpu.device(),
            &mut encoder,
            &texture,
            SIZE,
        ));
    }
    gpu.queue().submit([encoder.finish()]);
    for (buffer, apart) in read.into_iter().zip(apart) {
        assert_eq!(
            scenes::read_now(gpu.device(), &buffer, SIZE)?,
            apart.into_raw()
        );
    }
    gpu.check()?;
    Ok(())
}
