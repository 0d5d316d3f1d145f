//! Colours and spacing of the panels.

use egui::{Color32, CornerRadius, FontId, Margin, Shadow, Stroke, TextStyle, Theme, Vec2};
use sinew_check::Severity;

use super::platform;

pub const PANEL: Color32 = Color32::from_rgb(27, 29, 34);
pub const BAR: Color32 = Color32::from_rgb(22, 24, 28);
const FIELD: Color32 = Color32::from_rgb(17, 18, 22);
const WIDGET: Color32 = Color32::from_rgb(44, 47, 54);
const HOVER: Color32 = Color32::from_rgb(57, 61, 70);
const LINE: Color32 = Color32::from_rgb(48, 51, 58);
pub const TEXT: Color32 = Color32::from_rgb(205, 208, 214);
pub const WEAK: Color32 = Color32::from_rgb(134, 139, 150);
pub const STRONG: Color32 = Color32::from_rgb(242, 243, 246);
pub const ACCENT: Color32 = Color32::from_rgb(255, 160, 72);
const ACCENT_DARK: Color32 = Color32::from_rgb(122, 74, 30);
pub const WARNING: Color32 = Color32::from_rgb(240, 196, 92);
pub const ERROR: Color32 = Color32::from_rgb(255, 122, 108);
pub const GOOD: Color32 = Color32::from_rgb(126, 205, 140);

/// The colour of a message.
pub fn of_severity(severity: Severity) -> Color32 {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Info => WEAK,
    }
}

pub fn apply(ctx: &egui::Context) {
    ctx.set_fonts(platform::fonts());
    ctx.set_theme(Theme::Dark);
    // The window's width decides: `layout::fit`.
    ctx.options_mut(|options| {
        options.zoom_with_keyboard = false;
        // A software adapter may take a second for a frame: a click is a click all the same.
        options.input_options.max_click_duration = 5.0;
    });
    let mut visuals = egui::Visuals::dark();
    visuals.panel_fill = PANEL;
    visuals.window_fill = PANEL;
    visuals.window_stroke = Stroke::new(1.0, LINE);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.window_shadow = Shadow {
        offset: [0, 6],
        blur: 24,
        spread: 0,
        color: Color32::from_black_alpha(110),
    };
    visuals.popup_shadow = visuals.window_shadow;
    visuals.extreme_bg_color = FIELD;
    visuals.faint_bg_color = Color32::from_rgb(32, 34, 40);
    visuals.selection.bg_fill = ACCENT_DARK;
    visuals.selection.stroke = Stroke::new(1.0, STRONG);
    visuals.slider_trailing_fill = true;
    visuals.hyperlink_color = ACCENT;
    visuals.warn_fg_color = WARNING;
    visuals.error_fg_color = ERROR;
    visuals.weak_text_color = Some(WEAK);
    let radius = CornerRadius::same(5);
    let widgets = &mut visuals.widgets;
    for (state, fill, line, text) in [
        (&mut widgets.noninteractive, PANEL, LINE, TEXT),
        (&mut widgets.inactive, WIDGET, WIDGET, TEXT),
        (&mut widgets.hovered, HOVER, HOVER, STRONG),
        (&mut widgets.active, HOVER, ACCENT, STRONG),
        (&mut widgets.open, HOVER, HOVER, STRONG),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.bg_stroke = Stroke::new(1.0, line);
        state.fg_stroke = Stroke::new(1.2, text);
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    ctx.all_styles_mut(|style| {
        style.visuals = visuals.clone();
        style.spacing.item_spacing = Vec2::new(7.0, 5.0);
        style.spacing.button_padding = Vec2::new(8.0, 3.5);
        style.spacing.interact_size.y = 21.0;
        style.spacing.window_margin = Margin::same(14);
        style.spacing.slider_rail_height = 4.0;
        style.interaction.tooltip_delay = 0.4;
        for (text, size) in [
            (TextStyle::Small, 10.5),
            (TextStyle::Body, 12.8),
            (TextStyle::Button, 12.8),
            (TextStyle::Heading, 15.0),
        ] {
            style.text_styles.insert(text, FontId::proportional(size));
        }
        style
            .text_styles
            .insert(TextStyle::Monospace, FontId::monospace(12.0));
    });
}

/// The colour of a weight between 0 and 1, as `crates/sinew-render/shaders/surface.wgsl`
/// has it before it is lit.
pub fn heat(weight: f32) -> Color32 {
    const STOPS: [[u8; 3]; 5] = [
        [68, 1, 84],
        [59, 81, 139],
        [33, 145, 140],
        [94, 201, 98],
        [253, 231, 37],
    ];
    let at = weight.clamp(0.0, 1.0) * 4.0;
    let first = (at as usize).min(3);
    let [r, g, b] = std::array::from_fn(|i| {
        let (a, b) = (f32::from(STOPS[first][i]), f32::from(STOPS[first + 1][i]));
        (a + (b - a) * (at - first as f32)).round() as u8
    });
    Color32::from_rgb(r, g, b)
}
