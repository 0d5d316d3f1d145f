//! Rows of `pictures.txt`: scenes, what is drawn of them, and what is expected of the pictures.
//!
//! A row begins with `## NAME`, and is a trial of this name. Its lines are done in their order:
//!
//! | line | what it does |
//! |---|---|
//! | `scene FILE` | takes a file of the folder `scenes` or of `examples/assets` |
//! | `- old -> new` | replaces the first such text in it; `\n` is a line break |
//! | `image NAME WIDTH COLORS` | writes a square PNG beside it; its pixels take the colours in turn |
//! | `file NAME TEXT` | writes another file beside it |
//! | `time 30 cpu dual heat=head` | poses it at a time, with settings |
//! | `camera yaw 0.3` | a camera from this yaw that frames what the next picture shows |
//! | `camera yaw 0.3 pitch 0`, `camera yaw 0.3 rise 0.6` | the same with this pitch; the same, raised by an angle |
//! | `camera of the file` | the first camera of the file |
//! | `camera before 1 4` | a camera 4 units before the point at the height 1 |
//! | `look default light.turn=1` | what is drawn; without it surfaces alone, before one colour |
//! | `draw A` | draws a picture; A may have several |
//! | `lies A` | the last picture of A covers the points that the f64 reference projects, and no more |
//! | `lies A notices 0.05` | the same, and it would fail with points that are moved by 0.05 along x |
//! | `expect differing A B < 0.1` | compares two sums of products of numbers, measures and tolerances |
//!
//! `measure.rs` has the measures of pictures, and `Easel::measure` those of the stage.

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::command::Bench;
use common::trials::Trial;
use common::{gpu, tolerance};
use glam::DVec3;
use image::{Rgba, RgbaImage};
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::skel::SkinningMethod;
use sinew_render::{Background, Bounds, Camera, Control, DrawBackend, Fixed, JointId, Look, Stage};

use super::drawing::{Done, Drawing, SIZE, bare, scene};
use super::measure::{Condition, of_pictures};

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let mut rows: Vec<(&str, Vec<(usize, &str)>)> = Vec::new();
    for (number, line) in include_str!("pictures.txt").lines().enumerate() {
        if let Some(name) = line.strip_prefix("## ") {
            rows.push((name, Vec::new()));
        } else if !line.is_empty() && !line.starts_with("# ") {
            rows.last_mut().unwrap().1.push((number + 1, line));
        }
    }
    let trials = rows.into_iter().map(|(name, lines)| {
        let run = move || {
            let mut easel = Easel::default();
            lines.iter().try_for_each(|(number, line)| {
                let done = easel.line(line);
                done.map_err(|e| format!("line {number}: {line}: {e:?}").into())
            })
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    });
    trials.collect()
}

/// What the lines of one row have come to.
#[derive(Default)]
struct Easel {
    bench: Bench,
    file: PathBuf,
    /// The scene after the edits so far, if it is text.
    text: Option<String>,
    drawing: Option<Drawing>,
    time: f64,
    view: String,
    camera: Option<Camera>,
    look: Option<Look>,
    pictures: BTreeMap<String, Vec<RgbaImage>>,
}

impl Easel {
    fn line(&mut self, line: &str) -> Done {
        let (verb, rest) = line.split_once(' ').ok_or("a verb and more")?;
        match verb {
            "scene" => {
                self.file = scene(rest);
                let is_text = self.file.extension().is_some_and(|e| e == "usda");
                self.text = match is_text {
                    true => Some(std::fs::read_to_string(&self.file)?),
                    false => None,
                };
                self.reopen();
            }
            "-" => self.edit(rest)?,
            "image" => self.image(rest)?,
            "file" => {
                let (name, text) = rest.split_once(' ').ok_or("a name and a text")?;
                self.bench.write(name, text);
                self.reopen();
            }
            "time" => self.pose(rest)?,
            "camera" => {
                self.view = rest.to_owned();
                self.camera = None;
            }
            "look" => self.look = Some(look(rest)?),
            "draw" => self.draw(rest)?,
            "lies" => self.lies(rest)?,
            "expect" => self.expect(rest)?,
            _ => return Err("no such verb".into()),
        }
        Ok(())
    }

    /// The file has changed: it is opened when it is needed next.
    fn reopen(&mut self) {
        self.drawing = None;
        self.camera = None;
    }

    fn edit(&mut self, edit: &str) -> Done {
        let (old, new) = edit.split_once(" ->").ok_or("old -> new")?;
        let (old, new) = (
            old.replace("\\n", "\n"),
            new.trim_start().replace("\\n", "\n"),
        );
        let text = self.text.take().ok_or("only text is edited")?;
        if !text.contains(&old) {
            return Err("not in the scene".into());
        }
        self.text = Some(text.replacen(&old, &new, 1));
        self.reopen();
        Ok(())
    }

    fn image(&mut self, image: &str) -> Done {
        let words: Vec<&str> = image.split(' ').collect();
        let [name, width, colors @ ..] = &words[..] else {
            return Err("NAME WIDTH COLORS".into());
        };
        let colors = colors.iter().map(|color| {
            let [r, g, b, a] = u32::from_str_radix(color, 16)?.to_be_bytes();
            Ok(Rgba([r, g, b, a]))
        });
        let colors = colors.collect::<Result<Vec<_>, Failed>>()?;
        let width: u32 = width.parse()?;
        let at = |x: u32, y: u32| colors[(y * width + x) as usize % colors.len()];
        RgbaImage::from_fn(width, width, at).save(self.bench.path(name))?;
        self.reopen();
        Ok(())
    }

    fn drawing(&mut self) -> Result<&mut Drawing, Failed> {
        if self.drawing.is_none() {
            let file = match &self.text {
                Some(text) => self.bench.write("stage.usda", text),
                None => self.file.clone(),
            };
            self.drawing = Some(Drawing::open(file)?);
        }
        Ok(self.drawing.as_mut().ok_or("a scene")?)
    }

    fn stage(&mut self) -> Result<&Stage, Failed> {
        Ok(&self.drawing()?.stage)
    }

    /// All errors and warnings of the stage.
    fn messages(&mut self) -> Result<Vec<String>, Failed> {
        let stage = self.stage()?;
        let failed = stage.failed().iter().map(|prim| &prim.error);
        let new = stage.errors().iter();
        let new = new.filter(|e| stage.failed().iter().all(|prim| prim.error != **e));
        let mut messages: Vec<String> = failed.chain(new).map(ToString::to_string).collect();
        messages.extend(stage.warnings().iter().map(ToString::to_string));
        Ok(messages)
    }

    fn joint(&mut self, name: &str) -> Result<usize, Failed> {
        let mut joints = self.stage()?.skeletons()[0].joints.iter();
        Ok(joints.position(|j| j.name == name).ok_or("no such joint")?)
    }

    fn pose(&mut self, settings: &str) -> Done {
        let mut words = settings.split(' ');
        self.time = words.next().ok_or("a time")?.parse()?;
        let mut control = Control::default();
        for word in words {
            match word {
                "cpu" => control.backend = DrawBackend::Cpu,
                "dual" => control.method = Some(SkinningMethod::DualQuaternion),
                "linear" => control.method = Some(SkinningMethod::ClassicLinear),
                _ => {
                    let joint = word.strip_prefix("heat=").ok_or("no such setting")?;
                    let joint = self.joint(joint)?;
                    control.heat = Some(JointId { skeleton: 0, joint });
                }
            }
        }
        let time = self.time;
        self.drawing()?.at(time, &control)
    }

    fn camera(&mut self) -> Result<Camera, Failed> {
        if let Some(camera) = &self.camera {
            return Ok(*camera);
        }
        let view = self.view.clone();
        let words: Vec<&str> = view.split(' ').collect();
        let camera = match &words[..] {
            ["of", "the", "file"] => {
                let cameras = self.stage()?.cameras();
                Camera::fixed('Y', Fixed::of_stage(&cameras[0], Time::Default))
            }
            // Far from the world's XY plane, along -Z.
            ["before", height, distance] => {
                let mut camera = Camera::new('Y');
                let orbit = camera.orbit_mut(&Bounds::EMPTY);
                (orbit.yaw, orbit.pitch) = (0.0, 0.0);
                orbit.target = DVec3::new(0.0, height.parse()?, 0.0);
                orbit.distance = distance.parse()?;
                camera
            }
            ["yaw", yaw, more @ ..] => {
                let mut camera = self.drawing()?.camera(yaw.parse()?);
                match more {
                    [] => {}
                    ["pitch", pitch] => {
                        camera.orbit_mut(&Bounds::EMPTY).pitch = pitch.parse()?;
                    }
                    ["rise", pitch] => camera.orbit(0.0, pitch.parse()?, &Bounds::EMPTY),
                    _ => return Err("no such camera".into()),
                }
                camera
            }
            _ => return Err("no such camera".into()),
        };
        self.camera = Some(camera);
        Ok(camera)
    }

    fn draw(&mut self, name: &str) -> Done {
        let camera = self.camera()?;
        let look = self.look.clone().unwrap_or_else(bare);
        let picture = self.drawing()?.draw(&camera, &look)?;
        self.pictures
            .entry(name.to_owned())
            .or_default()
            .push(picture);
        Ok(())
    }

    fn lies(&mut self, rest: &str) -> Done {
        let (name, aside) = match rest.split_once(" notices ") {
            Some((name, aside)) => (name, Some(aside.parse()?)),
            None => (rest, None),
        };
        let camera = self.camera()?;
        let drawing = self.drawing.as_ref().ok_or("nothing is drawn")?;
        let picture = self.pictures[name].last().ok_or("a picture")?;
        drawing.lies_where_the_reference_is(picture, &camera, self.time, 0.0)?;
        let Some(aside) = aside else { return Ok(()) };
        match drawing.lies_where_the_reference_is(picture, &camera, self.time, aside) {
            Ok(()) => Err("points moved aside fit as well".into()),
            Err(_) => Ok(()),
        }
    }

    fn expect(&mut self, text: &str) -> Done {
        let operator = [" < ", " > ", " = "].into_iter().find(|o| text.contains(o));
        let operator = operator.ok_or("no comparison")?;
        let (left, right) = text.split_once(operator).ok_or("no comparison")?;
        let (left, right) = (self.sum(left)?, self.sum(right)?);
        let is_so = match operator {
            " < " => left < right,
            " > " => left > right,
            _ => left == right,
        };
        match is_so {
            true => Ok(()),
            false => Err(format!("{left} and {right}").into()),
        }
    }

    /// Products that are added and subtracted.
    fn sum(&mut self, text: &str) -> Result<f64, Failed> {
        let (mut total, mut sign) = (0.0, 1.0);
        let mut words = Vec::new();
        for word in text.split(' ').chain(["+"]) {
            if word != "+" && word != "-" {
                words.push(word);
                continue;
            }
            let factor = words.split(|w| *w == "*").map(|words| self.measure(words));
            total += sign * factor.product::<Result<f64, Failed>>()?;
            sign = if word == "-" { -1.0 } else { 1.0 };
            words.clear();
        }
        Ok(total)
    }

    fn measure(&mut self, words: &[&str]) -> Result<f64, Failed> {
        let count = |n: usize| Ok(n as f64);
        match *words {
            ["SAME_COLOR"] => Ok(f64::from(tolerance::SAME_COLOR)),
            ["SAME_PICTURE"] => Ok(tolerance::SAME_PICTURE),
            ["SILHOUETTE_PIXELS"] => Ok(tolerance::SILHOUETTE_PIXELS),
            ["messages"] => count(self.messages()?.len()),
            ["messages", word] => {
                let messages = self.messages()?;
                count(messages.iter().filter(|m| m.contains(word)).count())
            }
            ["warnings", code] => {
                let warnings = self.stage()?.geometry().warnings.iter();
                count(warnings.filter(|w| w.code == code).count())
            }
            ["warnings"] => count(self.stage()?.geometry().warnings.len()),
            ["failed", code] => {
                let failed = self.stage()?.failed().iter();
                count(failed.filter(|f| f.error.code == Some(code)).count())
            }
            ["failed"] => count(self.stage()?.failed().len()),
            ["visible"] => count(self.stage()?.meshes().iter().filter(|m| m.visible).count()),
            ["curves", mesh] => count(self.stage()?.meshes()[mesh.parse::<usize>()?].curves),
            ["deforms", mesh] => count(usize::from(
                self.stage()?.meshes()[mesh.parse::<usize>()?].deforms,
            )),
            // The row of pixels that a joint is on.
            ["joint", name] => {
                let joint = self.joint(name)?;
                let at = self.stage()?.skeletons()[0].world_from_joint[joint].w_axis;
                let projected = self.camera()?.project(at.truncate(), SIZE);
                Ok(projected.ok_or("behind the camera")?.0.y)
            }
            // 1 if the pixel that a point is on fulfils a condition.
            ["at", name, x, y, z, condition] => {
                let point = DVec3::new(x.parse()?, y.parse()?, z.parse()?);
                let projected = self.camera()?.project(point, SIZE);
                let (pixel, _) = projected.ok_or("behind the camera")?;
                let picture = self.pictures[name].last().ok_or("a picture")?;
                let pixel = picture.get_pixel(pixel.x as u32, pixel.y as u32).0;
                count(usize::from(Condition::parse(condition)?.holds(pixel)))
            }
            [number] => Ok(number.parse()?),
            [measure, name, ref more @ ..] => {
                let pictures = self.pictures.get(name).ok_or("no such picture")?;
                let other = more.first().and_then(|name| self.pictures.get(*name));
                let other = other.map_or(&[][..], Vec::as_slice);
                let words: Vec<&str> = [measure].into_iter().chain(more.iter().copied()).collect();
                of_pictures(&words, pictures, other)
            }
            [] => Err("nothing to measure".into()),
        }
    }
}

fn look(words: &str) -> Result<Look, Failed> {
    let mut look = bare();
    for word in words.split(' ') {
        let number = |text: &str| text.parse::<f64>();
        match word.split_once('=') {
            Some(("light.turn", turn)) => look.light.turn = number(turn)?,
            Some(("light.intensity", intensity)) => look.light.intensity = number(intensity)?,
            Some(_) => return Err("no such look".into()),
            None => match word {
                "bare" => {}
                "default" => look = Look::default(),
                "transparent" => look.background = Background::Transparent,
                "world-light" => look.light.follows_camera = false,
                "grid" => look.grid = true,
                "no-lines" => look.grid_lines = false,
                "no-surface" => look.surface = false,
                "wireframe" => look.wireframe = true,
                "normals" => look.normals = true,
                "joints" => look.joints = true,
                "bounds" => look.bounds = true,
                _ => return Err("no such look".into()),
            },
        }
    }
    Ok(look)
}
