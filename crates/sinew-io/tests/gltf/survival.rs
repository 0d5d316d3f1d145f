//! What of a glTF file is in another one that was made of it by way of USD.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use gltf::animation::Property;
use serde_json::Value;

use crate::agreement::a_dozen;
use crate::eval::clip::Clip;
use crate::eval::{Document, list};
use crate::matching::{Match, match_points, pair_meshes};
use crate::play::{Play, moments};
use crate::properties::{Properties, of_item, of_material, same_json};
use crate::shown::{Shown, shown};
use crate::side::{Side, distance};

/// How many things of one kind are kept.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub kept: usize,
    pub all: usize,
    /// The largest difference of numbers, where there are some.
    pub worst: f64,
    /// The first thing that is lost.
    pub lost: Option<String>,
}

/// Tallies by what they count.
#[derive(Clone, Debug, Default)]
pub struct Survival(pub BTreeMap<String, Tally>);

/// Points at keys, relative to the size of the mesh, and transforms relative to the size of the scene.
const SAME_AT_KEYS: f64 = 1e-4;

/// The same between keys: splines become straight samples.
const SAME_BETWEEN: f64 = 4e-3;

/// Weights, normals, texture coordinates, colours.
const SAME_VALUES: f64 = 1e-4;

/// Where joints scale over time: SkelAnimation stores scales as half.
const SAME_SCALED: f64 = 1e-3;

/// Lists of the file whose items may have extras.
const WITH_EXTRAS: &str =
    "scenes nodes meshes skins animations cameras materials textures images samplers";

impl Survival {
    fn count(&mut self, what: &str, kept: bool, lost: impl Display) {
        let tally = self.0.entry(what.to_owned()).or_default();
        tally.all += 1;
        tally.kept += usize::from(kept);
        if !kept {
            tally.lost.get_or_insert_with(|| lost.to_string());
        }
    }

    fn measure(&mut self, what: &str, error: f64, allowed: f64, lost: impl Display) {
        let lost = format_args!("{lost}: off by {error:.1e}");
        self.count(what, error <= allowed, lost);
        let tally = self.0.entry(what.to_owned()).or_default();
        tally.worst = tally.worst.max(error);
    }

    /// Counts a number of things that has to be the same.
    fn same_number(&mut self, what: &str, want: usize, got: usize, of: impl Display) {
        self.count(what, want == got, format_args!("{of}: {got}, was {want}"));
    }

    /// Compares a file with what came of it.
    pub fn of(before: &Path, after: &Path) -> Result<Self, String> {
        let [before, after] = [before, after].map(|path| Side(Document::open(path)));
        let mut out = Self::default();
        out.nodes(&before, &after);
        out.clips(&before, &after);
        out.meshes(&before, &after);
        out.materials(&before, &after);
        out.things_at_nodes(&before, &after);
        out.extras(&before, &after);
        out.scenes(&before, &after);
        Ok(out)
    }

    /// Appends the tallies to a table, from which those of docs/conformance.md are made.
    pub fn append_to(&self, table: &Path, file: &Path) -> std::io::Result<()> {
        use std::io::Write;
        let mut options = std::fs::OpenOptions::new();
        let mut out = options.append(true).create(true).open(table)?;
        let file = file.file_name().unwrap_or_default().display();
        for (what, tally) in &self.0 {
            let Tally {
                kept, all, worst, ..
            } = tally;
            let lost = tally.lost.as_deref().unwrap_or_default();
            writeln!(out, "{file}\t{what}\t{kept}\t{all}\t{worst:.1e}\t{lost}")?;
        }
        Ok(())
    }

    fn nodes(&mut self, before: &Side, after: &Side) {
        let (want, got) = (before.parents(), after.parents());
        for (node, parents) in want.iter().filter(|(node, _)| !node.is_empty()) {
            let found = got.get(node);
            self.count("nodes: name", found.is_some(), node);
            let is_skinned = before.only(node).is_some_and(|n| before.is_skinned(n));
            if let Some(found) = found.filter(|_| !is_skinned) {
                let parent = parents.iter().find(|p| !p.is_empty());
                let same = parent.is_none_or(|p| found.contains(p));
                self.count("nodes: node above", same, node);
            }
        }
        let joints: BTreeSet<String> = after.joint_names().into_iter().flatten().collect();
        for joint in before.joint_names().into_iter().flatten() {
            let found = joint.is_empty() || joints.contains(&joint);
            self.count("joints: name", found, joint);
        }
        let got = after.joints_above();
        for (joint, above) in before.joints_above() {
            // Nodes between joints become joints.
            let Some(parent) = above.first().filter(|p| !p.is_empty()) else {
                continue;
            };
            let there = got.get(&joint).map_or(&[][..], Vec::as_slice);
            let lost = format_args!("{joint}: below {there:?}, was below {parent}");
            self.count("joints: joint above", there.contains(parent), lost);
        }
    }

    fn clips(&mut self, before: &Side, after: &Side) {
        let extent = before.extent();
        for (number, clip) in before.0.clips.iter().enumerate() {
            let found = after.clip_of(number, clip);
            let name = &clip.name;
            self.count("clips: name", found.is_some(), name);
            let Some(found) = found else { continue };
            let (want, got) = (clip.range(), found.range());
            let duration = ((want.1 - want.0) - (got.1 - got.0)).abs();
            let lost = format_args!("{name}: {got:?}, was {want:?}");
            self.measure("clips: duration in s", duration, 1e-4, lost);
            let shift = got.0 - want.0;
            // Where nodes of skinned meshes are means nothing.
            let moving = clip.channels.iter().map(|c| c.node);
            let moving: BTreeSet<usize> = moving.filter(|n| !before.is_skinned(*n)).collect();
            for moment in moments(Some(clip)) {
                let seconds = moment.seconds.clamp(want.0, want.1);
                let posed = before.0.world(&[clip], seconds);
                let after_posed = after.0.world(&[found], seconds + shift);
                let (when, allowed) = match moment.is_key {
                    true => ("at keys", at_keys(Some(clip))),
                    false => ("between keys", SAME_BETWEEN),
                };
                for node in &moving {
                    let node_name = before.name(*node);
                    let both = (before.only(&node_name), after.only(&node_name));
                    let (Some(_), Some(there)) = both else {
                        continue;
                    };
                    let who = match before.is_joint(*node) {
                        true => "joints",
                        false => "other nodes",
                    };
                    let error = distance(posed[*node], after_posed[there], extent);
                    let lost = format_args!("{name}: {node_name} at {seconds} s");
                    self.measure(&format!("clips: {who} {when}"), error, allowed, lost);
                }
            }
        }
    }

    fn meshes(&mut self, before: &Side, after: &Side) {
        for (number, play) in Play::all(&before.0).into_iter().enumerate() {
            let found = play.clip().and_then(|clip| after.clip_of(number, clip));
            if play.clip().is_some() && found.is_none() {
                continue;
            }
            let start = |clip: Option<&Clip>| clip.map_or(0.0, |c| c.range().0);
            let shift = start(found) - start(play.clip());
            let times = a_dozen(&play.keys());
            let shifted: Vec<f64> = times.iter().map(|t| t + shift).collect();
            let mut want = shown(&before.0, &play.clips(), &times);
            let clips: Vec<&Clip> = found.into_iter().collect();
            let got = shown(&after.0, &clips, &shifted);
            let nodes = |all: &[Shown]| all.iter().map(|s| s.place.0).collect::<BTreeSet<_>>();
            let (here, there) = (nodes(&want).len(), nodes(&got).len());
            let of_one_node = "meshes: primitives of one node stay of one node";
            self.same_number(of_one_node, here, there, "nodes");
            want.retain(|p| !p.corners.is_empty());
            self.same_number("meshes: primitives", want.len(), got.len(), "all");
            let Ok(paired) = pair_meshes(&want, &got, false) else {
                continue;
            };
            for (want, got) in paired.pairs {
                let (what, label) = ("meshes: points at keys", want.label());
                let found = match match_points(want, got, |_| true) {
                    Ok(found) => found,
                    Err(e) => {
                        self.count(what, false, format_args!("{label}: {e}"));
                        continue;
                    }
                };
                self.measure(what, found.error, at_keys(play.clip()), &label);
                if number == 0 {
                    let faces = found.same_faces(want, got);
                    let lost = format_args!("{label}: {faces:?}");
                    self.count("meshes: faces", faces.is_ok(), lost);
                    self.attributes((before, want), (after, got), &found);
                }
            }
        }
    }

    /// Attributes of vertices, joints by their names, and morph targets.
    fn attributes(
        &mut self,
        (before, want): (&Side, &Shown),
        (after, got): (&Side, &Shown),
        found: &Match,
    ) {
        let name = want.label();
        let want = before.vertices(want.place, |joint| before.joint_name(joint));
        let got = after.vertices(got.place, |joint| before.joint_of(after, joint));
        for (what, values) in &want.attributes {
            let kind = what.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            let kind = format!("meshes: {kind}");
            let lost = format_args!("{name}: {what}");
            let Some(there) = got.attributes.get(what) else {
                self.count(&kind, false, lost);
                continue;
            };
            let worst = found.worst_of(|vertex, point| {
                let both = values[point].iter().zip(&there[vertex]);
                both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            });
            self.measure(&kind, worst, SAME_VALUES, lost);
        }
        if want.weights.iter().any(|w| !w.is_empty()) {
            let worst = found.worst_of(|vertex, point| {
                let (a, b) = (&want.weights[point], &got.weights[vertex]);
                let weight = |of: &BTreeMap<String, f64>, j: &String| of.get(j).copied();
                let off = |j| (weight(a, j).unwrap_or(0.0) - weight(b, j).unwrap_or(0.0)).abs();
                a.keys().chain(b.keys()).map(off).fold(0.0, f64::max)
            });
            self.measure("meshes: weights", worst, SAME_VALUES, &name);
        }
        for target in &want.targets {
            let kept = target.is_empty() || got.targets.contains(target);
            self.count(
                "morph targets: name",
                kept,
                format_args!("{name}: {target}"),
            );
        }
        let (here, there) = (want.targets.len(), got.targets.len());
        if here > 0 {
            self.same_number("morph targets: number", here, there, name);
        }
    }

    fn materials(&mut self, before: &Side, after: &Side) {
        let materials = after.0.list("materials").iter();
        let materials = materials.map(|m| (&m["name"], of_material(&after.0, m)));
        let all: Vec<(&Value, Properties)> = materials.collect();
        let used = before.used_materials();
        for (number, material) in before.0.list("materials").iter().enumerate() {
            if !used.contains(&number) {
                continue;
            }
            let want = of_material(&before.0, material);
            let name = material["name"].as_str().unwrap_or_default();
            let is_it = |(n, _): &&(&Value, _)| !name.is_empty() && *n == name;
            let named = all.iter().find(is_it);
            if !name.is_empty() {
                self.count("materials: name", named.is_some(), name);
            }
            let likeness = |got: &Properties| {
                let is_same = |(k, v): &(&String, &_)| got.get(*k).is_some_and(|g| g.same(v));
                let same = want.iter().filter(is_same).count() as i64;
                same - got.keys().filter(|k| !want.contains_key(*k)).count() as i64
            };
            let nearest = || all.iter().max_by_key(|(_, got)| likeness(got));
            if let Some((_, got)) = named.or_else(nearest) {
                self.properties("materials", name, &want, got);
            }
        }
    }

    fn properties(&mut self, of: &str, name: &str, want: &Properties, got: &Properties) {
        for (property, value) in want {
            let there = got.get(property);
            let kept = there.is_some_and(|g| g.same(value));
            let short = property.trim_start_matches("pbrMetallicRoughness.");
            // Of extensions for one application, the extension counts.
            let short = match short.split_once('.') {
                Some((extension, _)) if extension.starts_with("VRMC_") => extension,
                _ => short,
            };
            let there = there.map_or("nothing".to_owned(), |g| g.to_string());
            let lost = format_args!("{name}: {there}, was {value}");
            self.count(&format!("{of}: {short}"), kept, lost);
        }
        for property in got.keys().filter(|k| !want.contains_key(*k)) {
            let lost = format_args!("{name}: {property} is {}", got[property]);
            self.count(&format!("{of}: nothing more"), false, lost);
        }
    }

    /// Cameras and lights where they stand.
    fn things_at_nodes(&mut self, before: &Side, after: &Side) {
        for (of, want, got) in [
            ("cameras", before.cameras(), after.cameras()),
            ("lights", before.lights(), after.lights()),
        ] {
            for (node, item) in &want {
                let (place, node) = (before.rest(*node), before.name(*node));
                let off = |other: usize| distance(place, after.rest(other), before.extent());
                let nearest = got.iter().min_by(|a, b| off(a.0).total_cmp(&off(b.0)));
                self.count(of, nearest.is_some(), &node);
                let Some((there, same)) = nearest else {
                    continue;
                };
                self.measure(&format!("{of}: place"), off(*there), SAME_AT_KEYS, node);
                let name = item["name"].as_str().unwrap_or_default();
                if !name.is_empty() {
                    let lost = format_args!("{}, was {name}", same["name"]);
                    self.count(&format!("{of}: name"), same["name"] == name, lost);
                }
                let (want, got) = (of_item(&before.0, item), of_item(&after.0, same));
                self.properties(of, name, &want, &got);
            }
        }
    }

    fn extras(&mut self, before: &Side, after: &Side) {
        let (want, got) = (extras_of(&before.0), extras_of(&after.0));
        for (owner, extras) in want {
            let is_it = |(o, e): &(&str, Value)| *o == owner && same_json(e, &extras);
            let kept = got.iter().any(is_it);
            self.count(&format!("extras of {owner}"), kept, &extras);
        }
    }

    fn scenes(&mut self, before: &Side, after: &Side) {
        let (want, got) = (before.0.list("scenes"), after.0.list("scenes"));
        if want.len() > 1 {
            self.same_number("scenes: number", want.len(), got.len(), "scenes");
        }
        for name in want.iter().filter_map(|s| s["name"].as_str()) {
            let kept = got.iter().any(|s| s["name"] == name);
            self.count("scenes: name", kept, name);
        }
    }
}

/// How far points and joints may be off at the keys of a clip.
fn at_keys(clip: Option<&Clip>) -> f64 {
    match clip.is_some_and(|c| c.animates(Property::Scale)) {
        true => SAME_SCALED,
        false => SAME_AT_KEYS,
    }
}

/// Extras by what has them.
fn extras_of(document: &Document) -> Vec<(&'static str, Value)> {
    let mut owners = vec![
        ("the file", &document.json),
        ("asset", &document.json["asset"]),
    ];
    for name in WITH_EXTRAS.split(' ') {
        for item in document.list(name) {
            owners.push((name, item));
            owners.extend(list(&item["primitives"]).iter().map(|p| ("primitives", p)));
        }
    }
    let lights = &document.json["extensions"]["KHR_lights_punctual"]["lights"];
    owners.extend(list(lights).iter().map(|light| ("lights", light)));
    let mut out = Vec::new();
    for (owner, value) in owners {
        let mut extras = value["extras"].clone();
        // Names of morph targets have a row of their own.
        if let Some(object) = extras.as_object_mut() {
            object.remove("targetNames");
        }
        if !extras.is_null() && !extras.as_object().is_some_and(|o| o.is_empty()) {
            out.push((owner, extras));
        }
    }
    out
}
