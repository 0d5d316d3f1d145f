//! What else can be done with a file that was dropped, below the picture.

use egui::{Align2, Color32, Rect, RichText, Ui, Vec2};

use super::message::framed;
use crate::state::State;
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State, rect: Rect) {
    let Some(offer) = state.offer.clone() else {
        return;
    };
    let frame = framed(theme::PANEL, theme::ACCENT, 10);
    let width = (rect.width() - 48.0).clamp(160.0, 560.0);
    egui::Area::new(egui::Id::unique("viewer.offer"))
        .pivot(Align2::CENTER_BOTTOM)
        .fixed_pos(rect.center_bottom() - Vec2::new(0.0, 18.0))
        .show(ui.ctx(), |ui| {
            frame.show(ui, |ui| {
                ui.set_max_width(width);
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new(&offer.text).color(Color32::from_gray(236)));
                    for (i, (label, _)) in offer.choices.iter().enumerate() {
                        if ui.button(label).clicked() {
                            state.take_choice(i);
                        }
                    }
                    if ui.small_button("close").on_hover_text("Escape").clicked() {
                        state.offer = None;
                    }
                });
            });
        });
}
