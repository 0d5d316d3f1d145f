//! The picture, the pointer over it, and what is written over it.

use egui::{Align2, Color32, CornerRadius, FontId, Pos2, Rect, Sense, Stroke, Ui, Vec2};
use sinew_render::JointId;

use super::{offer, pair};
use crate::files;
use crate::moves::{self, Pointer};
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
    let edge = |v: f32| (v * scale).round().max(0.0);
    let (left, top) = (edge(rect.left()), edge(rect.top()));
    let (right, bottom) = (edge(rect.right()), edge(rect.bottom()));
    let pixels = [left, top, right - left, bottom - top];
    let rect = Rect::from_min_max(
        Pos2::new(left, top) / scale,
        Pos2::new(right, bottom) / scale,
    );
    let [whole, beside] = pair::split(pixels.map(|n| n.max(0.0) as u32), state.beside.is_some());
    (state.viewport, state.viewport_beside) = (whole, beside);
    let (all, rect) = (rect, pair::rect(state.viewport, scale));
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
    let pointer = ui.input(|input| Pointer {
        drag: [drag.x, drag.y],
        left,
        shift: input.modifiers.shift,
        scroll: if over {
            input.smooth_scroll_delta().y
        } else {
            0.0
        },
        pinch: if over { input.zoom_delta() } else { 1.0 },
    });
    for step in moves::of_pointer(pointer, rect.height()) {
        state.move_camera(step);
    }
    if response.double_clicked() {
        state.refit = true;
    }
    joints(
        ui,
        state,
        rect,
        response
            .clicked()
            .then(|| response.interact_pointer_pos())
            .flatten(),
    );
    if state.heat && state.control.heat.is_some() {
        legend(ui, state, rect);
    }
    if state.model.is_none() {
        empty(ui, rect);
    }
    if state.model.is_none() && state.loading.is_none() && state.error.is_none() {
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
    super::message::show(ui, state, all);
    if state.offer.is_some() {
        offer::show(ui, state, all);
    }
}

/// What to do while nothing is shown, as wide as the picture is.
fn invitation(ui: &Ui, rect: Rect) {
    let line = |text: String, size: f32, grey: u8| {
        let font = FontId::proportional(size);
        let mut job = egui::text::LayoutJob::simple(
            text,
            font,
            Color32::from_gray(grey),
            rect.width() - 24.0,
        );
        job.halign = egui::Align::Center;
        ui.painter().layout_job(job)
    };
    let mut y = rect.center().y - 30.0;
    for galley in [
        line("Drop a character here, or press Open".into(), 19.0, 236),
        line(files::formats(), 12.5, 205),
        line("? lists the keys".into(), 12.5, 205),
    ] {
        let height = galley.size().y;
        ui.painter()
            .galley(Pos2::new(rect.center().x, y), galley, Color32::WHITE);
        y += height + 8.0;
    }
}

/// Behind nothing.
fn empty(ui: &Ui, rect: Rect) {
    let mut mesh = egui::Mesh::default();
    let (top, bottom) = (
        Color32::from_rgb(66, 71, 79),
        Color32::from_rgb(108, 110, 113),
    );
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
    let font = FontId::proportional(if chosen { 12.5 } else { 10.5 });
    let color = if chosen {
        theme::ACCENT
    } else {
        Color32::from_gray(245)
    };
    let text = painter.layout_no_wrap(name.to_owned(), font, color);
    let place = Rect::from_min_size(at + Vec2::new(8.0, -text.size().y * 0.5), text.size());
    if !chosen && written.iter().any(|r| r.intersects(place)) {
        return;
    }
    let back = place.expand2(Vec2::new(3.0, 0.5));
    painter.rect_filled(
        back,
        3.0,
        Color32::from_black_alpha(if chosen { 210 } else { 130 }),
    );
    painter.galley(place.min, text, color);
    written.push(place);
}

/// What the colours of weights mean.
fn legend(ui: &Ui, state: &State, rect: Rect) {
    let Some(joint) = state
        .control
        .heat
        .and_then(|id| state.model.as_ref()?.joint(id))
    else {
        return;
    };
    let painter = ui.painter_at(rect);
    let bar = Rect::from_min_size(
        Pos2::new(rect.left() + 16.0, rect.bottom() - 30.0),
        Vec2::new(150.0, 10.0),
    );
    painter.rect_filled(
        bar.expand2(Vec2::new(10.0, 20.0))
            .translate(Vec2::new(0.0, -4.0)),
        6.0,
        Color32::from_black_alpha(140),
    );
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
    let font = FontId::proportional(11.0);
    let color = Color32::from_gray(240);
    let above = bar.left_top() - Vec2::new(0.0, 3.0);
    let text = format!("weight of {}", joint.name);
    painter.text(above, Align2::LEFT_BOTTOM, text, font.clone(), color);
    painter.text(
        bar.left_bottom(),
        Align2::LEFT_TOP,
        "0",
        font.clone(),
        color,
    );
    painter.text(bar.right_bottom(), Align2::RIGHT_TOP, "1", font, color);
}
