//! The bar at the bottom: play, pause, scrub, speed, loop.

use egui::{Align2, Color32, Event, FontId, PointerButton, Pos2, Rect, Sense, Stroke, Ui, Vec2};

use super::{icons, weak};
use crate::clock::Clock;
use crate::layout::Layout;
use crate::state::State;
use crate::theme;

pub fn show(ui: &mut Ui, state: &mut State, layout: Layout) {
    if !layout.is_wide() {
        rail(ui, state);
    }
    ui.horizontal(|ui| {
        buttons(ui, state);
        ui.add_space(4.0);
        numbers(ui, state, layout);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            speed(ui, state);
            if layout.is_wide() {
                ui.add_space(4.0);
                rail(ui, state);
            }
        });
    });
}

fn buttons(ui: &mut Ui, state: &mut State) {
    let moves = state.clock.moves();
    let play = match state.clock.playing {
        true => icons::PAUSE,
        false => icons::PLAY,
    };
    ui.add_enabled_ui(moves, |ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for (icon, name, hint, key) in [
            (icons::FIRST, "First", "to the first frame (Home)", "Home"),
            (icons::BACK, "Back", "one frame back (Left)", "Left"),
            (play, "Play", "play or pause (Space)", "Space"),
            (icons::ON, "On", "one frame on (Right)", "Right"),
            (icons::LAST, "Last", "to the last frame (End)", "End"),
        ] {
            let button = icons::button(ui, icon, hint);
            state.view.places.note(ui, name, button.rect);
            if button.clicked() {
                state.key(key);
            }
        }
    });
}

/// Speed and loop, from right to left.
fn speed(ui: &mut Ui, state: &mut State) {
    let speed = egui::DragValue::new(&mut state.clock.speed)
        .speed(0.02)
        .range(-10.0..=10.0)
        .max_decimals(2)
        .suffix(" ×");
    let speed = ui
        .add(speed)
        .on_hover_text("speed ([ and ]); below 0 plays backwards (\\)");
    let looping = ui
        .toggle_value(&mut state.clock.looping, "Loop")
        .on_hover_text("begin again at the end (l)");
    state.view.places.note(ui, "speed", speed.rect);
    state.view.places.note(ui, "Loop", looping.rect);
}

fn numbers(ui: &mut Ui, state: &mut State, layout: Layout) {
    let clock = &mut state.clock;
    let mut time = clock.time;
    let value = egui::DragValue::new(&mut time)
        .speed(0.1)
        .range(clock.start..=clock.end)
        .max_decimals(2)
        .custom_formatter(|n, _| format!("{n:.1}"));
    let edited = ui.add_enabled(clock.moves(), value);
    if edited.on_hover_text("time code").changed() {
        clock.scrub(time);
    }
    let text = match layout {
        Layout::Tall => format!("{:.2} s", clock.seconds()),
        _ => format!("{:5.2} / {:.2} s", clock.seconds(), clock.length_seconds()),
    };
    let label = ui
        .label(weak(text).monospace())
        .on_hover_text(format!("{} time codes per second", clock.codes_per_second));
    state.view.places.note(ui, "seconds", label.rect);
}

/// Time codes from left to right with a head to drag.
fn rail(ui: &mut Ui, state: &mut State) {
    let is_empty = state.model.is_none();
    let clock = &mut state.clock;
    let size = Vec2::new(ui.available_width().max(40.0), 30.0);
    let sense = match clock.moves() {
        true => Sense::click_and_drag(),
        false => Sense::hover(),
    };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    state.view.places.note(ui, "rail", rect);
    let (left, right) = (rect.left() + 8.0, rect.right() - 8.0);
    let width = right - left;
    let pointer = response.interact_pointer_pos();
    let pointer = pointer.or_else(|| ui.input(|input| dragged_at_once(&input.events, rect)));
    if let Some(pointer) = pointer.filter(|_| clock.moves()) {
        let part = f64::from((pointer.x - left) / width.max(1.0)).clamp(0.0, 1.0);
        let code = clock.start + part * clock.length();
        // On whole time codes, as a step; with Shift also between them.
        let is_free = ui.input(|input| input.modifiers.shift);
        clock.scrub(if is_free { code } else { code.round() });
    }
    let painter = ui.painter_at(rect);
    let y = rect.top() + 9.0;
    let track = |right: f32, color: Color32| {
        let track = Rect::from_x_y_ranges(left..=right, y - 2.0..=y + 2.0);
        painter.rect_filled(track, 2.0, color);
    };
    let below = |x: f32, y: f32, size: f32, text: &str| {
        let font = FontId::proportional(size);
        painter.text(
            Pos2::new(x, y),
            Align2::CENTER_BOTTOM,
            text,
            font,
            theme::WEAK,
        );
    };
    track(right, Color32::from_gray(58));
    if !clock.moves() {
        let text = match is_empty {
            true => "no file is open",
            false => "nothing moves in this file",
        };
        below(rect.center().x, rect.bottom() - 1.0, 10.5, text);
        return;
    }
    let at = |time: f64| left + ((time - clock.start) / clock.length()) as f32 * width;
    for tick in ticks(clock, width) {
        let stroke = Stroke::new(1.0, Color32::from_gray(88));
        painter.vline(at(tick), y + 4.0..=y + 8.0, stroke);
        below(at(tick), rect.bottom(), 10.0, &tick.to_string());
    }
    let x = at(clock.time);
    track(x, theme::ACCENT.gamma_multiply(0.75));
    let held = response.hovered() || response.dragged();
    let radius = if held { 7.0 } else { 5.5 };
    painter.circle_filled(Pos2::new(x, y), radius, theme::ACCENT);
}

/// Where a drag ends that began in `rect` in the same frame, which egui takes for neither a drag nor a click.
fn dragged_at_once(events: &[Event], rect: Rect) -> Option<Pos2> {
    let mut buttons = events.iter().filter_map(|event| match event {
        Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            ..
        } => Some((*pos, *pressed)),
        _ => None,
    });
    buttons.find(|(pos, pressed)| *pressed && rect.contains(*pos))?;
    let released = buttons.find(|(_, pressed)| !pressed)?;
    Some(released.0)
}

/// Time codes with a number below: of the steps 1, 2, 5, 10, ... the first that leaves the numbers room.
fn ticks(clock: &Clock, width: f32) -> Vec<f64> {
    let most = f64::from(width / 42.0).max(1.0);
    let mut step = 1.0;
    let mut factors = [2.0, 2.5, 2.0].iter().cycle();
    while clock.length() / step > most {
        step *= factors.next().unwrap_or(&10.0);
        if !f64::is_finite(step) {
            return Vec::new();
        }
    }
    let first = (clock.start / step).ceil();
    let count = (clock.end / step).floor() - first;
    (0..=count.max(-1.0) as i64)
        .map(|i| (first + i as f64) * step)
        .filter(|t| (clock.start..=clock.end).contains(t))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_leave_room() {
        let ticks_of = |start: f64, end: f64| {
            let clock = Clock {
                start,
                end,
                ..Clock::default()
            };
            ticks(&clock, 420.0)
        };
        assert_eq!(ticks_of(1.0, 101.0)[..3], [10.0, 20.0, 30.0]);
        assert_eq!(ticks_of(-3.5, 2.0), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]);
        assert!(ticks_of(0.0, 1e300).len() <= 11);
    }
}
