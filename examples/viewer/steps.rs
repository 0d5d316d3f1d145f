//! Takes the steps of a script, and answers each.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use winit::dpi::PhysicalPosition;
use winit::event::{
    DeviceId, ElementState, MouseButton, MouseScrollDelta, TouchPhase, WindowEvent,
};
use winit::event_loop::ActiveEventLoop;

use super::app::App;
use super::clips;
use super::drops::Intent;
use super::screen::Painted;
use super::script::{PATIENCE, Step};
use super::state::Wish;

/// Frames drawn before a picture is taken, or the pointer moves: egui needs some to lay a new window out.
const FRAMES: u32 = 3;

/// A script that waits for a file looks this often.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Frames that egui spreads a turn of the wheel over.
const SMOOTH: usize = 6;

/// What became of a step.
enum Taken {
    Done,
    /// Not yet: draw a frame and ask again.
    Later,
}

impl App {
    /// Takes every step that is due, and draws a frame.
    pub fn step_script(&mut self, event_loop: &ActiveEventLoop) -> Result<(), String> {
        while let Some((step, waited, frames)) = self.script.current() {
            let taken = match &step {
                Step::Shot(path) if frames >= FRAMES => self.shot(event_loop, path)?,
                Step::Shot(_) => Ok(Taken::Later),
                other => self.take(event_loop, other, waited, frames),
            };
            match taken {
                Ok(Taken::Done) => {
                    let line = self.end_step();
                    self.answer(&line, None);
                    // What a step wishes for begins before the next step.
                    if !self.desk.state.wishes.is_empty() || matches!(step, Step::Quit) {
                        return Ok(());
                    }
                }
                Ok(Taken::Later) if waited > PATIENCE => {
                    let line = self.end_step();
                    self.refuse(
                        &line,
                        &format!("nothing happened in {} s", PATIENCE.as_secs()),
                    );
                }
                Ok(Taken::Later) => {
                    let rests = match step {
                        Step::Settle | Step::Loads(_) | Step::Wait(_) => true,
                        Step::Clip(_) => self.desk.state.wishes.is_empty(),
                        _ => false,
                    };
                    if rests && !self.desk.state.clock.playing {
                        self.next_step = Some(Instant::now() + LOOK_AGAIN);
                        return Ok(());
                    }
                    break;
                }
                Err(e) => {
                    let line = self.end_step();
                    self.refuse(&line, &e);
                }
            }
        }
        if self.script.is_empty() && self.script.ended {
            self.desk.quit = true;
            return Ok(());
        }
        self.frame(event_loop, false)?;
        self.script.count_frame();
        Ok(())
    }

    /// Goes on to the next step; gives the line of the one that has ended.
    fn end_step(&mut self) -> String {
        self.pressing = None;
        self.clip_asked = false;
        self.script.done()
    }

    fn take(
        &mut self,
        event_loop: &ActiveEventLoop,
        step: &Step,
        waited: Duration,
        frames: u32,
    ) -> Result<Taken, String> {
        let later = |done: bool| if done { Taken::Done } else { Taken::Later };
        match step {
            Step::Drop(path, Intent::Auto) => {
                self.inject(event_loop, WindowEvent::DroppedFile(path.clone()));
            }
            Step::Drop(path, intent) => self.desk.dropped(path.clone(), *intent),
            Step::Choose(number) => {
                let index = number.checked_sub(1);
                if !index.is_some_and(|i| self.desk.state.take_choice(i)) {
                    return Err(format!("no choice {number} is offered"));
                }
            }
            Step::Alone => self.desk.state.wishes.push(Wish::Alone),
            Step::Together(on) => match &mut self.desk.state.beside {
                Some(beside) => beside.together = *on,
                None => return Err("no character is at the right".into()),
            },
            Step::Follow(on) => {
                if *on && self.desk.state.follow.walk.is_none() {
                    return Err("the root does not walk away in this clip".into());
                }
                self.desk.state.follow.on = *on;
            }
            Step::Drag { .. } | Step::Scroll(_) | Step::Click(_) => {
                return Ok(later(self.point(event_loop, step, frames)));
            }
            // Where it is, is known when the window has been laid out.
            Step::Press(_) if frames < FRAMES => return Ok(Taken::Later),
            Step::Press(name) => {
                let place = match self.pressing {
                    Some(place) => place,
                    None => {
                        let place = self.desk.state.view.places.find(name);
                        let place = place
                            .ok_or_else(|| format!("nothing in the window is called '{name}'"))?;
                        let middle = place.rect.center();
                        *self.pressing.insert([middle.x, middle.y])
                    }
                };
                let done = self.point(event_loop, &Step::Click(place), frames);
                return Ok(later(done));
            }
            Step::Light(light) => self.desk.state.look.light = *light,
            Step::Background(background) => self.desk.state.look.background = *background,
            Step::Ground(ground) => ground.apply(&mut self.desk.state),
            Step::Save(path) => self.desk.save_picture(path)?,
            Step::Key { name, shift } => {
                if !self.desk.press(name, *shift) {
                    return Err(format!("no key is called '{name}'"));
                }
            }
            Step::Time(time) => {
                let clock = &mut self.desk.state.clock;
                if !(clock.start..=clock.end).contains(time) {
                    let range = format!("{} to {}", clock.start, clock.end);
                    return Err(format!("the file plays from time code {range}"));
                }
                clock.scrub(*time);
            }
            Step::Joint(name) => {
                let model = self.desk.state.model.as_ref();
                let joint = model.and_then(|m| m.find_joint(name));
                let joint = joint.ok_or_else(|| format!("no joint is called '{name}'"))?;
                self.desk.state.choose(Some(joint));
            }
            Step::Shape { name, weight } => {
                let model = self.desk.state.model.as_ref();
                if !model.is_some_and(|m| m.shapes.contains(name)) {
                    return Err(format!("no blend shape is called '{name}'"));
                }
                self.desk
                    .state
                    .control
                    .weights
                    .insert(name.clone(), *weight);
            }
            // A file that was dropped may bring the clip.
            Step::Clip(_) if !self.is_settled() => return Ok(Taken::Later),
            Step::Clip(_) if self.clip_asked => {}
            Step::Clip(name) => {
                let model = self.desk.state.model.as_ref();
                let clips = model.map_or(&[][..], |m| &m.clips);
                let clip = clips::find_meant(clips, name)?;
                self.desk.state.wishes.push(Wish::Clip(clip));
                self.clip_asked = true;
                return Ok(Taken::Later);
            }
            Step::Camera(name) => {
                let model = self.desk.state.model.as_ref();
                let camera = model.and_then(|m| m.cameras.iter().position(|c| c == name));
                let camera = camera.ok_or_else(|| format!("no camera is called '{name}'"))?;
                self.desk.state.wishes.push(Wish::Camera(camera));
            }
            Step::Method(method) => self.desk.state.control.method = *method,
            Step::Size(width, height) => {
                if self.window_size() == [*width, *height] {
                    return Ok(Taken::Done);
                }
                self.resize_window(*width, *height);
                return Ok(Taken::Later);
            }
            Step::Shot(_) => return Ok(Taken::Later),
            Step::Settle => return Ok(later(self.is_settled())),
            Step::Loads(count) => return Ok(later(self.desk.loads >= *count)),
            Step::Wait(time) => return Ok(later(waited >= *time)),
            Step::State => {}
            Step::Quit => self.desk.quit = true,
        }
        Ok(Taken::Done)
    }

    /// Moves the pointer as a step says, one event for each frame, as egui wants to see them. True when all is done.
    fn point(&mut self, event_loop: &ActiveEventLoop, step: &Step, frames: u32) -> bool {
        let [left, top, width, height] = self.desk.state.viewport.map(f64::from);
        let middle = [left + width * 0.5, top + height * 0.5];
        let events = pointer_events(step, middle);
        let due = frames.checked_sub(FRAMES).map(|n| n as usize);
        if let Some(event) = due.and_then(|n| events.get(n)).cloned() {
            self.inject(event_loop, event);
        }
        due.is_some_and(|n| n >= events.len() + SMOOTH)
    }

    fn is_settled(&self) -> bool {
        !self.desk.is_reading() && !self.desk.asking
    }

    /// Draws a frame and writes what the window shows. The outer error ends the viewer.
    #[allow(clippy::type_complexity, reason = "two kinds of failure")]
    fn shot(
        &mut self,
        event_loop: &ActiveEventLoop,
        path: &Path,
    ) -> Result<Result<Taken, String>, String> {
        let image = match self.frame(event_loop, true)? {
            Painted::Captured(image) => image,
            Painted::Shown | Painted::Skipped => return Ok(Ok(Taken::Later)),
        };
        let saved = image.save(path).map(|()| Taken::Done);
        Ok(saved.map_err(|e| format!("{}: {e}", path.display())))
    }

    /// A step that could not be taken.
    pub fn refuse(&mut self, line: &str, reason: &str) {
        self.script.failures += 1;
        self.answer(line.trim(), Some(reason));
    }

    fn answer(&self, line: &str, failed: Option<&str>) {
        if let Some(reason) = failed {
            log::error!("{}", super::messages::clean(&format!("{line}: {reason}")));
        }
        if !self.script.answers {
            return;
        }
        let mut report = self.desk.report();
        report["frames"] = json!(self.frames);
        report["window"] = json!(self.window_size());
        report["step"] = json!(line);
        report["failed"] = json!(failed);
        // Whoever reads may have hung up.
        let _ = super::script::write_line(&report.to_string());
    }
}

/// What the window is told of a drag, a scroll or a click.
fn pointer_events(step: &Step, middle: [f64; 2]) -> Vec<WindowEvent> {
    let device_id = DeviceId::dummy();
    let to = |[x, y]: [f64; 2]| WindowEvent::CursorMoved {
        device_id,
        position: PhysicalPosition::new(x, y),
    };
    let button = |state, left: bool| WindowEvent::MouseInput {
        device_id,
        state,
        button: if left {
            MouseButton::Left
        } else {
            MouseButton::Right
        },
    };
    let (down, up) = (ElementState::Pressed, ElementState::Released);
    match step {
        Step::Drag { by, left, from } => {
            let middle = from.map_or(middle, |at| at.map(f64::from));
            let part = |part: f64| {
                to([
                    middle[0] + f64::from(by[0]) * part,
                    middle[1] + f64::from(by[1]) * part,
                ])
            };
            vec![
                to(middle),
                button(down, *left),
                part(0.5),
                part(1.0),
                button(up, *left),
            ]
        }
        Step::Scroll(pixels) => {
            let delta = PhysicalPosition::new(0.0, f64::from(*pixels));
            let wheel = WindowEvent::MouseWheel {
                device_id,
                delta: MouseScrollDelta::PixelDelta(delta),
                phase: TouchPhase::Moved,
            };
            vec![to(middle), wheel]
        }
        Step::Click(at) => {
            let at = to(at.map(f64::from));
            vec![at, button(down, true), button(up, true)]
        }
        _ => Vec::new(),
    }
}
