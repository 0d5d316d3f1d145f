//! What egui shows around and over the picture.

mod bar;
mod graph;
mod help;
mod icons;
mod joints;
mod matched;
pub mod message;
mod offer;
mod pair;
mod picture;
pub mod scene;
mod settings;
mod timeline;

use egui::{Frame, Margin, Panel, Response, RichText, Ui};

use super::layout::{self, Layout, Tab};
use super::state::State;
use super::theme;

/// Lays out the window; the picture gets what the panels leave.
pub fn show(ui: &mut Ui, state: &mut State, pictures: [egui::TextureId; 2]) {
    layout::fit(ui.ctx());
    state.view.places.clear();
    let size = ui.ctx().content_rect().size();
    let layout = Layout::of(size);
    if state.panels {
        bars(ui, state, layout);
        match layout {
            Layout::Wide => {
                if state
                    .model
                    .as_ref()
                    .is_some_and(|m| m.first_joint().is_some())
                {
                    let panel = Panel::left("joints").default_size(210.0);
                    let panel = panel.size_range(130.0..=size.x * 0.4);
                    side(ui, state, panel, Tab::Joints);
                }
                let panel = Panel::right("settings").default_size(296.0);
                side(
                    ui,
                    state,
                    panel.size_range(220.0..=size.x * 0.45),
                    Tab::Settings,
                );
            }
            Layout::Tall => {
                if let Some(tab) = state.view.tab {
                    let panel = Panel::bottom("below").default_size(size.y * 0.42);
                    side(ui, state, panel.size_range(100.0..=size.y * 0.7), tab);
                }
            }
            Layout::Short => {
                if let Some(tab) = state.view.tab {
                    let panel = Panel::right("beside").default_size(296.0_f32.min(size.x * 0.5));
                    side(ui, state, panel.size_range(160.0..=size.x * 0.65), tab);
                }
            }
        }
    }
    egui::CentralPanel::no_frame().show(ui, |ui| picture::show(ui, state, pictures));
    if state.help {
        help::show(ui.ctx(), state);
    }
}

/// The bars above and below everything.
fn bars(ui: &mut Ui, state: &mut State, layout: Layout) {
    let frame = Frame::new()
        .fill(theme::BAR)
        .inner_margin(Margin::symmetric(10, 6));
    let bar = Panel::top("bar").frame(frame).show_separator_line(false);
    let bar = bar.show(ui, |ui| bar::show(ui, state, layout));
    state.view.places.note(ui, "bar", bar.response.rect);
    let timeline = Panel::bottom("timeline")
        .frame(frame)
        .show_separator_line(false);
    let timeline = timeline.show(ui, |ui| timeline::show(ui, state, layout));
    state
        .view
        .places
        .note(ui, "timeline", timeline.response.rect);
}

/// A panel beside the picture. Its edge can be dragged.
fn side(ui: &mut Ui, state: &mut State, panel: Panel, tab: Tab) {
    let frame = Frame::new().fill(theme::PANEL).inner_margin(Margin {
        left: 12,
        right: 4,
        top: 8,
        bottom: 8,
    });
    let shown = panel.frame(frame).resizable(true).show(ui, |ui| match tab {
        Tab::Settings => settings::show(ui, state),
        Tab::Joints => joints::show(ui, state),
    });
    let name = match tab {
        Tab::Settings => "settings panel",
        Tab::Joints => "joints panel",
    };
    state.view.places.note(ui, name, shown.response.rect);
}

/// A button that scripts can press by its name.
fn button(ui: &mut Ui, state: &mut State, name: &str, hint: &str) -> Response {
    let response = ui.button(name).on_hover_text(hint);
    state.view.places.note(ui, name, response.rect);
    response
}

/// One of several choices, which scripts can press by its name.
fn choice(ui: &mut Ui, state: &mut State, name: &str, chosen: bool) -> Response {
    let response = ui.selectable_label(chosen, name);
    state.view.places.note(ui, name, response.rect);
    response
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
