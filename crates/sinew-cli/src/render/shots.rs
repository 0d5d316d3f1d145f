//! The shots: the time, the camera and the file of each picture.

use std::path::PathBuf;

use glam::DVec3;

use crate::error::{Error, Result};
use sinew::error::Warning;
use sinew::sampled::Time;
use sinew::scene::StageCamera;
use sinew_render::{Bounds, Camera, Fixed, Focus, Look, Stage, View};

use super::clip_file::{ClipFormat, SHORTEST_OF_GIF};
use super::{Args, numbered};

/// Largest number of times at which the bounding box of a clip is computed.
const MEASURED: usize = 24;

/// Largest number of pictures; a request for more is taken for a mistake.
const MOST: usize = 100_000;

/// Seconds of a whole turn, if it is a clip.
const TURN_SECONDS: f64 = 6.0;
/// Pictures per second at most of a turn, and of clips whose times do not say it.
const FPS: f64 = 24.0;

/// One picture, or one cell of a sheet.
pub struct Shot {
    pub time: Time,
    /// Angle around the up axis in degrees, added to the camera's yaw.
    pub turn: f64,
    /// `None` for a cell of a sheet or a picture of a clip.
    pub file: Option<PathBuf>,
}

impl Shot {
    /// A shot that does not turn.
    fn at(time: Time, file: Option<PathBuf>) -> Self {
        Self {
            time,
            turn: 0.0,
            file,
        }
    }
}

/// All shots of a run.
///
/// # Errors
/// There are too many pictures, or several and no # in the output's name.
pub fn shots(args: &Args, stage: &Stage) -> Result<Vec<Shot>> {
    let numbered = numbered(&args.output)?;
    let needs = |option: &str| {
        Error::Usage(format!(
            "{option} makes several pictures; expected #### in the output's name, as in frames/####.png"
        ))
    };
    if let Some(sheet) = args.sheet {
        let count = sheet.0[0] as usize * sheet.0[1] as usize;
        let cells = evenly(&all_times(args, stage)?, count).into_iter();
        return Ok(cells.map(|time| Shot::at(time, None)).collect());
    }
    let in_one_file = args.clip_format().is_some();
    if let Some(count) = args.turntable {
        let numbered = match in_one_file {
            true => None,
            false => Some(numbered.ok_or_else(|| needs("--turntable"))?),
        };
        let time = single_time(args, stage);
        let turn = |i: u32| Shot {
            time,
            turn: 360.0 * f64::from(i) / f64::from(count),
            file: numbered.as_ref().map(|n| n.file(i64::from(i) + 1)),
        };
        return Ok((0..count).map(turn).collect());
    }
    if in_one_file {
        let times = match args.time {
            Some(time) => vec![Time::At(time)],
            None => clip_times(args, stage)?,
        };
        let shots = times.into_iter().map(|time| Shot::at(time, None));
        return Ok(shots.collect());
    }
    let single = args.time.is_some() || (args.frames.is_none() && numbered.is_none());
    if single {
        let time = single_time(args, stage);
        let file = match (numbered, time.code()) {
            (Some(numbered), Some(code)) => numbered.file(code.max(0.0).round() as i64),
            _ => args.output.clone(),
        };
        return Ok(vec![Shot::at(time, Some(file))]);
    }
    let numbered = numbered.ok_or_else(|| needs("--frames"))?;
    let times = all_times(args, stage)?;
    // Number the files by time codes if all of them are whole numbers, otherwise from 1.
    let code = |t: &Time| t.code().unwrap_or(0.0);
    let whole = times.iter().map(code).all(|c| c >= 0.0 && c.fract() == 0.0);
    let number = |i: usize, t: &Time| if whole { code(t) as i64 } else { i as i64 + 1 };
    let file = |i, time| Some(numbered.file(number(i, time)));
    let times = times.iter().enumerate();
    Ok(times
        .map(|(i, time)| Shot::at(*time, file(i, time)))
        .collect())
}

/// The times of a clip file's pictures: those of `--frames`; or `--fps` of them a second; or all
/// frames, in a GIF at most so many that it plays as fast as the file does.
fn clip_times(args: &Args, stage: &Stage) -> Result<Vec<Time>> {
    let mut times = all_times(args, stage)?;
    let Some((first, last)) = stage.time_range().filter(|_| args.frames.is_none()) else {
        return Ok(times);
    };
    let codes_per_second = stage.scene().time_line.time_codes_per_second;
    if let Some(fps) = args.fps {
        let step = codes_per_second / fps;
        let count = ((last - first) / step + 1e-6).floor();
        if count >= MOST as f64 {
            return Err(too_many());
        }
        return Ok((0..=count as usize)
            .map(|i| Time::At(first + step * i as f64))
            .collect());
    }
    let each = seconds_of_file(stage, times.iter().copied());
    if let (Some(ClipFormat::Gif), Some(each)) = (args.clip_format(), each) {
        let skipped = (SHORTEST_OF_GIF / each - 1e-6).ceil().max(1.0);
        times = times.into_iter().step_by(skipped as usize).collect();
    }
    Ok(times)
}

/// Seconds between the first two times, as the file plays.
fn seconds_of_file(stage: &Stage, mut times: impl Iterator<Item = Time>) -> Option<f64> {
    let (first, second) = (times.next()?.code()?, times.next()?.code()?);
    let seconds = (second - first) / stage.scene().time_line.time_codes_per_second;
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

/// A warning if a GIF is to show more pictures a second than programs play.
pub fn too_fast_for_gif(args: &Args, seconds: f64) -> Option<Warning> {
    let is_gif = args.clip_format() == Some(ClipFormat::Gif);
    (is_gif && seconds < SHORTEST_OF_GIF * (1.0 - 1e-6)).then(|| {
        let message = format!(
            "{} pictures a second were asked for, and a GIF plays 50 at most: it takes {} times as long; \
             choose fewer with a step in --frames, or .apng",
            number(1.0 / seconds),
            number(SHORTEST_OF_GIF / seconds)
        );
        Warning::new("gif-too-fast", "", message)
    })
}

/// A number with at most two decimals.
pub fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    rounded.to_string()
}

/// Seconds that each picture of a clip file is shown: by `--fps`, or else as fast as the file plays.
pub fn seconds_each(args: &Args, stage: &Stage, shots: &[Shot]) -> f64 {
    let found = match args.turntable {
        Some(pictures) => Some((TURN_SECONDS / f64::from(pictures)).max(1.0 / FPS)),
        None => seconds_of_file(stage, shots.iter().map(|s| s.time)),
    };
    let seconds = args.fps.map(|fps| 1.0 / fps).or(found);
    seconds.unwrap_or(1.0 / FPS)
}

/// Whether a time lies in a range, but for rounding.
fn is_within((first, last): (f64, f64), time: f64) -> bool {
    let near = 1e-6 * (last - first).abs().max(1.0);
    (first - near..=last + near).contains(&time)
}

/// A warning if times that were asked for lie outside the clip: outside the range of the stage, and
/// outside that of the samples, whose nearest end is drawn then.
pub fn outside_clip(stage: &Stage, shots: &[Shot]) -> Option<Warning> {
    let range = stage.time_range()?;
    let sampled = stage.sampled_range().unwrap_or(range);
    let codes = shots.iter().filter_map(|s| s.time.code());
    let outside: Vec<f64> = codes.filter(|t| !is_within(range, *t)).collect();
    let example = outside.first()?;
    let what = match outside.len() {
        1 => format!("time {example} lies"),
        n => format!("{n} of {} times lie, such as {example},", shots.len()),
    };
    let drawn = match outside.iter().all(|t| is_within(sampled, *t)) {
        true => "the pose that the file has at the time is drawn".to_owned(),
        false => {
            let [first, last] = [sampled.0, sampled.1].map(number);
            format!("its samples are from {first} to {last}, and the nearest one is drawn")
        }
    };
    let [first, last] = [range.0, range.1].map(number);
    let message = format!("{what} outside the clip, which is from {first} to {last}: {drawn}");
    Some(Warning::new("time-outside-clip", "", message))
}

/// A warning if the file has samples, and all of them lie outside the range of the stage that is
/// drawn.
pub fn clip_outside_range(stage: &Stage) -> Option<Warning> {
    let (first, last) = stage.time_range()?;
    let (from, to) = stage.sampled_range()?;
    (to < first || from > last).then(|| {
        let [first, last, from, to] = [first, last, from, to].map(number);
        let message = format!(
            "the animation is from {from} to {to}, outside the stage's range from {first} to {last}: \
             choose its times by --time or --frames {from}:{to}"
        );
        Warning::new("clip-outside-range", "", message)
    })
}

fn single_time(args: &Args, stage: &Stage) -> Time {
    match (args.time, stage.time_range()) {
        (Some(time), _) => Time::At(time),
        (None, Some((first, _))) => Time::At(first),
        (None, None) => Time::Default,
    }
}

fn too_many() -> Error {
    Error::Message(format!(
        "more than {MOST} pictures; choose fewer with --frames"
    ))
}

/// The frames that were asked for, or else all frames of the clip.
fn all_times(args: &Args, stage: &Stage) -> Result<Vec<Time>> {
    let times = match (args.frames, stage.time_range()) {
        (Some(frames), _) => frames.times(),
        (None, None) => return Ok(vec![Time::Default]),
        (None, Some((first, last))) => {
            let step = stage.frame_step();
            let count = ((last - first) / step + 5e-4).floor();
            if count >= MOST as f64 {
                return Err(too_many());
            }
            (0..=count as usize)
                .map(|i| first + step * i as f64)
                .collect()
        }
    };
    if times.len() > MOST {
        return Err(too_many());
    }
    Ok(times.into_iter().map(Time::At).collect())
}

/// Chooses `count` of the times, evenly from the first to the last. If there are fewer times, some
/// are repeated.
pub fn evenly(times: &[Time], count: usize) -> Vec<Time> {
    let last = times.len().saturating_sub(1);
    let pick = |i: usize| match count {
        0 | 1 => 0,
        _ => (i * last * 2 + count - 1) / (2 * (count - 1)),
    };
    (0..count)
        .filter_map(|i| times.get(pick(i)).copied())
        .collect()
}

/// The camera of all shots of a run.
pub enum ShotCamera<'a> {
    /// An orbiting camera that turns by the angle of each shot.
    Orbit(Camera),
    /// An orbiting camera that looks at the middle of what it frames in each shot, from the same
    /// direction and distance.
    Following(Camera),
    /// A camera of the file, at the time of each shot.
    Stage(&'a StageCamera),
}

impl ShotCamera<'_> {
    /// The camera of one shot. `target` is the point of [`target`] at its time.
    pub fn at(&self, shot: &Shot, up_axis: char, target: DVec3) -> Camera {
        match self {
            Self::Orbit(camera) => {
                let mut camera = *camera;
                if let View::Orbit(orbit) = &mut camera.view {
                    orbit.yaw += shot.turn.to_radians();
                }
                camera
            }
            Self::Following(camera) => {
                let mut camera = *camera;
                if let View::Orbit(orbit) = &mut camera.view {
                    orbit.target = target;
                }
                camera
            }
            Self::Stage(camera) => Camera::fixed(up_axis, Fixed::of_stage(camera, shot.time)),
        }
    }
}

/// The point that a following camera looks at: the middle of the focus, or of everything drawn.
/// `points` are those of [`Stage::framed`].
pub fn target(stage: &Stage, points: &[DVec3], focus: Option<&Focus>) -> DVec3 {
    match focus {
        Some(_) => Bounds::of(points.iter().copied()).center(),
        None => stage.bounds().center(),
    }
}

/// The camera that was asked for. The auto camera frames the stage at the times of all shots.
///
/// # Errors
/// The file has no camera of the path, or the stage cannot be posed.
pub fn shot_camera<'a>(
    args: &Args,
    cameras: &'a [StageCamera],
    stage: &mut Stage,
    shots: &[Shot],
    (look, focus): (&Look, Option<&Focus>),
    aspect: f64,
) -> Result<ShotCamera<'a>> {
    if args.camera != "auto" {
        let found = cameras.iter().find(|c| c.path == args.camera);
        return found.map(ShotCamera::Stage).ok_or_else(|| {
            let known: Vec<&str> = cameras.iter().map(|c| c.path.as_str()).take(8).collect();
            Error::Message(format!(
                "{}: no camera at {}; cameras are {}",
                args.input.display(),
                args.camera,
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            ))
        });
    }
    let mut camera = stage.camera();
    let most = std::f64::consts::FRAC_PI_2 - 1e-3;
    {
        let orbit = camera.orbit_mut(&Bounds::EMPTY);
        orbit.yaw = args.yaw.to_radians();
        orbit.pitch = args.pitch.to_radians().clamp(-most, most);
    }
    let times: Vec<Time> = shots.iter().map(|s| s.time).collect();
    let measured = evenly(&times, times.len().min(MEASURED));
    let control = stage.control().clone();
    if args.sheet.is_some() {
        // The distance that frames the largest pose.
        let mut distance = 0.0f64;
        for time in measured {
            stage.set_time(time, &control)?;
            let points = stage.framed(look, focus)?;
            camera.orbit_mut(&Bounds::EMPTY).target = target(stage, &points, focus);
            distance = distance.max(camera.distance_to_fit(&points, aspect));
        }
        camera.orbit_mut(&Bounds::EMPTY).distance = distance / args.zoom;
        return Ok(ShotCamera::Following(camera));
    }
    let mut points = Vec::new();
    for time in measured {
        stage.set_time(time, &control)?;
        points.extend(stage.framed(look, focus)?);
    }
    if args.turntable.is_some() {
        // The largest distance that a direction needs, for all directions, so that nothing is cut
        // off.
        camera.orbit_mut(&Bounds::EMPTY).target = Bounds::of(points.iter().copied()).center();
        let mut distance = 0.0f64;
        for shot in shots.iter().take(72) {
            let mut turned = camera;
            turned.orbit(shot.turn.to_radians(), 0.0, &Bounds::EMPTY);
            distance = distance.max(turned.distance_to_fit(&points, aspect));
        }
        camera.orbit_mut(&Bounds::EMPTY).distance = distance;
    } else {
        camera.frame_points(&points, aspect);
    }
    camera.orbit_mut(&Bounds::EMPTY).distance /= args.zoom;
    Ok(ShotCamera::Orbit(camera))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spread_from_the_first_to_the_last() {
        let times: Vec<_> = (0..10).map(|i| Time::At(f64::from(i))).collect();
        let codes = |count| -> Vec<f64> {
            evenly(&times, count)
                .iter()
                .filter_map(|t| t.code())
                .collect()
        };
        assert_eq!(codes(1), [0.0]);
        assert_eq!(codes(4), [0.0, 3.0, 6.0, 9.0]);
        assert_eq!(codes(3), [0.0, 5.0, 9.0]);
        assert_eq!(evenly(&times[..1], 3), [times[0]; 3]);
        assert!(evenly(&[], 3).is_empty());
    }
}
