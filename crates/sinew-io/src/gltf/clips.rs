//! Animations (glTF 2.0, 3.11; KHR_animation_pointer; the channels of EXT_skeleton_humanoid) and
//! the key times and values of their samplers.

use std::cell::RefCell;
use std::collections::HashSet;

use glam::{DQuat, DVec3};

use super::accessor;
use super::accessor::Shape;
use super::coverage;
use super::document::Document;
use super::extensions::humanoid;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::{
    AssetClip, Curve, CurveInterpolation, Keys, LocalTransform, Mesh, Node, Track, TrackTarget,
};
use sinew_animate::retarget::Bone;

/// All animations, one clip each. Nodes that are animated get their transforms in components.
pub(super) fn read(
    document: &Document,
    nodes: &mut [Node],
    meshes: &[Mesh],
) -> Result<Vec<AssetClip>, Invalid> {
    let mut users = vec![Vec::new(); meshes.len()];
    for (i, node) in nodes.iter().enumerate() {
        if let Some(mesh) = node.mesh {
            users[mesh].push(i);
        }
    }
    let reader = Reader {
        document,
        nodes,
        meshes,
        users: &users,
        ignored_pointers: RefCell::default(),
    };
    let list = document.list_for::<AssetClip>("animations")?;
    let clips = list.iter().map(|animation| reader.clip(animation));
    let clips: Vec<AssetClip> = clips.collect::<Result<_, _>>()?;
    if let Some((count, at, pointer)) = reader.ignored_pointers.take() {
        if document.requires("KHR_animation_pointer") {
            let found = format!("KHR_animation_pointer for {pointer}");
            return Err(coverage::not_honoured(&at, found));
        }
        let channels = match count {
            1 => "a channel animates".to_owned(),
            _ => format!("{count} channels animate"),
        };
        let message = format!(
            "{channels} a property that is not read ({pointer} is the first): this is ignored"
        );
        document.warn("gltf-pointer", &at, message);
    }
    make_components(document, nodes, &clips);
    Ok(clips)
}

struct Reader<'a> {
    document: &'a Document,
    nodes: &'a [Node],
    meshes: &'a [Mesh],
    /// For each mesh the nodes that show it.
    users: &'a [Vec<usize>],
    /// How many channels animate what is not read, and the location and pointer of the first.
    ignored_pointers: RefCell<Option<(usize, String, String)>>,
}

/// What a channel moves, and its morph targets where it moves those.
struct Aim {
    targets: Vec<TrackTarget>,
    component: Component,
}

impl Reader<'_> {
    fn clip(&self, animation: &Json<'_>) -> Result<AssetClip, Invalid> {
        let samplers = animation.list("samplers")?;
        let mut seen = HashSet::new();
        let mut tracks = Vec::new();
        for channel in animation.list("channels")? {
            let sampler = channel.need("sampler")?;
            let sampler = &samplers[sampler.index("a sampler", samplers.len())?];
            let target = channel.need("target")?;
            let Some(Aim { targets, component }) = self.aim(&target)? else {
                continue;
            };
            for moved in &targets {
                if !seen.insert((moved.clone(), component.name())) {
                    return Err(twice(&target, moved, component));
                }
            }
            let curve = read_curve(self.document, sampler, component)?;
            if let Some(copies) = targets.len().checked_sub(1) {
                let bytes = 8 * curve.times.len() + curve.keys.bytes() + 2 * size_of::<Track>();
                self.document.charge(copies, bytes, channel.at())?;
            }
            tracks.extend(targets.into_iter().map(|target| Track {
                target,
                curve: curve.clone(),
            }));
        }
        Ok(AssetClip {
            name: animation.text("name")?,
            tracks,
            extras: animation.extras()?,
        })
    }

    /// `None` for a channel that moves nothing here.
    fn aim(&self, target: &Json<'_>) -> Result<Option<Aim>, Invalid> {
        let path = target.need("path")?;
        if path.string()? == "pointer" {
            return self.pointer(target);
        }
        let component = Component::parse(path.string()?)
            .ok_or_else(|| path.wrong("translation, rotation, scale or weights"))?;
        if let Some(bone) = bone(target)? {
            let targets = vec![TrackTarget::Bone(bone)];
            return Ok(Some(Aim { targets, component }));
        }
        // Such a channel is for extensions that this reader does not know.
        let Some(node) = target.get("node")? else {
            return Ok(None);
        };
        let node = self.document.node_index(&node)?;
        Ok(self.of_nodes(target, &[node], component))
    }

    /// A channel for those nodes, of which weights only move nodes with morph targets.
    fn of_nodes(&self, target: &Json<'_>, nodes: &[usize], component: Component) -> Option<Aim> {
        let of = |node: &usize| TrackTarget::Node(*node);
        if component != Component::WEIGHTS {
            let targets = nodes.iter().map(of).collect();
            return Some(Aim { targets, component });
        }
        let mesh = nodes.iter().find_map(|n| self.nodes[*n].mesh);
        let count = mesh.map_or(0, |m| self.meshes[m].target_names.len());
        if count == 0 {
            let message = "weights of a node without morph targets: the channel is ignored";
            self.document
                .warn("gltf-channel-left-out", target.at(), message);
            return None;
        }
        Some(Aim {
            targets: nodes.iter().map(of).collect(),
            component: Component::Weights(count),
        })
    }

    /// KHR_animation_pointer: what a node's own channels could say, and the weights of a mesh.
    fn pointer(&self, target: &Json<'_>) -> Result<Option<Aim>, Invalid> {
        let Some(extension) = target.extension("KHR_animation_pointer")? else {
            let at = target.at_key("extensions.KHR_animation_pointer");
            return Err(Invalid::new(
                at,
                "",
                "the pointer that the path `pointer` needs",
                "nothing",
            ));
        };
        let pointer = extension.need("pointer")?;
        let text = pointer.string()?;
        let index = |number: &str, count: usize, what: &str| {
            let index = number.parse::<usize>().ok().filter(|i| *i < count);
            index.ok_or_else(|| pointer.wrong(&format!("{what} below {count}")))
        };
        let parts: Vec<&str> = text.split('/').collect();
        match parts[..] {
            ["", "nodes", node, name] if let Some(component) = Component::parse(name) => {
                let node = index(node, self.nodes.len(), "a node")?;
                Ok(self.of_nodes(target, &[node], component))
            }
            ["", "meshes", mesh, "weights"] => {
                let mesh = index(mesh, self.meshes.len(), "a mesh")?;
                // Nodes with weights of their own do not follow their mesh.
                let nodes = self.users[mesh].iter().copied();
                let nodes: Vec<usize> =
                    nodes.filter(|n| self.nodes[*n].weights.is_none()).collect();
                Ok(self.of_nodes(target, &nodes, Component::WEIGHTS))
            }
            _ => {
                let mut ignored = self.ignored_pointers.borrow_mut();
                let first = || (0, target.at().to_owned(), text.to_owned());
                let (count, ..) = ignored.get_or_insert_with(first);
                *count += 1;
                Ok(None)
            }
        }
    }
}

/// Two channels of an animation for the same thing.
fn twice(target: &Json<'_>, moved: &TrackTarget, component: Component) -> Invalid {
    let name = match moved {
        TrackTarget::Node(node) => format!("nodes[{node}]"),
        TrackTarget::Bone(bone) => format!("the bone {bone}"),
        TrackTarget::Expression(name) => format!("the expression {name}"),
    };
    let found = format!("a second channel for the {} of {name}", component.name());
    target.error("each target once in an animation", found)
}

/// The human bone that a channel is for, which goes before its node. Such channels have been checked.
fn bone(target: &Json<'_>) -> Result<Option<Bone>, Invalid> {
    let Some(extension) = target.extension(humanoid::EXTENSION)? else {
        return Ok(None);
    };
    let name = extension.text("humanoidBoneName")?;
    Ok(name.parse().ok())
}

/// Only components can be animated; glTF forbids a matrix there.
fn make_components(document: &Document, nodes: &mut [Node], clips: &[AssetClip]) {
    for track in clips.iter().flat_map(|c| &c.tracks) {
        let TrackTarget::Node(index) = track.target else {
            continue;
        };
        let node = &mut nodes[index];
        if matches!(track.curve.keys, sinew_animate::asset::Keys::Weights { .. }) {
            continue;
        }
        if let LocalTransform::Matrix(_) = node.local {
            let message =
                "an animated node has a matrix: it is decomposed, and its shear is dropped";
            document.warn(
                "gltf-animated-matrix",
                &format!("nodes[{index}].matrix"),
                message,
            );
            node.local = LocalTransform::Trs(node.local.trs());
        }
    }
}

/// What the values of a channel are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Translation,
    Rotation,
    Scale,
    /// That many weights for each key.
    Weights(usize),
}

impl Component {
    /// Weights, before it is known how many.
    pub(super) const WEIGHTS: Self = Self::Weights(0);

    pub(super) fn parse(name: &str) -> Option<Self> {
        let all = [
            Self::Translation,
            Self::Rotation,
            Self::Scale,
            Self::WEIGHTS,
        ];
        all.into_iter().find(|c| c.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Weights(_) => "weights",
        }
    }
}

/// Floats, or small integers that stand for -1 to 1 or 0 to 1.
const VALUES: &[(accessor::Component, bool)] = &[
    (accessor::Component::F32, false),
    (accessor::Component::I8, true),
    (accessor::Component::U8, true),
    (accessor::Component::I16, true),
    (accessor::Component::U16, true),
];

pub(super) fn read_curve(
    document: &Document,
    sampler: &Json<'_>,
    component: Component,
) -> Result<Curve, Invalid> {
    let interpolation = match sampler.get("interpolation")? {
        None => CurveInterpolation::Linear,
        Some(json) => match json.string()? {
            "LINEAR" => CurveInterpolation::Linear,
            "STEP" => CurveInterpolation::Step,
            "CUBICSPLINE" => CurveInterpolation::CubicSpline,
            _ => return Err(json.wrong("LINEAR, STEP or CUBICSPLINE")),
        },
    };
    let times = times(document, &sampler.need("input")?)?;
    let cubic = interpolation == CurveInterpolation::CubicSpline;
    let each = if cubic { 3 } else { 1 };
    let (shape, per_key) = match component {
        Component::Translation | Component::Scale => (Shape::vector(3), 1),
        Component::Rotation => (Shape::vector(4), 1),
        Component::Weights(count) => (Shape::SCALAR, count),
    };
    let expected = format!("FLOAT or normalized integers, VEC{}", shape.rows);
    let expected = expected.replace("VEC1", "SCALAR");
    let output = document
        .accessor(&sampler.need("output")?)?
        .expect(shape, VALUES, &expected)?
        .expect_count(
            times.len().saturating_mul(each).saturating_mul(per_key),
            &format!(
                "{} for each of {} keys",
                each.saturating_mul(per_key),
                times.len()
            ),
        )?;
    let keys = match component {
        Component::Translation => Keys::Translation(output.read(DVec3::from_array)?),
        Component::Scale => Keys::Scale(output.read(DVec3::from_array)?),
        Component::Rotation => {
            let mut rotations = output.read(DQuat::from_array)?;
            normalize(&mut rotations, cubic).map_err(|i| {
                let found = format!("length 0 as element {i} of {}", output.at);
                Invalid::new(&output.used_at, "", "rotations of length 1", found)
            })?;
            Keys::Rotation(rotations)
        }
        Component::Weights(count) => Keys::Weights {
            count,
            values: output.read(|[w]| w)?,
        },
    };
    Ok(Curve {
        times,
        interpolation,
        keys,
    })
}

/// Makes rotations of length 1, which quantised ones are only nearly. Splines stay as they are,
/// since scaling a value without its tangents would bend them; they are normalised when evaluated.
///
/// # Errors
/// Which one has no length.
fn normalize(rotations: &mut [DQuat], cubic: bool) -> Result<(), usize> {
    for (i, rotation) in rotations.iter_mut().enumerate() {
        if cubic && i % 3 != 1 {
            continue;
        }
        let length = rotation.length();
        if length < 1e-9 {
            return Err(i);
        }
        if !cubic {
            *rotation /= length;
        }
    }
    Ok(())
}

/// Seconds, strictly rising.
fn times(document: &Document, input: &Json<'_>) -> Result<Vec<f64>, Invalid> {
    let accessor = document.accessor(input)?.expect(
        Shape::SCALAR,
        &[(accessor::Component::F32, false)],
        "FLOAT SCALAR",
    )?;
    let times = accessor.read(|[t]| t)?;
    if let Some(i) = times.windows(2).position(|w| w[0] >= w[1]) {
        let found = format!("{} after {} in {}", times[i + 1], times[i], accessor.at);
        return Err(input.error("key times that increase", found));
    }
    Ok(times)
}
