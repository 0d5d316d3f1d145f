//! The messages over the picture: an error with the lines that it names, or a notice.

use egui::{Align, Color32, Frame, Label, Margin, Pos2, Rect, RichText, ScrollArea, Stroke, Ui};

use crate::messages::{Excerpt, clean};
use crate::state::State;
use crate::theme;

/// Most points across.
const WIDTH: f32 = 680.0;

/// Shows the error, or else the notice.
pub fn show(ui: &mut Ui, state: &mut State, rect: Rect) {
    match (state.error.clone(), state.view.notice.clone()) {
        (Some(text), _) => {
            let fresh = state
                .view
                .problem
                .as_ref()
                .is_none_or(|(shown, _)| *shown != text);
            if fresh {
                state.view.problem = Some((text.clone(), Excerpt::of(&text)));
            }
            let excerpt = state.view.problem.as_ref().and_then(|(_, e)| e.clone());
            let look = Look {
                title: "Something failed",
                fill: Color32::from_rgb(58, 27, 27),
                line: theme::ERROR,
            };
            bubble(ui, state, rect, &look, &clean(&text), excerpt.as_ref());
        }
        (None, Some(text)) => {
            state.view.problem = None;
            let look = Look {
                title: "Viewer",
                fill: Color32::from_rgb(32, 38, 48),
                line: theme::WEAK,
            };
            bubble(ui, state, rect, &look, &text, None);
        }
        (None, None) => state.view.problem = None,
    }
}

struct Look {
    title: &'static str,
    fill: Color32,
    line: Color32,
}

/// The whole text of a message: what is shown, and what is copied.
pub fn whole(text: &str, excerpt: Option<&Excerpt>) -> String {
    match excerpt {
        Some(e) => format!("{text}\n\n{}:{}\n{}", e.file.display(), e.line, e.text),
        None => text.to_owned(),
    }
}

fn bubble(
    ui: &mut Ui,
    state: &mut State,
    rect: Rect,
    look: &Look,
    text: &str,
    excerpt: Option<&Excerpt>,
) {
    let width = (rect.width() - 24.0).clamp(120.0, WIDTH);
    let frame = Frame::new()
        .fill(look.fill)
        .stroke(Stroke::new(1.0, look.line))
        .corner_radius(8)
        .inner_margin(Margin::same(12));
    // Areas remember the height of their last contents, so each message in each size is its own.
    let id = egui::Id::unique("viewer.message").with((text, rect.size().round().to_string()));
    let area = egui::Area::new(id)
        .fixed_pos(Pos2::new(rect.center().x - width * 0.5, rect.top() + 12.0))
        .constrain_to(rect);
    let shown = area.show(ui.ctx(), |ui| {
        frame.show(ui, |ui| {
            ui.set_width(width - 24.0);
            ui.horizontal(|ui| {
                ui.label(RichText::new(look.title).strong().color(look.line));
                ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
                    let close = ui.button("Close").on_hover_text("Escape");
                    let copy = ui.button("Copy").on_hover_text("copy the whole message");
                    for (name, button) in [("Close", &close), ("Copy", &copy)] {
                        state.view.places.note(ui, name, button.rect);
                    }
                    if copy.clicked() {
                        let whole = whole(text, excerpt);
                        ui.ctx().copy_text(whole.clone());
                        state.view.copied = Some(whole);
                    }
                    if close.clicked() {
                        state.close_message();
                    }
                });
            });
            let area = ScrollArea::vertical().max_height((rect.height() * 0.6).max(60.0));
            area.show(ui, |ui| {
                let message = RichText::new(text).size(12.5).color(theme::STRONG);
                ui.add(Label::new(message).wrap().selectable(true));
                if let Some(excerpt) = excerpt {
                    lines(ui, excerpt);
                }
            });
        });
    });
    state.view.places.note(ui, "message", shown.response.rect);
}

/// The lines of the file that the message names. Long ones scroll.
fn lines(ui: &mut Ui, excerpt: &Excerpt) {
    ui.add_space(6.0);
    let name = excerpt
        .file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let title = format!("{name}, line {}", excerpt.line);
    ui.label(RichText::new(title).small().color(theme::WEAK))
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
