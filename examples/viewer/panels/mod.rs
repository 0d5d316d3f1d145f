//! What egui shows around and over the picture.

mod bar;
mod graph;
mod help;
mod icons;
mod joints;
mod matched;
mod message;
mod offer;
mod pair;
mod picture;
pub mod scene;
mod settings;
mod timeline;
mod variants;
mod verify;

use egui::{Frame, Label, Margin, Panel, Response, RichText, Ui};

use super::layout::{self, Layout, Tab};
use super::state::State;
use super::theme;

/// Lays out the window; the picture gets what the panels leave.
pub fn show(ui: &mut Ui, state: &mut State, pictures: [egui::TextureId; 2]) {
    layout::fit(ui.ctx());
    state.view.places.clear();
    state.view.scale = ui.ctx().pixels_per_point();
    let size = ui.ctx().content_rect().size();
    let layout = Layout::of(size);
    if !state.bare {
        bars(ui, state, layout);
        let model = state.model.as_ref();
        let has_joints = model.is_some_and(|m| m.first_joint().is_some());
        let (left, right) = (Panel::left("joints"), Panel::right("settings"));
        let (below, beside) = (Panel::bottom("below"), Panel::right("beside"));
        // Each with its size at first, and the range of its size.
        let wide = [
            (Tab::Joints, left, 210.0, 130.0..=size.x * 0.4),
            (Tab::Settings, right, 296.0, 220.0..=size.x * 0.45),
        ];
        let narrow = state.view.tab.map(|tab| match layout {
            Layout::Tall => (tab, below, size.y * 0.42, 100.0..=size.y * 0.7),
            _ => (
                tab,
                beside,
                296.0_f32.min(size.x * 0.5),
                160.0..=size.x * 0.65,
            ),
        });
        let shown: Vec<_> = match layout.is_wide() {
            true => wide.into_iter().skip(usize::from(!has_joints)).collect(),
            false => narrow.into_iter().collect(),
        };
        for (tab, panel, at_first, range) in shown {
            side(
                ui,
                state,
                panel.default_size(at_first).size_range(range),
                tab,
            );
        }
    }
    message::show(ui, state);
    offer::show(ui, state);
    egui::CentralPanel::no_frame().show(ui, |ui| picture::show(ui, state, pictures));
    if state.help {
        help::show(ui.ctx(), state);
    }
    verify::show(ui.ctx(), state);
}

/// The bars above and below everything.
fn bars(ui: &mut Ui, state: &mut State, layout: Layout) {
    type Show = fn(&mut Ui, &mut State, Layout);
    for (name, bar, contents) in [
        ("bar", Panel::top("bar"), bar::show as Show),
        ("timeline", Panel::bottom("timeline"), timeline::show),
    ] {
        let frame = Frame::new()
            .fill(theme::BAR)
            .inner_margin(Margin::symmetric(10, 6));
        let bar = bar.frame(frame).show_separator_line(false);
        let shown = bar.show(ui, |ui| contents(ui, state, layout));
        state.view.places.note(ui, name, shown.response.rect);
    }
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

/// All of several choices beside each other, each with a hint; gives the one that was clicked.
fn choices<T: Copy + PartialEq>(
    ui: &mut Ui,
    state: &mut State,
    all: &[(&str, T, &str)],
    now: T,
) -> Option<T> {
    let mut clicked = None;
    for (name, value, hint) in all {
        let mut response = choice(ui, state, name, *value == now);
        if !hint.is_empty() {
            response = response.on_hover_text(*hint);
        }
        clicked = clicked.or(response.clicked().then_some(*value));
    }
    clicked
}

/// A row of a grid: a label, and what it is about.
fn row(ui: &mut Ui, label: &str, contents: impl FnOnce(&mut Ui)) {
    ui.label(label);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        contents(ui);
    });
    ui.end_row();
}

/// Text that says less than the others.
fn weak(text: impl Into<String>) -> RichText {
    RichText::new(text).color(theme::WEAK)
}

/// The text of a title.
fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).strong().color(theme::STRONG)
}

/// A label that is cut off at the right end of its place.
fn cut(ui: &mut Ui, text: RichText) -> Response {
    ui.add(Label::new(text).truncate())
}

/// A group of settings under a small title.
fn section(ui: &mut Ui, title: &str, open: bool, contents: impl FnOnce(&mut Ui)) {
    egui::CollapsingHeader::new(strong(title))
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
