//! Light, background and ground.

use egui::{Grid, Slider, Ui};
use sinew_render::{Background, Light};

use super::{choice, choices, row};
use crate::state::State;

const DARK: Background = Background::Gradient {
    top: [0.11, 0.12, 0.14],
    bottom: [0.20, 0.21, 0.23],
};
const WHITE: Background = Background::Color([1.0; 3]);

/// The backgrounds that have a name.
pub const BACKGROUNDS: [(&str, Background, &str); 3] = [
    ("Grey", Background::GREY, ""),
    ("Dark", DARK, ""),
    ("White", WHITE, ""),
];

/// The ground under the characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    Grid,
    Shadow,
    Off,
}

impl Ground {
    pub const ALL: [(&str, Self, &str); 3] = [
        ("Grid", Self::Grid, ""),
        ("Shadow", Self::Shadow, ""),
        ("Off", Self::Off, ""),
    ];

    pub fn of(state: &State) -> Self {
        match (state.look.grid, state.look.grid_lines) {
            (true, true) => Self::Grid,
            (true, false) => Self::Shadow,
            (false, _) => Self::Off,
        }
    }

    pub fn apply(self, state: &mut State) {
        state.look.grid = self != Self::Off;
        if self != Self::Off {
            state.look.grid_lines = self == Self::Grid;
        }
    }
}

/// The brightness of the lights at most.
const MOST_INTENSITY: f64 = 4.0;

pub fn show(ui: &mut Ui, state: &mut State) {
    let grid = Grid::new("scene").num_columns(2).spacing([10.0, 6.0]);
    grid.show(ui, |ui| {
        light(ui, state);
        row(ui, "Background", |ui| background(ui, state));
        row(ui, "Ground", |ui| {
            let ground = choices(ui, state, &Ground::ALL, Ground::of(state));
            ground.into_iter().for_each(|ground| ground.apply(state));
        });
    });
    let (name, hint) = (
        "Save without background",
        "a saved picture is transparent where nothing is drawn",
    );
    let transparent = ui.checkbox(&mut state.view.transparent, name);
    let transparent = transparent.on_hover_text(hint);
    state.view.places.note(ui, name, transparent.rect);
}

fn light(ui: &mut Ui, state: &mut State) {
    row(ui, "Light", |ui| {
        let all = [
            ("Camera", true, "the lights turn with the camera"),
            ("World", false, "the lights stand still"),
        ];
        let follows = state.look.light.follows_camera;
        let clicked = choices(ui, state, &all, follows);
        state.look.light.follows_camera = clicked.unwrap_or(follows);
        let before = choice(ui, state, "Reset", false);
        if before
            .on_hover_text("the lights as they are at first")
            .clicked()
        {
            state.look.light = Light::default();
        }
    });
    let light = &mut state.look.light;
    ui.label("Turned by");
    let mut degrees = light.turn.to_degrees();
    let turn = Slider::new(&mut degrees, -180.0..=180.0)
        .suffix("°")
        .fixed_decimals(0);
    if ui.add(turn).on_hover_text("around the up axis").changed() {
        light.turn = degrees.to_radians();
    }
    ui.end_row();
    ui.label("Intensity");
    ui.add(Slider::new(&mut light.intensity, 0.0..=MOST_INTENSITY).fixed_decimals(2));
    ui.end_row();
}

fn background(ui: &mut Ui, state: &mut State) {
    let now = state.look.background;
    let clicked = choices(ui, state, &BACKGROUNDS, now);
    state.look.background = clicked.unwrap_or(now);
    let color = match state.look.background {
        Background::Color(color) => color,
        Background::Gradient { bottom, .. } => bottom,
        Background::Transparent => [0.5; 3],
    };
    let mut color = color.map(|c| (c * 255.0).round() as u8);
    let picked = ui.color_edit_button_srgb(&mut color);
    if picked.on_hover_text("another colour").changed() {
        state.look.background = Background::Color(color.map(|c| f32::from(c) / 255.0));
    }
}

/// The value of a choice by its name, in upper or lower case.
fn by_name<T: Copy>(all: &[(&str, T, &str)], text: &str) -> Option<T> {
    let found = all
        .iter()
        .find(|(name, ..)| name.eq_ignore_ascii_case(text));
    found.map(|(_, value, _)| *value)
}

/// A background by its name, or by a colour as `#rrggbb`.
pub fn background_of(text: &str) -> Option<Background> {
    if let Some(background) = by_name(&BACKGROUNDS, text) {
        return Some(background);
    }
    let digits = text
        .strip_prefix('#')
        .filter(|d| d.len() == 6 && d.is_ascii())?;
    let channel = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok();
    let [r, g, b] = [channel(0)?, channel(1)?, channel(2)?];
    Some(Background::Color([r, g, b].map(|c| f32::from(c) / 255.0)))
}

/// A ground by its name.
pub fn ground_of(text: &str) -> Option<Ground> {
    by_name(&Ground::ALL, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_have_names_or_are_colours() {
        assert_eq!(background_of("white"), Some(WHITE));
        assert_eq!(
            background_of("#ff0080"),
            Some(Background::Color([1.0, 0.0, 128.0 / 255.0]))
        );
        for wrong in ["", "#12", "#gg0000", "puce", "#ééé"] {
            assert_eq!(background_of(wrong), None, "{wrong}");
        }
    }
}
