//! The viewer without a window: egui_kittest gives its panels frames, and its pictures are drawn into memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use common::{gpu, tolerance};
use egui::{Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, TextureId, Vec2, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use glam::DMat4;
use image::RgbaImage;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew_viewer::desk::{Desk, Wake};
use sinew_viewer::drawing::Drawing;
use sinew_viewer::drops::Intent;
use sinew_viewer::loader::{Place, Task};
use sinew_viewer::state::{State, Wish};
use sinew_viewer::{clips, layout, panels, theme};

use crate::{check, truth};

/// A file may take so long to be read on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Viewer {
    harness: Harness<'static, Desk>,
    wakes: Receiver<Wake>,
}

impl Viewer {
    /// Opens a file, and a second one beside it, in a window of the usual size.
    pub fn open(files: &[&str]) -> Result<Self, Failed> {
        Self::sized([1000.0, 660.0], 1.0, files)
    }

    /// Like [`Viewer::open`], with this size in pixels and pixels per point.
    pub fn sized(size: [f32; 2], scale: f32, files: &[&str]) -> Result<Self, Failed> {
        let (sender, wakes) = channel();
        let mut desk = Desk::new(Arc::new(move |wake| {
            // The viewer of a test that has ended wants no file.
            let _ = sender.send(wake);
        }));
        let gpu = gpu::device()?;
        desk.drawing = Some(Drawing::new(gpu.device(), gpu.queue())?);
        for (file, place) in files.iter().zip([Place::Main, Place::Beside]) {
            desk.load(Task::open(file.into(), None), place);
        }
        let frame = |ui: &mut egui::Ui, desk: &mut Desk| {
            desk.pose();
            let pictures = [TextureId::User(0), TextureId::User(1)];
            // The harness leaves a margin around all, the window none.
            let all = ui.ctx().content_rect();
            let mut whole = ui.new_child(egui::UiBuilder::new().max_rect(all));
            whole.set_clip_rect(all);
            panels::show(&mut whole, &mut desk.state, pictures);
            // Nobody answers dialogs here.
            let _ = desk.wishes();
        };
        let harness = Harness::builder()
            .with_size(Vec2::from(size) / scale)
            .with_pixels_per_point(scale)
            .with_context_setup(theme::apply)
            .with_max_steps(16)
            // The viewer is built without screen readers.
            .with_accessibility_check(false)
            .build_ui_state(frame, desk);
        let mut viewer = Self { harness, wakes };
        viewer.settle()?;
        Ok(viewer)
    }

    pub fn state(&mut self) -> &mut State {
        &mut self.harness.state_mut().state
    }

    pub fn desk(&mut self) -> &mut Desk {
        self.harness.state_mut()
    }

    /// Frames until nothing moves in the panels any more.
    pub fn frames(&mut self) {
        self.harness.run_steps(2);
        self.harness.run_ok();
    }

    /// Waits until nothing is being read.
    pub fn settle(&mut self) -> Result<(), Failed> {
        self.frames();
        loop {
            while let Ok(wake) = self.wakes.try_recv() {
                self.desk().take(wake);
            }
            if !self.desk().is_reading() {
                break;
            }
            let wake = self.wakes.recv_timeout(PATIENCE)?;
            self.desk().take(wake);
        }
        self.frames();
        Ok(())
    }

    /// Looks again until something is so, and reads what changes meanwhile.
    pub fn until(
        &mut self,
        what: &str,
        mut is_so: impl FnMut(&mut Self) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let began = Instant::now();
        loop {
            self.settle()?;
            match is_so(self) {
                Ok(()) => return Ok(()),
                Err(e) if began.elapsed() > PATIENCE => {
                    return Err(format!("{what}: {}", e.message().unwrap_or_default()).into());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
            self.desk().read_changed();
        }
    }

    /// What the viewer tells of itself, after the frames that are due.
    pub fn report(&mut self) -> Value {
        self.frames();
        self.harness.state().report()
    }

    /// Drops a file into the window, with the keys that stand for an intent.
    pub fn drop(&mut self, file: impl Into<PathBuf>, intent: Intent) -> Result<Value, Failed> {
        let file = file.into();
        self.desk().dropped(file, intent);
        self.settle()?;
        Ok(self.report())
    }

    /// Presses keys by their names in the list.
    pub fn keys(&mut self, names: &[&str]) -> Result<(), Failed> {
        for name in names {
            let (key, shift) = match name.strip_prefix("Shift+") {
                Some(key) => (key, true),
                None => (*name, false),
            };
            check(self.desk().press(key, shift), || format!("no key {name}"))?;
            self.frames();
        }
        self.settle()
    }

    /// Pauses, and shows a time code.
    pub fn time(&mut self, code: f64) {
        self.state().clock.scrub(code);
        self.frames();
    }

    /// Plays another clip of the list.
    pub fn clip(&mut self, name: &str) -> Result<Value, Failed> {
        let model = self.state().model.as_ref();
        let clip = clips::find_meant(model.map_or(&[], |m| &m.clips), name)?;
        self.state().wishes.push(Wish::Clip(clip));
        self.settle()?;
        Ok(self.report())
    }

    /// Takes a choice of what is offered, counted from 1.
    pub fn choose(&mut self, number: usize) -> Result<Value, Failed> {
        let taken = self.state().take_choice(number - 1);
        check(taken, || format!("no choice {number} is offered"))?;
        self.settle()?;
        Ok(self.report())
    }

    pub fn joint(&mut self, name: &str) -> Result<(), Failed> {
        let model = self.state().model.as_ref();
        let joint = model
            .and_then(|m| m.find_joint(name))
            .ok_or("no such joint")?;
        self.state().choose(Some(joint));
        self.frames();
        Ok(())
    }

    /// Where the panels and buttons are, in points.
    pub fn places(&self) -> BTreeMap<String, layout::Place> {
        let scale = self.harness.ctx.pixels_per_point();
        let places = self.harness.state().state.view.places.all();
        let in_points = |(name, place): (&String, &layout::Place)| {
            let rect = egui::Rect::from_min_max(place.rect.min / scale, place.rect.max / scale);
            (name.clone(), layout::Place { rect, ..*place })
        };
        places.map(in_points).collect()
    }

    pub fn place(&self, name: &str) -> Result<egui::Rect, Failed> {
        let places = self.places();
        let place = places.get(name);
        let place = place.ok_or_else(|| format!("no {name} in the window: {:?}", places.keys()))?;
        Ok(place.rect)
    }

    /// Clicks on a part of the window by its name.
    pub fn press(&mut self, name: &str) -> Result<(), Failed> {
        let middle = self.place(name)?.center();
        self.click(middle);
        self.settle()
    }

    pub fn click(&mut self, at: Pos2) {
        self.drag(at, Vec2::ZERO, PointerButton::Primary);
    }

    pub fn drag(&mut self, from: Pos2, by: Vec2, button: PointerButton) {
        let pressed = |pos: Pos2, pressed: bool| Event::PointerButton {
            pos,
            button,
            pressed,
            modifiers: Modifiers::NONE,
        };
        self.harness.event(Event::PointerMoved(from));
        self.harness.event(pressed(from, true));
        if by != Vec2::ZERO {
            self.harness.event(Event::PointerMoved(from + by * 0.5));
            self.harness.event(Event::PointerMoved(from + by));
        }
        self.harness.event(pressed(from + by, false));
        self.frames();
    }

    /// Turns the wheel by so many points over the middle of the picture.
    pub fn scroll(&mut self, points: f32) {
        let middle = self.middle();
        self.harness.event(Event::PointerMoved(middle));
        self.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, points),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: Modifiers::NONE,
        });
        self.frames();
    }

    /// The middle of the picture.
    pub fn middle(&mut self) -> Pos2 {
        let scale = self.harness.ctx.pixels_per_point();
        let [left, top, width, height] = self.state().viewport.map(|n| n as f32);
        pos2(left + width * 0.5, top + height * 0.5) / scale
    }

    /// Width and height of the window in points.
    pub fn size(&self) -> Vec2 {
        self.harness.ctx.content_rect().size()
    }

    /// All that is written in the window.
    pub fn texts(&self) -> String {
        let mut out = String::new();
        for clipped in &self.harness.output().shapes {
            add_text(&clipped.shape, &mut out);
        }
        out
    }

    /// Whether a panel has this text, in view or not.
    pub fn has(&self, text: &str) -> bool {
        self.harness.query_all_by_label(text).next().is_some()
    }

    /// The picture without the panels, and what the viewer tells of itself.
    pub fn picture(&mut self) -> Result<Picture, Failed> {
        let report = self.report();
        let desk = self.desk();
        let drawing = desk.drawing.as_mut().ok_or("no device")?;
        let image = drawing.picture(&desk.state)?;
        Ok(Picture { image, report })
    }

    /// The surfaces of the picture are where a file's triangles are at a time; gives both silhouettes.
    pub fn shows(&mut self, file: &Path, time: f64) -> Result<[Vec<bool>; 2], Failed> {
        let (grid, surface) = (self.state().look.grid, self.state().look.surface);
        self.state().look.grid = false;
        let with = self.picture()?;
        self.state().look.surface = false;
        let found = with.differs(&self.picture()?);
        (self.state().look.grid, self.state().look.surface) = (grid, surface);
        let triangles = truth::triangles(&file.display().to_string(), time)?;
        let size = [with.image.width(), with.image.height()];
        let expected = truth::silhouette(&triangles, view(&with.report), size);
        let overlap = truth::overlap(&expected, &found);
        check(overlap > tolerance::SILHOUETTE_OVERLAP, || {
            format!("{}: silhouettes overlap by {overlap}", file.display())
        })?;
        Ok([expected, found])
    }
}

fn add_text(shape: &egui::Shape, out: &mut String) {
    match shape {
        egui::Shape::Text(text) => {
            out.push_str(text.galley.text());
            out.push('\n');
        }
        egui::Shape::Vec(shapes) => shapes.iter().for_each(|s| add_text(s, out)),
        _ => {}
    }
}

/// clip_from_world of a report.
pub fn view(report: &Value) -> DMat4 {
    let column = |i: usize| report["clip_from_world"][i].as_f64().unwrap_or(f64::NAN);
    DMat4::from_cols_array(&std::array::from_fn(column))
}

/// A picture, and what the viewer told when it was drawn.
pub struct Picture {
    pub image: RgbaImage,
    pub report: Value,
}

impl Picture {
    /// Pixels that another picture shows differently, row by row.
    pub fn differs(&self, other: &Self) -> Vec<bool> {
        truth::differs(&self.image, &other.image)
    }

    /// How many pixels differ; all of them, if the pictures have different sizes.
    pub fn difference(&self, other: &Self) -> usize {
        match self.image.dimensions() == other.image.dimensions() {
            true => self.differs(other).into_iter().filter(|d| *d).count(),
            false => usize::MAX,
        }
    }

    /// Mean brightness of a part of the picture, from 0 to 255.
    pub fn brightness(&self, [x0, y0, x1, y1]: [f32; 4]) -> f64 {
        let (width, height) = (self.image.width() as f32, self.image.height() as f32);
        let part = image::imageops::crop_imm(
            &self.image,
            (x0 * width) as u32,
            (y0 * height) as u32,
            ((x1 - x0) * width) as u32,
            ((y1 - y0) * height) as u32,
        )
        .to_image();
        let sum: u64 = part
            .pixels()
            .flat_map(|p| &p.0[..3])
            .map(|c| u64::from(*c))
            .sum();
        sum as f64 / (3 * part.width() * part.height()) as f64
    }
}
