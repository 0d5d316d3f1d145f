//! The checks of this GPU: how far they are, then what was found.

use egui::{Align2, Context, ProgressBar, RichText, ScrollArea, Vec2};

use super::button;
use crate::state::State;
use crate::verify::Verify;

pub fn show(ctx: &Context, state: &mut State) {
    let Some(verify) = state.verify.clone() else {
        return;
    };
    let room = ctx.content_rect().size() - Vec2::new(44.0, 130.0);
    let mut open = true;
    egui::Window::new("Verify on this GPU")
        .open(&mut open)
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .auto_sized()
        .collapsible(false)
        .show(ctx, |ui| match &verify {
            Verify::Running { what, done, all } => {
                ui.label("Every kernel is compared with the CPU. This takes a minute or more.");
                let part = *done as f32 / (*all).max(1) as f32;
                let text = format!("{done} of {all} {what}");
                ui.add(
                    ProgressBar::new(part)
                        .text(text)
                        .desired_width(360.0_f32.min(room.x)),
                );
            }
            Verify::Failed(reason) => {
                ui.set_max_width(360.0_f32.min(room.x));
                ui.label(reason);
            }
            Verify::Done(report) => {
                let text = report.adapters.iter().map(|a| {
                    let mut text = format!("{}\n{}", a.adapter.name, a.table());
                    let failures = a
                        .failures
                        .iter()
                        .map(|f| format!("{}: {}", f.check, f.message));
                    failures
                        .chain(a.error.clone())
                        .for_each(|line| text += &(line + "\n"));
                    text
                });
                let text: String = text.collect();
                ScrollArea::both()
                    .max_width(room.x)
                    .max_height(room.y)
                    .show(ui, |ui| ui.label(RichText::new(text).monospace()));
                let hint = "copy the whole report as JSON, for an issue";
                if button(ui, state, "Copy JSON", hint).clicked() {
                    let json = format!("{:#}", verify.json());
                    ui.ctx().copy_text(json.clone());
                    state.view.copied = Some(json);
                }
            }
        });
    if !open && !verify.is_running() {
        state.verify = None;
    }
}
