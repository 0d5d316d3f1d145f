//! The list of joints: a tree that folds and can be searched. Only the rows in view are laid out.

use egui::collapsing_header::paint_default_icon;
use egui::{RichText, ScrollArea, Sense, Ui, Vec2};
use sinew_render::JointId;

use super::{choice, cut, strong, weak};
use crate::model::{Model, Row, rows};
use crate::state::State;
use crate::theme;

/// Fills what the panel has left.
pub fn show(ui: &mut Ui, state: &mut State) {
    let Some(model) = state.model.take() else {
        ui.label(weak("no file is open"));
        return;
    };
    let heat_pressed = head(ui, state, &model);
    let search = egui::TextEdit::singleline(&mut state.joint_search)
        .hint_text("search joints")
        .desired_width(ui.available_width() - 16.0);
    if ui.add(search).changed() {
        // Its row moves.
        state.view.list.revealed = None;
    }
    list(ui, state, &model);
    state.model = Some(model);
    if heat_pressed {
        state.key("h");
    }
}

/// The title, and whether the button of the weights was pressed.
fn head(ui: &mut Ui, state: &mut State, model: &Model) -> bool {
    let count: usize = model.skeletons.iter().map(|s| s.joints.len()).sum();
    ui.label(strong(format!("Joints ({count})")));
    let mut pressed = false;
    ui.horizontal(|ui| {
        let hint = "weights of the chosen joint as colours (h)";
        let heat = choice(ui, state, "Weights", state.heat).on_hover_text(hint);
        pressed = heat.clicked();
        match state.look.chosen.and_then(|id| model.joint(id)) {
            Some(joint) => {
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    ui.add_space(10.0);
                    if ui.small_button("clear").on_hover_text("Escape").clicked() {
                        state.choose(None);
                    }
                    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                        cut(ui, RichText::new(&joint.name).color(theme::ACCENT));
                    });
                });
            }
            None => {
                cut(ui, weak("no joint chosen"));
            }
        }
    });
    pressed
}

/// A line of the list.
enum Line {
    Skeleton(usize),
    Joint(JointId, Row),
}

fn list(ui: &mut Ui, state: &mut State, model: &Model) {
    let to_reveal = state.look.chosen != state.view.list.revealed;
    if let Some(id) = state.look.chosen.filter(|_| to_reveal) {
        unfold_above(state, model, id);
    }
    let lines = lines(state, model);
    if lines.is_empty() {
        ui.label(weak("none of that name"));
    }
    let height = ui.text_style_height(&egui::TextStyle::Body);
    ui.spacing_mut().interact_size.y = height;
    ui.spacing_mut().item_spacing.y = 2.0;
    let pitch = height + 2.0;
    let mut area = ScrollArea::vertical().id_salt("joints").auto_shrink(false);
    if to_reveal {
        let chosen = state.look.chosen;
        let is_chosen = |line: &Line| matches!(line, Line::Joint(id, _) if Some(*id) == chosen);
        let row = lines.iter().position(is_chosen);
        let top = row.map(|row| row as f32 * pitch);
        let seen = state.view.list;
        let hidden = |top: &f32| *top < seen.offset || top + height > seen.offset + seen.height;
        if let Some(top) = top.filter(hidden) {
            area = area.vertical_scroll_offset((top - 0.4 * seen.height).max(0.0));
        }
        state.view.list.revealed = state.look.chosen;
    }
    let shown = area.show_rows(ui, height, lines.len(), |ui, range| {
        for line in lines.get(range).unwrap_or_default() {
            match line {
                Line::Skeleton(number) => {
                    ui.label(weak(&model.skeletons[*number].path).small());
                }
                Line::Joint(id, shown) => {
                    let joint = &model.skeletons[id.skeleton].joints[id.joint];
                    row(ui, state, *id, &joint.name, *shown);
                }
            }
        }
    });
    state.view.list.offset = shown.state.clamped_offset().y;
    state.view.list.height = shown.inner_rect.height();
    state.view.places.note(ui, "joint list", shown.inner_rect);
}

/// One list over all skeletons.
fn lines(state: &State, model: &Model) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, skeleton) in model.skeletons.iter().enumerate() {
        let id = |joint| JointId {
            skeleton: number,
            joint,
        };
        let folded = |joint| state.folded.contains(&id(joint));
        let found = rows(skeleton, &state.joint_search, folded);
        if model.skeletons.len() > 1 && !found.is_empty() {
            lines.push(Line::Skeleton(number));
        }
        lines.extend(found.into_iter().map(|row| Line::Joint(id(row.joint), row)));
    }
    lines
}

/// Unfolds all that a joint is below of.
fn unfold_above(state: &mut State, model: &Model, id: JointId) {
    let mut above = model.joint(id).and_then(|j| j.parent);
    while let Some(joint) = above {
        let parent = JointId {
            skeleton: id.skeleton,
            joint,
        };
        state.folded.remove(&parent);
        above = model.joint(parent).and_then(|j| j.parent);
    }
}

fn row(ui: &mut Ui, state: &mut State, id: JointId, name: &str, row: Row) {
    let searching = !state.joint_search.trim().is_empty();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        if !searching {
            ui.add_space(row.depth.min(16) as f32 * 9.0);
            let folded = state.folded.contains(&id);
            let (_, fold) = ui.allocate_exact_size(Vec2::new(11.0, 14.0), Sense::click());
            if row.branches {
                paint_default_icon(ui, f32::from(u8::from(!folded)), &fold);
            }
            if fold.clicked() && row.branches && !state.folded.remove(&id) {
                state.folded.insert(id);
            }
        }
        let chosen = state.look.chosen == Some(id);
        let color = if chosen { theme::ACCENT } else { theme::TEXT };
        let name = egui::Label::new(RichText::new(name).color(color))
            .sense(Sense::click())
            .selectable(false)
            .truncate();
        let name = ui.add(name);
        if chosen {
            state.view.places.note(ui, "chosen joint", name.rect);
        }
        if name.clicked() {
            state.choose(if chosen { None } else { Some(id) });
        }
    });
}
