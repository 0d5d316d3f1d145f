//! A stage read as a [`Scene`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sinew_layer::Value;

use super::bounds::BoundsReader;
use super::skeletons::{read_animation, read_skeleton};
use crate::usd::file::{ReadOptions, UsdFile};
use crate::usd::from_asset::convert::MadeStage;
use crate::usd::read::skinned_prims::{SceneIndices, SkinReader};
use crate::usd::read::tree::{StageTree, read_tree};
use crate::usd::read::values::read_sampled;
use crate::usd::read::xforms::read_stack;
use crate::{Error, Result};
use sinew::error::{Invalid, Warning};
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{
    PlacedSkeleton, RestExtent, Scene, ScenePrim, SkelRoot, SkinBinding, TimeLine, UnskinnedPrim,
    XformStack,
};
use sinew::skel::binding::{Binding, PrimKind, Reached};
use sinew::skel::{AnimSource, SkelAnimation, Skeleton, SkeletonInstance, binding};

impl UsdFile {
    /// Reads everything skinning needs.
    ///
    /// # Errors
    /// Values that cannot be decoded. What is merely wrong with single prims ends in
    /// [`Scene::errors`] and [`Scene::warnings`].
    pub fn scene(&self, options: ReadOptions) -> Result<Scene> {
        self.all_read(self.read_scene(options))
    }

    /// The stage's range and rates.
    #[must_use]
    pub fn time_line(&self) -> TimeLine {
        let stage = &self.stage;
        TimeLine {
            range: stage.start_time_code().zip(stage.end_time_code()),
            time_codes_per_second: stage.time_codes_per_second(),
            frames_per_second: stage.frames_per_second(),
        }
    }

    /// Length of one unit in metres, if the file says it.
    #[must_use]
    pub fn authored_meters_per_unit(&self) -> Option<f64> {
        match self.stage.authored_metadata("metersPerUnit") {
            Ok(Some(Value::Double(meters))) => Some(meters),
            _ => None,
        }
    }

    /// What was read of the stage.
    pub(crate) fn all_read<T>(&self, read: Result<T, sinew_stage::Error>) -> Result<T> {
        read.map_err(|e| Error::open(&self.file, e))
    }

    fn read_scene(&self, options: ReadOptions) -> Result<Scene, sinew_stage::Error> {
        let stage = &self.stage;
        let tree = read_tree(stage);
        let mut resolution = binding::resolve(&tree.tree, options.anim_source);
        if options.anim_source == AnimSource::AtBinding {
            // A chosen clip is bound at its Skeletons.
            for b in &mut resolution.bindings {
                let chosen = self.chosen_clip.of_skeleton(&tree.tree[b.skeleton].path);
                b.animation = chosen.and_then(|a| tree.index_of(a)).or(b.animation);
            }
        }
        let mut warnings = resolution.warnings;
        let interpolation = Interpolation::Linear;
        let mut builder = SceneBuilder {
            made: self.made.as_ref(),
            tree: &tree,
            interpolation,
            prims: Vec::new(),
            prim_index: HashMap::new(),
            definition_index: HashMap::new(),
            skeletons: HashMap::new(),
            animations: HashMap::new(),
            animation_definitions: HashMap::new(),
            instances: Vec::new(),
            instance_index: HashMap::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            unskinned: Vec::new(),
        };
        let mut skel_roots = Vec::new();
        for (i, prim) in tree.tree.iter().enumerate() {
            if prim.kind == PrimKind::SkelRoot {
                skel_roots.push(SkelRoot {
                    path: prim.path.clone(),
                    prim: builder.scene_prim(i)?,
                    inherits_animation: prim
                        .parent
                        .is_some_and(|p| binding::animation_bound_at(&tree.tree, p).is_some()),
                });
            }
        }
        let mut placed = Vec::new();
        for b in &resolution.bindings {
            let instance = match builder.instance(b.skeleton, b.animation)? {
                Ok(instance) => instance,
                Err(error) => {
                    builder.leave_unskinned(b.prim, error);
                    continue;
                }
            };
            let at = SceneIndices {
                prim: builder.scene_prim(b.prim)?,
                skel_root: builder.scene_prim(b.skel_root)?,
                instance,
            };
            placed.push((b, at));
        }
        let unbound_skeletons = builder.unbound_skeletons()?;
        let mut rest_extents = Vec::with_capacity(resolution.reached.len());
        for reached in &resolution.reached {
            rest_extents.push(builder.rest_extent(reached)?);
        }
        let mut skins = SkinReader {
            stage,
            tree: &tree,
            interpolation,
            shapes: HashMap::new(),
            warnings: &mut warnings,
        };
        let mut bindings: Vec<SkinBinding> = Vec::new();
        let mut first_like: HashMap<BindingDefinition, usize> = HashMap::new();
        for (b, at) in &placed {
            let definition = BindingDefinition::new(b, &tree.definitions);
            let index = bindings.len();
            let first = *first_like.entry(definition).or_insert(index);
            let mut skin = if first == index {
                let instance = &builder.instances[at.instance].instance;
                skins.read(b, at, instance)?
            } else {
                let mut copy = bindings[first].clone();
                copy.path.clone_from(&tree.tree[b.prim].path);
                (copy.prim, copy.skel_root, copy.instance) = (at.prim, at.skel_root, at.instance);
                copy
            };
            skin.definition = first;
            bindings.push(skin);
        }
        warnings.append(&mut builder.warnings);
        warnings.extend(self.chosen_clip.warnings.iter().cloned());
        warnings.extend(
            self.origin()
                .map_or(&[][..], |o| &o.warnings)
                .iter()
                .cloned(),
        );
        let bounds = BoundsReader {
            stage,
            tree: &tree,
            interpolation,
            instances: &builder.instances,
            bindings: &bindings,
            prims: &mut builder.prims,
            warnings: &mut warnings,
        }
        .read()?;
        let file = self.file.display().to_string();
        for diagnostic in stage.diagnostics() {
            let place = match diagnostic.prim.is_root() {
                true => file.as_str(),
                false => diagnostic.prim.as_str(),
            };
            warnings.push(Warning::new(diagnostic.code, place, diagnostic.message));
        }
        let mut animations: Vec<_> = builder.animations.into_values().collect();
        animations.sort_by(|a, b| a.path.cmp(&b.path));
        let mut scene = Scene::new(&self.file, self.time_line());
        if let Some(Value::Token(up)) = stage.metadata("upAxis")?
            && up.as_str() == "Z"
        {
            scene.up_axis = 'Z';
        }
        if let Some(Value::Double(meters)) = stage.metadata("metersPerUnit")? {
            scene.meters_per_unit = meters;
        }
        scene.prims = builder.prims;
        scene.skel_roots = skel_roots;
        scene.instances = builder.instances;
        scene.unbound_skeletons = unbound_skeletons;
        scene.rest_extents = rest_extents;
        scene.animations = animations;
        scene.bindings = bindings;
        scene.bounds = bounds;
        let errors = builder.errors.into_iter();
        scene.errors = errors.map(|e| e.in_file(&self.file)).collect();
        scene.unskinned = builder.unskinned;
        for prim in &mut scene.unskinned {
            prim.error.file = Some(Box::new(self.file.clone()));
        }
        scene.warnings = warnings;
        Ok(scene)
    }
}

/// What a binding's data is read from, instances of one prototype taken for one.
#[derive(PartialEq, Eq, Hash)]
struct BindingDefinition([Option<usize>; 8]);

impl BindingDefinition {
    fn new(b: &Binding, definitions: &[usize]) -> Self {
        let from = [
            Some(b.prim),
            Some(b.skeleton),
            b.animation,
            b.joint_indices,
            b.joint_weights,
            b.joints,
            b.geom_bind_transform,
            b.skinning_method,
        ];
        Self(from.map(|p| p.map(|p| definitions[p])))
    }
}

struct SceneBuilder<'a> {
    made: Option<&'a MadeStage>,
    tree: &'a StageTree<'a>,
    interpolation: Interpolation,
    prims: Vec<ScenePrim>,
    prim_index: HashMap<usize, usize>,
    /// First of the prims of each definition.
    definition_index: HashMap<usize, usize>,
    /// By the definition of the Skeleton's prim, which instances share.
    skeletons: HashMap<usize, Result<Arc<Skeleton>, Invalid>>,
    animations: HashMap<usize, Arc<SkelAnimation>>,
    animation_definitions: HashMap<usize, Arc<SkelAnimation>>,
    instances: Vec<PlacedSkeleton>,
    instance_index: HashMap<(usize, Option<usize>), usize>,
    warnings: Vec<Warning>,
    errors: Vec<Invalid>,
    unskinned: Vec<UnskinnedPrim>,
}

impl SceneBuilder<'_> {
    /// The scene's prim for a tree prim, with its ancestors before it.
    fn scene_prim(&mut self, tree_prim: usize) -> Result<usize, sinew_stage::Error> {
        let mut chain = vec![tree_prim];
        while let Some(parent) = self.tree.tree[chain[chain.len() - 1]].parent {
            chain.push(parent);
        }
        for &i in chain.iter().rev() {
            if self.prim_index.contains_key(&i) {
                continue;
            }
            let first = self.definition_index.get(&self.tree.definitions[i]);
            let xform = if let Some(first) = first {
                self.prims[*first].xform.clone()
            } else if self.tree.xformable[i] {
                let prim = self.tree.prims[i];
                read_stack(&prim, self.interpolation, &mut self.warnings)?
            } else {
                XformStack::default()
            };
            let index = self.prims.len();
            self.prim_index.insert(i, index);
            let definition = self.tree.definitions[i];
            let definition = *self.definition_index.entry(definition).or_insert(index);
            self.prims.push(ScenePrim {
                definition,
                path: self.tree.tree[i].path.clone(),
                parent: self.tree.tree[i].parent.map(|p| self.prim_index[&p]),
                xform,
            });
        }
        Ok(self.prim_index[&tree_prim])
    }

    fn leave_unskinned(&mut self, tree_prim: usize, error: Invalid) {
        let path = self.tree.tree[tree_prim].path.clone();
        self.unskinned.push(UnskinnedPrim { path, error });
    }

    /// The placed skeleton for a Skeleton and an animation, or the error of an invalid Skeleton,
    /// which is then among the errors too.
    fn instance(
        &mut self,
        skeleton: usize,
        animation: Option<usize>,
    ) -> Result<Result<usize, Invalid>, sinew_stage::Error> {
        if let Some(i) = self.instance_index.get(&(skeleton, animation)) {
            return Ok(Ok(*i));
        }
        let shared = self.tree.definitions[skeleton];
        if !self.skeletons.contains_key(&shared) {
            let prim = self.tree.prims[skeleton];
            let read = match read_skeleton(&prim, &mut self.warnings)? {
                Ok(s) => Ok(Arc::new(s)),
                Err(e) => {
                    self.errors.push(e.clone());
                    Err(e)
                }
            };
            self.skeletons.insert(shared, read);
        }
        let definition = match self.skeletons[&shared].clone() {
            Ok(definition) => definition,
            Err(e) => return Ok(Err(e)),
        };
        let animation_data = match animation {
            Some(a) => Some(self.animation(a)?),
            None => None,
        };
        let prim = self.scene_prim(skeleton)?;
        let index = self.instances.len();
        self.instances.push(PlacedSkeleton {
            path: self.tree.tree[skeleton].path.clone(),
            prim,
            instance: SkeletonInstance::new(definition, animation_data),
        });
        self.instance_index.insert((skeleton, animation), index);
        Ok(Ok(index))
    }

    fn rest_extent(&mut self, reached: &Reached) -> Result<RestExtent, sinew_stage::Error> {
        let prim = self.tree.prims[reached.prim];
        let geom_bind = match reached.geom_bind_transform {
            Some(from) => {
                let from = self.tree.prims[from];
                let attribute = from.attribute("primvars:skel:geomBindTransform");
                read_sampled(&attribute, self.interpolation)?
            }
            None => Sampled::default(),
        };
        Ok(RestExtent {
            path: self.tree.tree[reached.prim].path.clone(),
            skeleton: self.scene_prim(reached.skeleton)?,
            extent: read_sampled(&prim.attribute("extent"), self.interpolation)?,
            geom_bind,
        })
    }

    /// Skeletons that no instance places. A broken one is of no consequence then, and is left out.
    fn unbound_skeletons(&mut self) -> Result<Vec<PlacedSkeleton>, sinew_stage::Error> {
        let bound: HashSet<usize> = self.instance_index.keys().map(|(s, _)| *s).collect();
        let mut out = Vec::new();
        for (i, tree_prim) in self.tree.tree.iter().enumerate() {
            if tree_prim.kind != PrimKind::Skeleton || bound.contains(&i) {
                continue;
            }
            let prim = self.tree.prims[i];
            let Ok(definition) = read_skeleton(&prim, &mut Vec::new())? else {
                continue;
            };
            let animation = match binding::animation_of(&self.tree.tree, i) {
                Some(a) => Some(match self.animations.get(&a) {
                    Some(known) => known.clone(),
                    None => Arc::new(self.animation_definition(a, &mut Vec::new())?),
                }),
                None => None,
            };
            out.push(PlacedSkeleton {
                path: tree_prim.path.clone(),
                prim: self.scene_prim(i)?,
                instance: SkeletonInstance::new(Arc::new(definition), animation),
            });
        }
        Ok(out)
    }

    fn animation(&mut self, tree_prim: usize) -> Result<Arc<SkelAnimation>, sinew_stage::Error> {
        if let Some(a) = self.animations.get(&tree_prim) {
            return Ok(a.clone());
        }
        let shared = self.tree.definitions[tree_prim];
        let mut animation = match self.animation_definitions.get(&shared) {
            Some(known) => SkelAnimation::clone(known),
            None => {
                let mut warnings = std::mem::take(&mut self.warnings);
                let read = self.animation_definition(tree_prim, &mut warnings);
                self.warnings = warnings;
                read?
            }
        };
        animation.path.clone_from(&self.tree.tree[tree_prim].path);
        let animation = Arc::new(animation);
        let slot = self.animation_definitions.entry(shared);
        slot.or_insert_with(|| animation.clone());
        self.animations.insert(tree_prim, animation.clone());
        Ok(animation)
    }

    fn animation_definition(
        &self,
        tree_prim: usize,
        warnings: &mut Vec<Warning>,
    ) -> Result<SkelAnimation, sinew_stage::Error> {
        let prim = self.tree.prims[tree_prim];
        let mut animation = read_animation(&prim, self.interpolation, warnings)?;
        animation.float_scales = self.made.and_then(|m| m.float_scales(&animation.path));
        Ok(animation)
    }
}
