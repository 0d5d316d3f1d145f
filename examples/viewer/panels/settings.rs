//! The panel of settings: what is drawn, light, how it is skinned, clip, shapes, messages.

use egui::{ComboBox, Grid, RichText, ScrollArea, Slider, Ui};
use sinew::skel::SkinningMethod;
use sinew_render::DrawBackend;

use super::{matched, scene, section};
use crate::clips;
use crate::files;
use crate::keys::Action;
use crate::messages::clean;
use crate::state::{State, Wish};
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Room for the scroll bar.
        ui.set_max_width(ui.available_width() - 10.0);
        section(ui, "Show", true, |ui| look(ui, state));
        section(ui, "Light and background", true, |ui| {
            scene::show(ui, state)
        });
        section(ui, "Skinning", true, |ui| skinning(ui, state));
        let Some(model) = &state.model else {
            ui.add_space(8.0);
            let text = format!(
                "Open a file, or drop one into the window: {}.",
                files::format_names()
            );
            ui.label(RichText::new(text).color(theme::WEAK));
            return;
        };
        let clips = !model.clips.is_empty() || !model.cameras.is_empty() || model.walk.is_some();
        let shapes = model.shapes.len();
        let (messages, errors) = (model.messages.list().len(), model.messages.has_errors());
        if clips {
            section(ui, "Clip and camera", true, |ui| clip(ui, state));
        }
        if state.model.as_ref().is_some_and(|m| m.matched.is_some()) {
            section(ui, "Match", true, |ui| matched::show(ui, state));
        }
        if shapes > 0 {
            let title = format!("Blend shapes ({shapes})");
            section(ui, &title, true, |ui| sliders(ui, state));
        }
        section(ui, "Stage", false, |ui| stage(ui, state));
        if messages > 0 {
            let title = format!("Messages ({messages})");
            section(ui, &title, errors, |ui| tell(ui, state));
        }
    });
}

fn look(ui: &mut Ui, state: &mut State) {
    let mut pressed = None;
    Grid::new("look")
        .num_columns(2)
        .spacing([18.0, 4.0])
        .show(ui, |ui| {
            let mut check = |ui: &mut Ui, on: bool, text: &str, key: &str, action: Action| {
                let mut on = on;
                let hint = format!("key: {key}");
                if ui.checkbox(&mut on, text).on_hover_text(hint).clicked() {
                    pressed = Some(action);
                }
            };
            check(ui, state.look.joints, "Joints", "j", Action::Joints);
            check(ui, state.names, "Joint names", "n", Action::Names);
            ui.end_row();
            check(
                ui,
                state.look.wireframe,
                "Wireframe",
                "w",
                Action::Wireframe,
            );
            check(ui, state.look.normals, "Normals", "v", Action::Normals);
            ui.end_row();
            check(ui, state.look.bounds, "Bounds", "b", Action::Bounds);
            check(ui, state.look.grid, "Ground", "g", Action::Grid);
            ui.end_row();
            check(ui, state.look.surface, "Surfaces", "s", Action::Surface);
            check(ui, state.view.graph, "Frame times", "i", Action::Graph);
            ui.end_row();
        });
    if let Some(action) = pressed {
        state.act(action);
    }
}

fn skinning(ui: &mut Ui, state: &mut State) {
    Grid::new("skinning")
        .num_columns(2)
        .spacing([10.0, 5.0])
        .show(ui, |ui| {
            ui.label("Method");
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 3.0;
                let method = &mut state.control.method;
                ui.selectable_value(method, None, "Authored");
                ui.selectable_value(method, Some(SkinningMethod::ClassicLinear), "Linear");
                ui.selectable_value(method, Some(SkinningMethod::DualQuaternion), "Dual quat.");
            });
            ui.end_row();
            ui.label("Backend");
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 3.0;
                let backend = &mut state.control.backend;
                ui.selectable_value(backend, DrawBackend::Gpu, "GPU");
                ui.selectable_value(backend, DrawBackend::Cpu, "CPU");
            });
            ui.end_row();
            let mut compare = state.compare;
            ui.checkbox(&mut compare, "GPU − CPU")
                .on_hover_text("compare both at each time shown (d)");
            if compare != state.compare {
                state.act(Action::Difference);
            }
            difference(ui, state);
            ui.end_row();
        });
}

/// The largest distance between a point of both backends.
fn difference(ui: &mut Ui, state: &State) {
    match (&state.difference, state.compare) {
        (Some(Ok(d)), true) => {
            let size = state.bounds.diagonal();
            let part = if size > 0.0 { d / size } else { 0.0 };
            let color = if part < 1e-5 {
                theme::GOOD
            } else {
                theme::WARNING
            };
            let text = format!("{d:.2e} units");
            ui.label(RichText::new(text).color(color)).on_hover_text(format!(
                "the largest distance between a point of the GPU and of the CPU: {part:.1e} of the character's size"
            ));
        }
        (Some(Err(e)), true) => {
            ui.label(RichText::new(e).color(theme::ERROR));
        }
        _ => {
            ui.label(RichText::new("off").color(theme::WEAK));
        }
    }
}

fn clip(ui: &mut Ui, state: &mut State) {
    let Some(model) = &state.model else { return };
    let mut wish = None;
    if !model.clips.is_empty() {
        let shown = model.clip.and_then(|i| model.clips.get(i));
        let shown = shown.map_or(clips::AS_AUTHORED, |clip| title(&clip.label));
        ComboBox::from_id_salt("clip")
            .selected_text(shown)
            .width(ui.available_width() - 8.0)
            .show_ui(ui, |ui| {
                for (i, clip) in model.clips.iter().enumerate() {
                    let chosen = model.clip == Some(i);
                    if ui.selectable_label(chosen, title(&clip.label)).clicked() {
                        wish = Some(Wish::Clip(i));
                    }
                }
            });
    }
    if !model.cameras.is_empty() {
        ComboBox::from_id_salt("camera")
            .selected_text("Look through a camera of the file")
            .width(ui.available_width() - 8.0)
            .show_ui(ui, |ui| {
                for (i, name) in model.cameras.iter().enumerate() {
                    if ui.selectable_label(false, name).clicked() {
                        wish = Some(Wish::Camera(i));
                    }
                }
            });
    }
    state.wishes.extend(wish);
    if state.follow.walk.is_some() {
        let mut on = state.follow.on;
        let hint = "the camera goes where the root goes (a)";
        if ui
            .checkbox(&mut on, "Follow the root")
            .on_hover_text(hint)
            .clicked()
        {
            state.act(Action::Follow);
        }
    }
}

/// A clip's name, which glTF does not ask for.
fn title(name: &str) -> &str {
    if name.is_empty() {
        "unnamed clip"
    } else {
        name
    }
}

fn sliders(ui: &mut Ui, state: &mut State) {
    let Some(model) = &state.model else { return };
    ui.horizontal(|ui| {
        let search = egui::TextEdit::singleline(&mut state.shape_search)
            .hint_text("search shapes")
            .desired_width(ui.available_width() - 106.0);
        ui.add(search);
        let own = !state.control.weights.is_empty();
        let release = ui.add_enabled(own, egui::Button::new("As animated"));
        if release.on_hover_text("let go of all sliders").clicked() {
            state.control.weights.clear();
        }
    });
    let wanted = state.shape_search.trim().to_lowercase();
    let found: Vec<&String> = model
        .shapes
        .iter()
        .filter(|name| name.to_lowercase().contains(&wanted))
        .collect();
    let height = ui.spacing().interact_size.y;
    ScrollArea::vertical()
        .id_salt("shapes")
        .max_height(190.0)
        .auto_shrink([false, true])
        .show_rows(ui, height, found.len(), |ui, range| {
            for name in found.get(range).unwrap_or_default() {
                let own = state.control.weights.get(*name).copied();
                let animated = state.weights.get(*name).copied().unwrap_or(0.0);
                let mut weight = own.unwrap_or(animated);
                ui.horizontal(|ui| {
                    ui.spacing_mut().slider_width = 84.0;
                    let slider = Slider::new(&mut weight, 0.0..=1.0)
                        .clamping(egui::SliderClamping::Never)
                        .fixed_decimals(2);
                    let changed = ui.add(slider).changed();
                    let color = if own.is_some() {
                        theme::ACCENT
                    } else {
                        theme::TEXT
                    };
                    let label = egui::Label::new(RichText::new(*name).color(color)).truncate();
                    let label = ui.add(label.sense(egui::Sense::click()));
                    if label.on_hover_text("click to let go of it").clicked() {
                        state.control.weights.remove(*name);
                    } else if changed {
                        state.control.weights.insert((*name).clone(), weight);
                    }
                });
            }
        });
}

fn stage(ui: &mut Ui, state: &State) {
    let Some(model) = &state.model else { return };
    let size = state.bounds.size();
    let metres = size * model.meters_per_unit;
    Grid::new("stage")
        .num_columns(2)
        .spacing([10.0, 3.0])
        .show(ui, |ui| {
            let mut line = |name: &str, value: String| {
                ui.label(RichText::new(name).color(theme::WEAK));
                ui.label(value);
                ui.end_row();
            };
            line("Up axis", model.up_axis.to_string());
            line("Metres per unit", model.meters_per_unit.to_string());
            line(
                "Size",
                format!("{:.2} × {:.2} × {:.2} units", size.x, size.y, size.z),
            );
            line(
                "",
                format!("{:.2} × {:.2} × {:.2} m", metres.x, metres.y, metres.z),
            );
            let times = model.times;
            line(
                "Time codes",
                format!(
                    "{} to {}, {} per second",
                    times.start, times.end, times.codes_per_second
                ),
            );
        });
}

/// Most messages that are listed.
const MOST_MESSAGES: usize = 50;

/// The messages about the file, the worst first.
fn tell(ui: &mut Ui, state: &State) {
    let Some(model) = &state.model else { return };
    let list = model.messages.list();
    for message in list.iter().take(MOST_MESSAGES) {
        let text = format!("{}: {}", message.severity.name(), clean(&message.text));
        let color = theme::of_severity(message.severity);
        ui.label(RichText::new(text).small().color(color));
    }
    if let Some(more) = list.len().checked_sub(MOST_MESSAGES).filter(|n| *n > 0) {
        let text = format!("{more} more: `sinew check` lists all");
        ui.label(RichText::new(text).small().color(theme::WEAK));
    }
}
