//! Skins that can share a Skeleton (their bind matrices agree up to a constant), and rest scales that half precision lacks.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, DVec3};
use half::f16;

use super::clips::{CodedClip, moves};
use super::joints::{Hierarchy, components};
use super::skeletons::SkeletonPlan;
use crate::error::Result;
use sinew::error::{Invalid, Warning};
use sinew::math::{is_affine, try_inverse};
use sinew_animate::asset::Asset;

/// For each skin that a shown mesh uses, which of its joints points are weighted to.
pub(super) struct UsedJoints(HashMap<usize, Vec<bool>>);

impl UsedJoints {
    pub fn new(asset: &Asset, hierarchy: &Hierarchy) -> Self {
        let mut used: HashMap<usize, Vec<bool>> = HashMap::new();
        let mut seen = HashSet::new();
        for (i, node) in asset.nodes.iter().enumerate() {
            let (Some(mesh), Some(skin), true) = (node.mesh, node.skin, hierarchy.is_live[i])
            else {
                continue;
            };
            if !seen.insert((mesh, skin)) {
                continue;
            }
            let joints = asset.skins[skin].joints.len();
            let of_skin = used.entry(skin).or_insert_with(|| vec![false; joints]);
            for primitive in &asset.meshes[mesh].primitives {
                for (joint, weight) in primitive.joints.iter().zip(&primitive.weights) {
                    if let Some(used) = of_skin.get_mut(*joint as usize) {
                        *used |= *weight != 0.0;
                    }
                }
            }
        }
        Self(used)
    }
}

/// Skins of the same joints that are at odds; each such set has a Skeleton of its own.
const MOST_VARIANTS: usize = 64;

/// Skins of one tree that agree on their bind matrices.
#[derive(Default)]
pub(super) struct Variant {
    /// skeleton_from_joint at bind time, by node.
    pub binds: HashMap<usize, DMat4>,
    /// With the geomBindTransform of each one's meshes.
    pub skins: Vec<(usize, DMat4)>,
    /// How far out the joints stand.
    extent: f64,
    /// skeleton_from_mesh at rest, where all joints of the first skin agree on it.
    settled: Option<DMat4>,
}

/// The skins of a tree below `above`, sorted by whom they agree with. Those that no shown mesh uses count where there are
/// no others. There is one variant at least, perhaps of no skin.
///
/// # Errors
/// A singular inverse bind matrix of a joint that points are weighted to.
pub(super) fn variants(
    asset: &Asset,
    (above, skins): (Option<usize>, &[usize]),
    used: &UsedJoints,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Variant>> {
    let (mut shown, unshown): (Vec<usize>, Vec<usize>) =
        skins.iter().partition(|s| used.0.contains_key(s));
    if shown.is_empty() {
        shown = unshown;
    }
    let mut variants: Vec<Variant> = Vec::new();
    for skin in shown {
        let binds = skin_binds(asset, skin, used.0.get(&skin), warnings)?;
        let settled = settled(asset, above, &binds);
        let extent = extent_of(&binds);
        let fitting = variants
            .iter_mut()
            .find_map(|v| Some((v.fit(&binds, extent, settled)?, v)));
        if let Some((geom_bind, variant)) = fitting {
            for (node, bind) in binds {
                variant.binds.entry(node).or_insert(geom_bind * bind);
            }
            variant.skins.push((skin, geom_bind));
            variant.extent = variant.extent.max(extent);
            continue;
        }
        if variants.len() == MOST_VARIANTS {
            let expected = format!("at most {MOST_VARIANTS} bind poses of the same joints");
            let error = Invalid::new(format!("skins[{skin}]"), "", expected, "another one");
            return Err(error.in_file(&asset.file).into());
        }
        variants.push(Variant {
            binds: binds.into_iter().collect(),
            skins: vec![(skin, DMat4::IDENTITY)],
            extent,
            settled,
        });
    }
    if variants.is_empty() {
        variants.push(Variant::default());
    }
    Ok(variants)
}

/// mesh_from_joint at bind time for a skin's joints. One that nothing uses may be singular; it is left out then.
fn skin_binds(
    asset: &Asset,
    skin: usize,
    used: Option<&Vec<bool>>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(usize, DMat4)>> {
    let at = format!("skins[{skin}]");
    let pairs = asset.skins[skin]
        .joints
        .iter()
        .zip(&asset.skins[skin].inverse_bind);
    let mut binds = Vec::new();
    for (i, (node, inverse)) in pairs.enumerate() {
        let name = &asset.nodes[*node].name;
        match try_inverse(*inverse).filter(|_| is_affine(inverse)) {
            Some(bind) => binds.push((*node, bind)),
            None if used.is_some_and(|u| u[i]) => {
                let expected = format!("an affine matrix with an inverse for joint {i} ({name})");
                let error = Invalid::new(at, "inverseBindMatrices", expected, "one without");
                return Err(error.coded("singular-bind").in_file(&asset.file).into());
            }
            None => warnings.push(
                Warning::new(
                    "singular-bind",
                    &at,
                    format!("the matrix of joint {i} ({name}), which no point is weighted to, has no inverse: its rest pose takes its place"),
                )
                .on("inverseBindMatrices"),
            ),
        }
    }
    Ok(binds)
}

/// skeleton_from_mesh at rest, where every joint of a skin gives the same.
fn settled(asset: &Asset, above: Option<usize>, binds: &[(usize, DMat4)]) -> Option<DMat4> {
    let mut all = binds.iter().map(|(node, bind)| {
        let chain = asset.chain(*node).take_while(|n| Some(*n) != above);
        let rest = chain.fold(DMat4::IDENTITY, |m, n| asset.nodes[n].local.matrix() * m);
        Some(rest * try_inverse(*bind)?)
    });
    let first = all.next()??;
    let size = extent_of(binds);
    let same = all.all(|m| m.is_some_and(|m| agree(&first, &m, size)));
    (same && try_inverse(first).is_some()).then_some(first)
}

/// Relative difference of matrices that count as the same: several roundings of single precision.
const SAME_BIND: f64 = 2e-5;

/// How far out the joints stand.
fn extent_of(binds: &[(usize, DMat4)]) -> f64 {
    let places = binds.iter().map(|(_, b)| b.w_axis.truncate().length());
    places.fold(1e-6, f64::max)
}

fn agree(a: &DMat4, b: &DMat4, size: f64) -> bool {
    let axis = (0..3).map(|i| a.col(i).length()).fold(0.0, f64::max);
    let axes = (0..3).all(|i| (a.col(i) - b.col(i)).length() <= SAME_BIND * axis);
    axes && (a.w_axis - b.w_axis).length()
        <= SAME_BIND * (axis * size + a.w_axis.truncate().length())
}

impl Variant {
    /// geomBindTransform of a skin's meshes, where one constant brings its bind matrices to these.
    fn fit(&self, binds: &[(usize, DMat4)], extent: f64, settled: Option<DMat4>) -> Option<DMat4> {
        let mut all = binds.iter().filter_map(|(node, bind)| {
            let known = self.binds.get(node)?;
            Some(try_inverse(*bind).map(|inverse| *known * inverse))
        });
        let size = self.extent.max(extent);
        let constant = match all.next() {
            Some(first) => first?,
            // Nothing shared: at rest, the meshes are where they should be.
            None => match (self.settled.and_then(try_inverse), settled) {
                (Some(mesh_from_skeleton), Some(other)) => mesh_from_skeleton * other,
                _ => DMat4::IDENTITY,
            },
        };
        let same = all.all(|m| m.is_some_and(|m| agree(&constant, &m, size)));
        let is_identity = agree(&DMat4::IDENTITY, &constant, size);
        same.then_some(if is_identity {
            DMat4::IDENTITY
        } else {
            constant
        })
    }
}

/// Relative difference at which a half counts as the number itself.
const EXACT: f64 = 1e-6;

/// Whether half precision has all three factors.
pub(super) fn is_exact(scale: DVec3) -> bool {
    let exact = |x: f64| (f16::from_f64(x).to_f64() - x).abs() <= EXACT * x.abs();
    scale.to_array().into_iter().all(exact)
}

/// Nodes whose scale a clip moves.
pub(super) fn scaled_nodes(asset: &Asset, clips: &[CodedClip]) -> HashSet<usize> {
    let scales = clips.iter().flat_map(|c| &c.scales);
    let moved = scales.filter(|(node, curve)| moves(&asset.nodes[**node], curve));
    moved.map(|(node, _)| *node).collect()
}

/// Chooses the frames of a Skeleton's joints, so that half precision has their scales at rest.
///
/// SkelAnimation stores scales in half, which is off by up to 5e-4: a joint scaled by 1.1 or 0.01 throughout would
/// misplace all below it. Instead such a joint's own frame is made a little larger or smaller, by one factor, so that its
/// scale becomes a number that half has: its bind and rest transforms, and the places of joints below, take the
/// factor up, and skinned points stay where they are.
pub(super) fn rescale(asset: &Asset, plan: &mut SkeletonPlan, scaled: &HashSet<usize>) {
    for i in 0..plan.joints.len() {
        let above = plan.joints[i].parent.map_or(1.0, |p| plan.joints[p].frame);
        let frame = match plan.joints[i].node {
            Some(node) => above * factor(asset, node, scaled),
            None => above,
        };
        let joint = &mut plan.joints[i];
        joint.frame = frame;
        if frame != 1.0 || above != 1.0 {
            let own = DMat4::from_scale(DVec3::splat(frame));
            joint.bind *= own;
            joint.rest = DMat4::from_scale(DVec3::splat(above.recip())) * joint.rest * own;
        }
    }
}

/// What brings a node's scale to a number that half has; 1 where it is one already, differs between axes or is moved.
fn factor(asset: &Asset, node: usize, scaled: &HashSet<usize>) -> f64 {
    let Some(scale) = components(&asset.nodes[node].local).map(|t| t.scale) else {
        return 1.0;
    };
    let is_uniform = (scale - scale.x).abs().max_element() <= EXACT * scale.x.abs();
    if is_exact(scale) || !is_uniform || scaled.contains(&node) {
        return 1.0;
    }
    let nearest = f16::from_f64(scale.x);
    match nearest.is_normal() {
        true => nearest.to_f64() / scale.x,
        // Too small or too large for half.
        false => scale.x.abs().recip(),
    }
}
