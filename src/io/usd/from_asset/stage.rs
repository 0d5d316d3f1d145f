//! The layer's prims, put together.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, Vec3};
use openusd::{sdf, tf};

use super::animations::{SkelClip, Tolerance};
use super::channels::{Channels, channels};
use super::clips::{CodedClip, expression_names, moved_nodes, moves};
use super::hierarchy::Hierarchy;
use super::layer::{LayerBuilder, PrimId, ROOT};
use super::materials::author_material;
use super::meshes::{Bound, author_mesh};
use super::placement::{MeshUse, Place, place};
use super::rescale::rescale;
use super::skeletons::{self, SkeletonPlan};
use super::time::Rate;
use super::xforms::author_transform;
use super::{ChosenClip, Converted, ConvertedHumanoid, ConvertedSkeleton};
use crate::asset::{Asset, Axis};
use crate::error::{Invalid, Result, Warning};
use crate::io::usd::values::matrix4d;

/// Bytes of points, and of what goes with them, that meshes in several places may repeat.
const MAX_REPEATED: usize = 1 << 30;

/// Of the smallest mesh on a Skeleton, how far samples of cubic curves may stray, per joint.
const STRAY: f64 = 3e-4;

/// A mesh this much smaller than its Skeleton is no longer followed more closely.
const SMALLEST: f64 = 0.05;

struct Builder<'a> {
    asset: &'a Asset,
    clips: Vec<CodedClip>,
    /// The bound one.
    bound: Option<usize>,
    hierarchy: Hierarchy,
    plans: Vec<SkeletonPlan>,
    uses: Vec<MeshUse>,
    channels: Vec<Channels>,
    layer: LayerBuilder,
    default_prim: PrimId,
    warnings: Vec<Warning>,
}

pub(super) fn author(asset: &Asset, chosen: &[ChosenClip]) -> Result<Converted> {
    let sources = chosen.iter().flat_map(|c| &c.sources);
    let sources: Vec<_> = sources.map(|i| &asset.clips[*i]).collect();
    let rate = Rate::of(asset, &sources);
    let mut warnings = Vec::new();
    let expressions = expression_names(asset, &sources);
    let clips: Vec<CodedClip> = chosen
        .iter()
        .map(|c| CodedClip::new(asset, c, &expressions, &rate, &mut warnings))
        .collect();
    let bound = (!clips.is_empty()).then_some(0);
    let hierarchy = Hierarchy::new(asset, moved_nodes(asset))?;
    let mut plans = skeletons::plan(asset, &hierarchy, &mut warnings)?;
    let uses = place(asset, &hierarchy, &mut plans);
    check_repeats(asset, &uses)?;
    for plan in &mut plans {
        rescale(asset, plan, &clips);
    }
    let channels = channels(asset, &uses, plans.len(), &expressions);

    let mut layer = LayerBuilder::new();
    let stem = asset.file.file_stem().unwrap_or_default().to_string_lossy();
    let root_type = if plans.is_empty() {
        "Xform"
    } else {
        "SkelRoot"
    };
    let default_prim = layer.define(ROOT, &[&stem, "Asset"], root_type)?;
    layer.metadata(default_prim, "kind", sdf::Value::token("component"));
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
        layer,
        default_prim,
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
    // Before any name: openusd 0.8 gives a crate file's first token the number 0, and marks properties by a minus
    // sign, so that a prim called `scales` would take the attributes of that name for prims.
    layer.metadata(ROOT, "upAxis", sdf::Value::token(up));
    let name = sdf::Value::token(layer.name(default_prim).to_owned());
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
            layer.metadata(ROOT, key, sdf::Value::Double(value));
        }
    }
}

/// A small file can name a large mesh many times over.
fn check_repeats(asset: &Asset, uses: &[MeshUse]) -> Result<()> {
    let mut seen = HashSet::new();
    let mut repeated = 0usize;
    for at in uses {
        for primitive in &at.primitives {
            if seen.insert((at.mesh, *primitive)) {
                continue;
            }
            let primitive = &asset.meshes[at.mesh].primitives[*primitive];
            // Targets and influences with the points, and all that faces hold.
            let per_point = 60 + 8 * primitive.influences + 24 * primitive.targets.len();
            let size = primitive.points.len().saturating_mul(per_point);
            repeated = repeated.saturating_add(size + 40 * primitive.faces.indices.len());
            if repeated > MAX_REPEATED {
                let expected = format!("repeated meshes of {MAX_REPEATED} bytes at most");
                let error = Invalid::new(format!("nodes[{}]", at.node), "mesh", expected, "more");
                return Err(error.in_file(&asset.file).into());
            }
        }
    }
    Ok(())
}

impl Builder<'_> {
    fn build(mut self) -> Result<Converted> {
        let xforms = self.author_xforms()?;
        let skeletons = self.author_skeletons(&xforms)?;
        let images = self.author_meshes(&xforms, &skeletons)?;
        let (animations, float_scales) = self.author_animations(&skeletons)?;
        let converted = |(i, plan): (usize, &SkeletonPlan)| {
            let mut joint_of_node = vec![None; self.asset.nodes.len()];
            for (node, joint) in &plan.joint_of_node {
                joint_of_node[*node] = Some(*joint);
            }
            ConvertedSkeleton {
                path: self.layer.path(skeletons[i]).as_str().to_owned(),
                animations: animations[i].clone(),
                joint_of_node,
                joints: plan.joints.iter().map(|j| j.token.clone()).collect(),
            }
        };
        let skeletons = self.plans.iter().enumerate().map(converted).collect();
        let humanoids = self.asset.humanoids.iter().map(|humanoid| {
            let joint = |node: &usize| {
                let mut plans = self.plans.iter().enumerate();
                plans.find_map(|(i, p)| Some((i, *p.joint_of_node.get(node)?)))
            };
            let bones = humanoid.bones.iter();
            ConvertedHumanoid {
                bones: bones.filter_map(|(b, n)| Some((*b, joint(n)?))).collect(),
            }
        });
        Ok(Converted {
            humanoids: humanoids.collect(),
            skeletons,
            images,
            float_scales,
            layer: self.layer.finish(),
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
        let size = self.size_of_everything();
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
        let is_joint = |n: &usize| self.plans.iter().any(|p| p.joint_of_node.contains_key(n));
        for (i, clip) in self.clips.iter().enumerate() {
            let moved: HashSet<usize> = [&clip.translations, &clip.rotations, &clip.scales]
                .into_iter()
                .flatten()
                .filter(|(n, curve)| moves(&self.asset.nodes[**n], curve))
                .map(|(n, _)| *n)
                .collect();
            let is_bound = self.bound == Some(i);
            let lost = |n: &&usize| !(is_joint(n) || is_bound && xforms.contains_key(n));
            let mut lost: Vec<usize> = moved.iter().filter(lost).copied().collect();
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
                let tokens = plan.joints.iter().map(|j| tf::Token::from(of(j).as_str()));
                sdf::Value::TokenVec(tokens.collect())
            };
            let matrices = |of: fn(&super::joints::Joint) -> DMat4| {
                let matrices = plan.joints.iter().map(|j| matrix4d(of(j)));
                sdf::Value::Matrix4dVec(matrices.collect())
            };
            layer.uniform(prim, "joints", "token[]", tokens(|j| &j.token))?;
            layer.uniform(prim, "jointNames", "token[]", tokens(|j| &j.name))?;
            let binds = matrices(|j| j.bind);
            layer.uniform(prim, "bindTransforms", "matrix4d[]", binds)?;
            let rests = matrices(|j| j.rest);
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
        let mut materials: HashMap<usize, sdf::Path> = HashMap::new();
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
                let paths: Option<sdf::Path> =
                    at.skeleton.map(|s| layer.path(skeletons[s]).clone());
                let bound = at.skeleton.zip(paths.as_ref()).map(|(s, path)| Bound {
                    plan: &self.plans[s],
                    path,
                    channels: &self.channels[s],
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

    /// SkelAnimations by Skeleton, as clip name and path, and the exact scales of all.
    #[allow(clippy::type_complexity)]
    fn author_animations(
        &mut self,
        skeletons: &[PrimId],
    ) -> Result<(
        Vec<Vec<(String, String)>>,
        Vec<(String, crate::sampled::Sampled<Vec<Vec3>>)>,
    )> {
        let mut scope = None;
        let mut all = vec![Vec::new(); self.plans.len()];
        let mut float_scales = Vec::new();
        for (s, plan) in self.plans.iter().enumerate() {
            let tolerance = self.tolerance(s);
            let clips = self
                .clips
                .iter()
                .enumerate()
                .map(|(i, c)| (Some(i), Some(c)));
            let mut source = None;
            // Weights that are not zero at rest need an animation to say so.
            for (i, clip) in clips.chain([(None, None)]) {
                let side = SkelClip {
                    asset: self.asset,
                    plan,
                    channels: &self.channels[s].all,
                    clip,
                    tolerance,
                };
                let at_rest = clip.is_none() && source.is_none();
                let is_shaped = self.channels[s].all.iter().any(|c| c.rest != 0.0);
                if !(side.is_any_moved() || at_rest && is_shaped) {
                    continue;
                }
                let layer = &mut self.layer;
                let scope = match scope {
                    Some(scope) => scope,
                    None => {
                        *scope.insert(layer.define(self.default_prim, &["Animations"], "Scope")?)
                    }
                };
                let name = clip.map_or("Rest", |c| c.name.as_str());
                let of_skeleton = match self.plans.len() {
                    1 => String::new(),
                    _ => match plan.above.map(|n| self.asset.nodes[n].name.as_str()) {
                        Some(above) if !above.is_empty() => format!("_{above}"),
                        _ => format!("_Skeleton{s}"),
                    },
                };
                let name = if name.is_empty() { "Clip" } else { name };
                let wanted = format!("{name}{of_skeleton}");
                let prim = layer.define(scope, &[&wanted], "SkelAnimation")?;
                let exact = side.author(layer, prim, &mut self.warnings)?;
                let path = layer.path(prim).as_str().to_owned();
                if let Some(scales) = exact {
                    float_scales.push((path.clone(), scales));
                }
                if i == self.bound {
                    source = Some(prim);
                }
                if let Some(clip) = clip {
                    all[s].push((clip.name.clone(), path));
                } else {
                    source = Some(prim);
                }
            }
            if let Some(source) = source {
                let target = self.layer.path(source).clone();
                self.layer
                    .relationship(skeletons[s], "skel:animationSource", vec![target])?;
            }
        }
        Ok((all, float_scales))
    }

    /// Diagonals of the primitives of a mesh.
    fn sizes<'a>(&'a self, at: &'a MeshUse) -> impl Iterator<Item = f64> + 'a {
        let primitives = at
            .primitives
            .iter()
            .map(|i| &self.asset.meshes[at.mesh].primitives[*i]);
        primitives.filter_map(|p| {
            let low = p.points.iter().copied().reduce(Vec3::min)?;
            let high = p.points.iter().copied().reduce(Vec3::max)?;
            Some(f64::from(low.distance(high)))
        })
    }

    fn size_of_everything(&self) -> f64 {
        let meshes = self.uses.iter().flat_map(|u| self.sizes(u));
        let skeletons = self.plans.iter().map(extent);
        let size = meshes.chain(skeletons).fold(0.0, f64::max);
        if size > 0.0 { size } else { 1.0 }
    }

    fn tolerance(&self, skeleton: usize) -> Tolerance {
        let uses = || self.uses.iter().filter(|u| u.skeleton == Some(skeleton));
        let sizes = || uses().flat_map(|u| self.sizes(u)).filter(|s| *s > 0.0);
        let joints = extent(&self.plans[skeleton]);
        let whole = sizes().fold(joints, f64::max);
        let whole = if whole > 0.0 { whole } else { 1.0 };
        let smallest = sizes().fold(whole, f64::min).max(SMALLEST * whole);
        Tolerance {
            way: STRAY * smallest,
            part: STRAY * smallest / whole,
        }
    }
}

/// Diagonal of the box around a Skeleton's joints when bound.
fn extent(plan: &SkeletonPlan) -> f64 {
    let places = || plan.joints.iter().map(|j| j.bind.w_axis.truncate());
    let (low, high) = (
        places().reduce(glam::DVec3::min),
        places().reduce(glam::DVec3::max),
    );
    low.zip(high).map_or(0.0, |(low, high)| low.distance(high))
}
