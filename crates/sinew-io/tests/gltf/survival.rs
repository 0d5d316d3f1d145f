//! What of a glTF file is in another one that was made of it by way of USD.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;

use glam::{DMat4, DVec3, Vec3};
use gltf::animation::Property;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_animate::asset::{Asset, Mesh};

use crate::agreement::a_dozen;
use crate::eval::Document;
use crate::eval::clip::Clip;
use crate::matching::exceeds;
use crate::play::{Play, moments};
use crate::shown::{Shown, by_corner, outward, pair, shown};
use common::compare::size;
use common::shown::{as_json, is_near};

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

/// Numbers that are as near as f32 keeps them through a few conversions.
const SAME: f64 = 1e-5;

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
    pub fn of(before: &Path, after: &Path) -> Result<Self, Failed> {
        let (before, after) = (Side::open(before)?, Side::open(after)?);
        let mut out = Self::default();
        out.nodes(&before, &after);
        out.clips(&before, &after);
        out.meshes(&before, &after);
        out.materials(&before, &after);
        out.at_nodes("cameras", &before, &after, Side::camera);
        out.at_nodes("lights", &before, &after, Side::light);
        out.extras(&before, &after);
        out.scenes(&before, &after);
        Ok(out)
    }

    /// Appends the tallies to a table, from which those of docs/conformance.md are made.
    pub fn append_to(&self, table: &Path, file: &Path) -> std::io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        let mut out = options.append(true).create(true).open(table)?;
        let file = file.file_name().unwrap_or_default().display();
        for (what, tally) in &self.0 {
            writeln!(out, "{file}\t{what}\t{tally:?}")?;
        }
        Ok(())
    }

    fn nodes(&mut self, before: &Side, after: &Side) {
        for (node, name) in before.named() {
            let twins = || after.named().filter(|(_, other)| *other == name);
            let is_shown = |n: usize| after.document.shown.contains(&n);
            if before.document.shown.contains(&node) {
                let found = twins().any(|(twin, _)| is_shown(twin));
                self.count("nodes: name", found, name);
                let parent = before.above(node).map(|n| before.name(n));
                let parent = parent.into_iter().find(|p| !p.is_empty());
                let is_below = |twin: usize| {
                    let mut above = after.above(twin);
                    parent.is_none_or(|p| above.any(|n| after.name(n) == p))
                };
                if found && !before.is_skinned(node) {
                    let same = twins().any(|(twin, _)| is_below(twin));
                    self.count("nodes: node above", same, name);
                }
            }
            if !before.is_joint(node) {
                continue;
            }
            let twins = || twins().filter(|(twin, _)| after.is_joint(*twin));
            self.count("joints: name", twins().next().is_some(), name);
            let parent = before.above(node).find(|n| before.is_joint(*n));
            let parent = parent.map_or("", |n| before.name(n));
            if !parent.is_empty() {
                // Nodes between joints become joints.
                let mut above = twins().flat_map(|(twin, _)| after.above(twin));
                let same = above.any(|n| after.is_joint(n) && after.name(n) == parent);
                let lost = format_args!("{name}: was below {parent}");
                self.count("joints: joint above", same, lost);
            }
        }
    }

    fn clips(&mut self, before: &Side, after: &Side) {
        let extent = before.extent();
        for (number, clip) in before.document.clips.iter().enumerate() {
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
                let posed = before.document.world(&[clip], seconds);
                let after_posed = after.document.world(&[found], seconds + shift);
                let (when, allowed) = match moment.is_key {
                    true => ("at keys", at_keys(Some(clip))),
                    false => ("between keys", SAME_BETWEEN),
                };
                for node in &moving {
                    let name_of_node = before.name(*node);
                    let both = (before.only(name_of_node), after.only(name_of_node));
                    let (Some(_), Some(there)) = both else {
                        continue;
                    };
                    let who = match before.is_joint(*node) {
                        true => "joints",
                        false => "other nodes",
                    };
                    let error = distance(posed[*node], after_posed[there], extent);
                    let lost = format_args!("{name}: {name_of_node} at {seconds} s");
                    self.measure(&format!("clips: {who} {when}"), error, allowed, lost);
                }
            }
        }
    }

    /// Triangles stand in their order, so that each corner is compared with itself; those of mirrored nodes are turned.
    fn meshes(&mut self, before: &Side, after: &Side) {
        for (number, play) in Play::all(&before.document).into_iter().enumerate() {
            let found = play.clip().and_then(|clip| after.clip_of(number, clip));
            if play.clip().is_some() && found.is_none() {
                continue;
            }
            let start = |clip: Option<&Clip>| clip.map_or(0.0, |c| c.range().0);
            let shift = start(found) - start(play.clip());
            let times = a_dozen(&play.keys());
            let shifted: Vec<f64> = times.iter().map(|t| t + shift).collect();
            let clips: Vec<&Clip> = found.into_iter().collect();
            let want = shown(&before.document, &play.clips(), &times);
            let got = shown(&after.document, &clips, &shifted);
            let nodes = |all: &[Shown]| all.iter().map(|s| s.place.0).collect::<BTreeSet<_>>();
            let (here, there) = (nodes(&want).len(), nodes(&got).len());
            let of_one_node = "meshes: primitives of one node stay of one node";
            self.same_number(of_one_node, here, there, "nodes");
            let (want, got) = (by_corner(want), by_corner(got));
            self.same_number("meshes: primitives", want.len(), got.len(), "all");
            let paired = pair(&want, &got);
            for left in paired.left {
                self.count("meshes: faces", false, left.label());
            }
            for (want, got) in paired.pairs {
                let moments = want.points.iter().zip(&got.points);
                let worst = worst(moments.map(|(want, got)| {
                    let apart = want.iter().zip(got).map(|(a, b)| a.distance(*b));
                    worst(apart) / size(want).max(f64::MIN_POSITIVE)
                }));
                let what = "meshes: points at keys";
                self.measure(what, worst, at_keys(play.clip()), want.label());
                if number == 0 {
                    self.count("meshes: faces", true, "");
                    self.attributes((before, want), (after, got));
                }
            }
        }
    }

    /// What corners have, and morph targets.
    fn attributes(&mut self, (before, want): (&Side, &Shown), (after, got): (&Side, &Shown)) {
        let name = want.label();
        let here = before.corners(want, |joint| before.joint_name(joint));
        let there = after.corners(got, |joint| before.joint_of(after, joint));
        for (what, values) in here {
            let kind = what.split(' ').next().unwrap_or_default();
            let kind = format!("meshes: {kind}");
            let lost = format_args!("{name}: {what}");
            let Some(found) = there.get(&what) else {
                self.count(&kind, false, lost);
                continue;
            };
            let both = values.iter().flatten().zip(found.iter().flatten());
            let worst = worst(both.map(|(a, b)| (a - b).abs()));
            self.measure(&kind, worst, SAME_VALUES, lost);
        }
        let (mesh, part) = (before.mesh(want.place.0), want.place.1);
        let other = after.mesh(got.place.0);
        let targets = mesh.primitives[part].targets.len();
        for target in mesh.target_names.iter().take(targets) {
            let lost = format_args!("{name}: {target}");
            let kept = target.is_empty() || other.target_names.contains(target);
            self.count("morph targets: name", kept, lost);
        }
        if targets > 0 {
            let found = other.primitives[got.place.1].targets.len();
            self.same_number("morph targets: number", targets, found, name);
        }
    }

    fn materials(&mut self, before: &Side, after: &Side) {
        let all = |side: &Side| -> Vec<Value> {
            let materials = side.asset.materials.iter();
            materials.map(|material| side.item(material)).collect()
        };
        let (want, got) = (all(before), all(after));
        let shown = before.document.shown.iter();
        let meshes = shown.filter_map(|n| before.document.nodes[*n].mesh);
        let primitives = meshes.flat_map(|m| &before.asset.meshes[m].primitives);
        let used: BTreeSet<usize> = primitives.filter_map(|p| p.material).collect();
        for want in used.into_iter().map(|number| &want[number]) {
            let named = got.iter().find(|m| m["name"] == want["name"]);
            // Without a name, the one that is most alike.
            let same = |got: &Value| {
                let mut alone = Self::default();
                alone.item("", want, got);
                alone.0.values().map(|tally| tally.kept).sum::<usize>()
            };
            let nearest = got.iter().max_by_key(|got| same(got));
            if let Some(found) = named.or(nearest) {
                self.item("materials", want, found);
            }
        }
    }

    /// The name of a material, a camera or a light, and every property of it.
    fn item(&mut self, of: &str, want: &Value, got: &Value) {
        let name = want["name"].as_str().unwrap_or_default();
        if !name.is_empty() {
            let lost = format_args!("{}, was {name}", got["name"]);
            self.count(&format!("{of}: name"), got["name"] == name, lost);
        }
        let (mut here, mut there) = (BTreeMap::new(), BTreeMap::new());
        flatten("", want, &mut here);
        flatten("", got, &mut there);
        for (property, value) in here {
            let found = there.get(&property).unwrap_or(&Value::Null);
            let lost = format_args!("{name}: {found:.40}, was {value:.40}");
            self.count(&format!("{of}: {property}"), same_json(found, &value), lost);
        }
    }

    /// Cameras or lights where they stand.
    fn at_nodes(
        &mut self,
        of: &str,
        before: &Side,
        after: &Side,
        at: fn(&Side, usize) -> Option<Value>,
    ) {
        let extent = before.extent();
        let all = |side: &Side| -> Vec<(usize, Value)> {
            let nodes = side.document.shown.iter();
            nodes.filter_map(|n| Some((*n, at(side, *n)?))).collect()
        };
        let got = all(after);
        for (node, want) in all(before) {
            let (place, node) = (before.rest(node), before.name(node));
            let off = |other: usize| distance(place, after.rest(other), extent);
            let nearest = got.iter().min_by(|a, b| off(a.0).total_cmp(&off(b.0)));
            self.count(of, nearest.is_some(), node);
            if let Some((there, same)) = nearest {
                self.measure(&format!("{of}: place"), off(*there), SAME_AT_KEYS, node);
                self.item(of, &want, same);
            }
        }
    }

    fn extras(&mut self, before: &Side, after: &Side) {
        let all = |side: &Side| {
            let mut out = Vec::new();
            extras(&side.document.json, "the file", &mut out);
            out
        };
        let got = all(after);
        for (owner, value) in all(before) {
            let is_it = |(o, e): &(String, Value)| *o == owner && same_json(e, &value);
            let kept = got.iter().any(is_it);
            self.count(&format!("extras of {owner}"), kept, &value);
        }
    }

    fn scenes(&mut self, before: &Side, after: &Side) {
        let (want, got) = (
            before.document.list("scenes"),
            after.document.list("scenes"),
        );
        if want.len() > 1 {
            self.same_number("scenes: number", want.len(), got.len(), "scenes");
        }
        for name in want.iter().filter_map(|s| s["name"].as_str()) {
            let kept = got.iter().any(|s| s["name"] == name);
            self.count("scenes: name", kept, name);
        }
    }
}

/// One of the two files: as the evaluator plays it, and as sinew reads it. Both number nodes, meshes and primitives as the
/// file does.
struct Side {
    document: Document,
    asset: Asset,
}

impl Side {
    fn open(file: &Path) -> Result<Self, Failed> {
        Ok(Self {
            document: Document::open(file),
            asset: sinew_io::gltf::read(file)?,
        })
    }

    fn name(&self, node: usize) -> &str {
        &self.document.nodes[node].name
    }

    /// Nodes with a name.
    fn named(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = (0..self.document.nodes.len()).map(|n| (n, self.name(n)));
        all.filter(|(_, name)| !name.is_empty())
    }

    /// The node of a name that no other has.
    fn only(&self, name: &str) -> Option<usize> {
        let mut named = self.named().filter(|(_, other)| *other == name);
        let first = named.next()?.0;
        named.next().is_none().then_some(first)
    }

    /// Nodes above a node, the nearest first.
    fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        self.asset.chain(node).skip(1)
    }

    fn is_skinned(&self, node: usize) -> bool {
        self.document.nodes[node].skin.is_some()
    }

    fn is_joint(&self, node: usize) -> bool {
        let mut skins = self.document.skins.iter();
        skins.any(|s| s.joints.contains(&node))
    }

    /// The clip that is a clip of the other file: of the same name, or of the same number without one.
    fn clip_of(&self, number: usize, clip: &Clip) -> Option<&Clip> {
        match clip.name.is_empty() {
            true => self.document.clips.get(number),
            false => self.document.clips.iter().find(|c| c.name == clip.name),
        }
    }

    fn rest(&self, node: usize) -> DMat4 {
        self.document.world(&[], 0.0)[node]
    }

    /// Size of everything at rest, at least that of its nodes.
    fn extent(&self) -> f64 {
        let world = self.document.world(&[], 0.0);
        let mut points: Vec<DVec3> = world.iter().map(|m| m.w_axis.truncate()).collect();
        let surfaces = self.document.surfaces(&[], 0.0);
        points.extend(surfaces.into_iter().flat_map(|s| s.points));
        size(&points).max(1e-6)
    }

    /// The name of a joint, or its number where it has none.
    fn joint_name(&self, joint: usize) -> String {
        match self.name(joint) {
            "" => format!("@{joint}"),
            name => name.to_owned(),
        }
    }

    /// The name of the joint of this file that is a joint of the other one: of the same name, or at the same place without a name.
    fn joint_of(&self, other: &Self, joint: usize) -> String {
        let name = other.name(joint);
        if self.named().any(|(n, own)| own == name && self.is_joint(n)) {
            return name.to_owned();
        }
        let place = other.rest(joint);
        // Of several at one place, the one of the nearest number.
        let off = |j: usize| distance(self.rest(j), place, 1.0) + 1e-9 * j.abs_diff(joint) as f64;
        let joints = (0..self.document.nodes.len()).filter(|n| self.is_joint(*n));
        let unnamed = joints.filter(|n| self.name(*n).is_empty());
        let nearest = unnamed.min_by(|a, b| off(*a).total_cmp(&off(*b)));
        nearest.map_or(name.to_owned(), |j| self.joint_name(j))
    }

    /// The mesh of a node that has one.
    fn mesh(&self, node: usize) -> &Mesh {
        &self.asset.meshes[self.asset.nodes[node].mesh.expect("a mesh")]
    }

    /// What corners of a primitive have: normals, texture coordinates, colours, and weights of each joint, which `name` names.
    fn corners(
        &self,
        shown: &Shown,
        name: impl Fn(usize) -> String,
    ) -> BTreeMap<String, Vec<Vec<f64>>> {
        let (node, part) = shown.place;
        let primitive = &self.mesh(node).primitives[part];
        let corners: Vec<usize> = (0..primitive.faces.indices.len()).collect();
        let corners = outward(&corners, shown.left_handed);
        let points = corners.iter().map(|c| primitive.faces.indices[*c] as usize);
        let points: Vec<usize> = points.collect();
        let places = match primitive.corner_data {
            true => corners,
            false => points.clone(),
        };
        let unit = |v: &Vec3| v.normalize_or_zero();
        let normals: Vec<Vec3> = primitive.normals.iter().map(unit).collect();
        let mut out = BTreeMap::new();
        out.insert("normals".to_owned(), rows(&normals, &places));
        out.insert("colors".to_owned(), rows(&primitive.colors, &places));
        for (set, uvs) in primitive.uvs.iter().enumerate() {
            out.insert(format!("uvs {set}"), rows(uvs, &places));
        }
        out.retain(|_, rows| !rows.is_empty());
        // Without a skin influences mean nothing.
        let Some(skin) = self.asset.nodes[node].skin else {
            return out;
        };
        let joints = self.asset.skins[skin].joints.iter();
        let names: Vec<String> = joints.map(|j| name(*j)).collect();
        for (corner, point) in points.iter().enumerate() {
            let slots = point * primitive.influences..(point + 1) * primitive.influences;
            let sum: f32 = primitive.weights[slots.clone()].iter().sum();
            for slot in slots.filter(|slot| primitive.weights[*slot] != 0.0) {
                let what = format!("weights {}", names[primitive.joints[slot] as usize]);
                let none = || vec![vec![0.0]; points.len()];
                let rows = out.entry(what).or_insert_with(none);
                rows[corner][0] += f64::from(primitive.weights[slot] / sum);
            }
        }
        out
    }

    fn camera(&self, node: usize) -> Option<Value> {
        let camera = self.asset.nodes[node].camera?;
        Some(self.item(&self.asset.cameras[camera]))
    }

    fn light(&self, node: usize) -> Option<Value> {
        let light = self.asset.nodes[node].light?;
        Some(self.item(&self.asset.lights[light]))
    }

    /// A material, a camera or a light as JSON, with their pictures in place of the numbers of images.
    fn item(&self, item: &impl Debug) -> Value {
        let mut item = as_json(item);
        for value in item
            .as_object_mut()
            .into_iter()
            .flat_map(|o| o.values_mut())
        {
            let Some(number) = value.get("image").and_then(Value::as_f64) else {
                continue;
            };
            let bytes = &self.asset.images[number as usize].bytes;
            match bytes.is_empty() {
                // A file that is not there can survive nothing.
                true => *value = Value::Null,
                false => value["image"] = json!(picture(bytes)),
            }
        }
        item
    }
}

/// What tells a picture from others: its size and pixels; the bytes of one that cannot be decoded.
fn picture(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    match image::load_from_memory(bytes) {
        Ok(image) => {
            (image.width(), image.height(), image.into_rgba8().into_raw()).hash(&mut hasher)
        }
        Err(_) => bytes.hash(&mut hasher),
    }
    format!("{:x}", hasher.finish())
}

/// Properties by name, but for the name and extras.
fn flatten(name: &str, value: &Value, out: &mut BTreeMap<String, Value>) {
    let Some(members) = value.as_object() else {
        out.insert(name.to_owned(), value.clone());
        return;
    };
    for (key, value) in members {
        match (name, key.as_str()) {
            ("", "name" | "extras" | "is") => {}
            ("", _) => flatten(key, value, out),
            _ => flatten(&format!("{name}.{key}"), value, out),
        }
    }
}

/// Values of some places.
fn rows<const N: usize, V: Copy + Into<[f32; N]>>(values: &[V], places: &[usize]) -> Vec<Vec<f64>> {
    let places = places.iter().filter(|_| !values.is_empty());
    let row = |place: &usize| values[*place].into().map(f64::from).to_vec();
    places.map(row).collect()
}

/// The largest error; one that is no number is larger than all others.
fn worst(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, |worst, error| match exceeds(error, worst) {
        true => error,
        false => worst,
    })
}

/// How far points and joints may be off at the keys of a clip.
fn at_keys(clip: Option<&Clip>) -> f64 {
    match clip.is_some_and(|c| c.animates(Property::Scale)) {
        true => SAME_SCALED,
        false => SAME_AT_KEYS,
    }
}

/// How far a transform takes points of the unit cube, beside a size, from where another one does.
fn distance(a: DMat4, b: DMat4, size: f64) -> f64 {
    let column = |m: DMat4, i: usize| m.col(i).truncate();
    let off = |i: usize| (column(a, i) - column(b, i)).length();
    let turned = (0..3).map(off).fold(0.0, f64::max);
    let largest = (0..3).map(|i| column(a, i).length());
    let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
    (turned / largest).max(off(3) / size)
}

/// Extras by the list that what has them is in.
fn extras(value: &Value, owner: &str, out: &mut Vec<(String, Value)>) {
    for item in value.as_array().into_iter().flatten() {
        extras(item, owner, out);
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        if key != "extras" {
            extras(value, key, out);
            continue;
        }
        let mut value = value.clone();
        // Names of morph targets have a row of their own.
        if let Some(object) = value.as_object_mut() {
            object.remove("targetNames");
        }
        if value != json!({}) {
            out.push((owner.to_owned(), value));
        }
    }
}

/// The same JSON, with numbers as near as f32 keeps them.
fn same_json(a: &Value, b: &Value) -> bool {
    is_near(a, b, SAME) && is_near(b, a, SAME)
}
