//! Small pictures that egui's fonts do not have.

use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Icon {
    Play,
    Pause,
    First,
    Last,
    Back,
    On,
}

/// A button with a picture on it.
pub fn button(ui: &mut Ui, icon: Icon, hint: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(28.0, 24.0), Sense::click());
    let visuals = ui.style().interact(&response);
    ui.painter()
        .rect_filled(rect, visuals.corner_radius, visuals.weak_bg_fill);
    let color = if ui.is_enabled() {
        visuals.text_color()
    } else {
        visuals.text_color().gamma_multiply(0.4)
    };
    draw(ui.painter(), icon, rect.center(), color);
    response.on_hover_text(hint)
}

fn draw(painter: &Painter, icon: Icon, center: Pos2, color: Color32) {
    let bar = |x: f32, width: f32| {
        let size = Vec2::new(width, 10.0);
        let rect = Rect::from_center_size(center + Vec2::new(x, 0.0), size);
        painter.rect_filled(rect, CornerRadius::same(1), color);
    };
    match icon {
        Icon::Play => triangle(painter, center, 5.5, true, color),
        Icon::Pause => {
            bar(-3.0, 3.0);
            bar(3.0, 3.0);
        }
        Icon::First => {
            bar(-5.5, 2.0);
            triangle(painter, center + Vec2::new(1.0, 0.0), 5.0, false, color);
        }
        Icon::Last => {
            triangle(painter, center - Vec2::new(1.0, 0.0), 5.0, true, color);
            bar(5.5, 2.0);
        }
        Icon::Back => {
            triangle(painter, center - Vec2::new(2.0, 0.0), 4.0, false, color);
            bar(4.0, 2.0);
        }
        Icon::On => {
            bar(-4.0, 2.0);
            triangle(painter, center + Vec2::new(2.0, 0.0), 4.0, true, color);
        }
    }
}

/// Points to the right or to the left.
fn triangle(painter: &Painter, center: Pos2, size: f32, right: bool, color: Color32) {
    let tip = if right { size } else { -size };
    let points = [
        Vec2::new(tip, 0.0),
        Vec2::new(-tip * 0.8, size),
        Vec2::new(-tip * 0.8, -size),
    ];
    let points = points.map(|p| center + p).to_vec();
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// The mark before a row with others below it; a click on it folds them.
pub fn fold(ui: &mut Ui, branches: bool, folded: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(11.0, 14.0), Sense::click());
    if branches {
        let color = ui
            .style()
            .interact(&response)
            .text_color()
            .gamma_multiply(0.7);
        let center = rect.center();
        if folded {
            triangle(ui.painter(), center, 3.2, true, color);
        } else {
            let points = [
                Vec2::new(0.0, 3.2),
                Vec2::new(-3.4, -2.4),
                Vec2::new(3.4, -2.4),
            ];
            let points = points.map(|p| center + p).to_vec();
            let shape = Shape::convex_polygon(points, color, Stroke::NONE);
            ui.painter().add(shape);
        }
    }
    response
}
