//! Actions from a script: what a person would do with mouse and keys, and screenshots. Each is answered with a line
//! of JSON on stdout.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sinew::skel::SkinningMethod;
use sinew_render::{Background, Light};

use super::panels::scene::{self, Ground};

use super::drops::Intent;

/// One line of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// As if the file had been dropped into the window.
    Drop(PathBuf, Intent),
    /// Takes a choice of what is offered, counted from 1.
    Choose(usize),
    /// Shows the main character alone.
    Alone,
    /// The character at the right is shown at the seconds of the main one, or at its own.
    Together(bool),
    Follow(bool),
    Key {
        name: String,
        shift: bool,
    },
    /// Pixels that the pointer is dragged by, with the left or the right button.
    Drag {
        by: [f32; 2],
        left: bool,
        /// The pixel of the window where it begins, if not in the picture's middle.
        from: Option<[f32; 2]>,
    },
    /// Pixels that the wheel turns over the picture's middle.
    Scroll(f32),
    /// A click on a pixel of the window.
    Click([f32; 2]),
    Time(f64),
    /// Chooses a joint by its name.
    Joint(String),
    Shape {
        name: String,
        weight: f32,
    },
    Clip(String),
    Method(Option<SkinningMethod>),
    Camera(String),
    Size(u32, u32),
    /// Presses a button or clicks on another part of the window, by its name.
    Press(String),
    Light(Light),
    Background(Background),
    Ground(Ground),
    /// Writes the picture without the panels.
    Save(PathBuf),
    /// Writes a picture of the window.
    Shot(PathBuf),
    /// Waits until nothing is being read and no dialog is open.
    Settle,
    /// Waits until so many files were read, or failed to be, since the start.
    Loads(u64),
    Wait(Duration),
    /// Only answers.
    State,
    Quit,
}

/// How long a step may wait: on two busy cores a software adapter takes seconds for a frame.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// What there is to write in a script.
pub const LANGUAGE: &str = "\
Script actions, one a line; # begins a comment. Each is answered on stdout by a line of JSON:
  drop FILE [open|retarget|beside]
                        drop a file into the window: a motion is retargeted to the character that is
                        shown, any other file opened, unless the last word says what to do with it
  choose N              take the choice N of what is offered after a drop
  alone                 close the character at the right
  together on|off       show it at the seconds of the main character, or at its own
  follow on|off         follow the root with the camera
  key NAME [shift]      press a key; ? in the window lists them, such as: key Space
  drag X Y [left|right] [from X Y]
                        drag the pointer by so many pixels, from the picture's middle or a pixel
  scroll N              turn the wheel by so many pixels over it
  click X Y             click on a pixel of the window
  time CODE             pause, and show a time code
  joint NAME            choose a joint
  shape NAME WEIGHT     move the slider of a blend shape
  clip NAME             play another clip of the list, once nothing is being read; NAME is its name,
                        its file, or the last words of its name
  camera NAME           look through a camera of the file
  method authored|linear|dual
  size W H              resize the window
  press NAME            click on a part of the window; `places` of an answer names them
  light TURN INTENSITY [camera|world]
                        turn the lights by so many degrees; a brightness of 1 is the usual one
  background NAME       grey, dark, white, or a colour such as #336699
  ground grid|shadow|off
  save FILE.png         write the picture without the panels
  shot FILE.png         write what the window shows
  settle                wait until the file is read and no dialog is open
  loads N               wait until N files were read, those that failed too
  wait SECONDS
  state                 only answer
  quit";

/// Reads one line; `None` where there is nothing on it.
pub fn parse(line: &str) -> Result<Option<Step>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let bad = || format!("'{line}' is no action; --help lists them");
    let number = |i: usize| -> Result<f64, String> {
        let number = words.get(i).and_then(|w| w.parse::<f64>().ok());
        number.filter(|n| n.is_finite()).ok_or_else(bad)
    };
    let text = || (!rest.is_empty()).then(|| rest.to_owned()).ok_or_else(bad);
    let whole = |i: usize| -> Result<u32, String> {
        words.get(i).and_then(|w| w.parse().ok()).ok_or_else(bad)
    };
    let step = match name {
        "drop" | "open" => {
            let (file, intent) = match rest.rsplit_once(char::is_whitespace) {
                Some((file, word)) if Intent::parse(word).is_some() => (file.trim(), word),
                _ => (rest, name),
            };
            let intent = Intent::parse(intent).unwrap_or(Intent::Auto);
            let file = (!file.is_empty()).then_some(file).ok_or_else(bad)?;
            Step::Drop(file.into(), intent)
        }
        "choose" => Step::Choose(whole(0)? as usize),
        "alone" => Step::Alone,
        "together" | "follow" => {
            let on = match rest {
                "on" => true,
                "off" => false,
                _ => return Err(bad()),
            };
            match name {
                "follow" => Step::Follow(on),
                _ => Step::Together(on),
            }
        }
        "key" => Step::Key {
            name: (*words.first().ok_or_else(bad)?).to_owned(),
            shift: words.get(1) == Some(&"shift"),
        },
        "drag" => {
            let begin = words.iter().position(|w| *w == "from");
            let point = |i: usize| Ok::<_, String>([number(i + 1)? as f32, number(i + 2)? as f32]);
            Step::Drag {
                by: [number(0)? as f32, number(1)? as f32],
                left: words.get(2) != Some(&"right"),
                from: begin.map(point).transpose()?,
            }
        }
        "scroll" => Step::Scroll(number(0)? as f32),
        "click" => Step::Click([number(0)? as f32, number(1)? as f32]),
        "time" => Step::Time(number(0)?),
        "joint" => Step::Joint(text()?),
        "shape" => {
            let (shape, weight) = rest.rsplit_once(char::is_whitespace).ok_or_else(bad)?;
            Step::Shape {
                name: shape.trim().to_owned(),
                weight: weight.parse().map_err(|_| bad())?,
            }
        }
        "clip" => Step::Clip(text()?),
        "camera" => Step::Camera(text()?),
        "method" => Step::Method(match rest {
            "authored" => None,
            "linear" => Some(SkinningMethod::ClassicLinear),
            "dual" => Some(SkinningMethod::DualQuaternion),
            _ => return Err(bad()),
        }),
        "size" => Step::Size(whole(0)?, whole(1)?),
        "press" => Step::Press(text()?),
        "light" => Step::Light(Light {
            turn: number(0)?.to_radians(),
            intensity: number(1)?,
            follows_camera: match words.get(2) {
                None | Some(&"camera") => true,
                Some(&"world") => false,
                _ => return Err(bad()),
            },
        }),
        "background" => Step::Background(scene::background_of(rest).ok_or_else(bad)?),
        "ground" => Step::Ground(scene::ground_of(rest).ok_or_else(bad)?),
        "save" => Step::Save(text()?.into()),
        "shot" => Step::Shot(text()?.into()),
        "settle" => Step::Settle,
        "loads" => Step::Loads(whole(0)?.into()),
        "wait" => Step::Wait(Duration::try_from_secs_f64(number(0)?).map_err(|_| bad())?),
        "state" => Step::State,
        "quit" => Step::Quit,
        _ => return Err(bad()),
    };
    Ok(Some(step))
}

/// Writes a line to stdout, at once.
pub fn write_line(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Steps that wait for their turn.
#[derive(Debug, Default)]
pub struct Script {
    steps: std::collections::VecDeque<(String, Step)>,
    /// Since when the first one waits.
    began: Option<Instant>,
    /// Frames that were drawn since.
    frames: u32,
    /// No more lines will come: quit when all is done.
    pub ended: bool,
    /// Steps that failed.
    pub failures: usize,
    /// Steps are answered on stdout.
    pub answers: bool,
}

impl Script {
    pub fn push(&mut self, line: &str, step: Step) {
        self.steps.push_back((line.trim().to_owned(), step));
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The step that is due, how long it has been, and for how many frames.
    pub fn current(&mut self) -> Option<(Step, Duration, u32)> {
        let (_, step) = self.steps.front()?;
        let began = *self.began.get_or_insert_with(Instant::now);
        Some((step.clone(), began.elapsed(), self.frames))
    }

    pub fn count_frame(&mut self) {
        self.frames += 1;
    }

    /// Goes on to the next step; gives the line of the one that is done.
    pub fn done(&mut self) -> String {
        self.began = None;
        self.frames = 0;
        self.steps
            .pop_front()
            .map_or_else(String::new, |(line, _)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_of_the_list_is_read() {
        let examples = "drop a b.usda|choose 1|alone|together off|follow on|key Left shift|drag 3 -4 right from 5 6|scroll -2|click 3 4|time 1.5|joint Hips|shape my smile 0.5|\
                        clip Walk|camera /Cam|method dual|size 640 480|\
                        press Open|light 30 1.5 world|background #336699|ground shadow|save y.png|shot x.png|settle|loads 2|wait 0.5|state|quit";
        let is_action = |l: &&str| l.starts_with("  ") && !l.starts_with("   ");
        let mut listed = LANGUAGE.lines().filter(is_action);
        for example in examples.split('|') {
            let step = parse(example).unwrap().unwrap();
            let name = example.split(' ').next().unwrap();
            let line = listed.next().unwrap();
            assert!(line.trim_start().starts_with(name), "{line}: {step:?}");
        }
        assert_eq!(listed.next(), None);
    }

    #[test]
    fn names_may_hold_spaces_and_what_is_wrong_is_told() {
        let shape = parse("shape my smile 0.5").unwrap().unwrap();
        assert_eq!(
            shape,
            Step::Shape {
                name: "my smile".into(),
                weight: 0.5
            }
        );
        assert_eq!(parse(" # note").unwrap(), None);
        for (line, file, intent) in [
            ("drop my walk.bvh", "my walk.bvh", Intent::Auto),
            ("drop my walk.bvh beside", "my walk.bvh", Intent::Beside),
            ("drop retarget", "retarget", Intent::Auto),
            ("open a.glb", "a.glb", Intent::Open),
        ] {
            let step = parse(line).unwrap();
            assert_eq!(step, Some(Step::Drop(file.into(), intent)));
        }
        for wrong in [
            "jump",
            "time",
            "time nan",
            "size 3",
            "wait -1",
            "method cubic",
            "follow",
            "together maybe",
            "shot",
            "light 3",
            "light 3 1 moon",
            "background puce",
            "ground sky",
            "press",
        ] {
            let e = parse(wrong).unwrap_err();
            assert!(e.contains(wrong), "{e}");
        }
    }

    #[test]
    fn steps_wait_for_their_turn() {
        let mut script = Script::default();
        assert!(script.current().is_none());
        script.push("settle\n", Step::Settle);
        script.count_frame();
        let (step, _, frames) = script.current().unwrap();
        assert_eq!((step, frames), (Step::Settle, 1));
        assert_eq!(script.done(), "settle");
        assert!(script.is_empty());
    }
}
