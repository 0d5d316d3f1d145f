//! Random damages of good stages: `fix` gives the intended points or refuses, and no point ends
//! farther from where it should be. Of 1,000 seeds the ordinary run has a tenth, `SINEW_ALL` all.

use std::path::Path;

use common::rng::Rng;
use common::stages::stages;
use common::trials::Trial;
use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_check::{Finding, FixEntry, FixOptions, Report, Severity, fix};
use sinew_io::usd::{ReadOptions, UsdFile};

/// A weight and a point differ by no more than this from rounding.
const NOISE: f64 = 1e-4;

pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("a_fix_never_makes_points_worse", never_worse);
    vec![trial]
}

/// Influences of one prim as text is made from them.
#[derive(Clone)]
struct Influences {
    joints: Vec<i64>,
    weights: Vec<f32>,
    /// The weights at time 2, or `None` for a blocked sample; those above are a sample at 1 then.
    later: Option<Option<Vec<f32>>>,
    /// elementSize of the indices and of the weights.
    sizes: [Option<usize>; 2],
    interpolations: [Option<&'static str>; 2],
    type_name: &'static str,
    /// The rows that points have, if both primvars are indexed.
    rows: Option<Vec<i64>>,
    /// Further properties.
    more: &'static str,
    /// Whether the SkelRoot has them, from which the prim inherits them.
    inherited: bool,
}

/// Rows of weights that are sorted and sum to 1.
fn random_weights(rows: usize, size: usize, rng: &mut Rng) -> Vec<f32> {
    let mut weights = Vec::new();
    for _ in 0..rows {
        let mut row: Vec<f32> = (0..size).map(|_| 1.0 + rng.below(8) as f32).collect();
        row.sort_by(|a, b| b.total_cmp(a));
        let sum: f32 = row.iter().sum();
        weights.extend(row.iter().map(|w| w / sum));
    }
    weights
}

impl Influences {
    /// Good ones, which may be animated, blocked at the end, or indexed.
    fn random(rows: usize, interpolation: &'static str, rng: &mut Rng) -> Self {
        let size = 1 + rng.below(4);
        let mut all = Self {
            joints: (0..rows * size).map(|_| rng.below(3) as i64).collect(),
            weights: random_weights(rows, size, rng),
            later: None,
            sizes: [Some(size); 2],
            interpolations: [Some(interpolation); 2],
            type_name: "int[]",
            rows: None,
            more: "",
            inherited: false,
        };
        match rng.below(8) {
            0 => all.later = Some(Some(random_weights(rows, size, rng))),
            1 => all.later = Some(Some(all.weights.clone())),
            2 => all.later = Some(None),
            3 => all.rows = Some((0..rows).map(|_| rng.below(rows) as i64).collect()),
            _ => {}
        }
        all
    }

    fn text(&self) -> String {
        let metadata = |i: usize| {
            let size = self.sizes[i].map(|size| format!("elementSize = {size}"));
            let name = self.interpolations[i].map(|name| format!("interpolation = \"{name}\""));
            let all: Vec<String> = size.into_iter().chain(name).collect();
            match all.is_empty() {
                true => String::new(),
                false => format!("({})", all.join("; ")),
            }
        };
        let list = |weights: &[f32]| format!("{weights:?}").replace("NaN", "nan");
        let (joints, weights) = ("primvars:skel:jointIndices", "primvars:skel:jointWeights");
        let mut text = format!(
            "{} {joints} = {:?} {}\n {}\n",
            self.type_name,
            self.joints,
            metadata(0),
            self.more
        );
        if let Some(later) = &self.later {
            let later = later
                .as_ref()
                .map_or("None".to_owned(), |later| list(later));
            let first = list(&self.weights);
            text += &format!("float[] {weights}.timeSamples = {{ 1: {first}, 2: {later} }}\n");
            text += &format!("float[] {weights} {}\n", metadata(1));
        } else {
            text += &format!(
                "float[] {weights} = {} {}\n",
                list(&self.weights),
                metadata(1)
            );
        }
        for name in [joints, weights] {
            if let Some(rows) = &self.rows {
                text += &format!("int[] {name}:indices = {rows:?}\n");
            }
        }
        text
    }

    /// One thing of it is broken. What nobody can know again is lost in `good` too.
    fn damage(&mut self, good: &mut Self, rows: usize, rng: &mut Rng) {
        let size = (self.joints.len() / rows).max(1);
        let row = rng.below(rows) * size;
        let which = rng.below(2);
        let end = (row + size).min(self.weights.len()).min(self.joints.len());
        let later = self.later.as_mut().and_then(Option::as_mut);
        let later = later.filter(|later| later.len() >= end);
        let factor = 0.2 + rng.below(30) as f32 / 10.0;
        match rng.below(20) {
            0 => self.weights[row..end].iter_mut().for_each(|w| *w *= factor),
            1 => {
                self.weights[row..end].reverse();
                self.joints[row..end].reverse();
                later
                    .into_iter()
                    .for_each(|later| later[row..end].reverse());
            }
            2 => self.sizes = [None; 2],
            3 => self.sizes = [Some(1 + rng.below(5)); 2],
            4 => self.sizes[which] = None,
            5 => self.interpolations = [None; 2],
            6 => self.interpolations[which] = None,
            7 => self.interpolations = [Some(["vertex", "constant"][which]); 2],
            8 => drop(self.weights.pop()),
            9 => {
                self.weights[row..end].fill(0.0);
                good.weights[row..end].fill(0.0);
            }
            10 => self.weights[row] = f32::NAN,
            11 if self.joints.iter().all(|j| *j >= 0) => self.type_name = "uint[]",
            12 => self.more = "int[] primvars:skel:jointWeights:indices = [0, 1, 2, 3]",
            13 if self.type_name == "int[]" => self.joints[row] = [3, -1][which],
            14 => self.weights[row + size - 1] *= -1.0,
            15 => self.weights[row..end].fill(f32::MAX),
            // Half a sample, a bad one, and one that is lost.
            16 => later.into_iter().for_each(|later| later.truncate(size / 2)),
            17 => {
                let row = later.map_or(&mut [][..], |later| &mut later[row..end]);
                row.iter_mut().for_each(|w| *w *= factor);
            }
            18 => {
                if self.later.is_some() {
                    self.later = Some(None);
                    good.later = Some(None);
                }
            }
            _ => self.rows.iter_mut().for_each(|rows| rows[0] = 7),
        }
    }
}

/// The base stage with these influences of its two meshes.
fn stage(text: &str, all: &[Influences; 2]) -> String {
    let mut own = all.iter();
    let mut out = String::new();
    for line in text.lines() {
        match line.trim_start() {
            line if line.contains("primvars:skel:jointIndices =") => {
                let own = own.next().filter(|own| !own.inherited);
                out += &own.map_or(String::new(), Influences::text);
            }
            line if line.contains("primvars:skel:jointWeights =") => {}
            _ => out += &format!("{line}\n"),
        }
    }
    let from = "rel skel:skeleton = </R/Skel>\n";
    let inherited = all.iter().filter(|all| all.inherited);
    let inherited: String = inherited.map(Influences::text).collect();
    out.replacen(from, &format!("{from}{inherited}"), 1)
}

const BETWEEN: &str =
    "uniform vector3f[] inbetweens:half = [(0, 0, 0.25), (0, 0.75, 0)] (weight = 0.5)";

/// A property of another prim, or an API, is broken.
fn damaged(text: String, rng: &mut Rng) -> String {
    let again = format!("{BETWEEN}\n{}", BETWEEN.replace("half", "too"));
    let joints = "joints = [\"A\", \"A/B\", \"A/B/C\"]\n        uniform matrix4d[] bind";
    let swapped = joints.replace("\"A\", \"A/B\"", "\"A/B\", \"A\"");
    let (from, to) = match rng.below(10) {
        0 => (
            "def Mesh \"M\" (prepend apiSchemas = [\"SkelBindingAPI\"])",
            "def Mesh \"M\"",
        ),
        1 => ("(0.8, 0, 0.6, 0)", "(1.6, 0, 1.2, 0)"),
        2 => ("uniform int[] pointIndices", "uniform uint[] pointIndices"),
        3 => ("(weight = 0.5)", "(weight = 1)"),
        4 => ("(weight = 0.5)", ""),
        5 => ("[(0, 0, 0.25), (0, 0.75, 0)]", "[(0, 0, 0.25)]"),
        6 => (BETWEEN, again.as_str()),
        7 => ("(weight = 0.5)", "(weight = 0)"),
        8 => (joints, swapped.as_str()),
        _ => ("pointIndices = [1, 3]", "pointIndices = [1, 4]"),
    };
    assert!(text.contains(from), "'{from}' is not there");
    text.replacen(from, to, 1)
}

/// The points of both meshes at three times; none of a mesh that is not skinned.
fn points(file: &Path) -> Result<Vec<Option<Vec<DVec3>>>, Failed> {
    let scene = UsdFile::open(file)?.scene(ReadOptions::default())?;
    let of = |prim: &str, time: f64| {
        let (bound, time) = (scene.resolve(prim).ok()?, Time::At(time));
        let skin = bound.skin(time).ok()?;
        let pose = bound.pose(time).ok()?;
        Some(reference::deform(&skin, &pose).ok()?.points)
    };
    let prims = PRIMS.into_iter();
    Ok(prims
        .flat_map(|prim| [1.0, 1.5, 2.0].map(|time| of(prim, time)))
        .collect())
}

const PRIMS: [&str; 2] = ["/R/M", "/R/Stiff"];

/// Whether a refusal names what has to be authored.
fn names_a_remedy(refused: &FixEntry) -> bool {
    let remedies = [": author ", ": make ", ": fix "];
    remedies
        .iter()
        .any(|remedy| refused.message.contains(remedy))
}

fn never_worse() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let [good, broken, out] =
        ["good.usda", "broken.usda", "out.usda"].map(|n| folder.path().join(n));
    let table = stages();
    let base = table.base("character");
    let seeds = common::seeds(1000);
    let (mut as_meant, mut nearer, mut refused) = (0, 0, 0);
    for seed in seeds.clone() {
        let mut rng = Rng::new(seed);
        let mut all = [
            Influences::random(4, "vertex", &mut rng),
            Influences::random(1, "constant", &mut rng),
        ];
        if let Some(inherited) = all.get_mut(rng.below(8)) {
            inherited.inherited = true;
        }
        let mut right = all.clone();
        for _ in 0..=rng.below(2) {
            match rng.below(3) {
                0 => all[1].damage(&mut right[1], 1, &mut rng),
                _ => all[0].damage(&mut right[0], 4, &mut rng),
            }
        }
        let mut text = stage(base, &all);
        if rng.below(3) == 0 {
            text = damaged(text, &mut rng);
        }
        // What a broken in-between was meant to be is lost.
        let kept = if text.contains(BETWEEN) { BETWEEN } else { "" };
        std::fs::write(&good, stage(base, &right).replace(BETWEEN, kept))?;
        std::fs::write(&broken, &text)?;
        let report = fix(&UsdFile::open(&broken)?, Some(&out), &FixOptions::default())?;
        let [meant, before, found] = [points(&good)?, points(&broken)?, points(&out)?];
        let after = report.after.as_ref().ok_or("a report")?;
        let done = || {
            format!(
                "seed {seed}: {:#?} {:#?}\n{text}",
                report.fixed, report.not_fixed
            )
        };
        // One run fixes all that can be fixed, which `check` has predicted, and tells of the rest.
        let fixable = |report: &Report| report.findings.iter().filter(|f| f.fixable).count();
        let counts = (fixable(&report.before), fixable(after));
        assert_eq!(counts, (report.fixed.len(), 0), "{}", done());
        assert!(report.not_fixed.iter().all(names_a_remedy), "{}", done());
        // Half of what is broken may lead a point anywhere while the other half is left and told.
        let is_clean = after.counts.errors == 0;
        let mut kinds = [false; 3];
        let prims = PRIMS.into_iter().flat_map(|prim| [prim; 3]);
        for (((meant, before), found), prim) in meant.iter().zip(&before).zip(&found).zip(prims) {
            let Some(meant) = meant else {
                continue; // A blocked sample.
            };
            // Points of a prim with an error are not skinned, and right by chance alone.
            let is_error = |f: &Finding| f.severity == Severity::Error && f.path == prim;
            let had_error = report.before.findings.iter().any(is_error);
            let is_left = report.not_fixed.iter().any(|f| f.path == prim);
            let is_told = after.findings.iter().any(|f| {
                f.severity >= Severity::Warning && (f.path.starts_with(prim) || f.path == "/R")
            });
            let off = |points: &Option<Vec<DVec3>>, i: usize| {
                points
                    .as_ref()
                    .map_or(f64::INFINITY, |p| (p[i] - meant[i]).length())
            };
            for i in 0..meant.len() {
                let (was, is) = (off(before, i), off(found, i));
                let kind = match is {
                    is if is <= NOISE => 0,
                    is if is < was - NOISE => 1,
                    _ => 2,
                };
                kinds[kind] = true;
                let guessed = before.is_none() && kind == 1 && !is_told;
                let was_right = was <= NOISE && !had_error;
                let is_worse = is > was + NOISE && (was_right || (is_clean && !is_left));
                if is_worse || guessed {
                    let place = format!("point {i} is off by {is}, was {was}");
                    return Err(format!("{place}, {}", done()).into());
                }
            }
        }
        match kinds {
            [_, _, true] => refused += 1,
            [_, true, _] => nearer += 1,
            _ => as_meant += 1,
        }
    }
    let seeds = seeds.end;
    println!("{seeds} damages: {as_meant} as meant, {nearer} nearer, {refused} refused");
    assert!(
        as_meant * 3 > seeds && refused > 0,
        "{as_meant}, {nearer}, {refused}"
    );
    Ok(())
}
