//! Two pictures in one: where each is, and what it shows.

use egui::{Align2, Color32, FontId, Pos2, Rect, Stroke, Ui, Vec2};

use crate::state::{State, Wish};

/// Pixels between two pictures.
const GAP: u32 = 2;

/// Divides the pixels of a picture (left, top, width, height) in two of the same size, of which
/// the second is at the right, or below in a window that is higher than wide.
pub fn split([left, top, width, height]: [u32; 4], in_two: bool) -> [[u32; 4]; 2] {
    if !in_two {
        return [[left, top, width, height], [0; 4]];
    }
    if width >= height {
        let half = width.saturating_sub(GAP) / 2;
        let second = [left + half + GAP, top, half, height];
        [[left, top, half, height], second]
    } else {
        let half = height.saturating_sub(GAP) / 2;
        let second = [left, top + half + GAP, width, half];
        [[left, top, width, half], second]
    }
}

/// Pixels of the window in egui's points.
pub fn rect(pixels: [u32; 4], scale: f32) -> Rect {
    let [left, top, width, height] = pixels.map(|n| n as f32 / scale);
    Rect::from_min_size(Pos2::new(left, top), Vec2::new(width, height))
}

/// Writes what each picture shows over it, and a line between the two.
pub fn names(ui: &mut Ui, state: &mut State, scale: f32) {
    let rects = [state.viewport, state.viewport_beside].map(|pixels| rect(pixels, scale));
    let (Some(main), Some(beside)) = (&state.model, &mut state.beside) else {
        return;
    };
    let gap = Rect::from_two_pos(rects[0].right_bottom(), rects[1].left_top());
    ui.painter().rect_filled(gap, 0.0, Color32::BLACK);
    let text = |name: String, clip: &str| match clip {
        "" => name,
        clip => format!("{name} · {clip}"),
    };
    let matched = main.matched.is_some();
    let label = [
        text(main.name(), main.playing()),
        text(beside.model.name(), beside.model.playing()),
    ];
    for (rect, label) in rects.into_iter().zip(label) {
        let at = rect.left_top() + Vec2::splat(10.0);
        let painter = ui.painter_at(rect);
        let font = FontId::proportional(12.5);
        let text = painter.layout(label, font, Color32::from_gray(245), rect.width() - 32.0);
        let back = Align2::LEFT_TOP
            .anchor_size(at, text.size())
            .expand2(Vec2::new(6.0, 3.0));
        painter.rect_filled(back, 4.0, Color32::from_black_alpha(150));
        painter.galley(at, text, Color32::WHITE);
    }
    let mut wish = None;
    let corner = rects[1].right_bottom() - Vec2::splat(8.0);
    egui::Area::new(egui::Id::unique("viewer.beside"))
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(corner)
        .show(ui.ctx(), |ui| {
            ui.horizontal(|ui| {
                let hint = "both show the same second; else each plays its own length";
                let moves = beside.clock.moves();
                ui.add_enabled_ui(moves, |ui| {
                    ui.toggle_value(&mut beside.together, "same time")
                        .on_hover_text(hint);
                });
                if ui.small_button("close").clicked() {
                    wish = Some(Wish::Alone);
                }
            });
        });
    // The one that a clip was taken from is often the second: it says which is which.
    if matched {
        let stroke = Stroke::new(2.0, crate::theme::ACCENT);
        let under = rects[0].left_top() + Vec2::new(4.0, 6.0);
        ui.painter()
            .line_segment([under, under + Vec2::new(0.0, 24.0)], stroke);
    }
    state.wishes.extend(wish);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_are_of_one_size_and_do_not_meet() {
        assert_eq!(split([5, 6, 70, 80], false)[0], [5, 6, 70, 80]);
        let wide = split([10, 20, 801, 600], true);
        assert_eq!(wide, [[10, 20, 399, 600], [411, 20, 399, 600]]);
        let high = split([0, 20, 400, 802], true);
        assert_eq!(high, [[0, 20, 400, 400], [0, 422, 400, 400]]);
        assert_eq!(split([0, 0, 1, 1], true)[1][2..], [0, 1]);
    }
}
