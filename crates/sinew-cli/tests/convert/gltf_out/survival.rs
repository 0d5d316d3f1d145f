//! What of a glTF file is in another one that was made of it by way of USD.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use glam::DMat4;
use serde_json::Value;

use crate::gltf_eval::moments::{Moment, moments};
use crate::gltf_eval::oracle::MeshPrim;
use crate::gltf_out::matching::{Match, MeshNode, match_points, pair_meshes};
use crate::gltf_out::properties::{Contents, Properties, same_json};
use common::compare::size;
use common::gltf_eval::clip::Clip;
use common::gltf_eval::file::{index, list};
use common::gltf_eval::{Document, accessor};

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

struct Side {
    contents: Contents,
    document: Document,
}

impl Survival {
    fn count(&mut self, what: &str, kept: bool, lost: impl FnOnce() -> String) {
        let tally = self.0.entry(what.to_owned()).or_default();
        tally.all += 1;
        tally.kept += usize::from(kept);
        if !kept && tally.lost.is_none() {
            tally.lost = Some(lost());
        }
    }

    fn measure(&mut self, what: &str, error: f64, allowed: f64, lost: impl FnOnce() -> String) {
        self.count(what, error <= allowed, || {
            format!("{}: off by {error:.1e}", lost())
        });
        let tally = self.0.entry(what.to_owned()).or_default();
        tally.worst = tally.worst.max(error);
    }

    /// Adds the tallies of another file.
    pub fn add(&mut self, other: Self) {
        for (what, tally) in other.0 {
            let sum = self.0.entry(what).or_default();
            sum.kept += tally.kept;
            sum.all += tally.all;
            sum.worst = sum.worst.max(tally.worst);
            sum.lost = sum.lost.take().or(tally.lost);
        }
    }

    /// Compares a file with what came of it.
    pub fn of(before: &Path, after: &Path) -> Result<Self, String> {
        let [before, after] = [before, after].map(|path| Side {
            contents: Contents::open(path),
            document: Document::open(path),
        });
        let mut out = Self::default();
        out.nodes(&before, &after);
        out.skins(&before, &after);
        out.clips(&before, &after);
        out.meshes(&before, &after)?;
        out.materials(&before, &after);
        out.things_at_nodes(&before, &after);
        out.extras(&before, &after);
        out.scenes(&before, &after);
        Ok(out)
    }

    fn nodes(&mut self, before: &Side, after: &Side) {
        let (want, got) = (before.parents(), after.parents());
        for (node, parents) in &want {
            if node.is_empty() {
                continue;
            }
            let found = got.get(node);
            self.count("nodes: name", found.is_some(), || node.clone());
            if let Some(found) = found {
                let parent = parents.iter().find(|p| !p.is_empty());
                let same = parent.is_none_or(|p| found.contains(p));
                self.count("nodes: node above", same, || node.clone());
            }
        }
    }

    fn skins(&mut self, before: &Side, after: &Side) {
        let joints = |side: &Side| -> Vec<BTreeSet<String>> {
            let skins = side.document.skins.iter();
            skins
                .map(|s| s.joints.iter().map(|j| side.name(*j)).collect())
                .collect()
        };
        let got = joints(after);
        let all_got: BTreeSet<&String> = got.iter().flatten().collect();
        for joints in joints(before) {
            for joint in joints {
                let found = joint.is_empty() || all_got.contains(&joint);
                self.count("joints: name", found, || joint.clone());
            }
        }
        let (want, got) = (before.joint_parents(), after.joint_parents());
        for (joint, parent) in &want {
            let same = got.get(joint) == Some(parent);
            self.count("joints: joint above", same, || {
                format!("{joint}: below {:?}, was {parent:?}", got.get(joint))
            });
        }
    }

    fn clips(&mut self, before: &Side, after: &Side) {
        let rest = before.extent();
        for (number, clip) in before.document.clips.iter().enumerate() {
            let same_name = after.document.clips.iter().find(|c| c.name == clip.name);
            let found = match clip.name.is_empty() {
                true => after.document.clips.get(number),
                false => same_name,
            };
            self.count("clips: name", found.is_some(), || clip.name.clone());
            let Some(found) = found else { continue };
            let range = |c: &Clip| {
                let times = c.key_times();
                (
                    times.first().copied().unwrap_or(0.0),
                    times.last().copied().unwrap_or(0.0),
                )
            };
            let (want, got) = (range(clip), range(found));
            let duration = ((want.1 - want.0) - (got.1 - got.0)).abs();
            self.measure("clips: duration in s", duration, 1e-4, || {
                format!("{}: {got:?}, was {want:?}", clip.name)
            });
            let shift = got.0 - want.0;
            let moving: BTreeSet<usize> = clip.channels.iter().map(|c| c.node).collect();
            let scales = clip.animates(common::gltf_eval::clip::Property::Scale);
            for moment in moments(Some(clip)) {
                let seconds = moment.seconds.clamp(want.0, want.1);
                let posed = before.document.world(&[clip], seconds);
                let after_posed = after.document.world(&[found], seconds + shift);
                for node in &moving {
                    let name = before.name(*node);
                    let (Some(_), Some(there)) = (before.only(&name), after.only(&name)) else {
                        continue;
                    };
                    let is_joint = before.is_joint(*node);
                    let allowed = match (moment.is_key, scales) {
                        (true, false) => SAME_AT_KEYS,
                        (true, true) => SAME_SCALED,
                        (false, _) => SAME_BETWEEN,
                    };
                    let what = match (is_joint, moment.is_key) {
                        (true, true) => "clips: joints at keys",
                        (true, false) => "clips: joints between keys",
                        (false, true) => "clips: other nodes at keys",
                        (false, false) => "clips: other nodes between keys",
                    };
                    let error = distance(posed[*node], after_posed[there], rest);
                    self.measure(what, error, allowed, || {
                        format!("{}: {name} at {seconds} s", clip.name)
                    });
                }
            }
        }
    }

    fn meshes(&mut self, before: &Side, after: &Side) -> Result<(), String> {
        // Where nothing has a clip, at rest.
        let clips: Vec<Option<usize>> = match before.document.clips.len() {
            0 => vec![None],
            n => (0..n).map(Some).collect(),
        };
        for (number, clip) in clips.into_iter().enumerate() {
            let before_clip = clip.map(|c| &before.document.clips[c]);
            let after_clip = before_clip.and_then(|c| {
                let named = after.document.clips.iter().find(|a| a.name == c.name);
                named.or(after
                    .document
                    .clips
                    .get(number)
                    .filter(|_| c.name.is_empty()))
            });
            if before_clip.is_some() && after_clip.is_none() {
                continue;
            }
            let start = |c: Option<&Clip>| c.and_then(|c| c.key_times().first().copied());
            let shift = start(after_clip).unwrap_or(0.0) - start(before_clip).unwrap_or(0.0);
            let mut times: Vec<Moment> = moments(before_clip);
            times.retain(|m| m.is_key);
            let step = times.len().div_ceil(12);
            let times: Vec<f64> = times.iter().step_by(step).map(|m| m.seconds).collect();
            let all = |side: &Side, clip: Option<&Clip>, shift: f64| -> Vec<MeshNode> {
                let clips: Vec<&Clip> = clip.into_iter().collect();
                let moments: Vec<_> = times
                    .iter()
                    .map(|t| side.document.surfaces(&clips, t + shift))
                    .collect();
                MeshNode::all(&side.document, &moments)
            };
            let want = all(before, before_clip, 0.0);
            let got = all(after, after_clip, shift);
            let prims: Vec<MeshPrim> = want.iter().map(as_prim).collect();
            let drawn: Vec<MeshPrim> = prims
                .iter()
                .filter(|p| !p.corners.is_empty())
                .cloned()
                .collect();
            self.count("meshes", drawn.len() == got.len(), || {
                format!("{} of {}", got.len(), drawn.len())
            });
            let Ok((pairs, _)) = pair_meshes(&drawn, &got) else {
                continue;
            };
            for (prim, node) in pairs {
                let name = prim.path.clone();
                let found = match_points(prim, node).map_err(|e| format!("{name}: {e}"));
                let found = match found {
                    Ok(found) => found,
                    Err(e) => {
                        self.count("meshes: points at keys", false, || e);
                        continue;
                    }
                };
                let allowed = match before_clip {
                    Some(c) if c.animates(common::gltf_eval::clip::Property::Scale) => SAME_SCALED,
                    _ => SAME_AT_KEYS,
                };
                self.measure("meshes: points at keys", found.error, allowed, || {
                    name.clone()
                });
                if number == 0 {
                    let faces = found.same_faces(prim, node);
                    self.count("meshes: faces", faces.is_ok(), || {
                        format!("{name}: {}", faces.err().unwrap_or_default())
                    });
                    self.attributes(before, after, &name, node, &found);
                }
            }
        }
        Ok(())
    }

    /// Attributes of vertices, joints by their names, and morph targets.
    fn attributes(
        &mut self,
        before: &Side,
        after: &Side,
        name: &str,
        node: &MeshNode,
        found: &Match,
    ) {
        let want_node = name.trim_start_matches('/').parse().unwrap_or(0);
        let (want, got) = (before.vertices(want_node), after.vertices(node.node));
        for (what, values) in &want.attributes {
            let kind = what.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            let Some(there) = got.attributes.get(what) else {
                self.count(&format!("meshes: {kind}"), false, || {
                    format!("{name}: {what}")
                });
                continue;
            };
            let mut worst = 0.0f64;
            for (vertex, candidates) in found.points.iter().enumerate() {
                let off = |candidate: &usize| -> f64 {
                    let both = values[*candidate].iter().zip(&there[vertex]);
                    both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
                };
                let best = candidates.iter().map(off).fold(f64::INFINITY, f64::min);
                worst = worst.max(best);
            }
            self.measure(&format!("meshes: {kind}"), worst, SAME_VALUES, || {
                format!("{name}: {what}")
            });
        }
        if want.weights.iter().any(|w| !w.is_empty()) {
            let mut worst = 0.0f64;
            for (vertex, candidates) in found.points.iter().enumerate() {
                let off = |candidate: &usize| {
                    let (a, b) = (&want.weights[*candidate], &got.weights[vertex]);
                    let joints: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                    let weight = |of: &BTreeMap<String, f64>, joint: &String| {
                        of.get(joint).copied().unwrap_or(0.0)
                    };
                    let off = joints
                        .into_iter()
                        .map(|j| (weight(a, j) - weight(b, j)).abs());
                    off.fold(0.0, f64::max)
                };
                let best = candidates.iter().map(off).fold(f64::INFINITY, f64::min);
                worst = worst.max(best);
            }
            self.measure("meshes: weights", worst, SAME_VALUES, || name.to_owned());
        }
        for target in &want.targets {
            let kept = target.is_empty() || got.targets.contains(target);
            self.count("morph targets: name", kept, || format!("{name}: {target}"));
        }
        if !want.targets.is_empty() {
            let same = want.targets.len() == got.targets.len();
            self.count("morph targets: number", same, || {
                format!("{name}: {}, was {}", got.targets.len(), want.targets.len())
            });
        }
    }

    fn materials(&mut self, before: &Side, after: &Side) {
        let all: Vec<(&Value, Properties)> = after
            .contents
            .list("materials")
            .iter()
            .map(|m| (m, after.contents.material(m)))
            .collect();
        let used = before.used_materials();
        for (number, material) in before.contents.list("materials").iter().enumerate() {
            if !used.contains(&number) {
                continue;
            }
            let want = before.contents.material(material);
            let name = material["name"].as_str().unwrap_or_default();
            let named = all.iter().find(|(m, _)| m["name"] == material["name"]);
            if !name.is_empty() {
                self.count("materials: name", named.is_some(), || name.to_owned());
            }
            let same = |got: &Properties| {
                let found = want
                    .iter()
                    .filter(|(k, v)| got.get(*k).is_some_and(|g| g.same(v)));
                let more = got.keys().filter(|k| !want.contains_key(*k)).count();
                found.count() as i64 - more as i64
            };
            let nearest = all.iter().max_by_key(|(_, got)| same(got));
            let Some((_, got)) = named.filter(|_| !name.is_empty()).or(nearest) else {
                continue;
            };
            self.properties("materials", name, &want, got);
        }
    }

    fn properties(&mut self, of: &str, name: &str, want: &Properties, got: &Properties) {
        for (property, value) in want {
            let kept = got.get(property).is_some_and(|g| g.same(value));
            let short = property.trim_start_matches("pbrMetallicRoughness.");
            self.count(&format!("{of}: {short}"), kept, || {
                let text = |p: Option<&_>| p.map_or("nothing".to_owned(), |p| short_text(p));
                format!(
                    "{name}: {}, was {}",
                    text(got.get(property)),
                    short_text(value)
                )
            });
        }
        for property in got.keys().filter(|k| !want.contains_key(*k)) {
            self.count(&format!("{of}: nothing more"), false, || {
                format!("{name}: {property} is {}", short_text(&got[property]))
            });
        }
    }

    /// Cameras and lights where they stand.
    fn things_at_nodes(&mut self, before: &Side, after: &Side) {
        for (of, want, got) in [
            ("cameras", before.cameras(), after.cameras()),
            ("lights", before.lights(), after.lights()),
        ] {
            for (node, item) in &want {
                let place = before.rest(*node);
                let name = item["name"].as_str().unwrap_or_default();
                let near = |other: &usize| distance(place, after.rest(*other), before.extent());
                let nearest = got.iter().min_by(|a, b| near(&a.0).total_cmp(&near(&b.0)));
                let Some((there, same)) = nearest else {
                    self.count(of, false, || before.name(*node));
                    continue;
                };
                self.count(of, true, String::new);
                self.measure(&format!("{of}: place"), near(there), SAME_AT_KEYS, || {
                    before.name(*node)
                });
                if !name.is_empty() {
                    let kept = same["name"] == item["name"];
                    self.count(&format!("{of}: name"), kept, || {
                        format!("{}, was {name}", same["name"])
                    });
                }
                let (want, got) = (before.contents.plain(item), after.contents.plain(same));
                self.properties(of, name, &want, &got);
            }
        }
    }

    fn extras(&mut self, before: &Side, after: &Side) {
        let json = &before.contents.file.json;
        let (want, got) = (extras_of(json), extras_of(&after.contents.file.json));
        for (owner, extras) in want {
            let kept = got
                .iter()
                .any(|(o, e)| *o == owner && same_json(e, &extras));
            self.count(&format!("extras of {owner}"), kept, || extras.to_string());
        }
    }

    fn scenes(&mut self, before: &Side, after: &Side) {
        let (want, got) = (
            before.contents.list("scenes"),
            after.contents.list("scenes"),
        );
        if want.len() > 1 {
            let same = want.len() == got.len();
            self.count("scenes: number", same, || {
                format!("{}, was {}", got.len(), want.len())
            });
        }
        for name in want.iter().filter_map(|s| s["name"].as_str()) {
            let kept = got.iter().any(|s| s["name"] == name);
            self.count("scenes: name", kept, || name.to_owned());
        }
    }
}

/// Values of each vertex of a node's mesh, in the order of [`MeshNode`].
#[derive(Default)]
struct Vertices {
    attributes: BTreeMap<String, Vec<Vec<f64>>>,
    weights: Vec<BTreeMap<String, f64>>,
    targets: Vec<String>,
}

impl Side {
    fn name(&self, node: usize) -> String {
        self.document.nodes[node].name.clone()
    }

    /// The node of a name that no other has.
    fn only(&self, name: &str) -> Option<usize> {
        let mut named = (0..self.document.nodes.len())
            .filter(|n| self.document.nodes[*n].name == name && !name.is_empty());
        named.next().filter(|_| named.next().is_none())
    }

    /// Names of all nodes above each name, the nearest first.
    fn parents(&self) -> BTreeMap<String, Vec<String>> {
        let nodes = self.contents.list("nodes");
        let mut out = BTreeMap::new();
        for node in &self.document.shown {
            let above = self.above(nodes, *node);
            out.insert(
                self.name(*node),
                above.into_iter().map(|n| self.name(n)).collect(),
            );
        }
        out
    }

    fn above(&self, nodes: &[Value], node: usize) -> Vec<usize> {
        let mut out = Vec::new();
        let mut at = node;
        let holds = |n: &Value, child: usize| {
            let mut children = list(&n["children"]).iter().filter_map(index);
            children.any(|c| c == child)
        };
        while let Some(parent) = nodes.iter().position(|n| holds(n, at)) {
            out.push(parent);
            at = parent;
        }
        out
    }

    fn is_joint(&self, node: usize) -> bool {
        self.document.skins.iter().any(|s| s.joints.contains(&node))
    }

    /// The next joint above each joint.
    fn joint_parents(&self) -> BTreeMap<String, Option<String>> {
        let nodes = self.contents.list("nodes");
        let joints = (0..nodes.len()).filter(|n| self.is_joint(*n) && !self.name(*n).is_empty());
        joints
            .map(|j| {
                let mut above = self.above(nodes, j).into_iter();
                let parent = above.find(|n| self.is_joint(*n));
                (self.name(j), parent.map(|p| self.name(p)))
            })
            .collect()
    }

    fn rest(&self, node: usize) -> DMat4 {
        self.document.world(&[], 0.0)[node]
    }

    /// Size of everything at rest, at least that of its nodes.
    fn extent(&self) -> f64 {
        let mut points: Vec<_> = self
            .document
            .world(&[], 0.0)
            .iter()
            .map(|m| m.w_axis.truncate())
            .collect();
        let surfaces = self.document.surfaces(&[], 0.0);
        points.extend(surfaces.into_iter().flat_map(|s| s.points));
        size(&points).max(1e-6)
    }

    fn used_materials(&self) -> BTreeSet<usize> {
        let shown = self.document.shown.iter();
        let meshes = shown.filter_map(|n| self.document.nodes[*n].mesh);
        let meshes = meshes.map(|m| &self.contents.list("meshes")[m]);
        let primitives = meshes.flat_map(|m| list(&m["primitives"]));
        primitives.filter_map(|p| index(&p["material"])).collect()
    }

    fn cameras(&self) -> Vec<(usize, Value)> {
        let camera = |node: &usize| {
            let camera = index(&self.contents.list("nodes")[*node]["camera"])?;
            Some((*node, self.contents.list("cameras").get(camera)?.clone()))
        };
        self.document.shown.iter().filter_map(camera).collect()
    }

    fn lights(&self) -> Vec<(usize, Value)> {
        let light = |node: &usize| {
            let extensions = &self.contents.list("nodes")[*node]["extensions"];
            let light = index(&extensions["KHR_lights_punctual"]["light"])?;
            Some((*node, self.contents.lights().get(light)?.clone()))
        };
        self.document.shown.iter().filter_map(light).collect()
    }

    fn vertices(&self, node: usize) -> Vertices {
        let Some(mesh) = self.document.nodes[node].mesh else {
            return Vertices::default();
        };
        let skin = self.document.nodes[node].skin;
        let skin = skin.map(|s| &self.document.skins[s]);
        let json = &self.contents.list("meshes")[mesh];
        let mut out = Vertices::default();
        let names = list(&json["extras"]["targetNames"]).iter();
        out.targets = names
            .map(|n| n.as_str().unwrap_or_default().to_owned())
            .collect();
        let primitives = list(&json["primitives"]);
        let targets = primitives.first().map_or(0, |p| list(&p["targets"]).len());
        out.targets.resize(targets, String::new());
        let parts = &self.document.meshes[mesh].primitives;
        let is_value = |name: &str| {
            let kept = ["NORMAL", "TEXCOORD_", "COLOR_"];
            kept.iter().any(|k| name.starts_with(k))
        };
        let names: BTreeSet<&String> = primitives
            .iter()
            .flat_map(|p| p["attributes"].as_object().into_iter().flatten())
            .map(|(name, _)| name)
            .filter(|n| is_value(n))
            .collect();
        for name in names {
            let mut rows = Vec::new();
            for (primitive, part) in primitives.iter().zip(parts) {
                match index(&primitive["attributes"][name]) {
                    Some(number) => {
                        let item = &self.contents.list("accessors")[number];
                        let values = accessor::read(&self.contents.file, number);
                        rows.extend(values.chunks(accessor::width(item)).map(<[f64]>::to_vec));
                    }
                    None => rows.extend(part.points.iter().map(|_| Vec::new())),
                }
            }
            out.attributes.insert(name.clone(), rows);
        }
        for influences in parts.iter().flat_map(|p| &p.influences) {
            let mut weights = BTreeMap::new();
            let used = influences.iter().filter(|(_, w)| *w != 0.0);
            let sum: f64 = used.clone().map(|(_, w)| w).sum();
            for (joint, weight) in used {
                let joint = skin
                    .map(|s| self.name(s.joints[*joint]))
                    .unwrap_or_default();
                *weights.entry(joint).or_insert(0.0) += weight / sum;
            }
            out.weights.push(weights);
        }
        out
    }
}

/// A mesh of a glTF file as usd-core would tell of it; its path is `/` and the node's number.
pub fn as_prim(node: &MeshNode) -> MeshPrim {
    MeshPrim {
        path: format!("/{}", node.node),
        points: node.points.clone(),
        normals: Vec::new(),
        corners: node.triangles.iter().flatten().copied().collect(),
        counts: vec![3; node.triangles.len()],
        left_handed: false,
        sampled: Vec::new(),
    }
}

/// How far a transform takes points of the unit cube, beside a size, from where another one does.
fn distance(a: DMat4, b: DMat4, size: f64) -> f64 {
    let columns = (0..4).map(|i| (a.col(i) - b.col(i)).truncate().length());
    let columns: Vec<f64> = columns.collect();
    let turned = columns[..3].iter().copied().fold(0.0, f64::max);
    let largest = (0..3)
        .map(|i| a.col(i).truncate().length())
        .fold(0.0, f64::max);
    (turned / largest.max(f64::MIN_POSITIVE)).max(columns[3] / size)
}

/// Extras by what has them.
fn extras_of(json: &Value) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    let mut add = |owner: &str, value: &Value| {
        let mut extras = value["extras"].clone();
        // Names of morph targets have a row of their own.
        if let Some(object) = extras.as_object_mut() {
            object.remove("targetNames");
        }
        let is_empty = extras.as_object().is_some_and(|o| o.is_empty());
        if !extras.is_null() && !is_empty {
            out.push((owner.to_owned(), extras));
        }
    };
    add("the file", json);
    add("asset", &json["asset"]);
    for name in [
        "scenes",
        "nodes",
        "meshes",
        "skins",
        "animations",
        "cameras",
        "materials",
        "textures",
        "images",
        "samplers",
    ] {
        for item in list(&json[name]) {
            add(name, item);
            for primitive in list(&item["primitives"]) {
                add("primitives", primitive);
            }
        }
    }
    for light in list(&json["extensions"]["KHR_lights_punctual"]["lights"]) {
        add("lights", light);
    }
    out
}

fn short_text(property: &crate::gltf_out::properties::Property) -> String {
    match property {
        crate::gltf_out::properties::Property::Value(value) => value.to_string(),
        crate::gltf_out::properties::Property::Picture(pixels) => {
            format!("a picture of {} bytes", pixels.len())
        }
    }
}
