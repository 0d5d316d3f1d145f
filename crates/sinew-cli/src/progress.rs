//! A progress line on stderr, if that is a terminal: the share that is done, and the time left.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// The progress line that is shown now, so that another thread can remove it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A line that is redrawn as the work goes on and removed on drop. If stderr is not a terminal,
/// nothing is shown.
pub struct Progress {
    bar: ProgressBar,
    /// Name of the current stage of the work, and whether its length is known.
    stage: Option<(String, bool)>,
}

impl Progress {
    /// A new line; a `quiet` one is never shown.
    pub fn new(quiet: bool) -> Self {
        let bar = match quiet || !std::io::stderr().is_terminal() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        };
        if !bar.is_hidden() {
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, stage: None }
    }

    /// Begins a stage whose length is not known, such as "reading hero.usdz".
    pub fn doing(&mut self, what: &str) {
        self.begin(what, None);
    }

    /// Begins or continues a stage of which `done` of `total` `units` ("samples", "frames",
    /// "files") are done.
    pub fn done(&mut self, what: &str, units: &str, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.begin(what, Some(units));
        self.bar.set_position(done as u64);
    }

    /// Hides the line while `print` runs.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    fn begin(&mut self, what: &str, units: Option<&str>) {
        let stage = (what.to_owned(), units.is_some());
        if self.bar.is_hidden() || self.stage.as_ref() == Some(&stage) {
            return;
        }
        let template = match units {
            Some(units) => format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {units}{{left}}"),
            None => "{spinner} {msg} {elapsed}".to_owned(),
        };
        let style = ProgressStyle::with_template(&template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_message(what.to_owned());
        self.bar.set_style(style.with_key("left", left));
        // The speed of one stage does not predict that of the next.
        self.bar.reset();
        // A short stage would end before the next draw that the limit of draws per second allows.
        self.bar.force_draw();
        self.stage = Some(stage);
    }
}

/// Writes the time left, if at least one unit is done.
fn left(state: &ProgressState, out: &mut dyn Write) {
    if state.pos() > 0 {
        // Formatting into a terminal's line cannot fail.
        let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Removes the line, from any thread.
pub fn clear() {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bar) = &*shown {
        bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_one_shows_nothing() {
        let mut progress = Progress::new(true);
        progress.done("deforming", "samples", 3, 12);
        assert!(progress.bar.is_hidden() && progress.stage.is_none());
    }
}
