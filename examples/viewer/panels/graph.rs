//! The graph of frame time: posing, skinning and drawing of the last seconds, one on the other.

use egui::{Align2, Color32, CornerRadius, FontId, Pos2, Rect, Sense, Stroke, Ui, Vec2};

use crate::state::State;
use crate::theme;
use crate::timing::{BUDGET, FrameTime, KEPT, Timing};

const SIZE: Vec2 = Vec2::new(300.0, 144.0);
/// Points above the curve, for three lines of text.
const TEXT: f32 = 62.0;
const MARGIN: f32 = 8.0;

const POSING: Color32 = Color32::from_rgb(240, 196, 92);
const SKINNING: Color32 = Color32::from_rgb(255, 122, 72);
const DRAWING: Color32 = Color32::from_rgb(92, 158, 240);

/// Paints the graph into the lower right corner of the picture.
pub fn show(ui: &mut Ui, state: &mut State, picture: Rect) {
    let size = SIZE.min(picture.size() - Vec2::splat(2.0 * MARGIN));
    if size.x < 120.0 || size.y < 90.0 {
        return;
    }
    let above_legend = match state.control.heat.is_some() && picture.width() < 500.0 {
        true => 54.0,
        false => 0.0,
    };
    let low = picture.right_bottom() - Vec2::new(MARGIN, MARGIN + above_legend);
    let rect = Rect::from_min_max(low - size, low);
    state.view.places.note(ui, "graph", rect);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, CornerRadius::same(6), Color32::from_black_alpha(190));
    let timing = &state.stats;
    legend(&painter, rect, timing);
    let plot = Rect::from_min_max(
        rect.min + Vec2::new(MARGIN, TEXT),
        rect.max - Vec2::new(MARGIN, MARGIN),
    );
    curve(&painter, plot, timing);
    let id = ui.scope_id().with("graph");
    let hover = ui.interact(rect, id, Sense::hover());
    let source = timing.source;
    hover.on_hover_text(format!(
        "posing: CPU time to evaluate the animation and to set the poses\nskinning: {}\ndrawing: {}\n\
         medians of the last 2 s; the graph ends at the last frame that was drawn",
        source.of_skinning(),
        source.of_drawing()
    ));
}

/// The three figures, and what they are.
fn legend(painter: &egui::Painter, rect: Rect, timing: &Timing) {
    let (figures, source) = (timing.figures(), timing.source);
    let parts = [
        ("posing", "by the CPU", figures.posing, POSING),
        ("skinning", source.skinned_on(), figures.skinning, SKINNING),
        ("drawing", source.drawn_on(), figures.drawing, DRAWING),
    ];
    let column = (rect.width() - 2.0 * MARGIN) / 3.0;
    for (i, (name, place, seconds, color)) in parts.into_iter().enumerate() {
        let figure = seconds.map_or("not measured".into(), milliseconds);
        for (text, y, size, color) in [
            (name, 6.0, 11.0, color),
            (&*figure, 21.0, 12.5, theme::STRONG),
            (place, 36.0, 10.0, theme::WEAK),
        ] {
            let at = rect.min + Vec2::new(MARGIN + column * i as f32, y);
            write(painter, at, Align2::LEFT_TOP, text, size, color);
        }
    }
}

fn write(painter: &egui::Painter, at: Pos2, align: Align2, text: &str, size: f32, color: Color32) {
    painter.text(at, align, text, FontId::proportional(size), color);
}

/// `0.0012` as `1.20 ms`.
fn milliseconds(seconds: f64) -> String {
    match seconds * 1e3 {
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms if ms >= 10.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.2} ms"),
    }
}

fn curve(painter: &egui::Painter, plot: Rect, timing: &Timing) {
    let most = timing.frames.iter().map(total).fold(BUDGET * 1.2, f64::max);
    let y = |seconds: f64| plot.bottom() - plot.height() * (seconds / most) as f32;
    if let Some(newest) = timing.frames.back() {
        let x = |frame: &FrameTime| {
            let age = (newest.at - frame.at).as_secs_f32() / KEPT.as_secs_f32();
            plot.right() - plot.width() * age
        };
        let mut left = plot.left();
        for frame in &timing.frames {
            let right = x(frame);
            // A pause is a gap.
            let from = match frame.took.interval {
                Some(_) => left,
                None => right - 2.0,
            };
            let from = from.max(plot.left());
            left = right;
            let mut height = 0.0;
            for (seconds, color) in parts(frame) {
                let bar = Rect::from_min_max(
                    Pos2::new(from, y(height + seconds)),
                    Pos2::new(right.max(from + 0.5), y(height)),
                );
                painter.rect_filled(bar, CornerRadius::ZERO, color);
                height += seconds;
            }
        }
    }
    let budget = y(BUDGET);
    painter.hline(plot.x_range(), budget, Stroke::new(1.0, theme::GOOD));
    let at = Pos2::new(plot.left() + 2.0, budget - 1.0);
    write(
        painter,
        at,
        Align2::LEFT_BOTTOM,
        "16.7 ms",
        10.0,
        theme::GOOD,
    );
    let (at, most) = (plot.right_top() - Vec2::new(0.0, 1.0), milliseconds(most));
    write(
        painter,
        at,
        Align2::RIGHT_BOTTOM,
        &format!("up to {most}"),
        10.0,
        theme::WEAK,
    );
}

fn parts(frame: &FrameTime) -> [(f64, Color32); 3] {
    let took = frame.took;
    let parts = [
        (took.posing, POSING),
        (took.skinning, SKINNING),
        (took.drawing, DRAWING),
    ];
    parts.map(|(seconds, color)| (seconds.unwrap_or(0.0), color))
}

fn total(frame: &FrameTime) -> f64 {
    parts(frame).iter().map(|(seconds, _)| seconds).sum()
}
