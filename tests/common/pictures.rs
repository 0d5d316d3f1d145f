//! Comparison of pictures, and what is drawn for it.

use image::RgbaImage;

use super::tolerance;

/// Share of pixels that differ by more than a few of 255 steps.
pub fn differing(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let pairs = a.pixels().zip(b.pixels());
    let far = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter()
            .zip(b.0)
            .any(|(a, b)| a.abs_diff(b) > tolerance::SAME_COLOR)
    };
    pairs.filter(far).count() as f64 / f64::from(a.width() * a.height())
}

/// One square with the same normal at all of its corners.
pub fn square(points: &str, normal: &str) -> String {
    format!(
        r#"#usda 1.0
(
    upAxis = "Y"
)

def Mesh "Square"
{{
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [{points}]
    normal3f[] normals = [{normal}, {normal}, {normal}, {normal}]
    uniform token subdivisionScheme = "none"
}}
"#
    )
}
