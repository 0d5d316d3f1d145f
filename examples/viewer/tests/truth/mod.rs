//! Where the f64 reference says a file's surfaces are in the window.

use glam::{DMat4, DVec2, DVec3};
use image::RgbaImage;
use sinew::sampled::Time;
use sinew::scene::OutSpace;
use sinew::skel::reference;

/// Every visible triangle of a file at a time, in world space.
pub fn triangles(file: &str, time: f64) -> Result<Vec<[DVec3; 3]>, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let file = sinew_io::open(file).map_err(|e| text(&e))?;
    let scene = file.scene(Default::default()).map_err(|e| text(&e))?;
    let geometry = file.geometry(&scene).map_err(|e| text(&e))?;
    let time = Time::At(time);
    let mut cache = scene.at(time, OutSpace::World);
    let mut out = Vec::new();
    for mesh in geometry.meshes.iter().filter(|m| m.visible(time)) {
        let points: Vec<DVec3> = match mesh.binding.map(|b| scene.bound(b)) {
            Some(bound) => {
                let pose = cache.pose(bound).map_err(|e| text(&e))?;
                let skin = bound.skin(time).map_err(|e| text(&e))?;
                reference::deform(&skin, &pose).unwrap().points
            }
            None => {
                let world_from_prim = mesh.world_from_prim(time);
                let rest = mesh.points.at(time).ok_or("a mesh without points")?;
                rest.iter()
                    .map(|p| world_from_prim.transform_point3(p.as_dvec3()))
                    .collect()
            }
        };
        let topology = &mesh.topology;
        for face in 0..topology.face_count() {
            let corners = &topology.corner_points()[topology.corners(face)];
            for i in 1..corners.len().saturating_sub(1) {
                out.push([corners[0], corners[i], corners[i + 1]].map(|p| points[p as usize]));
            }
        }
    }
    Ok(out)
}

/// Pixels of a picture of this size whose middle is in a triangle, row by row.
pub fn silhouette(
    triangles: &[[DVec3; 3]],
    clip_from_world: DMat4,
    [width, height]: [u32; 2],
) -> Vec<bool> {
    let size = DVec2::new(width.into(), height.into());
    let mut mask = vec![false; (width * height) as usize];
    for triangle in triangles {
        let pixels = triangle.map(|p| {
            let clip = clip_from_world * p.extend(1.0);
            let ndc = clip.truncate().truncate() / clip.w;
            DVec2::new(ndc.x + 1.0, 1.0 - ndc.y) * 0.5 * size
        });
        fill(&mut mask, width, height, pixels);
    }
    mask
}

fn fill(mask: &mut [bool], width: u32, height: u32, [a, b, c]: [DVec2; 3]) {
    let low = a.min(b).min(c).floor().max(DVec2::ZERO);
    let high = a.max(b).max(c).ceil();
    let high = high.min(DVec2::new(width.into(), height.into()));
    let side = |from: DVec2, to: DVec2, p: DVec2| (to - from).perp_dot(p - from);
    for y in low.y as u32..high.y.max(0.0) as u32 {
        for x in low.x as u32..high.x.max(0.0) as u32 {
            let p = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
            let sides = [side(a, b, p), side(b, c, p), side(c, a, p)];
            if sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0) {
                mask[(y * width + x) as usize] = true;
            }
        }
    }
}

/// Pixels in both over pixels in either.
pub fn overlap(a: &[bool], b: &[bool]) -> f64 {
    let count =
        |f: &dyn Fn(bool, bool) -> bool| a.iter().zip(b).filter(|(a, b)| f(**a, **b)).count();
    let either = count(&|a, b| a || b);
    count(&|a, b| a && b) as f64 / either.max(1) as f64
}

/// Pixels that two pictures of one size show differently, row by row.
pub fn differs(a: &RgbaImage, b: &RgbaImage) -> Vec<bool> {
    let far = |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 6)
    };
    a.pixels().zip(b.pixels()).map(far).collect()
}
