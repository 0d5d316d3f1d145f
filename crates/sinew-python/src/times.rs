//! Times that Python asks for.

use pyo3::prelude::*;
use sinew::sampled::Time;
use sinew::scene::Scene;

use crate::errors;

/// The times of a request, and whether it was a single one, whose result has no axis of times.
pub struct Times {
    pub all: Vec<Time>,
    pub is_single: bool,
}

/// The largest number of times. No shot has more, so a request for more is a mistake.
const MOST: usize = 1_000_000;

impl Times {
    /// Reads a number, a sequence or an array of numbers, `"default"` for the default time, or
    /// `None` for all frames of the stage.
    ///
    /// # Errors
    /// `UsageError` for anything else, and for numbers that are not finite.
    pub fn read(asked: Option<&Bound<'_, PyAny>>, scene: &Scene, py: Python<'_>) -> PyResult<Self> {
        let Some(asked) = asked else {
            let all = frames(scene).ok_or_else(|| {
                errors::usage(py, format!("times: the stage has more than {MOST} frames"))
            })?;
            return Ok(Self {
                all,
                is_single: false,
            });
        };
        if asked
            .extract::<String>()
            .is_ok_and(|text| text == "default")
        {
            return Ok(Self {
                all: vec![Time::Default],
                is_single: true,
            });
        }
        let (codes, is_single) = match asked.extract::<f64>() {
            Ok(code) => (vec![code], true),
            Err(_) => {
                let list = py.import("builtins")?.call_method1("list", (asked,));
                let codes = list.and_then(|list| list.extract::<Vec<f64>>());
                let codes = codes.map_err(|_| {
                    let text = "times: expected a number, several numbers, 'default' or None";
                    errors::usage(py, format!("{text}, found {asked}"))
                })?;
                (codes, false)
            }
        };
        if let Some(bad) = codes.iter().find(|code| !code.is_finite()) {
            let text = format!("times: expected finite numbers, found {bad}");
            return Err(errors::usage(py, text));
        }
        Ok(Self {
            all: codes.into_iter().map(Time::At).collect(),
            is_single,
        })
    }

    /// The shape of a result with these elements at each time.
    pub fn shape(&self, elements: &[usize]) -> Vec<usize> {
        let times = (!self.is_single).then_some(self.all.len());
        times.into_iter().chain(elements.iter().copied()).collect()
    }
}

/// The stage's frames from its start to its end, or the default time if it has no range. `None` if
/// there are too many.
fn frames(scene: &Scene) -> Option<Vec<Time>> {
    let Some((first, last)) = scene.time_line.range else {
        return Some(vec![Time::Default]);
    };
    let step = scene.time_line.time_codes_per_second / scene.time_line.frames_per_second;
    let count = ((last - first) / step + 5e-4).floor();
    if !(0.0..MOST as f64).contains(&count) {
        return None;
    }
    let frame = |i: usize| Time::At(first + step * i as f64);
    Some((0..=count as usize).map(frame).collect())
}
