//! A stage with what draws it. All tests share one device, one skinner and one renderer, so that shaders are compiled once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use common::{gpu, tolerance};
use glam::{DMat4, DVec2, DVec3};
use image::RgbaImage;
use libtest_mimic::Failed;
use sinew::gpu::Skinner;
use sinew::sampled::Time;
use sinew::scene::OutSpace;
use sinew::skel::reference;
use sinew_render::{Background, Bounds, Camera, Control, Look, Offscreen, Stage};

pub const SIZE: [u32; 2] = [320, 240];

/// Nothing that is drawn here has this colour.
pub const BEHIND: [u8; 4] = [255, 0, 255, 255];

pub type Done = Result<(), Failed>;

/// A scene of these tests, or an example of the repository.
pub fn scene(name: &str) -> PathBuf {
    // Relative to the package, as a packed test binary has no other (benches/on_gpu.sh).
    let own = Path::new("tests/render/scenes").join(name);
    match own.exists() {
        true => own,
        false => Path::new("../../examples/assets").join(name),
    }
}

pub struct Drawing {
    file: PathBuf,
    pub stage: Stage,
}

impl Drawing {
    pub fn open(file: impl AsRef<Path>) -> Result<Self, Failed> {
        static SKINNER: OnceLock<Skinner> = OnceLock::new();
        let gpu = gpu::device()?;
        let skinner = SKINNER
            .get_or_init(|| Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap());
        Ok(Self {
            file: file.as_ref().to_owned(),
            stage: Stage::open(skinner, file, &Default::default())?,
        })
    }

    pub fn at(&mut self, time: f64, control: &Control) -> Done {
        Ok(self.stage.set_time(Time::At(time), control)?)
    }

    /// A camera that frames what is drawn now.
    pub fn camera(&self, yaw: f64) -> Camera {
        let mut camera = self.stage.camera();
        camera.orbit_mut(&Bounds::EMPTY).yaw = yaw;
        camera.frame(
            &self.stage.bounds(),
            f64::from(SIZE[0]) / f64::from(SIZE[1]),
        );
        camera
    }

    pub fn draw(&mut self, camera: &Camera, look: &Look) -> Result<RgbaImage, Failed> {
        Ok(self.draw_of_size(camera, look, SIZE)?)
    }

    pub fn draw_of_size(
        &mut self,
        camera: &Camera,
        look: &Look,
        size: [u32; 2],
    ) -> sinew_render::Result<RgbaImage> {
        static OFFSCREEN: OnceLock<Mutex<Offscreen>> = OnceLock::new();
        let offscreen = OFFSCREEN.get_or_init(|| {
            let gpu = gpu::device().unwrap();
            Mutex::new(Offscreen::new(gpu.device(), gpu.queue()).unwrap())
        });
        let mut offscreen = offscreen.lock().unwrap_or_else(PoisonError::into_inner);
        offscreen.picture(&mut self.stage, camera, look, size)
    }

    /// Every point of the file's meshes in world space, by the f64 reference. Points that no face has are rare in the
    /// files of these tests.
    fn reference_points(&self, time: f64) -> Result<Vec<DVec3>, Failed> {
        let time = Time::At(time);
        let file = sinew_io::open(&self.file)?;
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
        let meshes = file.geometry(&scene)?.meshes;
        for mesh in meshes.iter().filter(|m| m.binding.is_none()) {
            let world_from_prim = mesh.world_from_prim(time);
            let points = mesh.points.at(time).ok_or("points")?;
            let points = points.iter().map(|p| p.as_dvec3());
            out.extend(points.map(|p| world_from_prim.transform_point3(p)));
        }
        Ok(out)
    }

    /// Whether what is drawn at a time lies where the reference puts it, moved by so much along x.
    pub fn lies_where_the_reference_is(
        &self,
        picture: &RgbaImage,
        camera: &Camera,
        time: f64,
        aside: f64,
    ) -> Done {
        let points = self.reference_points(time)?;
        let moved: Vec<_> = points.iter().map(|p| *p + DVec3::X * aside).collect();
        lies_where(picture, camera, &moved)
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

/// Pixels that something is drawn on.
pub fn covered(picture: &RgbaImage) -> Vec<(u32, u32)> {
    let drawn = picture.enumerate_pixels().filter(|(_, _, p)| p.0 != BEHIND);
    drawn.map(|(x, y, _)| (x, y)).collect()
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

/// The middle of a pixel.
fn middle((x, y): (u32, u32)) -> DVec2 {
    DVec2::new(f64::from(x), f64::from(y)) + 0.5
}

/// The corners of what a picture shows.
pub fn extent(picture: &RgbaImage) -> [DVec2; 2] {
    corners(covered(picture).into_iter().map(middle))
}

fn corners(points: impl Iterator<Item = DVec2>) -> [DVec2; 2] {
    points.fold([DVec2::INFINITY, DVec2::NEG_INFINITY], |[a, b], p| {
        [a.min(p), b.max(p)]
    })
}

/// The picture's covered pixels reach as far as the points project, and no farther; each point has one beside it.
fn lies_where(picture: &RgbaImage, camera: &Camera, points: &[DVec3]) -> Done {
    let projected = points.iter().filter_map(|p| camera.project(*p, SIZE));
    let projected: Vec<DVec2> = projected.map(|(pixel, _)| pixel).collect();
    if projected.len() != points.len() {
        return Err(format!("{} of {} points", projected.len(), points.len()).into());
    }
    let (drawn, wanted) = (extent(picture), corners(projected.iter().copied()));
    let off = (drawn[0] - wanted[0])
        .abs()
        .max((drawn[1] - wanted[1]).abs())
        .max_element();
    let most = tolerance::SILHOUETTE_PIXELS;
    // Nothing is drawn if `off` is infinite.
    if off.is_nan() || off > most {
        return Err(format!("drawn {drawn:?}, projected {wanted:?}").into());
    }
    let is_covered = |p: &&DVec2| {
        let near = [-most, 0.0, most].map(|dx| [-most, 0.0, most].map(|dy| (p.x + dx, p.y + dy)));
        near.into_iter().flatten().any(|(x, y)| {
            let inside = x >= 0.0 && y >= 0.0 && x < f64::from(SIZE[0]) && y < f64::from(SIZE[1]);
            inside && picture.get_pixel(x as u32, y as u32).0 != BEHIND
        })
    };
    match projected.iter().find(|p| !is_covered(p)) {
        Some(p) => Err(format!("nothing is drawn at {p}, where a point is").into()),
        None => Ok(()),
    }
}
