//! The layer's prims, put together.

use std::collections::{HashMap, HashSet};

use glam::DMat4;
use sinew_layer::{Path, Token, Value};

use super::binds::rescale;
use super::budget::{Budget, size_of_everything};
use super::channels::{Channels, ExpressionBinds, channels};
use super::clips::{CodedClip, expression_names, moved_nodes, moves};
use super::convert;
use super::joints::Hierarchy;
use super::layer::{LayerBuilder, PrimId, ROOT};
use super::materials::author_material;
use super::meshes::{Bound, author_mesh};
use super::placement::{Homes, MeshUse, Place, author_transform, place};
use super::skeletons::SkeletonPlan;
use super::time::Rate;
use super::{ChosenClip, Converted, ConvertedHumanoid, ConvertedSkeleton, skeletons};
use crate::error::Result;
use crate::usd::read::values::matrices;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, Axis};

/// Bytes of points, and of what goes with them, that meshes in several places may repeat.
const MAX_REPEATED: usize = 1 << 30;

/// Everything that goes into the layer, and the layer.
pub(super) struct Builder<'a> {
    pub asset: &'a Asset,
    pub clips: Vec<CodedClip>,
    /// The bound one.
    pub bound: Option<usize>,
    pub hierarchy: Hierarchy,
    pub plans: Vec<SkeletonPlan>,
    pub uses: Vec<MeshUse>,
    pub channels: Vec<Channels>,
    pub expressions: ExpressionBinds,
    /// Values of the clips written so far.
    pub values: usize,
    pub layer: LayerBuilder,
    pub default_prim: PrimId,
    /// The scope of SkelAnimations, once there are any.
    pub animations: Option<PrimId>,
    pub warnings: Vec<Warning>,
}

pub(super) fn author(asset: &Asset, chosen: &[ChosenClip]) -> Result<Converted> {
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
    let bound = (!clips.is_empty()).then_some(0);
    let hierarchy = Hierarchy::new(asset, moved_nodes(asset))?;
    let binds = ExpressionBinds::new(asset);
    check_repeats(asset, &hierarchy, &binds)?;
    let mut plans = skeletons::plan(asset, &hierarchy, &mut warnings)?;
    let uses = place(asset, &hierarchy, &mut plans);
    for plan in &mut plans {
        rescale(asset, plan, &clips);
    }
    let channels = channels(asset, &uses, plans.len(), &expressions);

    let mut layer = LayerBuilder::new(convert::ROOT, Budget::of(asset));
    let stem = asset.file.file_stem().unwrap_or_default().to_string_lossy();
    let root_type = if plans.is_empty() {
        "Xform"
    } else {
        "SkelRoot"
    };
    let default_prim = layer.define(ROOT, &[&stem, "Asset"], root_type)?;
    layer.metadata(default_prim, "kind", Value::token("component"));
    let range = bound.and_then(|b| clips[b].range);
    author_layer_metadata(&mut layer, asset, default_prim, &rate, range);
    Builder {
        asset,
        clips,
        bound,
        hierarchy,
        plans,
        uses,
        channels,
        expressions: binds,
        values: 0,
        layer,
        default_prim,
        animations: None,
        warnings,
    }
    .build()
}

fn author_layer_metadata(
    layer: &mut LayerBuilder,
    asset: &Asset,
    default_prim: PrimId,
    rate: &Rate,
    range: Option<(f64, f64)>,
) {
    let up = match asset.up_axis {
        Axis::Y => "Y",
        Axis::Z => "Z",
    };
    layer.metadata(ROOT, "upAxis", Value::token(up));
    let name = Value::token(layer.name(default_prim).to_owned());
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
    fn build(mut self) -> Result<Converted> {
        let xforms = self.author_xforms()?;
        let skeletons = self.author_skeletons(&xforms)?;
        let images = self.author_meshes(&xforms, &skeletons)?;
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
            layer: self.layer.finish()?,
            warnings: self.warnings,
        })
    }

    /// Nodes above skeletons and free meshes, and the meshes' own.
    fn author_xforms(&mut self) -> Result<HashMap<usize, PrimId>> {
        let free = self.uses.iter().filter(|u| matches!(u.place, Place::Free));
        let wanted = free
            .map(|u| u.node)
            .chain(self.plans.iter().filter_map(|p| p.above));
        let mut needed = HashSet::new();
        for node in wanted {
            for node in self.asset.chain(node) {
                if !needed.insert(node) {
                    break;
                }
            }
        }
        let size = size_of_everything(self.asset, &self.uses, &self.plans);
        let mut prims = HashMap::with_capacity(needed.len());
        for node in self
            .hierarchy
            .order
            .iter()
            .copied()
            .filter(|n| needed.contains(n))
        {
            let source = &self.asset.nodes[node];
            let above = source.parent.and_then(|p| prims.get(&p).copied());
            let unnamed = format!("node{node}");
            let above = above.unwrap_or(self.default_prim);
            let prim = self
                .layer
                .define(above, &[&source.name, &unnamed], "Xform")?;
            let clip = self.bound.map(|b| &self.clips[b]);
            author_transform(&mut self.layer, prim, (node, source), clip, size)?;
            prims.insert(node, prim);
        }
        self.warn_of_lost_tracks(&prims);
        Ok(prims)
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
            let kept = |n: &usize| is_joint(n) || (is_bound && xforms.contains_key(n));
            let mut lost: Vec<usize> = moved.iter().copied().filter(|n| !kept(n)).collect();
            lost.sort_unstable();
            let Some(first) = lost.first() else { continue };
            let why = match xforms.contains_key(first) {
                true => "only the bound clip moves nodes that are no joints",
                false => "they are no joints and carry nothing",
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
            let above = above.unwrap_or(self.default_prim);
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
            prims.push(prim);
        }
        Ok(prims)
    }

    fn author_meshes(
        &mut self,
        xforms: &HashMap<usize, PrimId>,
        skeletons: &[PrimId],
    ) -> Result<Vec<(String, usize)>> {
        let mut scope = None;
        let mut materials: HashMap<usize, Path> = HashMap::new();
        let mut images = Vec::new();
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
                if let Some(material) = primitive.material
                    && !materials.contains_key(&material)
                {
                    let scope = match scope {
                        Some(scope) => scope,
                        None => *scope.insert(layer.define(
                            self.default_prim,
                            &["Materials"],
                            "Scope",
                        )?),
                    };
                    let (prim, named) =
                        author_material(layer, scope, self.asset, material, &mut self.warnings)?;
                    materials.insert(material, layer.path(prim).clone());
                    images.extend(named);
                }
                let parent = match at.place {
                    Place::Free => Some(at.node),
                    _ => at.skeleton.and_then(|s| self.plans[s].above),
                };
                let parent = parent.and_then(|n| xforms.get(&n).copied());
                let paths: Option<Path> = at.skeleton.map(|s| layer.path(skeletons[s]).clone());
                let bound = at.skeleton.zip(paths.as_ref()).map(|(s, path)| Bound {
                    plan: &self.plans[s],
                    path,
                    channels: &self.channels[s],
                    expressions: &self.expressions,
                });
                let material = primitive.material.and_then(|m| materials.get(&m));
                let parent = parent.unwrap_or(self.default_prim);
                author_mesh(
                    layer,
                    parent,
                    self.asset,
                    (at, *index),
                    bound.as_ref(),
                    material,
                )?;
            }
        }
        images.sort();
        images.dedup();
        Ok(images)
    }
}
