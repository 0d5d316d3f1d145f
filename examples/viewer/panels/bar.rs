//! The bar at the top: files, which one is shown, how fast, on what.

use egui::{Align, Label, Layout as Flow, RichText, Ui};

use super::{button, choice, cut, rate, strong, thousands, weak};
use crate::files::Purpose;
use crate::layout::{Layout, Tab};
use crate::state::{State, Wish};
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State, layout: Layout) {
    if layout.is_wide() {
        ui.horizontal(|ui| {
            files(ui, state);
            export(ui, state);
            ui.add_space(4.0);
            ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                help(ui, state);
                verify(ui, state);
                adapter(ui, state);
                numbers(ui, state);
                ui.with_layout(Flow::left_to_right(Align::Center), |ui| {
                    name(ui, state);
                    counts(ui, state);
                });
            });
        });
        return;
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        files(ui, state);
        ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
            help(ui, state);
            tabs(ui, state);
        });
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        export(ui, state);
        verify(ui, state);
        ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
            numbers(ui, state);
            ui.with_layout(Flow::left_to_right(Align::Center), |ui| name(ui, state));
        });
    });
}

fn files(ui: &mut Ui, state: &mut State) {
    if button(ui, state, "Open", "open a file (o)").clicked() {
        state.wishes.push(Wish::Ask(Purpose::Open));
    }
    let shown = state.model.is_some();
    ui.add_enabled_ui(shown, |ui| {
        let hint = "save the picture, without the panels (Shift+s)";
        if button(ui, state, "Save", hint).clicked() {
            state.wishes.push(Wish::Ask(Purpose::SavePicture));
        }
        if button(ui, state, "Reload", "read the file again (r)").clicked() {
            state.wishes.push(Wish::Reload);
        }
    });
}

fn export(ui: &mut Ui, state: &mut State) {
    ui.add_enabled_ui(state.model.is_some(), |ui| {
        let menu = ui.menu_button("Export", |ui| {
            for (name, purpose) in [(".glb", Purpose::Glb), (".usdc", Purpose::Usdc)] {
                if button(ui, state, name, "write the character, with its clip").clicked() {
                    state.wishes.push(Wish::Ask(purpose));
                }
            }
        });
        state.view.places.note(ui, "Export", menu.response.rect);
    });
}

fn verify(ui: &mut Ui, state: &mut State) {
    let hint = "check every kernel on this GPU, and measure its speed";
    if button(ui, state, "Verify", hint).clicked() && state.verify.is_none() {
        state.wishes.push(Wish::Verify(Vec::new()));
    }
}

fn help(ui: &mut Ui, state: &mut State) {
    if button(ui, state, "?", "keys").clicked() {
        state.help = !state.help;
    }
}

/// The buttons of the panels in a narrow window, from right to left.
fn tabs(ui: &mut Ui, state: &mut State) {
    for (name, tab) in [("Joints", Tab::Joints), ("Settings", Tab::Settings)] {
        let open = state.view.tab == Some(tab);
        let response = choice(ui, state, name, open);
        if response.clicked() {
            state.view.tab = (!open).then_some(tab);
        }
    }
}

fn name(ui: &mut Ui, state: &State) {
    if let Some(path) = &state.loading[0] {
        ui.spinner();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        cut(
            ui,
            RichText::new(format!("reading {name}")).color(theme::ACCENT),
        );
    } else if let Some(model) = &state.model {
        let hint = format!("{}\n{}", model.path.display(), state.adapter.0);
        cut(ui, strong(model.name())).on_hover_text(hint);
    }
}

fn counts(ui: &mut Ui, state: &State) {
    let Some(model) = state.model.as_ref().filter(|_| state.loading[0].is_none()) else {
        return;
    };
    let counts = model.counts;
    let joints: usize = model.skeletons.iter().map(|s| s.joints.len()).sum();
    let meshes = if counts.meshes == 1 { "mesh" } else { "meshes" };
    let (points, triangles) = (thousands(counts.points), thousands(counts.triangles));
    let text = match counts.meshes {
        0 => format!("{} joints, no mesh", thousands(joints)),
        n => format!("{points} points · {triangles} triangles · {n} {meshes}"),
    };
    let hint = format!(
        "{} points of {} meshes are skinned or blended at each frame",
        thousands(counts.deformed_points),
        counts.skinned_meshes
    );
    cut(ui, weak(text)).on_hover_text(hint);
}

fn adapter(ui: &mut Ui, state: &State) {
    let (name, software) = &state.adapter;
    if *software {
        let hint = format!(
            "{name}: drawn and skinned by the CPU, since no graphics card was found. \
             Skinning on the CPU backend (p) is faster here."
        );
        let text = RichText::new("software adapter").color(theme::WARNING);
        ui.label(text).on_hover_text(hint);
    } else {
        let short: String = name.chars().take(28).collect();
        ui.label(weak(short)).on_hover_text(name);
    }
}

/// Points per second and frame time, from right to left.
fn numbers(ui: &mut Ui, state: &mut State) {
    let figures = state.stats.figures();
    let beside = state.beside.as_ref().map(|b| &b.model);
    let models = state.model.iter().chain(beside);
    let points: usize = models.map(|m| m.counts.deformed_points).sum();
    if let Some(skin) = figures.skinning.filter(|s| *s > 0.0 && points > 0) {
        let text = format!("{} points/s", rate(points as f64 / skin));
        ui.label(text).on_hover_text(format!(
            "{} points skinned in {:.3} ms: {}, the median of the last 2 s",
            thousands(points),
            skin * 1e3,
            state.stats.source.of_skinning()
        ));
        ui.label(weak("·"));
    }
    let (text, hint) = state.activity();
    let label = Label::new(text)
        .selectable(false)
        .sense(egui::Sense::click());
    let label = ui.add(label);
    state.view.places.note(ui, "activity", label.rect);
    if label
        .on_hover_text(format!("{hint}; a click shows a graph (i)"))
        .clicked()
    {
        state.view.graph = !state.view.graph;
    }
}
