//! The bar at the top: which file, how fast, on what.

use egui::{Align, Layout, RichText, Ui};

use super::{rate, thousands};
use crate::state::{State, Wish};
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State) {
    ui.horizontal(|ui| {
        match &state.model {
            Some(model) => {
                let name = RichText::new(model.name()).strong().color(theme::STRONG);
                ui.label(name)
                    .on_hover_text(model.path.display().to_string());
                let counts = model.counts;
                let joints: usize = model.skeletons.iter().map(|s| s.joints.len()).sum();
                let text = if counts.meshes == 0 {
                    format!("{} joints, no mesh", thousands(joints))
                } else {
                    format!(
                        "{} points · {} triangles · {} {}",
                        thousands(counts.points),
                        thousands(counts.triangles),
                        counts.meshes,
                        if counts.meshes == 1 { "mesh" } else { "meshes" }
                    )
                };
                let hint = format!(
                    "{} points of {} meshes are skinned or blended at each frame",
                    thousands(counts.deformed_points),
                    counts.skinned_meshes
                );
                ui.label(RichText::new(text).color(theme::WEAK))
                    .on_hover_text(hint);
            }
            None => {
                ui.label(RichText::new("no file").color(theme::WEAK));
            }
        }
        if let Some(path) = &state.loading {
            ui.spinner();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            ui.label(RichText::new(format!("reading {name}")).color(theme::ACCENT));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.button("?").on_hover_text("keys").clicked() {
                state.help = !state.help;
            }
            let reload = ui.add_enabled(state.model.is_some(), egui::Button::new("Reload"));
            if reload.on_hover_text("read the file again (r)").clicked() {
                state.wishes.push(Wish::Reload);
            }
            adapter(ui, state);
            numbers(ui, state);
        });
    });
}

fn adapter(ui: &mut Ui, state: &State) {
    let (name, software) = &state.adapter;
    let short: String = name.chars().take(28).collect();
    if *software {
        ui.label(RichText::new("software adapter").color(theme::WARNING))
            .on_hover_text(format!(
                "{name}: drawn and skinned by the CPU, since no graphics card was found. \
                 Skinning on the CPU backend (p) is faster here."
            ));
    } else {
        ui.label(RichText::new(short).color(theme::WEAK))
            .on_hover_text(name);
    }
}

/// Frame time and points per second.
fn numbers(ui: &mut Ui, state: &State) {
    let stats = &state.stats;
    let points = state.model.as_ref().map_or(0, |m| m.counts.deformed_points);
    if let Some(skin) = stats.skin.filter(|s| *s > 0.0 && points > 0) {
        let text = format!("{} points/s", rate(points as f64 / skin));
        ui.label(text).on_hover_text(format!(
            "{} points skinned in {:.3} ms, {}",
            thousands(points),
            skin * 1e3,
            stats.skin_source
        ));
        ui.label(RichText::new("·").color(theme::WEAK));
    }
    let frame = match stats.frame {
        Some(seconds) => format!("{:.1} ms/frame", seconds * 1e3),
        None => "at rest".into(),
    };
    ui.label(frame)
        .on_hover_text("from one frame to the next; nothing is drawn while nothing moves");
}
