//! Pictures of Bevy and of `sinew render`, from the same camera.
//!
//! What they share is where the character is; lights and tone mapping are each renderer's own. So the
//! character is drawn in white on black, and the silhouettes are compared. Both renderers have four
//! samples per pixel, and differ where a sample lies within rounding of an edge. A pixel is inside if
//! at least half of it is covered. The bounds: every pixel in which the silhouettes differ touches the
//! edge of the other one (8 neighbours), so no edge is off by more than a pixel, and there are at most
//! `MOST_APART` of them. A character of which one frame of the clip is missing fails both: the second
//! test says so.

use bevy::prelude::*;
use bevy_sinew::{SinewCharacter, sinew};
use image::{GrayImage, Luma, RgbaImage};
use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
use sinew::sampled::Time as SinewTime;
use sinew_render::{Background, Camera as RenderCamera, Control, Look, Offscreen, Stage, View};

use crate::{FRAME, app, camera, hatchling, load, picture};

const SIZE: [u32; 2] = [512, 512];

/// Largest share of the silhouette's pixels that may differ.
const MOST_APART: f64 = 0.001;

/// Frames until the compared picture: half a second of the clip is not at rest.
const FRAMES: u32 = 16;

/// The picture that `sinew render` draws of the clip's time after some frames of the app, and its camera.
fn rendered(frames: u32) -> (GrayImage, RenderCamera) {
    let gpu = GpuDevice::new(&AdapterChoice::Any).unwrap();
    let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap();
    let mut stage = Stage::open(&skinner, hatchling(), &Default::default()).unwrap();
    // The clip has 24 time codes per second, from 1.
    let time = 1.0 + f64::from(frames) * FRAME * 24.0;
    stage
        .set_time(SinewTime::At(time), &Control::default())
        .unwrap();
    let mut camera = RenderCamera::new('Y');
    if let View::Orbit(orbit) = &mut camera.view {
        orbit.target = glam::DVec3::new(0.4, 0.65, -0.3);
        orbit.distance = 4.5;
    }
    let look = Look {
        background: Background::Transparent,
        grid: false,
        ..Look::default()
    };
    let mut offscreen = Offscreen::new(gpu.device(), gpu.queue()).unwrap();
    let picture = offscreen.picture(&mut stage, &camera, &look, SIZE).unwrap();
    // Opacity is linear.
    (mask(&picture, |p| p[3] >= 120), camera)
}

/// The picture that Bevy draws after some frames of the clip.
fn drawn(frames: u32, from: &RenderCamera) -> GrayImage {
    let mut app = app();
    app.insert_resource(GlobalAmbientLight::NONE);
    let View::Orbit(orbit) = &from.view else {
        panic!("an orbit");
    };
    let lens = PerspectiveProjection {
        fov: orbit.field_of_view as f32,
        near: orbit.distance as f32 * 1e-3,
        ..default()
    };
    let place = from.world_from_camera().as_mat4().to_cols_array();
    let place = Transform::from_matrix(Mat4::from_cols_array(&place));
    let camera = camera(&mut app, SIZE, place, lens);
    let character = SinewCharacter::new(hatchling()).playing("Dance");
    let entity = app.world_mut().spawn(character).id();
    load(&mut app, entity);
    let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
    for (_, material) in materials.iter_mut() {
        // Above white in every sample, whatever the colours of the vertices.
        material.base_color = Color::linear_rgb(1e6, 1e6, 1e6);
        material.unlit = true;
    }
    for _ in 0..frames {
        app.update();
    }
    let picture = picture(&app, camera);
    if let Some(folder) = std::env::var_os("SINEW_PICTURES") {
        picture
            .save(std::path::Path::new(&folder).join("bevy.png"))
            .unwrap();
    }
    // Half of white is 188 in sRGB, a quarter is 137.
    mask(&picture, |p| p[0] >= 160)
}

/// White where `is_inside` says that a pixel is covered at least by half: by two samples of four.
fn mask(picture: &RgbaImage, is_inside: impl Fn(&[u8; 4]) -> bool) -> GrayImage {
    GrayImage::from_fn(picture.width(), picture.height(), |x, y| {
        let inside = is_inside(&picture.get_pixel(x, y).0);
        Luma([if inside { 255 } else { 0 }])
    })
}

/// How many pixels are white, how many differ, and how many of those are further than one pixel from
/// an edge of the first.
fn difference(a: &GrayImage, b: &GrayImage) -> [usize; 3] {
    let [width, height] = SIZE.map(i64::from);
    let (mut white, mut apart, mut far) = (0, 0, 0);
    for (x, y, pixel) in a.enumerate_pixels() {
        white += usize::from(pixel.0[0] == 255);
        if pixel == b.get_pixel(x, y) {
            continue;
        }
        apart += 1;
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        let is_near = around
            .map(|(dx, dy)| (i64::from(x) + dx, i64::from(y) + dy))
            .filter(|(x, y)| (0..width).contains(x) && (0..height).contains(y))
            .any(|(nx, ny)| a.get_pixel(nx as u32, ny as u32) != pixel);
        far += usize::from(!is_near);
    }
    [white, apart, far]
}

#[test]
fn bevy_draws_the_silhouette_of_sinew_render() {
    let (expected, camera) = rendered(FRAMES);
    let found = drawn(FRAMES, &camera);
    let [white, apart, far] = difference(&expected, &found);
    let share = apart as f64 / white as f64;
    println!("{white} pixels, {apart} differ ({share:.5}), {far} of them not at an edge");
    // A tenth of the picture at least, so that there is something to compare.
    assert!(white > (SIZE[0] * SIZE[1] / 10) as usize, "{white}");
    assert_eq!(far, 0);
    assert!(share <= MOST_APART, "{apart} of {white}");
}

#[test]
fn another_frame_of_the_clip_is_outside_the_bounds() {
    let (expected, _) = rendered(FRAMES);
    let (found, _) = rendered(FRAMES + 1);
    let [white, apart, far] = difference(&expected, &found);
    assert!(
        far > 0 && apart as f64 / white as f64 > MOST_APART,
        "{apart} {far}"
    );
}
