//! How long frames take, in three parts: posing, skinning and drawing.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Frames of this time before the newest one are kept for the graph.
pub const KEPT: Duration = Duration::from_secs(5);
/// Figures are medians over this time before the newest frame.
const WINDOW: Duration = Duration::from_secs(2);
/// Figures change no more often than this, so that they can be read.
const STEADY: Duration = Duration::from_millis(500);
/// A frame at 60 frames per second, in seconds.
pub const BUDGET: f64 = 1.0 / 60.0;

/// How skinning is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skinning {
    /// By the GPU's timestamps, if it has them.
    #[default]
    Gpu,
    /// From submission until the software adapter is done. Its timestamps are of no use: those around
    /// compute passes are written when it draws next.
    Software,
    /// By the CPU's clock: the CPU mirror skins.
    Mirror,
}

/// Where the figures of skinning and drawing come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub skinning: Skinning,
    /// Whether the adapter has timestamps.
    pub timestamps: bool,
}

impl Source {
    /// Whether the GPU's timestamps tell how long skinning takes.
    pub fn is_skinning_timed(self) -> bool {
        self.timestamps && self.skinning == Skinning::Gpu
    }

    pub fn of_skinning(self) -> &'static str {
        match self.skinning {
            Skinning::Gpu if self.timestamps => "time on the GPU, by its own timestamps",
            Skinning::Gpu => "not measured: the adapter has no timestamps",
            Skinning::Software => "time of the software adapter, from submission until it is done",
            Skinning::Mirror => "time on the CPU, until its results are ready for upload",
        }
    }

    pub fn of_drawing(self) -> &'static str {
        match self.timestamps {
            true => "time of the picture without the panels, by the adapter's own timestamps",
            false => "only the CPU's time to record the commands: the adapter has no timestamps",
        }
    }

    /// Who skins, in a word.
    pub fn skinned_on(self) -> &'static str {
        match self.skinning {
            Skinning::Gpu => "by the GPU",
            Skinning::Software => "software adapter",
            Skinning::Mirror => "by the CPU",
        }
    }

    /// Whose time drawing is, in a word.
    pub fn drawn_on(self) -> &'static str {
        match (self.timestamps, self.skinning) {
            (true, Skinning::Software) => "software adapter",
            (true, _) => "by the GPU",
            (false, _) => "only recorded",
        }
    }
}

/// The parts of one frame, in seconds; `None` where they are not known, or not yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameTime {
    /// Number of the frame.
    pub id: u64,
    pub at: Instant,
    /// Since the frame before, while the clip plays.
    pub interval: Option<f64>,
    /// CPU time to evaluate the animation and to set the poses; `None` if the frame has the pose of the one before.
    /// Then nothing is skinned either.
    pub posing: Option<f64>,
    pub skinning: Option<f64>,
    pub drawing: Option<f64>,
}

/// Medians over the last frames, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    pub interval: Option<f64>,
    pub posing: Option<f64>,
    pub skinning: Option<f64>,
    pub drawing: Option<f64>,
}

/// The frames of the last seconds.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    pub frames: VecDeque<FrameTime>,
    pub source: Source,
    figures: Figures,
    figured: Option<Instant>,
    /// When the first frame of this source was.
    first: Option<Instant>,
}

impl Timing {
    /// Adds a frame. Frames from another source are forgotten.
    pub fn count(&mut self, frame: FrameTime, source: Source) {
        if self.source != source {
            self.clear();
            self.source = source;
        }
        self.frames.push_back(frame);
        let newest = frame.at;
        while self.frames.front().is_some_and(|f| newest - f.at > KEPT) {
            self.frames.pop_front();
        }
        let due = self.figured.is_none_or(|at| newest - at >= STEADY);
        // The first figures of the GPU come some frames late; some never come.
        let is_new = newest - *self.first.get_or_insert(newest) < STEADY;
        let unknown = self.figures.skinning.is_none() || self.figures.drawing.is_none();
        if due || (is_new && unknown) {
            self.figured = Some(newest);
            self.figures = self.medians();
        }
    }

    /// Adds what the GPU's timestamps tell of a frame that was counted before.
    pub fn count_gpu(&mut self, id: u64, skinning: f64, drawing: f64) {
        let gpu_skins = self.source.is_skinning_timed();
        if let Some(frame) = self.frames.iter_mut().rev().find(|f| f.id == id) {
            if gpu_skins && frame.posing.is_some() {
                frame.skinning = Some(skinning);
            }
            frame.drawing = Some(drawing);
        }
    }

    /// Forgets all frames: those to come are of another file.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.figures = Figures::default();
        self.figured = None;
        self.first = None;
    }

    /// Medians that change at most twice a second.
    pub fn figures(&self) -> Figures {
        self.figures
    }

    fn medians(&self) -> Figures {
        let Some(newest) = self.frames.back() else {
            return Figures::default();
        };
        let last = || self.frames.iter().filter(|f| newest.at - f.at <= WINDOW);
        Figures {
            interval: median(last().filter_map(|f| f.interval)),
            posing: median(last().filter_map(|f| f.posing)),
            skinning: median(last().filter_map(|f| f.skinning)),
            drawing: median(last().filter_map(|f| f.drawing)),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Source = Source {
        skinning: Skinning::Gpu,
        timestamps: true,
    };
    const MIRROR: Source = Source {
        skinning: Skinning::Mirror,
        timestamps: true,
    };

    fn play(
        timing: &mut Timing,
        from: Instant,
        frames: u64,
        skinning: impl Fn(u64) -> f64,
    ) -> Instant {
        let mut at = from;
        for id in 0..frames {
            at = from + Duration::from_millis(10 * id);
            let frame = FrameTime {
                id,
                at,
                interval: Some(0.01),
                posing: Some(0.001),
                skinning: None,
                drawing: None,
            };
            timing.count(frame, GPU);
            timing.count_gpu(id, skinning(id), 0.004);
        }
        at
    }

    #[test]
    fn single_slow_frames_do_not_move_the_figures() {
        let mut timing = Timing::default();
        let slow_now_and_then = |id: u64| if id.is_multiple_of(7) { 0.5 } else { 0.002 };
        play(&mut timing, Instant::now(), 300, slow_now_and_then);
        let figures = timing.figures();
        assert_eq!(figures.skinning, Some(0.002));
        assert_eq!(
            (figures.interval, figures.posing, figures.drawing),
            (Some(0.01), Some(0.001), Some(0.004))
        );
    }

    /// Six seconds of frames. The figure of posing after each, which is the number of the frame of the median; `known` is
    /// what skinning and drawing take.
    fn six_seconds(known: Option<f64>, source: Source) -> (Timing, Vec<Option<f64>>) {
        let mut timing = Timing::default();
        let start = Instant::now();
        let seen = (0..600).map(|id| {
            let frame = FrameTime {
                id,
                at: start + Duration::from_millis(10 * id),
                interval: None,
                posing: Some(id as f64),
                skinning: known,
                drawing: known,
            };
            timing.count(frame, source);
            timing.figures().posing
        });
        let seen = seen.collect();
        (timing, seen)
    }

    #[test]
    fn figures_stay_for_half_a_second_and_follow_a_change() {
        let (timing, mut seen) = six_seconds(Some(1.0), GPU);
        seen.dedup();
        assert!((10..=14).contains(&seen.len()), "{}", seen.len());
        let kept = timing.frames.len() as u64;
        assert!((500..=502).contains(&kept), "{kept}");
        // The median of the last 2 s, at most half a second ago.
        assert!(timing.figures().posing > Some(440.0));
    }

    #[test]
    fn figures_that_never_come_do_not_hurry_the_others() {
        let (_, mut seen) = six_seconds(None, Source::default());
        // Those of the first half second come at once.
        let mut later = seen.split_off(50);
        later.dedup();
        assert!((9..=13).contains(&later.len()), "{}", later.len());
    }

    #[test]
    fn what_is_measured_is_told() {
        assert!(
            GPU.of_skinning().contains("timestamps") && GPU.of_drawing().contains("timestamps")
        );
        let none = Source::default();
        assert!(none.of_skinning().starts_with("not measured"));
        assert!(none.of_drawing().contains("only the CPU"));
        let told = |skinning| Source { skinning, ..GPU }.of_skinning();
        assert!(told(Skinning::Mirror).contains("on the CPU"));
        assert!(told(Skinning::Software).contains("software adapter"));
    }

    #[test]
    fn frames_with_the_pose_of_the_one_before_skin_nothing() {
        let mut timing = Timing::default();
        let mut at = play(&mut timing, Instant::now(), 50, |_| 0.002);
        for id in 50..150 {
            at += Duration::from_millis(10);
            let frame = FrameTime {
                id,
                at,
                interval: None,
                posing: None,
                skinning: None,
                drawing: None,
            };
            timing.count(frame, GPU);
            timing.count_gpu(id, 1e-6, 0.004);
        }
        assert_eq!(timing.figures().skinning, Some(0.002));
    }

    #[test]
    fn another_source_begins_anew() {
        let mut timing = Timing::default();
        let at = play(&mut timing, Instant::now(), 50, |_| 0.002);
        let frame = FrameTime {
            id: 50,
            at,
            interval: None,
            posing: Some(0.001),
            skinning: Some(0.2),
            drawing: None,
        };
        timing.count(frame, MIRROR);
        timing.count_gpu(50, 9.0, 0.003);
        assert_eq!(
            (timing.frames.len(), timing.figures().skinning),
            (1, Some(0.2))
        );
    }
}
