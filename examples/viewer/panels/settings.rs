//! The panel of settings: what is drawn, light, how it is skinned, clip, shapes, messages.

use egui::{ComboBox, Grid, RichText, ScrollArea, Slider, Ui};
use sinew::skel::SkinningMethod;
use sinew_render::DrawBackend;

use super::{choices, matched, row, scene, section, variants, weak};
use crate::clips;
use crate::files;
use crate::messages::clean;
use crate::model::Model;
use crate::state::{State, Wish};
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Room for the scroll bar.
        ui.set_max_width(ui.available_width() - 10.0);
        let model = state.model.as_ref();
        let has_clips =
            |m: &Model| !m.clips.is_empty() || !m.cameras.is_empty() || m.walk.is_some();
        if model.is_some_and(has_clips) {
            section(ui, "Clip and camera", true, |ui| clip(ui, state));
        }
        if state.model.as_ref().is_some_and(|m| m.matched.is_some()) {
            section(ui, "Match", true, |ui| matched::show(ui, state));
        }
        if state
            .model
            .as_ref()
            .is_some_and(|m| m.variant_sets.is_some())
        {
            section(ui, "Variants and purposes", true, |ui| {
                variants::show(ui, state)
            });
        }
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
            ui.label(weak(text));
            return;
        };
        let shapes = model.shapes.len();
        let (messages, errors) = (model.messages.list().len(), model.messages.has_errors());
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

/// A switch: its text, the key that does the same, and whether it is on.
type Switch = (&'static str, &'static str, fn(&State) -> bool);

const SWITCHES: [Switch; 8] = [
    ("Joints", "j", |s| s.look.joints),
    ("Joint names", "n", |s| s.names),
    ("Wireframe", "w", |s| s.look.wireframe),
    ("Normals", "v", |s| s.look.normals),
    ("Bounds", "b", |s| s.look.bounds),
    ("Ground", "g", |s| s.look.grid),
    ("Surfaces", "s", |s| s.look.surface),
    ("Frame times", "i", |s| s.view.graph),
];

fn switch(ui: &mut Ui, state: &mut State, (text, key, is_on): Switch, hint: &str) {
    let mut on = is_on(state);
    if ui.checkbox(&mut on, text).on_hover_text(hint).clicked() {
        state.key(key);
    }
}

fn look(ui: &mut Ui, state: &mut State) {
    let grid = Grid::new("look").num_columns(2).spacing([18.0, 4.0]);
    grid.show(ui, |ui| {
        for two in SWITCHES.chunks(2) {
            for one in two {
                switch(ui, state, *one, &format!("key: {}", one.1));
            }
            ui.end_row();
        }
    });
}

fn skinning(ui: &mut Ui, state: &mut State) {
    let methods = [
        ("Authored", None, ""),
        ("Linear", Some(SkinningMethod::ClassicLinear), ""),
        ("Dual quat.", Some(SkinningMethod::DualQuaternion), ""),
    ];
    let backends = [("GPU", DrawBackend::Gpu, ""), ("CPU", DrawBackend::Cpu, "")];
    let grid = Grid::new("skinning").num_columns(2).spacing([10.0, 5.0]);
    grid.show(ui, |ui| {
        row(ui, "Method", |ui| {
            let method = choices(ui, state, &methods, state.control.method);
            state.control.method = method.unwrap_or(state.control.method);
        });
        row(ui, "Backend", |ui| {
            let backend = choices(ui, state, &backends, state.control.backend);
            state.control.backend = backend.unwrap_or(state.control.backend);
        });
        let hint = "compare both at each time shown (d)";
        switch(ui, state, ("GPU − CPU", "d", |s| s.compare), hint);
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
            let is_good = part < 1e-5;
            let color = if is_good { theme::GOOD } else { theme::WARNING };
            let text = format!("{d:.2e} units");
            ui.label(RichText::new(text).color(color)).on_hover_text(format!(
                "the largest distance between a point of the GPU and of the CPU: {part:.1e} of the character's size"
            ));
        }
        (Some(Err(e)), true) => {
            ui.label(RichText::new(e).color(theme::ERROR));
        }
        (None, true) => {
            ui.label(weak("…"));
        }
        (_, false) => {
            ui.label(weak("off"));
        }
    }
}

fn clip(ui: &mut Ui, state: &mut State) {
    let Some(model) = &state.model else { return };
    let names: Vec<&str> = model.clips.iter().map(|c| title(&c.label)).collect();
    let cameras: Vec<&str> = model.cameras.iter().map(String::as_str).collect();
    let playing = model.clip.and_then(|i| names.get(i));
    let playing = playing.unwrap_or(&clips::AS_AUTHORED);
    let through = "Look through a camera of the file";
    let clip = list(ui, "clip", playing, &names, model.clip);
    let camera = list(ui, "camera", through, &cameras, None);
    clip.into_iter().for_each(|number| state.play_clip(number));
    state.wishes.extend(camera.map(Wish::Camera));
    if state.follow.walk.is_some() {
        let hint = "the camera goes where the root goes (a)";
        switch(ui, state, ("Follow the root", "a", |s| s.follow.on), hint);
    }
}

/// A list that unfolds, if there is anything in it; gives the number of what was clicked.
fn list(ui: &mut Ui, id: &str, shown: &str, all: &[&str], chosen: Option<usize>) -> Option<usize> {
    if all.is_empty() {
        return None;
    }
    let list = ComboBox::from_id_salt(id).selected_text(shown);
    let list = list.width(ui.available_width() - 8.0).show_ui(ui, |ui| {
        let mut clicked = None;
        for (i, name) in all.iter().enumerate() {
            if ui.selectable_label(chosen == Some(i), *name).clicked() {
                clicked = Some(i);
            }
        }
        clicked
    });
    list.inner.flatten()
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
    let is_found = |name: &&String| name.to_lowercase().contains(&wanted);
    let found: Vec<&String> = model.shapes.iter().filter(is_found).collect();
    let height = ui.spacing().interact_size.y;
    let area = ScrollArea::vertical().id_salt("shapes").max_height(190.0);
    let area = area.auto_shrink([false, true]);
    area.show_rows(ui, height, found.len(), |ui, range| {
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
                let color = own.map_or(theme::TEXT, |_| theme::ACCENT);
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
    let times = model.times;
    let size = |size: glam::DVec3, unit: &str| {
        format!("{:.2} × {:.2} × {:.2} {unit}", size.x, size.y, size.z)
    };
    let (start, end, rate) = (times.start, times.end, times.codes_per_second);
    let in_units = state.bounds.size();
    let grid = Grid::new("stage").num_columns(2).spacing([10.0, 3.0]);
    grid.show(ui, |ui| {
        for (name, value) in [
            ("Up axis", model.up_axis.to_string()),
            ("Metres per unit", model.meters_per_unit.to_string()),
            ("Size", size(in_units, "units")),
            ("", size(in_units * model.meters_per_unit, "m")),
            ("Time codes", format!("{start} to {end}, {rate} per second")),
        ] {
            ui.label(weak(name));
            ui.label(value);
            ui.end_row();
        }
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
        ui.label(weak(text).small());
    }
}
