//! The layer's prims, put together.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, DVec3};
use sinew_layer::layer::field;
use sinew_layer::value::Dictionary;
use sinew_layer::{Layer, Path, Token, Value};

use super::binds::{rescale, scaled_nodes};
use super::budget::Budget;
use super::builder::Builder;
use super::cameras::{author_camera, author_light};
use super::channels::{ExpressionBinds, channels};
use super::clips::{CodedClip, expression_names, moved_nodes, moves};
use super::convert;
use super::extras;
use super::instances::author_instancer;
use super::joints::{Hierarchy, Joint};
use super::layer::{LayerBuilder, PrimId, ROOT};
use super::meshes::{Bound, author_invisible, author_mesh};
use super::nodes::{Follower, ShownNode, Xforms, shown_nodes};
use super::placement::{Homes, Place, author_transform, place};
use super::sizes::size_of_everything;
use super::skeletons::SkeletonPlan;
use super::time::Rate;
use super::variants::Materials;
use super::{ChosenClip, Converted, ConvertedHumanoid, ConvertedSkeleton, skeletons};
use crate::error::Result;
use crate::usd::read::values::{matrices, matrix4d};
use crate::usd::write::sockets::{FOLLOWS_JOINT, FOLLOWS_SKELETON, JOINT_OFFSET, SOCKETS};
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, AssetScene, Axis};

/// Bytes of points, and of what goes with them, that meshes in several places may repeat.
const MAX_REPEATED: usize = 1 << 30;

/// What all scenes together may look through.
const MOST_IN_SCENES: usize = 1 << 24;

pub(super) fn author(asset: &Asset, chosen: &[ChosenClip]) -> Result<(Layer, Converted)> {
    let sources = chosen.iter().flat_map(|c| &c.sources);
    let sources: Vec<_> = sources.map(|i| &asset.clips[*i]).collect();
    let rate = Rate::of(asset, &sources);
    let mut warnings = Vec::new();
    let expressions = expression_names(asset, &sources);
    // Of two of one name the first is meant.
    let named = expressions.iter().enumerate().rev();
    let by_name: HashMap<String, usize> = named.map(|(i, n)| (n.clone(), i)).collect();
    let clips: Vec<CodedClip> = chosen
        .iter()
        .map(|c| CodedClip::new(asset, c, &by_name, &rate, &mut warnings))
        .collect();
    let mut layer = LayerBuilder::new(convert::ROOT, Budget::of(asset));
    let shown = asset.default_scene.and_then(|s| asset.scenes.get(s));
    let stem = asset.file.file_stem().unwrap_or_default().to_string_lossy();
    let scene = Scene {
        asset,
        clips: &clips,
        expressions: &expressions,
    };
    let (root, mut converted) = scene.author(&mut layer, &asset.roots, &[&stem, "Asset"], shown)?;
    layer.metadata(root, "kind", Value::token("component"));
    let range = clips.first().and_then(|c| c.range);
    author_layer_metadata(&mut layer, asset, root, &rate, range);
    author_info(&mut layer, asset)?;
    warnings.append(&mut converted.warnings);

    check_scenes(asset)?;
    let mut further = Vec::new();
    let mut codes: HashSet<&str> = warnings.iter().map(|w| w.code).collect();
    for (i, other) in asset.scenes.iter().enumerate() {
        if Some(i) == asset.default_scene || other.roots.is_empty() {
            continue;
        }
        let unnamed = format!("Scene{i}");
        let wanted = [other.name.as_str(), &unnamed];
        let (root, mut scene) = scene.author(&mut layer, &other.roots, &wanted, Some(other))?;
        layer.metadata(root, field::ACTIVE, Value::Bool(false));
        layer.display_name(root, &other.name);
        further.push(layer.path(root).as_str().to_owned());
        converted.images.append(&mut scene.images);
        converted.float_scales.append(&mut scene.float_scales);
        // The shown scene has most of them too.
        let mut new = scene.warnings;
        new.retain(|w| !codes.contains(w.code));
        codes.extend(new.iter().map(|w| w.code));
        warnings.extend(new);
    }
    if let Some(first) = further.first() {
        let message = match further.len() {
            1 => "a further scene is an inactive root prim".to_owned(),
            n => format!("{n} further scenes are inactive root prims, this one first"),
        };
        warnings.push(Warning::new("scenes-inactive", first, message));
    }
    converted.images.sort();
    converted.images.dedup();
    converted.warnings = warnings;
    Ok((layer.finish()?, converted))
}

/// What all scenes share.
struct Scene<'a> {
    asset: &'a Asset,
    clips: &'a [CodedClip],
    /// Names of expressions.
    expressions: &'a [String],
}

impl Scene<'_> {
    /// Authors what stands below `roots` as a root prim.
    fn author(
        &self,
        layer: &mut LayerBuilder,
        roots: &[usize],
        wanted: &[&str],
        scene: Option<&AssetScene>,
    ) -> Result<(PrimId, Converted)> {
        let asset = self.asset;
        let mut warnings = Vec::new();
        let hierarchy = Hierarchy::new(asset, roots, moved_nodes(asset))?;
        let binds = ExpressionBinds::new(asset);
        check_repeats(asset, &hierarchy, &binds)?;
        let mut plans = skeletons::plan(asset, &hierarchy, &mut warnings)?;
        let uses = place(asset, &hierarchy, &mut plans);
        let scaled = scaled_nodes(asset, self.clips);
        for plan in &mut plans {
            rescale(asset, plan, &scaled);
        }
        let expressions = (self.expressions, &binds);
        let channels = channels(asset, &uses, plans.len(), expressions);
        let root_type = if plans.is_empty() {
            "Xform"
        } else {
            "SkelRoot"
        };
        let root = layer.define(ROOT, wanted, root_type)?;
        author_scene(layer, root, scene)?;
        let mut builder = Builder {
            asset,
            clips: self.clips,
            bound: (!self.clips.is_empty()).then_some(0),
            hierarchy,
            plans,
            uses,
            channels,
            expressions: binds,
            values: 0,
            layer,
            root,
            animations: None,
            warnings,
        };
        Ok((root, builder.build()?))
    }
}

fn author_layer_metadata(
    layer: &mut LayerBuilder,
    asset: &Asset,
    root: PrimId,
    rate: &Rate,
    range: Option<(f64, f64)>,
) {
    let up = match asset.up_axis {
        Axis::Y => "Y",
        Axis::Z => "Z",
    };
    layer.metadata(ROOT, "upAxis", Value::token(up));
    let name = Value::token(layer.name(root).to_owned());
    layer.metadata(ROOT, "defaultPrim", name);
    let per_second = Some(rate.per_second);
    for (key, value) in [
        ("metersPerUnit", Some(asset.meters_per_unit)),
        ("timeCodesPerSecond", per_second),
        ("framesPerSecond", per_second),
        ("startTimeCode", range.map(|r| r.0)),
        ("endTimeCode", range.map(|r| r.1)),
    ] {
        if let Some(value) = value {
            layer.metadata(ROOT, key, Value::Double(value));
        }
    }
}

/// Every scene looks through all of the file.
fn check_scenes(asset: &Asset) -> Result<()> {
    let binds = asset.expressions.iter().map(|e| 1 + e.binds.len());
    let joints = asset.skins.iter().map(|s| 1 + s.joints.len());
    let tracks = asset.clips.iter().map(|c| 1 + c.tracks.len());
    let each = asset.nodes.len() + binds.chain(joints).chain(tracks).sum::<usize>();
    if each.saturating_mul(asset.scenes.len()) <= MOST_IN_SCENES {
        return Ok(());
    }
    let expected = format!(
        "at most {MOST_IN_SCENES} for the number of nodes, joints, tracks and binds times the number of scenes"
    );
    let found = format!("{each} times {}", asset.scenes.len());
    let error = Invalid::new("scenes", "", expected, found);
    Err(error.coded("too-large").in_file(&asset.file).into())
}

/// A small file can name a large mesh many times over, and bind it to many expressions.
fn check_repeats(
    asset: &Asset,
    hierarchy: &Hierarchy,
    expressions: &ExpressionBinds,
) -> Result<()> {
    let mut seen = HashSet::new();
    let mut repeated = 0usize;
    let shown = hierarchy.order.iter().filter(|n| hierarchy.is_live[**n]);
    for node in shown {
        let Some(mesh) = asset.nodes[*node].mesh else {
            continue;
        };
        let is_new = seen.insert(mesh);
        for primitive in &asset.meshes[mesh].primitives {
            let expressions = expressions.of_mesh(mesh).len();
            // Targets and influences with the points, and all that faces hold.
            let own = 60 + 8 * primitive.influences + 24 * primitive.targets.len();
            let per_point = 24 * expressions + if is_new { 0 } else { own };
            let size = primitive.points.len().saturating_mul(per_point);
            let faces = if is_new {
                0
            } else {
                40 * primitive.faces.indices.len()
            };
            repeated = repeated.saturating_add(size).saturating_add(faces);
        }
        if repeated > MAX_REPEATED {
            let expected = format!("repeated meshes of {MAX_REPEATED} bytes at most");
            let error = Invalid::new(format!("nodes[{node}]"), "mesh", expected, "more");
            return Err(error.in_file(&asset.file).into());
        }
    }
    Ok(())
}

impl Builder<'_> {
    fn build(&mut self) -> Result<Converted> {
        let xforms = self.author_xforms()?;
        let skeletons = self.author_skeletons(&xforms.prims)?;
        for (prim, skeleton) in &xforms.followers {
            let name = Value::string(self.layer.name(skeletons[*skeleton]));
            self.layer.source_data(*prim, FOLLOWS_SKELETON, name)?;
        }
        let images = self.author_meshes(&xforms.prims, &skeletons)?;
        let clips = self.author_animations(&skeletons)?;
        let converted = |(i, plan): (usize, &SkeletonPlan)| ConvertedSkeleton {
            path: self.layer.path(skeletons[i]).as_str().to_owned(),
            animations: clips.by_skeleton[i].clone(),
            joint_of_node: plan.joint_of_node.clone(),
            joints: plan.joints.iter().map(|j| j.token.clone()).collect(),
        };
        let skeletons = self.plans.iter().enumerate().map(converted).collect();
        let homes = Homes::new(&self.plans);
        let humanoids = self.asset.humanoids.iter().map(|humanoid| {
            let bones = humanoid.bones.iter();
            let bones = bones.filter_map(|(b, n)| Some((*b, *homes.joints.get(n)?)));
            ConvertedHumanoid {
                bones: bones.collect(),
            }
        });
        Ok(Converted {
            humanoids: humanoids.collect(),
            skeletons,
            images,
            float_scales: clips.float_scales,
            warnings: std::mem::take(&mut self.warnings),
        })
    }

    /// Nodes that are no joints, with their cameras and lights.
    fn author_xforms(&mut self) -> Result<Xforms> {
        let shown = shown_nodes(self.asset, &self.hierarchy, &self.plans, &self.uses);
        let size = size_of_everything(self.asset, &self.uses, &self.plans);
        let mut xforms = Xforms::default();
        for ShownNode { node, follows } in &shown {
            let source = &self.asset.nodes[*node];
            let unnamed = format!("node{node}");
            let wanted = [source.name.as_str(), &unnamed];
            let clip = self.bound.map(|b| &self.clips[b]);
            let prim = match follows {
                None => {
                    let above = source.parent.and_then(|p| xforms.prims.get(&p).copied());
                    let above = above.unwrap_or(self.root);
                    let prim = self.layer.define(above, &wanted, "Xform")?;
                    author_transform(self.layer, prim, (*node, source), clip, size)?;
                    prim
                }
                Some((skeleton, joint)) => {
                    let above = self.plans[*skeleton].above;
                    let scope = self.sockets(&mut xforms, above)?;
                    let prim = self.layer.define(scope, &wanted, "Xform")?;
                    let follower = Follower {
                        asset: self.asset,
                        node: *node,
                        above,
                        clip,
                        size,
                    };
                    follower.author(self.layer, prim)?;
                    let joint = &self.plans[*skeleton].joints[*joint];
                    let token = Value::string(joint.token.as_str());
                    self.layer.source_data(prim, FOLLOWS_JOINT, token)?;
                    let from_node = match joint.node == Some(*node) {
                        true => DMat4::IDENTITY,
                        false => source.local.matrix(),
                    };
                    let offset = DMat4::from_scale(DVec3::splat(joint.frame.recip())) * from_node;
                    self.layer
                        .source_data(prim, JOINT_OFFSET, matrix4d(offset))?;
                    xforms.followers.push((prim, *skeleton));
                    prim
                }
            };
            self.layer.display_name(prim, &source.name);
            self.layer.extras(prim, source.extras.as_ref())?;
            let is_hidden = match follows {
                None => source.hidden,
                Some(_) => self.asset.chain(*node).any(|n| self.asset.nodes[n].hidden),
            };
            if is_hidden {
                author_invisible(self.layer, prim)?;
            }
            let (layer, warnings) = (&mut self.layer, &mut self.warnings);
            if let Some(camera) = source.camera {
                author_camera(layer, prim, self.asset, camera, warnings)?;
            }
            if let Some(light) = source.light {
                author_light(layer, prim, self.asset, light, warnings)?;
            }
            xforms.prims.insert(*node, prim);
        }
        self.warn_of_sockets(&shown);
        self.warn_of_lost_tracks(&xforms.prims);
        Ok(xforms)
    }

    /// The scope of nodes that follow the joints of a Skeleton below `above`.
    fn sockets(&mut self, xforms: &mut Xforms, above: Option<usize>) -> Result<PrimId> {
        if let Some(scope) = xforms.sockets.get(&above) {
            return Ok(*scope);
        }
        let parent = above.and_then(|n| xforms.prims.get(&n).copied());
        let scope = self
            .layer
            .define(parent.unwrap_or(self.root), &[SOCKETS], "Scope")?;
        xforms.sockets.insert(above, scope);
        Ok(scope)
    }

    /// Nodes below joints stand beside the Skeleton, and follow one clip.
    fn warn_of_sockets(&mut self, shown: &[ShownNode]) {
        let mut followers = shown.iter().filter(|s| s.follows.is_some());
        let count = followers.clone().count();
        let Some(first) = followers.next() else {
            return;
        };
        let motion = match self.bound {
            Some(clip) => format!("move only with the clip '{}'", self.clips[clip].name),
            None => "stay where the rest pose has them".to_owned(),
        };
        let name = &self.asset.nodes[first.node].name;
        let message = format!(
            "nodes below joints ({count}, {name} first) are Xforms beside the Skeleton, which {motion}"
        );
        let at = format!("nodes[{}]", first.node);
        self.warnings
            .push(Warning::new("sockets-beside-skeleton", at, message));
    }

    /// Clips that are not bound move only joints; nodes that became nothing are moved by none.
    fn warn_of_lost_tracks(&mut self, xforms: &HashMap<usize, PrimId>) {
        let homes = Homes::new(&self.plans);
        let is_joint = |n: &usize| homes.joints.contains_key(n);
        for (i, clip) in self.clips.iter().enumerate() {
            let moved: HashSet<usize> = [&clip.translations, &clip.rotations, &clip.scales]
                .into_iter()
                .flatten()
                .filter(|(n, curve)| moves(&self.asset.nodes[**n], curve))
                .map(|(n, _)| *n)
                .collect();
            let is_bound = self.bound == Some(i);
            // Nodes of another scene are none of this one's.
            let is_elsewhere = |n: &usize| !self.hierarchy.is_live[*n];
            let kept =
                |n: &usize| is_joint(n) || is_elsewhere(n) || (is_bound && xforms.contains_key(n));
            let mut lost: Vec<usize> = moved.iter().copied().filter(|n| !kept(n)).collect();
            lost.sort_unstable();
            let Some(first) = lost.first() else { continue };
            let why = match xforms.contains_key(first) {
                true => "only the bound clip moves nodes that are not joints",
                false => "they are not joints, and have no prim",
            };
            let name = &self.asset.nodes[*first].name;
            self.warnings.push(Warning::new(
                "tracks-left-out",
                &clip.name,
                format!(
                    "{} nodes, nodes[{first}] ({name}) first, are not moved: {why}",
                    lost.len()
                ),
            ));
        }
    }

    fn author_skeletons(&mut self, xforms: &HashMap<usize, PrimId>) -> Result<Vec<PrimId>> {
        let mut prims = Vec::with_capacity(self.plans.len());
        for plan in &self.plans {
            let above = plan.above.and_then(|n| xforms.get(&n).copied());
            let above = above.unwrap_or(self.root);
            let layer = &mut self.layer;
            let prim = layer.define(above, &["Skeleton"], "Skeleton")?;
            layer.apply(prim, "SkelBindingAPI");
            let tokens = |of: fn(&super::joints::Joint) -> &String| {
                let tokens = plan.joints.iter().map(|j| Token::from(of(j).as_str()));
                Value::TokenArray(tokens.collect())
            };
            let transforms = |of: fn(&super::joints::Joint) -> DMat4| {
                matrices(&plan.joints.iter().map(of).collect::<Vec<_>>())
            };
            layer.uniform(prim, "joints", "token[]", tokens(|j| &j.token))?;
            layer.uniform(prim, "jointNames", "token[]", tokens(|j| &j.name))?;
            let binds = transforms(|j| j.bind);
            layer.uniform(prim, "bindTransforms", "matrix4d[]", binds)?;
            let rests = transforms(|j| j.rest);
            layer.uniform(prim, "restTransforms", "matrix4d[]", rests)?;
            author_joint_extras(layer, prim, self.asset, plan)?;
            prims.push(prim);
        }
        Ok(prims)
    }

    fn author_meshes(
        &mut self,
        xforms: &HashMap<usize, PrimId>,
        skeletons: &[PrimId],
    ) -> Result<Vec<(String, usize)>> {
        let mut prototypes: HashMap<usize, PrimId> = HashMap::new();
        let asset = self.asset;
        let mut materials = Materials::new(asset, self.root);
        for at in &self.uses {
            for index in &at.primitives {
                let primitive = &self.asset.meshes[at.mesh].primitives[*index];
                if primitive.points.is_empty() {
                    let here = format!("meshes[{}].primitives[{index}]", at.mesh);
                    let message = "it has no points: left out";
                    self.warnings
                        .push(Warning::new("mesh-empty", here, message));
                    continue;
                }
                let layer = &mut self.layer;
                let parent = match at.place {
                    Place::Free => Some(at.node),
                    _ => at.skeleton.and_then(|s| self.plans[s].above),
                };
                // Faces turn with mirrored nodes in files, and with mirrored prims in USD. What a joint
                // carries has the whole mirror in the transform that a bake gives it.
                let is_mirrored = |n: usize| asset.rest_world(n).determinant() < 0.0;
                let turned = !matches!(at.place, Place::Carried { .. })
                    && is_mirrored(at.node) != parent.is_some_and(is_mirrored);
                let mut parent = parent.and_then(|n| xforms.get(&n).copied());
                let is_instanced = !self.asset.nodes[at.node].instances.is_empty();
                if let (Place::Free, true, Some(above)) = (at.place, is_instanced, parent) {
                    parent = Some(match prototypes.get(&at.node) {
                        Some(prototype) => *prototype,
                        None => {
                            let prototype = author_instancer(layer, above, self.asset, at.node)?;
                            *prototypes.entry(at.node).or_insert(prototype)
                        }
                    });
                }
                let paths: Option<Path> = at.skeleton.map(|s| layer.path(skeletons[s]).clone());
                let bound = at.skeleton.zip(paths.as_ref()).map(|(s, path)| Bound {
                    plan: &self.plans[s],
                    path,
                    channels: &self.channels[s],
                    expressions: &self.expressions,
                });
                let parent = parent.unwrap_or(self.root);
                let part = (at, *index);
                let mesh = author_mesh(layer, parent, asset, part, bound.as_ref(), turned)?;
                materials.bind(layer, mesh, primitive, &mut self.warnings)?;
                layer.extras(mesh, self.asset.meshes[at.mesh].extras.as_ref())?;
                let chain = || self.asset.chain(at.node);
                if !xforms.contains_key(&at.node)
                    && let Some(extras) = &self.asset.nodes[at.node].extras
                {
                    layer.source_data(mesh, "nodeExtras", extras::value(extras))?;
                }
                // A free one is below its own node's prim.
                let is_bound = !matches!(at.place, Place::Free);
                if is_bound && chain().any(|n| self.asset.nodes[n].hidden) {
                    author_invisible(layer, mesh)?;
                }
            }
        }
        materials.author_variants(self.layer)?;
        self.warn_of_instances();
        Ok(materials.images)
    }

    /// What instances of meshes cannot have.
    fn warn_of_instances(&mut self) {
        let asset = self.asset;
        let instanced = self
            .uses
            .iter()
            .filter(|u| !asset.nodes[u.node].instances.is_empty());
        let mut warnings = Vec::new();
        for at in instanced {
            let message = match at.place {
                Place::Skinned { .. } => "instances of a skinned mesh: only one of them is shown",
                Place::Free if !asset.meshes[at.mesh].target_names.is_empty() => {
                    "instances of a mesh with morph targets: these are left out"
                }
                Place::Free | Place::Carried { .. } => continue,
            };
            let at = format!("nodes[{}]", at.node);
            warnings.push(Warning::new("instances-still", at, message));
        }
        self.warnings.append(&mut warnings);
    }
}

/// Authors the extras of joints, by their path, and of skins on the Skeleton.
fn author_joint_extras(
    layer: &mut LayerBuilder,
    skeleton: PrimId,
    asset: &Asset,
    plan: &SkeletonPlan,
) -> Result<()> {
    let of_joint = |j: &Joint| {
        let extras = asset.nodes[j.node?].extras.as_ref()?;
        Some((j.token.as_str().into(), extras::value(extras)))
    };
    let joints: Dictionary = plan.joints.iter().filter_map(of_joint).collect();
    let of_skin = |(skin, _): &(usize, DMat4)| {
        let extras = asset.skins[*skin].extras.as_ref()?;
        Some((format!("skin{skin}").into(), extras::value(extras)))
    };
    let skins: Dictionary = plan.skins.iter().filter_map(of_skin).collect();
    for (key, members) in [("jointExtras", joints), ("skinExtras", skins)] {
        if !members.is_empty() {
            layer.source_data(skeleton, key, extras::dictionary(members))?;
        }
    }
    Ok(())
}

/// Authors who made the file, its metadata and its extras, as customLayerData.
fn author_info(layer: &mut LayerBuilder, asset: &Asset) -> Result<()> {
    let info = &asset.info;
    for (key, words) in [
        ("copyright", &info.copyright),
        ("generator", &info.generator),
    ] {
        if !words.is_empty() {
            layer.source_data(ROOT, key, extras::text(words))?;
        }
    }
    if !info.copyright.is_empty() {
        layer.metadata(ROOT, "comment", extras::text(&info.copyright));
    }
    for (key, metadata) in &info.metadata {
        layer.source_data(ROOT, key, extras::value(metadata))?;
    }
    if let Some(own) = &info.extras {
        layer.source_data(ROOT, "assetExtras", extras::value(own))?;
    }
    layer.extras(ROOT, asset.extras.as_ref())
}

/// Authors the name and the extras of a scene on its root prim.
fn author_scene(layer: &mut LayerBuilder, root: PrimId, scene: Option<&AssetScene>) -> Result<()> {
    let Some(scene) = scene else { return Ok(()) };
    if !scene.name.is_empty() {
        layer.source_data(root, "scene", extras::text(&scene.name))?;
    }
    layer.extras(root, scene.extras.as_ref())
}
