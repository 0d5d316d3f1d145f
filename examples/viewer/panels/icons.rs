//! Small pictures that egui's fonts do not have.

use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2};

/// Bars (their middle and width) and triangles (their middle and size; one that points to the left
/// has a size below 0).
#[derive(Clone, Copy, Debug)]
pub struct Icon {
    bars: &'static [(f32, f32)],
    triangle: Option<(f32, f32)>,
}

const fn icon(bars: &'static [(f32, f32)], triangle: Option<(f32, f32)>) -> Icon {
    Icon { bars, triangle }
}

pub const PLAY: Icon = icon(&[], Some((0.0, 5.5)));
pub const PAUSE: Icon = icon(&[(-3.0, 3.0), (3.0, 3.0)], None);
pub const FIRST: Icon = icon(&[(-5.5, 2.0)], Some((1.0, -5.0)));
pub const LAST: Icon = icon(&[(5.5, 2.0)], Some((-1.0, 5.0)));
pub const BACK: Icon = icon(&[(4.0, 2.0)], Some((-2.0, -4.0)));
pub const ON: Icon = icon(&[(-4.0, 2.0)], Some((2.0, 4.0)));

/// A button with a picture on it.
pub fn button(ui: &mut Ui, icon: Icon, hint: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(28.0, 24.0), Sense::click());
    let (visuals, painter) = (ui.style().interact(&response), ui.painter());
    painter.rect_filled(rect, visuals.corner_radius, visuals.weak_bg_fill);
    let strength = if ui.is_enabled() { 1.0 } else { 0.4 };
    let color = visuals.text_color().gamma_multiply(strength);
    let at = |x: f32| rect.center() + Vec2::new(x, 0.0);
    for (x, width) in icon.bars {
        let bar = Rect::from_center_size(at(*x), Vec2::new(*width, 10.0));
        painter.rect_filled(bar, CornerRadius::same(1), color);
    }
    if let Some((x, size)) = icon.triangle {
        triangle(painter, at(x), size, color);
    }
    response.on_hover_text(hint)
}

/// Points to the right, or to the left if `size` is below 0.
fn triangle(painter: &Painter, center: Pos2, size: f32, color: Color32) {
    let back = -size * 0.8;
    let points = [[size, 0.0], [back, size], [back, -size]];
    let points = points.map(|p| center + Vec2::from(p)).to_vec();
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}
