//! The picture, the pointer over it, and what is written over it.

use egui::{Align2, Color32, CornerRadius, FontId, Pos2, Rect, Sense, Stroke, Ui, Vec2};
use sinew_render::JointId;

use super::pair;
use crate::files;
use crate::moves::Pointer;
use crate::state::State;
use crate::theme;

/// Names beyond this number hide more than they tell.
const MOST_NAMES: usize = 400;
/// Points along the picture's edges that do not move the camera.
const EDGE: f32 = 5.0;
/// Points around a joint within which a click chooses it.
const REACH: f32 = 12.0;

pub fn show(ui: &mut Ui, state: &mut State, pictures: [egui::TextureId; 2]) {
    let rect = ui.available_rect_before_wrap();
    let scale = ui.ctx().pixels_per_point();
    // Whole pixels, so that the picture is shown texel by texel.
    let edge = |v: f32| (v * scale).round().max(0.0) as u32;
    let (left, top) = (edge(rect.left()), edge(rect.top()));
    let width = edge(rect.right()).saturating_sub(left);
    let height = edge(rect.bottom()).saturating_sub(top);
    let pixels = [left, top, width, height];
    let all = pair::rect(pixels, scale);
    [state.viewport, state.viewport_beside] = pair::split(pixels, state.beside.is_some());
    let rect = pair::rect(state.viewport, scale);
    if state.frame_wanted && !state.bounds.is_empty() {
        state.frame_wanted = false;
        state.frame_all();
    }
    state.fit_shape();
    ui.allocate_rect(all, Sense::hover());
    // The edges belong to the panels that they can be dragged by.
    let id = ui.scope_id().with("picture");
    let response = ui.interact(all.shrink(EDGE), id, Sense::click_and_drag());
    state.dragging = response.dragged();
    state.view.places.note(ui, "picture", all);
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    ui.painter().image(pictures[0], rect, whole, Color32::WHITE);
    if state.beside.is_some() {
        let rect = pair::rect(state.viewport_beside, scale);
        ui.painter().image(pictures[1], rect, whole, Color32::WHITE);
        pair::names(ui, state, scale);
    }

    // Asked before egui's input is locked: what is asked of a response locks it too.
    let (drag, over) = (response.drag_delta(), response.contains_pointer());
    let left = response.dragged_by(egui::PointerButton::Primary);
    let right = response.dragged_by(egui::PointerButton::Secondary);
    let pointer = ui.input(|input| Pointer {
        drag: drag.into(),
        orbits: left && !input.modifiers.shift,
        zooms: right && input.modifiers.alt,
        scroll: if over {
            input.smooth_scroll_delta().y
        } else {
            0.0
        },
        pinch: if over { input.zoom_delta() } else { 1.0 },
    });
    if !pointer.rests() {
        state.moves(|camera, around| pointer.apply(camera, around, rect.height()));
    }
    if response.double_clicked() {
        state.refit = true;
    }
    let click = response
        .interact_pointer_pos()
        .filter(|_| response.clicked());
    joints(ui, state, rect, click);
    if state.heat && state.control.heat.is_some() {
        legend(ui, state, rect);
    }
    if state.model.is_none() {
        empty(ui, rect);
    }
    if state.model.is_none() && state.loading[0].is_none() && state.error.is_none() {
        invitation(ui, rect);
    }
    if state.hovering {
        let stroke = Stroke::new(3.0, theme::ACCENT);
        let inside = egui::StrokeKind::Inside;
        ui.painter()
            .rect_stroke(rect, CornerRadius::same(4), stroke, inside);
    }
    if state.view.graph {
        super::graph::show(ui, state, all);
    }
}

/// What to do while nothing is shown, as wide as the picture is.
fn invitation(ui: &Ui, rect: Rect) {
    let mut y = rect.center().y - 30.0;
    for (text, size, grey) in [
        ("Drop a character here, or press Open".into(), 19.0, 236),
        (files::formats(), 12.5, 205),
        ("? lists the keys".into(), 12.5, 205),
    ] {
        let (font, color) = (FontId::proportional(size), Color32::from_gray(grey));
        let width = rect.width() - 24.0;
        let mut job = egui::text::LayoutJob::simple(text, font, color, width);
        job.halign = egui::Align::Center;
        let galley = ui.painter().layout_job(job);
        let at = Pos2::new(rect.center().x, y);
        y += galley.size().y + 8.0;
        ui.painter().galley(at, galley, Color32::WHITE);
    }
}

/// Behind nothing.
fn empty(ui: &Ui, rect: Rect) {
    let mut mesh = egui::Mesh::default();
    let top = Color32::from_rgb(66, 71, 79);
    let bottom = Color32::from_rgb(108, 110, 113);
    mesh.colored_vertex(rect.left_top(), top);
    mesh.colored_vertex(rect.right_top(), top);
    mesh.colored_vertex(rect.right_bottom(), bottom);
    mesh.colored_vertex(rect.left_bottom(), bottom);
    mesh.add_triangle(0, 1, 2);
    mesh.add_triangle(0, 2, 3);
    ui.painter().add(mesh);
}

/// Joint names, and the joint that a click chooses.
fn joints(ui: &Ui, state: &mut State, rect: Rect, click: Option<Pos2>) {
    let Some(model) = &state.model else { return };
    if !state.look.joints && !state.names && !state.heat {
        return;
    }
    let size = [rect.width().max(1.0) as u32, rect.height().max(1.0) as u32];
    let painter = ui.painter_at(rect);
    let mut nearest: Option<(f32, JointId)> = None;
    let mut written: Vec<Rect> = Vec::new();
    for (skeleton, positions) in state.joints.iter().enumerate() {
        for (joint, position) in positions.iter().enumerate() {
            let id = JointId { skeleton, joint };
            let Some((pixel, _)) = state.camera.project(*position, size) else {
                continue;
            };
            let at = rect.min + Vec2::new(pixel.x as f32, pixel.y as f32);
            if let Some(click) = click {
                let distance = at.distance(click);
                if distance < nearest.map_or(REACH, |(d, _)| d) {
                    nearest = Some((distance, id));
                }
            }
            let chosen = state.look.chosen == Some(id);
            let wanted = state.names && written.len() < MOST_NAMES || chosen;
            let name = model.joint(id).filter(|_| wanted && rect.contains(at));
            if let Some(joint) = name {
                name_at(&painter, at, &joint.name, chosen, &mut written);
            }
        }
    }
    if state.look.joints
        && let Some((_, id)) = nearest
    {
        state.choose(Some(id));
    }
}

/// Writes a name beside a joint, unless it would cover another one.
fn name_at(painter: &egui::Painter, at: Pos2, name: &str, chosen: bool, written: &mut Vec<Rect>) {
    let (size, color, dark) = match chosen {
        true => (12.5, theme::ACCENT, 210),
        false => (10.5, Color32::from_gray(245), 130),
    };
    let text = painter.layout_no_wrap(name.to_owned(), FontId::proportional(size), color);
    let place = Rect::from_min_size(at + Vec2::new(8.0, -text.size().y * 0.5), text.size());
    if !chosen && written.iter().any(|r| r.intersects(place)) {
        return;
    }
    let back = place.expand2(Vec2::new(3.0, 0.5));
    painter.rect_filled(back, 3.0, Color32::from_black_alpha(dark));
    painter.galley(place.min, text, color);
    written.push(place);
}

/// What the colours of weights mean.
fn legend(ui: &Ui, state: &State, rect: Rect) {
    let model = state.model.as_ref();
    let joint = state.control.heat.and_then(|id| model?.joint(id));
    let Some(joint) = joint else { return };
    let painter = ui.painter_at(rect);
    let corner = rect.left_bottom() + Vec2::new(16.0, -30.0);
    let bar = Rect::from_min_size(corner, Vec2::new(150.0, 10.0));
    let back = bar
        .expand2(Vec2::new(10.0, 20.0))
        .translate(Vec2::new(0.0, -4.0));
    painter.rect_filled(back, 6.0, Color32::from_black_alpha(140));
    let steps = 48;
    for i in 0..steps {
        let part = i as f32 / (steps - 1) as f32;
        let width = bar.width() / steps as f32;
        let cell = Rect::from_min_size(
            bar.min + Vec2::new(i as f32 * width, 0.0),
            Vec2::new(width + 0.5, bar.height()),
        );
        painter.rect_filled(cell, CornerRadius::ZERO, theme::heat(part));
    }
    let above = bar.left_top() - Vec2::new(0.0, 3.0);
    for (at, align, text) in [
        (
            above,
            Align2::LEFT_BOTTOM,
            &*format!("weight of {}", joint.name),
        ),
        (bar.left_bottom(), Align2::LEFT_TOP, "0"),
        (bar.right_bottom(), Align2::RIGHT_TOP, "1"),
    ] {
        painter.text(
            at,
            align,
            text,
            FontId::proportional(11.0),
            Color32::from_gray(240),
        );
    }
}
