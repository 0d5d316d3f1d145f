//! Actions from a script: what a person would do with mouse and keys, and screenshots.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use egui::{Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, pos2, vec2};
use sinew::skel::SkinningMethod;
use sinew_render::Light;

use super::clips;
use super::desk::Desk;
use super::drops::Intent;
use super::files::Purpose;
use super::keys;
use super::model::Model;
use super::panels::scene;
use super::platform::Instant;
use super::state::{State, Wish};

/// What there is to write in a script.
pub const LANGUAGE: &str = include_str!("script_help.txt");

/// How long a step may wait: on two busy cores a software adapter takes seconds for a frame.
const PATIENCE: Duration = Duration::from_secs(300);
/// Frames drawn before a picture is taken, or the pointer moves: egui needs some to lay a new window
/// out.
const FRAMES: u32 = 3;
/// Frames that egui spreads a turn of the wheel over.
const SMOOTH: usize = 6;

type Act = dyn Fn(&mut Desk) -> Result<(), String>;
type IsDone = dyn FnMut(&mut Desk, Duration) -> Result<bool, String>;
type Pointer = dyn Fn(&State) -> Result<Vec<Event>, String>;

/// One line of a script.
pub enum Step {
    /// Is done at once, or fails.
    Do(Box<Act>),
    /// Is asked again until it is done; nothing has to be drawn for it. Takes the time since the
    /// step began.
    Wait(Box<IsDone>),
    /// Gives what the pointer does, an event for each frame.
    Point(Box<Pointer>),
    /// Resizes the window.
    Size([u32; 2]),
    /// Writes a picture of the window.
    Shot(PathBuf),
}

/// What a script needs to go on.
pub enum Next {
    /// There is no step.
    Nothing,
    /// A frame, with this event.
    Frame(Option<Event>),
    /// Something that is being read, or some time.
    Rest,
    /// A window of this size.
    Size([u32; 2]),
    /// A picture of the window, in this file.
    Shot(PathBuf),
    /// A step has ended.
    Ended(Answer),
}

/// The line of a step that has ended, and why it failed, if it did.
pub struct Answer {
    pub line: String,
    pub failed: Option<String>,
}

fn act(act: impl Fn(&mut Desk) -> Result<(), String> + 'static) -> Step {
    Step::Do(Box::new(act))
}

fn set(set: impl Fn(&mut State) + 'static) -> Step {
    act(move |desk| {
        set(&mut desk.state);
        Ok(())
    })
}

fn wait(mut is_done: impl FnMut(&mut Desk, Duration) -> bool + 'static) -> Step {
    Step::Wait(Box::new(move |desk, waited| Ok(is_done(desk, waited))))
}

/// Reads one line; `None` where there is nothing on it.
pub fn parse(line: &str) -> Result<Option<Step>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let step = step(line).ok_or_else(|| format!("'{line}' is no action; --help lists them"))?;
    Ok(Some(step))
}

fn step(line: &str) -> Option<Step> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |i: usize| {
        let number: f64 = words.get(i)?.parse().ok()?;
        number.is_finite().then_some(number)
    };
    let pixels = |i: usize| Some([number(i)? as f32, number(i + 1)? as f32]);
    let whole = |i: usize| words.get(i)?.parse::<u32>().ok();
    let text = || (!rest.is_empty()).then(|| rest.to_owned());
    // One of these words.
    let one_of = |word: &str, words: &[&str]| words.iter().position(|w| *w == word);
    Some(match name {
        "drop" | "open" => {
            let (file, intent) = match rest.rsplit_once(char::is_whitespace) {
                Some((file, word)) if Intent::parse(word).is_some() => (file.trim(), word),
                _ => (rest, name),
            };
            let intent = Intent::parse(intent).unwrap_or(Intent::Auto);
            let file = Some(PathBuf::from(file)).filter(|_| !file.is_empty())?;
            act(move |desk| {
                desk.dropped(file.clone(), intent);
                Ok(())
            })
        }
        "choose" => {
            let number = whole(0)? as usize;
            act(move |desk| {
                let is_taken = number > 0 && desk.state.take_choice(number - 1);
                found(is_taken.then_some(()), || {
                    format!("no choice {number} is offered")
                })
            })
        }
        "alone" => set(|state| state.wishes.push(Wish::Alone)),
        "together" => {
            let on = one_of(rest, &["off", "on"])? == 1;
            act(move |desk| {
                let beside = desk.state.beside.as_mut();
                found(beside, || "no character is at the right".into())?.together = on;
                Ok(())
            })
        }
        "follow" => {
            let on = one_of(rest, &["off", "on"])? == 1;
            act(move |desk| {
                let follow = &mut desk.state.follow;
                let follow = Some(follow).filter(|f| !on || f.walk.is_some());
                found(follow, || "the root does not walk away in this clip".into())?.on = on;
                Ok(())
            })
        }
        "key" => {
            let (name, shift) = ((*words.first()?).to_owned(), words.get(1) == Some(&"shift"));
            act(move |desk| {
                let is_key = keys::press(&mut desk.state, &name, shift, false);
                found(is_key.then_some(()), || {
                    format!("no key is called '{name}'")
                })
            })
        }
        "drag" => {
            let by = pixels(0)?;
            let button = match words.get(2) {
                Some(&"right") => PointerButton::Secondary,
                _ => PointerButton::Primary,
            };
            let from = match words.iter().position(|w| *w == "from") {
                Some(i) => Some(pixels(i + 1)?),
                None => None,
            };
            point(move |state| Ok(drag(state, from.unwrap_or(middle(state)), by, button)))
        }
        "click" => {
            let at = pixels(0)?;
            point(move |state| Ok(drag(state, at, [0.0; 2], PointerButton::Primary)))
        }
        "press" => {
            let name = text()?;
            point(move |state| {
                let told = || format!("nothing in the window is called '{name}'");
                let middle = found(state.view.places.find(&name), told)?.rect.center();
                Ok(drag(state, middle.into(), [0.0; 2], PointerButton::Primary))
            })
        }
        "scroll" => {
            let pixels = number(0)? as f32;
            point(move |state| {
                let wheel = Event::MouseWheel {
                    unit: MouseWheelUnit::Point,
                    delta: vec2(0.0, pixels / state.view.scale),
                    phase: egui::TouchPhase::Move,
                    source: egui::MouseWheelSource::Wheel,
                    modifiers: Modifiers::NONE,
                };
                Ok(vec![Event::PointerMoved(at(state, middle(state))), wheel])
            })
        }
        "time" => {
            let time = number(0)?;
            act(move |desk| {
                let clock = &mut desk.state.clock;
                let (start, end) = (clock.start, clock.end);
                let is_there = (start..=end).contains(&time).then_some(());
                found(is_there, || {
                    format!("the file plays from time code {start} to {end}")
                })?;
                clock.scrub(time);
                Ok(())
            })
        }
        "joint" => named("joint", text()?, Model::find_joint, |state, joint| {
            state.choose(Some(joint));
        }),
        "camera" => {
            let find = |model: &Model, name: &str| model.cameras.iter().position(|c| c == name);
            let look = |state: &mut State, camera| state.wishes.push(Wish::Camera(camera));
            named("camera", text()?, find, look)
        }
        "shape" => {
            let (name, weight) = rest.rsplit_once(char::is_whitespace)?;
            let weight: f32 = weight.parse().ok()?;
            let find = |model: &Model, name: &str| {
                let found = model.shapes.iter().find(|shape| *shape == name);
                found.cloned()
            };
            named(
                "blend shape",
                name.trim().into(),
                find,
                move |state, shape| {
                    state.control.weights.insert(shape, weight);
                },
            )
        }
        "clip" => {
            let (name, mut is_asked) = (text()?, false);
            Step::Wait(Box::new(move |desk, _| {
                // A file that was dropped may bring the clip.
                if !desk.is_settled() || is_asked {
                    return Ok(desk.is_settled());
                }
                let model = desk.state.model.as_ref();
                let clip = clips::find_meant(model.map_or(&[], |m| &m.clips), &name)?;
                desk.state.play_clip(clip);
                is_asked = true;
                Ok(false)
            }))
        }
        "method" => {
            let linear = Some(SkinningMethod::ClassicLinear);
            let methods = [None, linear, Some(SkinningMethod::DualQuaternion)];
            let method = methods[one_of(rest, &["authored", "linear", "dual"])?];
            set(move |state| state.control.method = method)
        }
        "size" => Step::Size([whole(0)?, whole(1)?]),
        "light" => {
            let word = words.get(2).unwrap_or(&"camera");
            let light = Light {
                turn: number(0)?.to_radians(),
                intensity: number(1)?,
                follows_camera: one_of(word, &["world", "camera"])? == 1,
            };
            set(move |state| state.look.light = light)
        }
        "background" => {
            let background = scene::background_of(rest)?;
            set(move |state| state.look.background = background)
        }
        "ground" => {
            let ground = scene::ground_of(rest)?;
            set(move |state| ground.apply(state))
        }
        "save" => {
            let file = PathBuf::from(text()?);
            act(move |desk| match Purpose::of(&file) {
                Purpose::Open | Purpose::SavePicture => desk.save_picture(&file),
                purpose => desk.export(&file, purpose),
            })
        }
        "verify" => {
            let names: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            act(move |desk| {
                desk.verify(names.clone());
                Ok(())
            })
        }
        "shot" => Step::Shot(text()?.into()),
        "settle" => wait(|desk, _| desk.is_settled()),
        "loads" => {
            let count = u64::from(whole(0)?);
            wait(move |desk, _| desk.loads >= count)
        }
        "wait" => {
            let time = Duration::try_from_secs_f64(number(0)?).ok()?;
            wait(move |_, waited| waited >= time)
        }
        "state" => set(|_| {}),
        "quit" => act(|desk| {
            desk.quit = true;
            Ok(())
        }),
        _ => return None,
    })
}

fn found<T>(found: Option<T>, told: impl FnOnce() -> String) -> Result<T, String> {
    found.ok_or_else(told)
}

/// Does something with the part of the model that has a name.
fn named<T>(
    what: &'static str,
    name: String,
    find: impl Fn(&Model, &str) -> Option<T> + 'static,
    then: impl Fn(&mut State, T) + 'static,
) -> Step {
    act(move |desk| {
        let model = desk.state.model.as_ref();
        let part = model.and_then(|model| find(model, &name));
        let part = found(part, || format!("no {what} is called '{name}'"))?;
        then(&mut desk.state, part);
        Ok(())
    })
}

fn point(events: impl Fn(&State) -> Result<Vec<Event>, String> + 'static) -> Step {
    Step::Point(Box::new(events))
}

/// The pixel in the middle of the picture.
fn middle(state: &State) -> [f32; 2] {
    let [left, top, width, height] = state.viewport.map(|n| n as f32);
    [left + width * 0.5, top + height * 0.5]
}

/// A pixel of the window in egui's points.
fn at(state: &State, [x, y]: [f32; 2]) -> Pos2 {
    pos2(x, y) / state.view.scale
}

/// The events of a drag by so many pixels, or of a click.
fn drag(state: &State, from: [f32; 2], by: [f32; 2], button: PointerButton) -> Vec<Event> {
    let part = |part: f32| at(state, [from[0] + by[0] * part, from[1] + by[1] * part]);
    let pressed = |pos: Pos2, pressed: bool| Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let mut events = vec![Event::PointerMoved(part(0.0)), pressed(part(0.0), true)];
    if by != [0.0; 2] {
        events.extend([0.5, 1.0].map(|p| Event::PointerMoved(part(p))));
    }
    events.push(pressed(part(1.0), false));
    events
}

/// Steps that wait for their turn.
#[derive(Default)]
pub struct Script {
    steps: VecDeque<(String, Step)>,
    /// Since when the first one waits.
    began: Option<Instant>,
    /// Frames that were drawn since.
    frames: u32,
    /// What the pointer still does for it, frame by frame.
    events: Option<VecDeque<Option<Event>>>,
    /// No more lines will come: quit when all is done.
    pub ended: bool,
    /// Steps that failed.
    pub failures: usize,
    /// Steps are answered on stdout.
    pub answers: bool,
}

impl Script {
    /// Adds a line, if it is an action.
    pub fn push(&mut self, line: &str) -> Result<(), String> {
        if let Some(step) = parse(line)? {
            self.add(line.trim().to_owned(), step);
        }
        Ok(())
    }

    pub fn add(&mut self, line: String, step: Step) {
        self.steps.push_back((line, step));
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Takes the first step as far as it goes.
    pub fn next(&mut self, desk: &mut Desk) -> Next {
        let Some((_, step)) = self.steps.front_mut() else {
            return Next::Nothing;
        };
        let waited = self.began.get_or_insert_with(Instant::now).elapsed();
        let next = match step {
            Step::Do(act) => act(desk).map(|()| None),
            Step::Wait(is_done) => is_done(desk, waited).map(|done| (!done).then_some(Next::Rest)),
            Step::Size(size) => Ok(Some(Next::Size(*size))),
            Step::Shot(_) | Step::Point(_) if self.frames < FRAMES => Ok(Some(Next::Frame(None))),
            Step::Shot(path) => Ok(Some(Next::Shot(path.clone()))),
            Step::Point(events) => {
                let begun = match self.events.take() {
                    Some(events) => Ok(events),
                    None => events(&desk.state).map(|events| {
                        let after = std::iter::repeat_n(None, SMOOTH);
                        events.into_iter().map(Some).chain(after).collect()
                    }),
                };
                begun.map(|events| self.events.insert(events).pop_front().map(Next::Frame))
            }
        };
        match next {
            Ok(None) => Next::Ended(self.end(None)),
            Ok(Some(_)) if waited > PATIENCE => {
                let told = format!("nothing happened in {} s", PATIENCE.as_secs());
                Next::Ended(self.end(Some(told)))
            }
            Ok(Some(next)) => next,
            Err(e) => Next::Ended(self.end(Some(e))),
        }
    }

    pub fn count_frame(&mut self) {
        self.frames += 1;
    }

    /// Goes on to the next step.
    pub fn end(&mut self, failed: Option<String>) -> Answer {
        (self.began, self.frames, self.events) = (None, 0, None);
        self.failures += usize::from(failed.is_some());
        let line = self
            .steps
            .pop_front()
            .map_or_else(String::new, |(line, _)| line);
        Answer { line, failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_of_the_list_is_read() {
        let examples = "drop a b.usda|choose 1|alone|together off|follow on|key Left shift|drag 3 -4 right from 5 6|\
                        scroll -2|click 3 4|time 1.5|joint Hips|shape my smile 0.5|clip Walk|camera /Cam|method dual|\
                        size 640 480|press Open|light 30 1.5 world|background #336699|ground shadow|save y.png|\
                        verify posing|shot x.png|settle|loads 2|wait 0.5|state|quit";
        let is_action = |l: &&str| l.starts_with("  ") && !l.starts_with("   ");
        let mut listed = LANGUAGE.lines().filter(is_action);
        for example in examples.split('|') {
            assert!(parse(example).unwrap().is_some(), "{example}");
            let name = example.split(' ').next().unwrap();
            let line = listed.next().unwrap();
            assert!(line.trim_start().starts_with(name), "{line}: {example}");
        }
        assert_eq!(listed.next(), None);
        assert!(parse(" # note").unwrap().is_none());
        for wrong in
            "jump|time|time nan|size 3|wait -1|method cubic|follow|together maybe|shot|light 3|\
                      light 3 1 moon|background puce|ground sky|press|drop|shape 0.5"
                .split('|')
        {
            let e = parse(wrong).err().unwrap();
            assert_eq!(e, format!("'{wrong}' is no action; --help lists them"));
        }
    }
}
