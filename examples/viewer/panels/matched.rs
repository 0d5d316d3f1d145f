//! How a clip of another file was matched: which joint follows which.

use egui::{Grid, RichText, ScrollArea, Ui};
use sinew_animate::retarget::{MatchHow, MatchRow};

use super::weak;
use crate::findings;
use crate::live::{self, Matched, Tone};
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
        let task = Task::open(&matched.task.file, matched.task.clip.clone());
        state.wishes.push(Wish::Load(task, Place::Beside));
    }
    let hint = "copies the command that writes this clip for the character";
    if ui.button("Copy the command").on_hover_text(hint).clicked() {
        ui.ctx().copy_text(matched.command());
    }
    warnings(ui, &matched);
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
                    ui.label(weak(joints.join(", ")).small());
                });
        }
    }
}

/// The warnings about the match that its summary does not say.
fn warnings(ui: &mut Ui, matched: &Matched) {
    let own = matched.own_warnings();
    for own in own.filter(|w| !matched.is_told_calmly(w)) {
        let text = format!("{} [{}]", own.message, own.code);
        let color = theme::of_severity(findings::severity(own.code));
        ui.label(RichText::new(text).small().color(color))
            .on_hover_text(&own.path);
    }
}

fn summary(ui: &mut Ui, matched: &Matched) {
    let file = matched.task.file.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    ui.label(format!("The clip of {file}, retargeted"));
    // What the calm lines leave out.
    let calm = matched.own_warnings().filter(|w| matched.is_told_calmly(w));
    let hint: Vec<String> = calm
        .map(|w| format!("{} [{}]", w.message, w.code))
        .collect();
    for (tone, text) in matched.summary() {
        match tone {
            Tone::Calm => {
                let label = ui.label(weak(text).small());
                if !hint.is_empty() {
                    label.on_hover_text(hint.join("\n"));
                }
            }
            tone => {
                ui.label(RichText::new(text).strong().color(color(tone)));
            }
        }
    }
    let [source, target] = matched.origins.clone().map(Option::unwrap_or_default);
    let text = match source == target {
        true => format!("by {source}"),
        false => format!("by {source}; the character: {target}"),
    };
    let scale = format!("root motion scaled by {:.3}", matched.root_scale);
    ui.label(weak(text).small()).on_hover_text(scale);
}

fn color(tone: Tone) -> egui::Color32 {
    match tone {
        Tone::Good => theme::GOOD,
        Tone::Doubtful => theme::WARNING,
        Tone::Bad => theme::ERROR,
        Tone::Calm => theme::WEAK,
    }
}

/// How a row of the table is meant.
fn tone(row: &MatchRow) -> Tone {
    match row.how {
        MatchHow::Named => Tone::Good,
        MatchHow::Guessed => Tone::Doubtful,
        MatchHow::Missing if live::is_main(row) => Tone::Bad,
        MatchHow::Missing => Tone::Calm,
    }
}

/// Lists main bones that lack first, then the pairs, then optional bones of one side.
fn table(ui: &mut Ui, matched: &Matched) {
    let pairs = matched.rows.iter().filter(|r| r.how != MatchHow::Missing);
    let rows = matched.lacking().chain(pairs).chain(matched.optional());
    let area = ScrollArea::both().id_salt("match").max_height(220.0);
    let grid = Grid::new("match").num_columns(3).spacing([10.0, 2.0]);
    let show = |ui: &mut Ui| {
        for title in ["source", "target", "bone"] {
            ui.label(weak(title).small());
        }
        ui.end_row();
        for row in rows {
            let tone = tone(row);
            for name in [&row.source, &row.target] {
                let (text, color) = match (name.as_deref(), tone) {
                    (Some(name), Tone::Calm) => (name, theme::WEAK),
                    (Some(name), _) => (name, theme::TEXT),
                    (None, Tone::Bad) => ("missing", theme::ERROR),
                    (None, _) => ("none", theme::WEAK),
                };
                ui.label(RichText::new(text).small().color(color));
            }
            let bone = RichText::new(row.bone.unwrap_or("-")).small();
            ui.label(bone.color(color(tone))).on_hover_text(hint(row));
            ui.end_row();
        }
    };
    area.auto_shrink([false, true])
        .show(ui, |ui| grid.show(ui, show));
}

/// How a row was found.
fn hint(row: &MatchRow) -> &'static str {
    match (row.how, live::is_main(row)) {
        (MatchHow::Missing, true) => "a main bone that one side lacks",
        (MatchHow::Missing, false) => "an optional bone of one side: the body moves without it",
        (how, _) => how.name(),
    }
}
