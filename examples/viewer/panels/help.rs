//! The list of keys on `?`.

use egui::{Align2, Context, RichText, ScrollArea, Ui, Vec2};

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
                .show(ui, |ui| match in_columns {
                    true => columns(ui),
                    false => column(ui),
                });
        });
}

/// Points across that a window needs for the columns.
const COLUMNS: f32 = 860.0;

fn columns(ui: &mut Ui) {
    dense(ui);
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
    dense(ui);
    ui.vertical(|ui| {
        groups(ui, &[0, 1]);
        mouse(ui);
        ui.add_space(8.0);
        groups(ui, &[2, 3, 4]);
    });
}

fn dense(ui: &mut Ui) {
    ui.spacing_mut().item_spacing.y = 3.0;
    ui.spacing_mut().interact_size.y = 16.0;
}

fn groups(ui: &mut Ui, which: &[usize]) {
    for (title, rows) in which.iter().filter_map(|i| GROUPS.get(*i)) {
        heading(ui, title);
        egui::Grid::new(title).num_columns(2).show(ui, |ui| {
            for (keys, text) in merged(rows) {
                line(ui, &keys, text);
            }
        });
        ui.add_space(8.0);
    }
}

fn mouse(ui: &mut Ui) {
    heading(ui, "Mouse");
    egui::Grid::new("mouse").num_columns(2).show(ui, |ui| {
        for (what, text) in MOUSE {
            ui.add(egui::Label::new(RichText::new(*what).color(theme::ACCENT)).extend());
            ui.add(egui::Label::new(*text).extend());
            ui.end_row();
        }
    });
}

fn heading(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).strong().color(theme::STRONG));
    ui.add_space(1.0);
}

fn line(ui: &mut Ui, keys: &str, text: &str) {
    ui.label(RichText::new(keys).monospace().color(theme::ACCENT));
    ui.add(egui::Label::new(text).extend());
    ui.end_row();
}

/// Neighbours that say the same share a line.
fn merged(rows: &'static [Row]) -> Vec<(String, &'static str)> {
    let mut out: Vec<(String, &'static str)> = Vec::new();
    for row in rows {
        let key = match row.key {
            key if row.shift => format!("Shift+{key}"),
            key => key.to_owned(),
        };
        match out.last_mut() {
            Some((keys, text)) if *text == row.text => *keys = arrows(keys),
            _ => out.push((key, row.text)),
        }
    }
    out
}

/// The four arrow keys, with what is held with them.
fn arrows(keys: &str) -> String {
    let held = if keys.starts_with("Shift+") {
        "Shift+"
    } else {
        ""
    };
    format!("{held}arrows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_share_a_line_and_each_other_key_has_its_own() {
        for (title, rows) in GROUPS {
            let lines = merged(rows);
            let arrows = rows.iter().filter(|r| r.text == "orbit" || r.text == "pan");
            let others = rows.len() - arrows.count();
            let shared = if *title == "Camera" { 2 } else { 0 };
            assert_eq!(lines.len(), others + shared, "{title}");
        }
    }
}
