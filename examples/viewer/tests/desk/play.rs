//! Plays a script: the actions of `viewer --script`, and lines that judge the viewer's report and picture.
//!
//! | line | what it does |
//! |---|---|
//! | `window W H SCALE` | the size of the window in pixels, before the files; 1000 660 1 without it |
//! | `files A B` | opens the viewer with these files |
//! | `= /PATH JSON` | the report has this value there |
//! | `~ /PATH WORDS`, `!~ /PATH WORDS` | the value has these words, or does not have them |
//! | `once /PATH WORDS` | the value has these words exactly once |
//! | `< /PATH N`, `> /PATH N` | the value is a number below N, or above N |
//! | `keep NAME /PATH` | keeps the value; `%NAME/PATH%` in a line is replaced by it |
//! | `same NAME /PATH`, `other NAME /PATH` | the value is the one that was kept, or is not |
//! | `near NAME /PATH COUNT BY TOLERANCE` | the first COUNT numbers are those that were kept, plus BY |
//! | `text`, `line`, `label`, `no text`, `no line` WORDS | what is written in the window, or a whole line of it |
//! | `until LINE` | tries the line until it succeeds, while files that changed are read again |
//! | `refused ACTION \| WORDS` | the action fails with these words |
//! | `picture NAME`, `differ NAME LEAST MOST` | keeps the picture; LEAST to MOST pixels differ from that one |
//! | `measure NAME A [B]`, `brighter A B BY` | keeps the brightness of an area, or by how much A is brighter than B |
//! | `bright AREA LEAST MOST`, `pixel X Y R G B`, `yellow LEAST` | judges the picture itself |
//! | `alpha FILE ALPHA LEAST` | at least LEAST pixels of a saved picture have this alpha |
//! | `covers [beside] FILE TIME`, `uncovers FILE TIME` | surfaces are where the reference says, or are not |
//! | `whole` | no surface is at the picture's edge |
//! | `flick X Y X Y` | a drag from one point to another within one frame |
//! | `agrees`, `middle`, `fits` | GPU and CPU agree; the root is in the middle; nothing is cut or covered |
//! | `write`, `replace` NAME TEXT, `copy FROM NAME` | makes a file of the folder `$`; `\n` is a line break |
//! | `bvh NAME PREFIX FRAMES SEED`, `nameless ...`, `chain NAME COUNT` | makes a motion, or many joints |
//! | `retarget MOTION` | what the library makes of a motion and the puppet: reference.usdc, alone.usda |

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use common::bvh_maker::figure;
use common::tolerance;
use egui::Rect;
use glam::{DMat4, DVec2};
use image::RgbaImage;
use serde_json::Value;
use sinew_io::retarget::{Request, Source, SourceRequest, Target, retarget};
use sinew_viewer::layout::Place;

use crate::judge::{self, check, number, plain};
use crate::truth;
use crate::viewer::Viewer;

/// A file may take so long to be read on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Plays the script of one trial.
pub fn play(script: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let mut stage = Play {
        folder: folder.path().display().to_string(),
        size: ([1000.0, 660.0], 1.0),
        viewer: None,
        pictures: HashMap::new(),
        kept: HashMap::new(),
    };
    for (number, line) in script.lines().enumerate() {
        let line = stage.filled(line.trim());
        if !line.is_empty() && !line.starts_with('#') {
            let at = |e| format!("line {}: {line}: {e}", number + 2);
            stage.line(&line).map_err(at)?;
        }
    }
    Ok(())
}

struct Play {
    folder: String,
    size: ([f32; 2], f32),
    viewer: Option<Viewer>,
    pictures: HashMap<String, RgbaImage>,
    kept: HashMap<String, Value>,
}

/// Parts of the picture's width and height: from left and top to right and bottom.
fn area(name: &str) -> Result<[f64; 4], String> {
    Ok(match name {
        "corner" => [0.0, 0.0, 0.1, 0.1],
        "left" => [0.3, 0.3, 0.5, 0.7],
        "right" => [0.5, 0.3, 0.7, 0.7],
        "middle" => [0.3, 0.3, 0.7, 0.7],
        _ => return Err(format!("no area {name}")),
    })
}

/// Mean brightness of a part of a picture, from 0 to 255.
fn brightness(picture: &RgbaImage, name: &str) -> Result<f64, String> {
    let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
    let [x0, y0, x1, y1] = area(name)?;
    let [x, y, w, h] = [
        x0 * width,
        y0 * height,
        (x1 - x0) * width,
        (y1 - y0) * height,
    ];
    let part =
        image::imageops::crop_imm(picture, x as u32, y as u32, w as u32, h as u32).to_image();
    let sum: f64 = part
        .pixels()
        .flat_map(|p| &p.0[..3])
        .map(|c| f64::from(*c))
        .sum();
    Ok(sum / f64::from(3 * part.width() * part.height()))
}

/// The matrix at a place of a report.
fn view(report: &Value, at: &str) -> DMat4 {
    let column = |i: usize| report.pointer(at).and_then(|m| m[i].as_f64());
    DMat4::from_cols_array(&std::array::from_fn(|i| column(i).unwrap_or(f64::NAN)))
}

impl Play {
    fn viewer(&mut self) -> Result<&mut Viewer, String> {
        self.viewer
            .as_mut()
            .ok_or_else(|| "no files were opened".into())
    }

    /// The line with the folder and kept values in it.
    fn filled(&self, line: &str) -> String {
        let line = line.replace('$', &self.folder);
        let part = |(i, part): (usize, &str)| match i % 2 {
            0 => part.to_owned(),
            _ => {
                let (name, path) = part.split_at(part.find('/').unwrap_or(part.len()));
                plain(
                    self.kept
                        .get(name)
                        .and_then(|v| v.pointer(path))
                        .unwrap_or(&Value::Null),
                )
            }
        };
        line.split('%').enumerate().map(part).collect()
    }

    fn value(&mut self, path: &str) -> Result<Value, String> {
        Ok(judge::at(&self.viewer()?.report(), path))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let name = || words.first().copied().unwrap_or_default().to_owned();
        let at = |i: usize| number(words.get(i).copied().unwrap_or_default());
        if judge::is_judgement(word) {
            return judge::judge(&self.viewer()?.report(), line);
        }
        match word {
            "window" => self.size = ([at(0)? as f32, at(1)? as f32], at(2)? as f32),
            "files" => self.viewer = Some(Viewer::open(self.size.0, self.size.1, &words)?),
            "keep" => {
                let value = self.value(words[1])?;
                self.kept.insert(name(), value);
            }
            "same" | "other" => {
                let value = self.value(words[1])?;
                let is_same = self.kept.get(words[0]) == Some(&value);
                check(is_same == (word == "same"), || value.to_string())?;
            }
            "near" => {
                let value = self.value(words[1])?;
                let numbers = |v: Option<&Value>| match v {
                    Some(Value::Array(all)) => all.iter().filter_map(Value::as_f64).collect(),
                    v => v.and_then(Value::as_f64).into_iter().collect::<Vec<_>>(),
                };
                let (was, now) = (numbers(self.kept.get(words[0])), numbers(Some(&value)));
                let (count, by, tolerance) = (at(2)? as usize, at(3)?, at(4)?);
                let is_near = |i: usize| Some((now.get(i)? - was.get(i)? - by).abs() <= tolerance);
                let all = (0..count).all(|i| is_near(i) == Some(true));
                check(all, || format!("{was:?} {now:?}"))?;
            }
            "text" => {
                let texts = self.viewer()?.texts();
                check(texts.contains(rest), || texts)?;
            }
            "line" => {
                let texts = self.viewer()?.texts();
                check(texts.lines().any(|l| l == rest), || texts)?;
            }
            "label" => {
                let is_there = self.viewer()?.has(rest);
                check(is_there, || "not in the panels".into())?;
            }
            "no" => {
                let texts = self.viewer()?.texts();
                let is_there = match rest.split_once(' ') {
                    Some(("line", line)) => texts.lines().any(|l| l == line),
                    Some(("text", text)) => texts.contains(text),
                    _ => true,
                };
                check(!is_there, || texts)?;
            }
            "until" => {
                let began = Instant::now();
                while let Err(e) = self.line(rest) {
                    check(began.elapsed() < PATIENCE, || e)?;
                    std::thread::sleep(Duration::from_millis(20));
                    let viewer = self.viewer()?;
                    viewer.act("state")?;
                    viewer.desk().read_changed();
                    viewer.act("settle")?;
                }
            }
            "refused" => {
                let (action, words) = rest.split_once(" | ").unwrap_or((rest, ""));
                let e = self.viewer()?.act(action).err().unwrap_or_default();
                check(!e.is_empty() && e.contains(words), || format!("told: {e}"))?;
            }
            "write" | "replace" | "copy" | "bvh" | "nameless" | "chain" | "retarget" => {
                self.file(word, rest, &words).map_err(|e| e.to_string())?;
            }
            "agrees" => {
                // Of a character of about a unit's size.
                let most = tolerance::MIRROR_POINTS * 4.0;
                self.line(&format!("< /difference {most}"))?;
            }
            "middle" => {
                let report = self.viewer()?.report();
                let number = |path: String| report.pointer(&path).and_then(Value::as_f64);
                let part = |i: usize| {
                    let first = number(format!("/viewport/{i}"))?;
                    let size = number(format!("/viewport/{}", i + 2))?;
                    Some((number(format!("/follow/root/{i}"))? - first) / size - 0.5)
                };
                let off = part(0).zip(part(1)).map(|(x, y)| DVec2::new(x, y).length());
                check(off.is_some_and(|o| o < 0.15), || {
                    format!("{off:?}: {report}")
                })?;
            }
            "flick" => {
                let [x, y, to_x, to_y] = [at(0)?, at(1)?, at(2)?, at(3)?].map(|n| n as f32);
                self.viewer()?.flick((x, y).into(), (to_x, to_y).into());
            }
            "fits" => fits(self.viewer()?)?,
            "covers" | "uncovers" => {
                let is_beside = words[0] == "beside";
                let words = if is_beside { &words[1..] } else { &words[..] };
                let overlap = self.overlap(words[0], number(words[1])?, is_beside)?;
                let is_there = overlap > tolerance::SILHOUETTE_OVERLAP;
                check(is_there == (word == "covers"), || {
                    format!("silhouettes overlap by {overlap}")
                })?;
            }
            "whole" => {
                let (found, [width, height], _) = self.surfaces(false)?;
                let is_inside = |i: usize| {
                    let (x, y) = (i as u32 % width, i as u32 / width);
                    x > 2 && y > 2 && x + 3 < width && y + 3 < height
                };
                let cut = (0..found.len()).filter(|i| found[*i] && !is_inside(*i));
                let cut = cut.count();
                check(cut == 0, || format!("{cut} pixels at the picture's edge"))?;
            }
            "picture" => {
                let picture = self.viewer()?.picture()?;
                self.pictures.insert(name(), picture);
            }
            "differ" | "measure" | "bright" | "pixel" | "yellow" | "alpha" | "brighter" => {
                self.judge(word, &words)?;
            }
            _ => self.viewer()?.act(line)?,
        }
        Ok(())
    }

    /// Judges the picture that is shown.
    fn judge(&mut self, word: &str, words: &[&str]) -> Result<(), String> {
        let at = |i: usize| number(words.get(i).copied().unwrap_or_default());
        let (name, picture) = (words[0], self.viewer()?.picture()?);
        let within = |found: f64, least: f64, most: f64| {
            check((least..=most).contains(&found), || found.to_string())
        };
        let count = |picture: &RgbaImage, is: &dyn Fn([u8; 4]) -> bool| {
            picture.pixels().filter(|p| is(p.0)).count() as f64
        };
        match word {
            "differ" => {
                let old = self.pictures.get(name).ok_or("no such picture")?;
                let differs = match old.dimensions() == picture.dimensions() {
                    true => truth::differs(old, &picture)
                        .into_iter()
                        .filter(|d| *d)
                        .count(),
                    false => usize::MAX,
                };
                within(differs as f64, at(1)?, at(2)?)
            }
            "measure" => {
                let less = words
                    .get(2)
                    .map_or(Ok(0.0), |area| brightness(&picture, area))?;
                let value = brightness(&picture, words[1])? - less;
                self.kept.insert(name.to_owned(), value.into());
                Ok(())
            }
            "brighter" => {
                let kept = |i: usize| self.kept.get(words[i]).and_then(Value::as_f64);
                let by = kept(0).zip(kept(1)).map_or(f64::NAN, |(a, b)| a - b);
                within(by, at(2)?, f64::INFINITY)
            }
            "bright" => within(brightness(&picture, name)?, at(1)?, at(2)?),
            "pixel" => {
                let found = picture.get_pixel(at(0)? as u32, at(1)? as u32).0;
                let expected = [at(2)? as u8, at(3)? as u8, at(4)? as u8];
                check(found[..3] == expected, || format!("{found:?}"))
            }
            "yellow" => {
                let is_yellow = |p: [u8; 4]| p[0] > 150 && p[1] > 130 && p[2] < 90;
                within(count(&picture, &is_yellow), at(0)?, f64::INFINITY)
            }
            _ => {
                let saved = image::open(name).map_err(|e| e.to_string())?.to_rgba8();
                let alpha = at(1)? as u8;
                within(count(&saved, &|p| p[3] == alpha), at(2)?, f64::INFINITY)
            }
        }
    }

    /// How well the surfaces in the picture overlap a file's triangles at a time.
    fn overlap(&mut self, file: &str, time: f64, is_beside: bool) -> Result<f64, String> {
        let (found, size, report) = self.surfaces(is_beside)?;
        let covered = found.iter().filter(|c| **c).count() as f64 / found.len() as f64;
        check(covered > 0.01, || {
            format!("{covered} of the picture is covered")
        })?;
        let matrix = match is_beside {
            true => "/beside/clip_from_world",
            false => "/clip_from_world",
        };
        let triangles = truth::triangles(file, time)?;
        let expected = truth::silhouette(&triangles, view(&report, matrix), size);
        Ok(truth::overlap(&expected, &found))
    }

    /// Which pixels surfaces cover, the size of their picture, and the report.
    fn surfaces(&mut self, is_beside: bool) -> Result<(Vec<bool>, [u32; 2], Value), String> {
        let viewer = self.viewer()?;
        let report = viewer.report();
        let state = &mut viewer.desk().state;
        let ([left, top, width, height], right) = (state.viewport, state.viewport_beside);
        let was = (state.look.grid, state.look.surface);
        state.look.grid = false;
        let with = viewer.picture()?;
        viewer.desk().state.look.surface = false;
        let without = viewer.picture()?;
        let look = &mut viewer.desk().state.look;
        (look.grid, look.surface) = was;
        let (x, y) = match is_beside {
            true => (right[0] - left, right[1] - top),
            false => (0, 0),
        };
        let part = |p: &RgbaImage| image::imageops::crop_imm(p, x, y, width, height).to_image();
        let found = truth::differs(&part(&with), &part(&without));
        Ok((found, [width, height], report))
    }

    /// Makes a file in the folder.
    fn file(
        &self,
        word: &str,
        rest: &str,
        words: &[&str],
    ) -> Result<(), Box<dyn std::error::Error>> {
        let folder = Path::new(&self.folder);
        let file = folder.join(words[0]);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        let figure = |name: &dyn Fn(usize, &str) -> String, frames: usize| {
            let [frames, seed] = [frames, frames + 1].map(|i| words[i].parse::<u32>());
            Ok::<_, std::num::ParseIntError>(figure(name, frames?, seed?.into()))
        };
        match word {
            "copy" => drop(std::fs::copy(words[0], folder.join(words[1]))?),
            "chain" => std::fs::write(file, chain(words[1].parse()?))?,
            "bvh" => {
                let name = |_, name: &str| format!("{}{name}", words[1].trim_matches('-'));
                std::fs::write(file, figure(&name, 2)?)?;
            }
            "nameless" => std::fs::write(file, figure(&|i, _| format!("node{i}"), 1)?)?,
            "retarget" => {
                let source = Source::open(&SourceRequest::new(&file))?;
                let mut target = Target::open("examples/assets/puppet.glb", None, &source)?;
                let moved = retarget(&source, &target, &Request::default())?;
                let (clip, times) = (&moved.animation, &moved.time_line);
                let target = &mut target.file;
                target.set_animation(&moved.skeleton, "Animation", clip, times)?;
                target.write(folder.join("reference.usdc"))?;
                target.write_animation(&folder.join("alone.usda"), "Animation", clip, times)?;
            }
            _ => {
                let text = rest.split_once(' ').map_or("", |(_, text)| text);
                let text = text.replace("\\n", "\n");
                if word == "write" {
                    return Ok(std::fs::write(file, text)?);
                }
                // As editors save.
                let new = folder.join("new");
                std::fs::write(&new, text)?;
                std::fs::rename(new, file)?;
            }
        }
        Ok(())
    }
}

/// A stage with a chain of so many joints.
fn chain(count: usize) -> String {
    let mut path = String::new();
    let mut joints = Vec::new();
    for i in 0..count {
        // Branches of 20, so that paths stay short.
        path = match i % 20 {
            0 => format!("root/J{i}"),
            _ => format!("{path}/J{i}"),
        };
        joints.push(format!("\"{path}\""));
    }
    let one = "( (1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0.1,0,1) )";
    let matrices = vec![one; count + 1].join(",");
    format!(
        "#usda 1.0\n( upAxis = \"Y\" )\ndef SkelRoot \"R\"\n{{\ndef Skeleton \"S\"\n{{\n  \
         uniform token[] joints = [\"root\", {}]\n  uniform matrix4d[] bindTransforms = [{matrices}]\n  \
         uniform matrix4d[] restTransforms = [{matrices}]\n}}\n}}\n",
        joints.join(", ")
    )
}

const PANELS: [&str; 7] = [
    "bar",
    "message",
    "offer",
    "timeline",
    "settings panel",
    "joints panel",
    "picture",
];
/// Over the picture or within lists that scroll.
const WITHIN: [&str; 5] = ["graph", "chosen joint", "joint list", "Copy", "Close"];

/// Panels do not overlap, nothing that has a name is cut or covered by another, joints fill their panel, the row of the
/// chosen one is in view, and the picture has room.
fn fits(viewer: &mut Viewer) -> Result<(), String> {
    viewer.report();
    let size = viewer.size();
    let window = Rect::from_min_size(Default::default(), size).expand(1.0);
    let places: Vec<(String, Place)> = {
        let all = viewer.desk().state.view.places.all();
        all.map(|(name, place)| (name.clone(), *place)).collect()
    };
    let rect = |wanted: &str| {
        places
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, p)| p.rect)
    };
    // The settings scroll: what is in them may be out of view.
    let scrolls = |place: &Place| {
        let settings = rect("settings panel");
        place.is_cut && settings.is_some_and(|s| s.x_range().contains(place.rect.center().x))
    };
    let in_view = || places.iter().filter(|(_, place)| !scrolls(place));
    for (name, place) in in_view() {
        let inside = window.contains_rect(place.rect) && !place.is_cut;
        check(inside, || format!("{name} is cut: {place:?}"))?;
    }
    let apart = || in_view().filter(|(name, _)| !WITHIN.contains(&name.as_str()));
    for (name, a) in apart() {
        let is_panel = PANELS.contains(&name.as_str());
        let alike = |other: &str| PANELS.contains(&other) == is_panel && other > name.as_str();
        for (other, b) in apart().filter(|(other, _)| alike(other)) {
            let common = a.rect.intersect(b.rect);
            let overlap = common.width() > 1.5 && common.height() > 1.5;
            check(!overlap, || {
                format!("{name} and {other} overlap: {a:?} {b:?}")
            })?;
        }
    }
    if let Some((row, list)) = rect("chosen joint").zip(rect("joint list")) {
        let inside = row.top() >= list.top() - 1.0 && row.bottom() <= list.bottom() + 1.0;
        check(inside, || format!("{row:?} in {list:?}"))?;
    }
    // The list fills its panel to the bottom.
    if let Some((list, panel)) = rect("joint list").zip(rect("joints panel")) {
        let below = panel.bottom() - list.bottom();
        check((-1.0..40.0).contains(&below), || {
            format!("{list:?} in {panel:?}")
        })?;
    }
    let share = rect("picture").map_or(0.0, |p| p.area() / size.x / size.y);
    check(share > 0.25, || {
        format!("the picture has {share} of the window")
    })
}
