//! Light, background and ground.

use egui::{Grid, Slider, Ui};
use sinew_render::{Background, Light};

use super::choice;
use crate::state::State;

const DARK: Background = Background::Gradient {
    top: [0.11, 0.12, 0.14],
    bottom: [0.20, 0.21, 0.23],
};
const WHITE: Background = Background::Color([1.0; 3]);

/// The backgrounds that have a name.
pub const BACKGROUNDS: [(&str, Background); 3] =
    [("Grey", Background::GREY), ("Dark", DARK), ("White", WHITE)];

/// The ground under the characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    Grid,
    Shadow,
    Off,
}

impl Ground {
    pub const ALL: [(&str, Self); 3] = [
        ("Grid", Self::Grid),
        ("Shadow", Self::Shadow),
        ("Off", Self::Off),
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
    Grid::new("scene")
        .num_columns(2)
        .spacing([10.0, 6.0])
        .show(ui, |ui| {
            light(ui, state);
            background(ui, state);
            ui.label("Ground");
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 3.0;
                let now = Ground::of(state);
                for (name, ground) in Ground::ALL {
                    if choice(ui, state, name, ground == now).clicked() {
                        ground.apply(state);
                    }
                }
            });
            ui.end_row();
        });
    let transparent = ui
        .checkbox(&mut state.view.transparent, "Save without background")
        .on_hover_text("a saved picture is transparent where nothing is drawn");
    state
        .view
        .places
        .note(ui, "Save without background", transparent.rect);
}

fn light(ui: &mut Ui, state: &mut State) {
    ui.label("Light");
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let follows = state.look.light.follows_camera;
        for (name, follow, hint) in [
            ("Camera", true, "the lights turn with the camera"),
            ("World", false, "the lights stand still"),
        ] {
            if choice(ui, state, name, follows == follow)
                .on_hover_text(hint)
                .clicked()
            {
                state.look.light.follows_camera = follow;
            }
        }
        if choice(ui, state, "As before", false)
            .on_hover_text("the lights as they are at first")
            .clicked()
        {
            state.look.light = Light::default();
        }
    });
    ui.end_row();
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
    ui.label("Background");
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for (name, background) in BACKGROUNDS {
            let chosen = state.look.background == background;
            if choice(ui, state, name, chosen).clicked() {
                state.look.background = background;
            }
        }
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
    });
    ui.end_row();
}

/// A background by its name, or by a colour as `#rrggbb`.
pub fn background_of(text: &str) -> Option<Background> {
    let named = BACKGROUNDS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    if let Some((_, background)) = named {
        return Some(*background);
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
    let found = Ground::ALL
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, ground)| *ground)
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

    #[test]
    fn the_ground_is_what_was_chosen() {
        let mut state = State::default();
        for (name, ground) in Ground::ALL {
            ground_of(name).unwrap().apply(&mut state);
            assert_eq!(Ground::of(&state), ground);
        }
        // The key of the grid brings back what was there.
        Ground::Shadow.apply(&mut state);
        state.act(crate::keys::Action::Grid);
        state.act(crate::keys::Action::Grid);
        assert_eq!(Ground::of(&state), Ground::Shadow);
    }
}
