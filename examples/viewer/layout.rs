//! How the window is divided, and where its parts are.

use std::collections::BTreeMap;

use egui::{Context, Rect, Ui, Vec2};
use sinew_render::JointId;

use super::messages::Excerpt;

/// Below this width, in points, the window has no room for panels on both sides of the picture.
const NARROW: f32 = 880.0;
/// Everything becomes smaller in a window with fewer points than this across.
const LEAST_WIDTH: f32 = 380.0;
/// By this factor at most.
const LEAST_ZOOM: f32 = 0.5;

/// The panels of a narrow window, of which one is open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Settings,
    Joints,
}

/// How the window is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The joints at the left, the settings at the right.
    Wide,
    /// One panel below the picture.
    Tall,
    /// One panel at the right of the picture.
    Short,
}

impl Layout {
    /// For a window of this size, in points.
    pub fn of(size: Vec2) -> Self {
        match size {
            size if size.x >= NARROW => Self::Wide,
            size if size.y >= size.x => Self::Tall,
            _ => Self::Short,
        }
    }

    pub fn is_wide(self) -> bool {
        self == Self::Wide
    }
}

/// Makes everything smaller where the window has too few points across for the bars.
pub fn fit(ctx: &Context) {
    let native = ctx.content_rect().width() * ctx.zoom_factor();
    let zoom = (native / LEAST_WIDTH).clamp(LEAST_ZOOM, 1.0);
    if (ctx.zoom_factor() - zoom).abs() > 1e-3 {
        ctx.set_zoom_factor(zoom);
        ctx.request_repaint();
    }
}

/// Where the panels and buttons of the last frame are, by name. Scripts press buttons by it.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, Place>);

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Pixels from the window's left upper corner.
    pub rect: Rect,
    /// A part of it is outside of the panel that holds it.
    pub is_cut: bool,
}

impl Places {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes where something is; `rect` is in points.
    pub fn note(&mut self, ui: &Ui, name: &str, rect: Rect) {
        let scale = ui.ctx().pixels_per_point();
        let is_cut = !ui.clip_rect().expand(1.0).contains_rect(rect);
        let rect = Rect::from_min_max(rect.min * scale, rect.max * scale);
        self.0.insert(name.to_owned(), Place { rect, is_cut });
    }

    /// The place of this name, in upper or lower case.
    pub fn find(&self, name: &str) -> Option<Place> {
        let is_it = |other: &&String| other.eq_ignore_ascii_case(name);
        let found = self.0.keys().find(is_it)?;
        self.0.get(found).copied()
    }

    /// All of them, with their names.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Place)> {
        self.0.iter()
    }

    /// For scripts: pixels from the left upper corner, left, top, width and height, and whether it is cut.
    pub fn report(&self) -> serde_json::Value {
        let place = |(name, place): (&String, &Place)| {
            let Place { rect, is_cut } = place;
            let pixels = [rect.left(), rect.top(), rect.width(), rect.height()];
            let value = serde_json::json!({ "rect": pixels, "cut": is_cut });
            (name.clone(), value)
        };
        serde_json::Value::Object(self.0.iter().map(place).collect())
    }
}

/// What the list of joints did last.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointList {
    /// The chosen joint when its row was last scrolled into view.
    pub revealed: Option<JointId>,
    /// Points that the list is scrolled by, and its height.
    pub offset: f32,
    pub height: f32,
}

/// The settings of the window itself.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The open panel of a narrow window.
    pub tab: Option<Tab>,
    /// The frame times are shown as a graph.
    pub graph: bool,
    /// Saved pictures have no background.
    pub transparent: bool,
    /// A message that is no error; closed like one.
    pub notice: Option<String>,
    /// The error that is shown, and the lines of the file that it names.
    pub problem: Option<(String, Option<Excerpt>)>,
    /// The text that was copied to the clipboard last.
    pub copied: Option<String>,
    pub list: JointList,
    pub places: Places,
    /// Pixels per point.
    pub scale: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_windows_have_one_panel_where_there_is_room() {
        for (size, layout) in [
            ([1280.0, 800.0], Layout::Wide),
            ([1000.0, 660.0], Layout::Wide),
            ([400.0, 900.0], Layout::Tall),
            ([640.0, 400.0], Layout::Short),
            ([500.0, 500.0], Layout::Tall),
        ] {
            assert_eq!(Layout::of(size.into()), layout, "{size:?}");
        }
    }
}
