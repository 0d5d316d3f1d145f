//! The list of keys on `?`.

use egui::{Align2, Context, Label, RichText, ScrollArea, Ui, Vec2};

use super::strong;
use crate::keys::{GROUPS, MOUSE, Row};
use crate::state::State;
use crate::theme;

pub fn show(ctx: &Context, state: &mut State) {
    let window = ctx.content_rect().size();
    let in_columns = window.x >= COLUMNS;
    let room = window - Vec2::new(if in_columns { 90.0 } else { 44.0 }, 130.0);
    egui::Window::new("Keys")
        .open(&mut state.help)
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .auto_sized()
        .collapsible(false)
        .show(ctx, |ui| {
            // A small window scrolls.
            ScrollArea::both()
                .max_width(room.x)
                .max_height(room.y)
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 3.0;
                    ui.spacing_mut().interact_size.y = 16.0;
                    match in_columns {
                        true => columns(ui),
                        false => column(ui),
                    }
                });
        });
}

/// Points across that a window needs for the columns.
const COLUMNS: f32 = 860.0;

fn columns(ui: &mut Ui) {
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| groups(ui, &[0, 2]));
        ui.add_space(22.0);
        ui.vertical(|ui| {
            groups(ui, &[1]);
            mouse(ui);
        });
        ui.add_space(22.0);
        ui.vertical(|ui| groups(ui, &[3, 4]));
    });
}

/// All groups below each other.
fn column(ui: &mut Ui) {
    ui.vertical(|ui| {
        groups(ui, &[0, 1]);
        mouse(ui);
        ui.add_space(8.0);
        groups(ui, &[2, 3, 4]);
    });
}

fn groups(ui: &mut Ui, which: &[usize]) {
    for (title, rows) in which.iter().filter_map(|i| GROUPS.get(*i)) {
        let lines = merged(rows).into_iter();
        let lines = lines.map(|(keys, text)| (RichText::new(keys).monospace(), text));
        table(ui, title, lines);
        ui.add_space(8.0);
    }
}

fn mouse(ui: &mut Ui) {
    let lines = MOUSE
        .iter()
        .map(|(what, text)| (RichText::new(*what), *text));
    table(ui, "Mouse", lines);
}

fn table<'a>(ui: &mut Ui, title: &str, lines: impl Iterator<Item = (RichText, &'a str)>) {
    ui.label(strong(title));
    ui.add_space(1.0);
    egui::Grid::new(title).num_columns(2).show(ui, |ui| {
        for (what, text) in lines {
            ui.add(Label::new(what.color(theme::ACCENT)).extend());
            ui.add(Label::new(text).extend());
            ui.end_row();
        }
    });
}

/// The four arrow keys, with what is held with them, share a line.
fn merged(rows: &'static [Row]) -> Vec<(String, &'static str)> {
    let mut out: Vec<(String, &'static str)> = Vec::new();
    for row in rows {
        match out.last_mut() {
            Some((keys, text)) if *text == row.text => {
                *keys = row
                    .key
                    .replace(row.key.trim_start_matches("Shift+"), "arrows");
            }
            _ => out.push((row.key.to_owned(), row.text)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_share_a_line_and_each_other_key_has_its_own() {
        let lines: Vec<_> = GROUPS.iter().flat_map(|(_, rows)| merged(rows)).collect();
        let all = GROUPS.iter().map(|(_, rows)| rows.len()).sum::<usize>();
        assert_eq!(lines.len(), all - 6);
        for line in [("arrows", "orbit"), ("Shift+arrows", "pan")] {
            assert!(lines.contains(&(line.0.to_owned(), line.1)), "{lines:?}");
        }
    }
}
