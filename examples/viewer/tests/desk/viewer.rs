//! The viewer without a window: egui_kittest gives its panels frames, and its pictures are drawn into memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use common::gpu;
use egui::{Event, Modifiers, PointerButton, Pos2, TextureId, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use image::RgbaImage;
use serde_json::Value;
use sinew_viewer::desk::{Desk, Wake};
use sinew_viewer::drawing::Drawing;
use sinew_viewer::loader::{Place, Task};
use sinew_viewer::script::{Next, Script};
use sinew_viewer::{panels, theme};

pub struct Viewer {
    harness: Harness<'static, Desk>,
    wakes: Receiver<Wake>,
}

impl Viewer {
    /// Opens files in a window of this size in pixels, with so many pixels per point.
    pub fn open(size: [f32; 2], scale: f32, files: &[&str]) -> Result<Self, String> {
        let (sender, wakes) = channel();
        let mut desk = Desk::new(Arc::new(move |wake| {
            // The viewer of a test that has ended wants no file.
            let _ = sender.send(wake);
        }));
        let gpu = gpu::device()?;
        desk.drawing = Some(Drawing::new(gpu.device(), gpu.queue())?);
        for (file, place) in files.iter().zip([Place::Main, Place::Beside]) {
            desk.load(Task::open(file, None), place);
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
        viewer.act("settle")?;
        Ok(viewer)
    }

    pub fn desk(&mut self) -> &mut Desk {
        self.harness.state_mut()
    }

    /// Frames until nothing moves in the panels any more.
    fn frames(&mut self) {
        self.harness.run_steps(2);
        self.harness.run_ok();
    }

    /// Takes a step of a script, and waits until nothing is being read.
    pub fn act(&mut self, line: &str) -> Result<(), String> {
        let mut script = Script::default();
        script.push(line)?;
        script.push("settle")?;
        loop {
            while let Ok(wake) = self.wakes.try_recv() {
                self.desk().take(wake);
            }
            let rests = match script.next(self.harness.state_mut()) {
                Next::Nothing => return Ok(()),
                Next::Ended(answer) => match answer.failed {
                    Some(failed) => return Err(failed),
                    None => {
                        self.frames();
                        continue;
                    }
                },
                Next::Frame(event) => {
                    event.into_iter().for_each(|e| self.harness.event(e));
                    false
                }
                Next::Rest => !self.desk().state.clock.playing,
                Next::Size(_) | Next::Shot(_) => return Err("there is no window".into()),
            };
            if rests && let Ok(wake) = self.wakes.recv_timeout(Duration::from_millis(20)) {
                self.desk().take(wake);
            }
            self.harness.step();
            script.count_frame();
        }
    }

    /// Drags from a point to another one within one frame.
    pub fn flick(&mut self, from: Pos2, to: Pos2) {
        let button = |pos: Pos2, pressed: bool| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let events = [
            Event::PointerMoved(from),
            button(from, true),
            Event::PointerMoved(to),
            button(to, false),
        ];
        self.harness.input_mut().events.extend(events);
        self.harness.step();
    }

    /// What the viewer tells of itself, after the frames that are due.
    pub fn report(&mut self) -> Value {
        self.frames();
        self.harness.state().report()
    }

    /// Width and height of the window in pixels.
    pub fn size(&self) -> Vec2 {
        self.harness.ctx.content_rect().size() * self.harness.ctx.pixels_per_point()
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

    /// The picture without the panels.
    pub fn picture(&mut self) -> Result<RgbaImage, String> {
        self.frames();
        let desk = self.desk();
        let drawing = desk.drawing.as_mut().ok_or("no device")?;
        let picture = drawing.start_picture(&desk.state)?;
        sinew::gpu::wait_for(drawing.device(), picture).map_err(|e| e.to_string())?
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
