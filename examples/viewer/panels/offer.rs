//! What else can be done with a file that was dropped, below the picture.

use egui::{Color32, Panel, RichText, Ui};

use super::message::framed;
use crate::state::State;
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State) {
    let Some(offer) = state.offer.clone() else {
        return;
    };
    let panel = Panel::bottom("offer")
        .frame(framed(theme::PANEL, theme::ACCENT))
        .show_separator_line(false);
    let shown = panel.show(ui, |ui| {
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
    state.view.places.note(ui, "offer", shown.response.rect);
}
