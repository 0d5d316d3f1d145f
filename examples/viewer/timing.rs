//! How long frames take, in three parts: posing, skinning and drawing.

use std::collections::VecDeque;
use std::time::Duration;

use super::platform::Instant;

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

/// The parts of a frame, in seconds; `None` where they are not known, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Since the frame before, while the clip plays.
    pub interval: Option<f64>,
    /// CPU time to evaluate the animation and to set the poses; `None` if the frame has the pose of the one before.
    /// Then nothing is skinned either.
    pub posing: Option<f64>,
    pub skinning: Option<f64>,
    pub drawing: Option<f64>,
}

/// What one frame took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameTime {
    /// Number of the frame.
    pub id: u64,
    pub at: Instant,
    pub took: Parts,
}

/// The frames of the last seconds.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    pub frames: VecDeque<FrameTime>,
    pub source: Source,
    figures: Parts,
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
            if gpu_skins && frame.took.posing.is_some() {
                frame.took.skinning = Some(skinning);
            }
            frame.took.drawing = Some(drawing);
        }
    }

    /// Forgets all frames: those to come are of another file.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.figures = Parts::default();
        self.figured = None;
        self.first = None;
    }

    /// Medians that change at most twice a second.
    pub fn figures(&self) -> Parts {
        self.figures
    }

    fn medians(&self) -> Parts {
        let Some(newest) = self.frames.back() else {
            return Parts::default();
        };
        let median = |part: fn(&Parts) -> Option<f64>| {
            let last = self.frames.iter().filter(|f| newest.at - f.at <= WINDOW);
            let known = last.filter_map(|f| part(&f.took));
            let mut values: Vec<f64> = known.filter(|v| v.is_finite()).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        Parts {
            interval: median(|p| p.interval),
            posing: median(|p| p.posing),
            skinning: median(|p| p.skinning),
            drawing: median(|p| p.drawing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Source = Source {
        skinning: Skinning::Gpu,
        timestamps: true,
    };

    /// Adds frames of 10 ms, timed by the GPU too; gives the figure of posing after each.
    fn play(
        timing: &mut Timing,
        ids: std::ops::Range<u64>,
        source: Source,
        frame: impl Fn(u64) -> (Parts, f64),
    ) -> Vec<Option<f64>> {
        let start = *timing.first.get_or_insert_with(Instant::now);
        let mut add = |id: u64| {
            let (took, skinning) = frame(id);
            let at = start + Duration::from_millis(10 * id);
            timing.count(FrameTime { id, at, took }, source);
            timing.count_gpu(id, skinning, 0.004);
            timing.figures().posing
        };
        ids.map(&mut add).collect()
    }

    /// The number of the frame as the time of posing, so that the figure tells which frames it is of.
    fn numbered(id: u64) -> (Parts, f64) {
        let posing = Some(id as f64);
        let interval = Some(0.01);
        let took = Parts {
            interval,
            posing,
            ..Parts::default()
        };
        (took, if id.is_multiple_of(7) { 0.5 } else { 0.002 })
    }

    #[test]
    fn figures_stay_for_half_a_second_and_single_slow_frames_do_not_move_them() {
        let mut timing = Timing::default();
        let mut seen = play(&mut timing, 0..600, GPU, numbered);
        seen.dedup();
        assert!((10..=14).contains(&seen.len()), "{}", seen.len());
        let kept = timing.frames.len() as u64;
        assert!((500..=502).contains(&kept), "{kept}");
        let figures = timing.figures();
        let steady = (figures.interval, figures.skinning, figures.drawing);
        assert_eq!(steady, (Some(0.01), Some(0.002), Some(0.004)));
        // The median of the last 2 s, at most half a second ago.
        assert!(figures.posing > Some(440.0));
        // Frames with the pose of the one before skin nothing.
        play(&mut timing, 600..700, GPU, |_| (Parts::default(), 1e-6));
        assert_eq!(timing.figures().skinning, Some(0.002));
        // Another source begins anew.
        let mirror = Source {
            skinning: Skinning::Mirror,
            ..GPU
        };
        let took = Parts {
            posing: Some(1.0),
            skinning: Some(0.2),
            ..Parts::default()
        };
        play(&mut timing, 700..701, mirror, |_| (took, 9.0));
        let told = (timing.frames.len(), timing.figures().skinning);
        assert_eq!(told, (1, Some(0.2)));
    }

    #[test]
    fn figures_that_never_come_do_not_hurry_the_others() {
        let none = Source::default();
        let mut seen = play(&mut Timing::default(), 0..600, none, numbered);
        // Those of the first half second come at once.
        let mut later = seen.split_off(50);
        later.dedup();
        assert!((9..=13).contains(&later.len()), "{}", later.len());
        assert!(none.of_skinning().starts_with("not measured"));
        assert!(none.of_drawing().contains("only the CPU"));
    }
}
