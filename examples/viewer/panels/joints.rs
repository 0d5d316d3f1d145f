//! The list of joints, as a tree that folds and can be searched.

use egui::{RichText, ScrollArea, Sense, Ui};
use sinew_render::JointId;

use super::icons;
use crate::model::{has_children, rows};
use crate::state::State;
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State) {
    let Some(model) = state.model.take() else {
        return;
    };
    ui.horizontal(|ui| {
        let mut heat = state.heat;
        let hint = "weights of the chosen joint as colours (h)";
        if ui
            .toggle_value(&mut heat, "Weights")
            .on_hover_text(hint)
            .clicked()
        {
            state.model = Some(model.clone());
            state.act(crate::keys::Action::Heat);
            state.model = None;
        }
        if let Some(joint) = state.look.chosen.and_then(|id| model.joint(id)) {
            ui.label(RichText::new(&joint.name).color(theme::ACCENT));
            if ui.small_button("clear").clicked() {
                state.choose(None);
            }
        } else {
            ui.label(RichText::new("no joint chosen").color(theme::WEAK));
        }
    });
    let search = egui::TextEdit::singleline(&mut state.joint_search)
        .hint_text("search joints")
        .desired_width(ui.available_width() - 16.0);
    ui.add(search);
    // One list over all skeletons: a heading and its joints.
    let mut lines: Vec<(usize, Option<usize>)> = Vec::new();
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
        lines.extend(found.into_iter().map(|j| (number, Some(j))));
    }
    if lines.is_empty() {
        ui.label(RichText::new("none of that name").color(theme::WEAK));
    }
    let height = ui.text_style_height(&egui::TextStyle::Body);
    ui.spacing_mut().interact_size.y = height;
    ui.spacing_mut().item_spacing.y = 2.0;
    ScrollArea::vertical()
        .id_salt("joints")
        .max_height(230.0)
        .auto_shrink([false, true])
        .show_rows(ui, height, lines.len(), |ui, range| {
            for &(number, joint) in lines.get(range).unwrap_or_default() {
                let skeleton = &model.skeletons[number];
                match joint {
                    None => {
                        ui.label(RichText::new(&skeleton.path).small().color(theme::WEAK));
                    }
                    Some(joint) => {
                        let id = JointId {
                            skeleton: number,
                            joint,
                        };
                        row(
                            ui,
                            state,
                            id,
                            &skeleton.joints[joint],
                            has_children(skeleton, joint),
                        );
                    }
                }
            }
        });
    state.model = Some(model);
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
        if ui.add(name).clicked() {
            state.choose(if chosen { None } else { Some(id) });
        }
    });
}
