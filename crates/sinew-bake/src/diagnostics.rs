//! Collects the errors of a bake by prim.

use std::collections::{BTreeMap, HashSet};

use crate::failed;
use crate::report::{BakeReport, FailedPrim};
use crate::schedule::Scheduled;
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::Scene;

/// The errors of each prim, by index into [`Scene::bindings`].
#[derive(Default)]
pub(super) struct Diagnostics {
    whole: Vec<(usize, Invalid)>,
    broken: HashSet<usize>,
    /// The first error of each prim, and the times of all its errors. A time may be tried for
    /// several clips.
    times: BTreeMap<usize, (Time, Invalid, HashSet<Option<u64>>)>,
}

impl Diagnostics {
    pub fn whole(&mut self, binding: usize, e: Invalid) {
        self.broken.insert(binding);
        // Every clip reports it again.
        let is_known = |(b, known): &(usize, Invalid)| *b == binding && *known == e;
        if !self.whole.iter().any(is_known) {
            self.whole.push((binding, e));
        }
    }

    pub fn at(&mut self, binding: usize, time: Time, e: Invalid) {
        let entry = self.times.entry(binding);
        let (first, of_first, times) = entry.or_insert_with(|| (time, e.clone(), HashSet::new()));
        times.insert(bits(time));
        // Clips may come in any order.
        if time.code() < first.code() {
            (*first, *of_first) = (time, e);
        }
    }

    /// The first error of a prim.
    pub fn first_of(&self, binding: usize) -> Option<&Invalid> {
        let whole = self.whole.iter().find(|(b, _)| *b == binding);
        let at_a_time = || self.times.get(&binding).map(|(_, e, _)| e);
        whole.map(|(_, e)| e).or_else(at_a_time)
    }

    /// Whether a prim failed at a time.
    pub fn fails(&self, binding: usize, time: Time) -> bool {
        let times = self.times.get(&binding);
        times.is_some_and(|(_, _, times)| times.contains(&bits(time))) || self.is_broken(binding)
    }

    /// Whether a prim fails at all times.
    pub fn is_broken(&self, binding: usize) -> bool {
        self.broken.contains(&binding)
    }

    /// Adds them to the report: a prim without any sample is an error, and a prim without some
    /// samples a warning. Both failed, with the prims that share their results (`copies`).
    pub fn finish(
        self,
        scene: &Scene,
        baked: impl Fn(usize) -> bool,
        copies: &BTreeMap<usize, Vec<usize>>,
        report: &mut BakeReport,
    ) {
        let mut failed = Vec::new();
        let mut fails = |binding: usize, e: &Invalid| {
            let path = scene.bindings[binding].path.as_str();
            failed.push((binding, FailedPrim::by_error(path, e)));
        };
        self.whole.iter().for_each(|(b, e)| fails(*b, e));
        let at_times = self.times.iter().filter(|(b, _)| !baked(**b));
        at_times.for_each(|(b, (_, e, _))| fails(*b, e));
        let mut errors: Vec<Invalid> = self.whole.into_iter().map(|(_, e)| e).collect();
        for (binding, (time, e, times)) in self.times {
            if baked(binding) {
                let count = times.len();
                let message = format!(
                    "not baked at {count} times, the first is {time}: {}",
                    e.brief()
                );
                let path = &scene.bindings[binding].path;
                let warning = Warning::new("times-not-baked", path, message);
                failed.push((binding, FailedPrim::by_warning(path, &warning)));
                report.warnings.push(warning);
            } else {
                errors.push(e);
            }
        }
        // A broken skeleton is reported once for all its prims.
        let mut seen = HashSet::new();
        errors.retain(|e| seen.insert(e.to_string()));
        report.errors.extend(errors);
        failed::add(scene, failed, copies, report);
    }
}

fn bits(time: Time) -> Option<u64> {
    time.code().map(f64::to_bits)
}

/// Warnings about prims that are not blended at some times, because a broken shape has a weight
/// there.
pub(super) fn broken_shapes(scene: &Scene, schedule: &[Scheduled]) -> Vec<Warning> {
    let mut first: BTreeMap<usize, (Time, Invalid)> = BTreeMap::new();
    for (time, bindings) in schedule {
        for &b in bindings {
            let binding = &scene.bindings[b];
            let mut shapes = binding.shapes.iter().filter_map(|s| s.shape.as_ref());
            let broken = shapes.any(|s| s.first_fault().is_some());
            if !broken || first.contains_key(&b) {
                continue;
            }
            let instance = &scene.instances[binding.instance].instance;
            if let (_, Some(e)) = binding.channel_weights(instance, *time) {
                first.insert(b, (*time, e));
            }
        }
    }
    first
        .into_iter()
        .map(|(b, (time, e))| {
            let message =
                format!("the prim is not blended at some times, the first is {time}: {e}");
            Warning::new("blend-shapes-dropped", &scene.bindings[b].path, message)
        })
        .collect()
}
