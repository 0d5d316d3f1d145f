//! What egui shows around and over the picture.

mod bar;
mod help;
mod icons;
mod joints;
mod matched;
mod offer;
mod pair;
mod picture;
mod settings;
mod timeline;

use egui::{Frame, Margin, Panel, RichText, Ui};

use super::state::State;
use super::theme;

/// Lays out the window; the picture gets what the panels leave.
pub fn show(ui: &mut Ui, state: &mut State, pictures: [egui::TextureId; 2]) {
    let bar = Frame::new()
        .fill(theme::BAR)
        .inner_margin(Margin::symmetric(10, 6));
    if state.panels {
        Panel::top("bar")
            .frame(bar)
            .show_separator_line(false)
            .show(ui, |ui| bar::show(ui, state));
        Panel::bottom("timeline")
            .frame(bar)
            .show_separator_line(false)
            .show(ui, |ui| timeline::show(ui, state));
        let side = Frame::new().fill(theme::PANEL).inner_margin(Margin {
            left: 12,
            right: 4,
            top: 8,
            bottom: 8,
        });
        Panel::right("settings")
            .frame(side)
            .default_size(288.0)
            .size_range(220.0..=520.0)
            .show(ui, |ui| settings::show(ui, state));
    }
    egui::CentralPanel::no_frame().show(ui, |ui| picture::show(ui, state, pictures));
    if state.help {
        help::show(ui.ctx(), state);
    }
}

/// A group of settings under a small title.
fn section(ui: &mut Ui, title: &str, open: bool, contents: impl FnOnce(&mut Ui)) {
    let title = RichText::new(title).strong().color(theme::STRONG);
    egui::CollapsingHeader::new(title)
        .default_open(open)
        .show_unindented(ui, |ui| {
            ui.add_space(1.0);
            contents(ui);
            ui.add_space(5.0);
        });
}

/// `1234567` as `1,234,567`.
fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1234567.0` as `1.23 M`.
fn rate(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.0} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(999), "999");
        assert_eq!(rate(52_340_000.0), "52.3 M");
        assert_eq!(rate(1_200.0), "1 k");
    }
}
