//! The list of joints: a tree that folds and can be searched. Only the rows in view are laid out.

use egui::{RichText, ScrollArea, Sense, Ui};
use sinew_render::JointId;

use super::{choice, icons};
use crate::model::{Model, branches, rows};
use crate::state::State;
use crate::theme;

/// Fills what the panel has left.
pub fn show(ui: &mut Ui, state: &mut State) {
    let Some(model) = state.model.take() else {
        ui.label(RichText::new("no file is open").color(theme::WEAK));
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
        state.act(crate::keys::Action::Heat);
    }
}

/// The title, and whether the button of the weights was pressed.
fn head(ui: &mut Ui, state: &mut State, model: &Model) -> bool {
    let count: usize = model.skeletons.iter().map(|s| s.joints.len()).sum();
    let title = RichText::new(format!("Joints ({count})")).strong();
    ui.label(title.color(theme::STRONG));
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
                        let name = RichText::new(&joint.name).color(theme::ACCENT);
                        ui.add(egui::Label::new(name).truncate());
                    });
                });
            }
            None => {
                let none = RichText::new("no joint chosen").color(theme::WEAK);
                ui.add(egui::Label::new(none).truncate());
            }
        }
    });
    pressed
}

/// A line of the list: a heading of a skeleton, or one of its joints and whether others hang below it.
type Line = (usize, Option<(usize, bool)>);

fn list(ui: &mut Ui, state: &mut State, model: &Model) {
    let to_reveal = state.look.chosen != state.view.list.revealed;
    if let Some(id) = state.look.chosen.filter(|_| to_reveal) {
        unfold_above(state, model, id);
    }
    let lines = lines(state, model);
    if lines.is_empty() {
        ui.label(RichText::new("none of that name").color(theme::WEAK));
    }
    let height = ui.text_style_height(&egui::TextStyle::Body);
    ui.spacing_mut().interact_size.y = height;
    ui.spacing_mut().item_spacing.y = 2.0;
    let pitch = height + 2.0;
    let mut area = ScrollArea::vertical().id_salt("joints").auto_shrink(false);
    if to_reveal {
        let is_chosen = |line: &Line| {
            let joint = line.1.map(|(joint, _)| joint);
            let id = joint.map(|joint| JointId {
                skeleton: line.0,
                joint,
            });
            id.is_some() && id == state.look.chosen
        };
        let top = lines
            .iter()
            .position(is_chosen)
            .map(|row| row as f32 * pitch);
        let seen = state.view.list;
        let hidden = |top: &f32| *top < seen.offset || top + height > seen.offset + seen.height;
        if let Some(top) = top.filter(hidden) {
            area = area.vertical_scroll_offset((top - 0.4 * seen.height).max(0.0));
        }
        state.view.list.revealed = state.look.chosen;
    }
    let shown = area.show_rows(ui, height, lines.len(), |ui, range| {
        for &(number, joint) in lines.get(range).unwrap_or_default() {
            let skeleton = &model.skeletons[number];
            let Some((joint, branches)) = joint else {
                ui.label(RichText::new(&skeleton.path).small().color(theme::WEAK));
                continue;
            };
            let id = JointId {
                skeleton: number,
                joint,
            };
            row(ui, state, id, &skeleton.joints[joint], branches);
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
        let folded = |joint| {
            let id = JointId {
                skeleton: number,
                joint,
            };
            state.folded.contains(&id)
        };
        let found = rows(skeleton, &state.joint_search, folded);
        if model.skeletons.len() > 1 && !found.is_empty() {
            lines.push((number, None));
        }
        let branches = branches(skeleton);
        lines.extend(found.into_iter().map(|j| (number, Some((j, branches[j])))));
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

fn row(ui: &mut Ui, state: &mut State, id: JointId, joint: &crate::model::Joint, branches: bool) {
    let searching = !state.joint_search.trim().is_empty();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        if !searching {
            ui.add_space(joint.depth.min(16) as f32 * 9.0);
            let folded = state.folded.contains(&id);
            if icons::fold(ui, branches, folded).clicked() && branches && !state.folded.remove(&id)
            {
                state.folded.insert(id);
            }
        }
        let chosen = state.look.chosen == Some(id);
        let color = if chosen { theme::ACCENT } else { theme::TEXT };
        let name = egui::Label::new(RichText::new(&joint.name).color(color))
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
