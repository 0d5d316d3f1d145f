//! The messages above the picture, which they do not cover: an error with the lines that it names, or a notice.

use egui::{Align, Color32, Frame, Label, Margin, Panel, RichText, ScrollArea, Stroke, Ui};

use super::{button, weak};
use crate::messages::{Excerpt, clean};
use crate::state::State;
use crate::theme;

/// The part of the window's height that the text of a message has at most. More of it scrolls.
const HEIGHT: f32 = 0.15;

/// Shows the error, or else the notice, until it is closed.
pub fn show(ui: &mut Ui, state: &mut State) {
    if state.view.problem.as_ref().map(|(shown, _)| shown) != state.error.as_ref() {
        let with_lines = |text: &String| (text.clone(), Excerpt::of(text));
        state.view.problem = state.error.as_ref().map(with_lines);
    }
    let (title, fill, line, text, excerpt) = match (&state.view.problem, &state.view.notice) {
        (Some((text, excerpt)), _) => (
            "Something failed",
            Color32::from_rgb(58, 27, 27),
            theme::ERROR,
            clean(text),
            excerpt.clone(),
        ),
        (None, Some(text)) => {
            let fill = Color32::from_rgb(32, 38, 48);
            ("Viewer", fill, theme::WEAK, text.clone(), None)
        }
        (None, None) => return,
    };
    let height = (ui.ctx().content_rect().height() * HEIGHT).max(40.0);
    // Panels remember the height of their last contents, so each message is its own.
    let id = egui::Id::unique("viewer.message").with(&text);
    let panel = Panel::top(id)
        .frame(framed(fill, line))
        .show_separator_line(false);
    let shown = panel.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new(title).strong().color(line));
            ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
                if button(ui, state, "Close", "Escape").clicked() {
                    state.close_message();
                }
                if button(ui, state, "Copy", "copy the whole message").clicked() {
                    let whole = whole(&text, excerpt.as_ref());
                    ui.ctx().copy_text(whole.clone());
                    state.view.copied = Some(whole);
                }
            });
        });
        let area = ScrollArea::vertical().max_height(height);
        area.show(ui, |ui| {
            let message = RichText::new(&text).size(12.5).color(theme::STRONG);
            ui.add(Label::new(message).wrap().selectable(true));
            if let Some(excerpt) = &excerpt {
                lines(ui, excerpt);
            }
        });
    });
    state.view.places.note(ui, "message", shown.response.rect);
}

/// The frame of messages and offers.
pub fn framed(fill: Color32, line: Color32) -> Frame {
    Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line))
        .inner_margin(Margin::symmetric(10, 6))
}

/// The whole text of a message: what is copied.
fn whole(text: &str, excerpt: Option<&Excerpt>) -> String {
    match excerpt {
        Some(e) => format!("{text}\n\n{}:{}\n{}", e.file.display(), e.line, e.text),
        None => text.to_owned(),
    }
}

/// The lines of the file that the message names. Long ones scroll.
fn lines(ui: &mut Ui, excerpt: &Excerpt) {
    ui.add_space(6.0);
    let name = excerpt.file.file_name().unwrap_or_default();
    let title = format!("{}, line {}", name.to_string_lossy(), excerpt.line);
    ui.label(weak(title).small())
        .on_hover_text(excerpt.file.display().to_string());
    let field = Frame::new()
        .fill(Color32::from_black_alpha(90))
        .corner_radius(4)
        .inner_margin(Margin::same(8));
    field.show(ui, |ui| {
        ScrollArea::horizontal().id_salt("lines").show(ui, |ui| {
            let mut job = egui::text::LayoutJob::default();
            for (i, line) in excerpt.text.lines().enumerate() {
                let named = line.starts_with('>') || is_caret(line);
                let color = if named { theme::ACCENT } else { theme::TEXT };
                let format = egui::TextFormat::simple(egui::FontId::monospace(12.0), color);
                let begin = if i == 0 { "" } else { "\n" };
                job.append(&format!("{begin}{line}"), 0.0, format);
            }
            job.wrap.max_width = f32::INFINITY;
            ui.add(Label::new(job).extend().selectable(true));
        });
    });
}

/// Whether a line only points at a column of the line above it.
fn is_caret(line: &str) -> bool {
    line.split_once('|')
        .is_some_and(|(number, rest)| number.trim().is_empty() && rest.trim() == "^")
}
