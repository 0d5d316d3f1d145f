//! What all seeds come to.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::Failed;
use serde::Serialize;
use serde_json::Value;

use common::tolerance;

/// What all seeds came to.
#[derive(Default, Serialize)]
pub struct Total {
    seeds: usize,
    #[serde(skip)]
    failures: Vec<(u64, String)>,
    prims: u64,
    left_alone: u64,
    ties: u64,
    compared: BTreeMap<String, u64>,
    /// The worst error of each kind, as a part of what is allowed.
    worst: BTreeMap<String, f64>,
    features: BTreeMap<String, u64>,
}

impl Total {
    pub fn add(&mut self, seed: u64, result: Result<Value, String>) {
        self.seeds += 1;
        let answer = match result {
            Ok(answer) => answer,
            Err(e) => return self.failures.push((seed, e)),
        };
        let number = |key: &str| answer[key].as_u64().unwrap_or_default();
        self.prims += number("baked");
        self.left_alone += number("left_alone");
        self.ties += number("ties");
        let counts = |key: &str| answer[key].as_object().into_iter().flatten();
        for (what, n) in counts("compared") {
            *self.compared.entry(what.clone()).or_default() += n.as_u64().unwrap_or_default();
        }
        for (what, n) in counts("features") {
            *self.features.entry(what.clone()).or_default() += n.as_u64().unwrap_or_default();
        }
        for (what, n) in counts("worst") {
            let worst = self.worst.entry(what.clone()).or_default();
            *worst = worst.max(n.as_f64().unwrap_or(f64::INFINITY));
        }
    }

    /// # Errors
    /// Seeds that differ, each with the command that repeats it; too many ties, too little coverage.
    pub fn judge(mut self, name: &str, folder: &Path, least: &str) -> Result<(), Failed> {
        self.failures.sort();
        let mut text = String::new();
        for (seed, e) in self.failures.iter().take(10) {
            text += &format!(
                "seed {seed}: {e}\n    repeat it with: SINEW_SEEDS={seed} tests/run.sh --test against_usd_core differential::{name}::\n    \
                 its stages are in {}\n",
                folder.display()
            );
        }
        if self.failures.len() > 10 {
            text += &format!("and {} more seeds\n", self.failures.len() - 10);
        }
        let points = self.compared.get("points").copied().unwrap_or_default();
        if self.ties as f64 > tolerance::MOST_TIES * points as f64 {
            text += &format!(
                "{} of {points} points are ties: too many to leave out\n",
                self.ties
            );
        }
        for row in least.lines().filter(|l| !l.starts_with('#')) {
            let (least, feature) = row.split_once(' ').ok_or(row)?;
            let found = self.features.get(feature).copied().unwrap_or_default();
            if found < least.parse()? {
                text +=
                    &format!("coverage: {found} prims with {feature}, expected at least {least}\n");
            }
        }
        match text.is_empty() {
            true => Ok(()),
            false => Err(text.into()),
        }
    }
}
