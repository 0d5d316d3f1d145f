//! How a clip of another file was matched: which joint follows which.

use egui::{Grid, RichText, ScrollArea, Ui};
use sinew::Warning;
use sinew_animate::retarget::MatchHow;

use crate::live::Matched;
use crate::loader::{Place, Task};
use crate::state::{State, Wish};
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State) {
    let matched = state.model.as_ref().and_then(|m| m.matched.clone());
    let Some(matched) = matched else { return };
    summary(ui, &matched);
    let hint = "shows the clip on its own skeleton, at the same time";
    if ui
        .button("Show the source beside")
        .on_hover_text(hint)
        .clicked()
    {
        let motion = &matched.motion;
        let task = Task::open(motion.file.clone(), motion.clip.clone());
        state.wishes.push(Wish::Load(task, Place::Beside));
    }
    let (own, others): (Vec<_>, Vec<_>) = matched
        .warnings
        .iter()
        .partition(|w| w.code.starts_with("retarget"));
    warnings(ui, &own);
    table(ui, &matched);
    for (what, joints) in [
        ("Not followed", &matched.unmatched[0]),
        ("At rest", &matched.unmatched[1]),
    ] {
        if !joints.is_empty() {
            let title = format!("{what} ({})", joints.len());
            egui::CollapsingHeader::new(title)
                .id_salt(what)
                .show(ui, |ui| {
                    ui.label(RichText::new(joints.join(", ")).small().color(theme::WEAK));
                });
        }
    }
    if !others.is_empty() {
        egui::CollapsingHeader::new(format!("Of both files ({})", others.len()))
            .id_salt("files")
            .show(ui, |ui| warnings(ui, &others));
    }
}

fn warnings(ui: &mut Ui, warnings: &[&Warning]) {
    for warning in warnings {
        let text = format!("{} [{}]", warning.message, warning.code);
        ui.label(RichText::new(text).small().color(theme::WARNING))
            .on_hover_text(&warning.path);
    }
}

fn summary(ui: &mut Ui, matched: &Matched) {
    let file = matched.motion.file.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    ui.label(format!("The clip of {file}, retargeted"));
    ui.horizontal(|ui| {
        for how in [MatchHow::Named, MatchHow::Guessed, MatchHow::Missing] {
            let count = matched.count(how);
            if count > 0 {
                let text = format!("{count} {}", how.name());
                ui.label(RichText::new(text).strong().color(color(how)));
            }
        }
    });
    let [source, target] = matched.origins.clone().map(Option::unwrap_or_default);
    let text = match source == target {
        true => format!("by {source}"),
        false => format!("by {source}; the character: {target}"),
    };
    let scale = format!("root motion scaled by {:.3}", matched.root_scale);
    ui.label(RichText::new(text).small().color(theme::WEAK))
        .on_hover_text(scale);
}

fn color(how: MatchHow) -> egui::Color32 {
    match how {
        MatchHow::Named => theme::GOOD,
        MatchHow::Guessed => theme::WARNING,
        MatchHow::Missing => theme::ERROR,
    }
}

fn table(ui: &mut Ui, matched: &Matched) {
    ScrollArea::both()
        .id_salt("match")
        .max_height(220.0)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            Grid::new("match")
                .num_columns(3)
                .spacing([10.0, 2.0])
                .show(ui, |ui| {
                    for title in ["source", "target", "bone"] {
                        ui.label(RichText::new(title).small().color(theme::WEAK));
                    }
                    ui.end_row();
                    for row in &matched.rows {
                        let cell = |name: &Option<String>| {
                            let text = name.as_deref().unwrap_or("missing");
                            let color = match name {
                                Some(_) => theme::TEXT,
                                None => color(MatchHow::Missing),
                            };
                            RichText::new(text).small().color(color)
                        };
                        ui.label(cell(&row.source));
                        ui.label(cell(&row.target));
                        let bone = RichText::new(row.bone.unwrap_or("-")).small();
                        ui.label(bone.color(color(row.how)))
                            .on_hover_text(row.how.name());
                        ui.end_row();
                    }
                });
        });
}
