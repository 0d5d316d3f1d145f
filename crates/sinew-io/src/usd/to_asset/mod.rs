//! A stage as an [`Asset`], the way back from `from_asset`.
//!
//! | on the stage | in the asset |
//! |---|---|
//! | prims with transforms | nodes, with the same names and hierarchy |
//! | a Skeleton | a node per joint below the Skeleton's own |
//! | a mesh with influences | a node without a parent, with a skin per geomBindTransform |
//! | a prim that joints move as a whole | a node below its joint, or a moving one, with all that hangs on it |
//! | any other mesh | the node of its prim |
//! | blend shapes, with in-betweens | morph targets |
//! | a SkelAnimation | a clip; the bound ones come first, with all that moves on the time line |
//! | UsdPreviewSurface | materials |
//!
//! Points, transforms and names stay in stage units and with the stage's up axis. Joints, weights
//! and keys are what UsdSkel means by them, at the times that the file has.

mod baked;
mod bind_pose;
mod cameras;
mod carried;
mod clips;
mod extras;
mod materials;
mod meshes;
mod misfits;
mod nodes;
mod shown;
mod skeletons;
mod textures;
mod time;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::DMat4;
use serde_json::Value as Json;
use sinew_layer::Path;
use sinew_stage::{Predicate, Prim};

use crate::error::{Error, Result};
use crate::usd::file::UsdFile;
use crate::usd::read::shapes::is_shape;
pub use bind_pose::{BindPose, BindPoseInfluences, BindPoseJoint, BindPoseMesh, PlacedMesh};
use carried::Load;
pub use clips::SceneClip;
use materials::MaterialTable;
use meshes::{MadeMesh, MeshInputs, Part, PointInfluences};
use misfits::{AsGltf, Form, JointError, Misfit};
use nodes::{NodeBuilder, local_transform};
use shown::Shown;
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, Geometry, OutSpace, PlacedSkeleton, Scene};
use sinew::skel::{BlendShape, SkelAnimation, Skin};
use sinew_animate::asset::{Asset, AssetScene, Axis};
use skeletons::{JointNodes, name_of};
use time::Clock;

/// How a stage becomes an asset.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssetOptions {
    /// Whether meshes whose deformation an asset cannot hold become morph targets, one per frame.
    pub bake: bool,
}

impl UsdFile {
    /// Converts the stage to an asset, which [`crate::gltf::write_asset`] can write. `scene` is this
    /// file's. [`Asset::warnings`] says what an asset cannot hold.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn to_asset(&self, scene: &Scene, options: &AssetOptions) -> Result<Asset> {
        let geometry = self.geometry_with_all_uvs(scene)?;
        let animations = self.animations()?;
        let made = self.all_read(self.make_asset(scene, &geometry, &animations, options))?;
        made.map_err(|reason| Error::TooLarge {
            file: self.file().to_owned(),
            reason,
        })
    }

    fn make_asset(
        &self,
        scene: &Scene,
        geometry: &Geometry,
        animations: &[SkelAnimation],
        options: &AssetOptions,
    ) -> Result<Result<Asset, String>, sinew_stage::Error> {
        let mut maker = Maker::new(self, scene, geometry, *options);
        let placed: Vec<&PlacedSkeleton> = scene
            .instances
            .iter()
            .chain(&scene.unbound_skeletons)
            .collect();
        maker.plans = self.plan_clips(scene, animations)?;
        maker.shown_by = shown::of_clips(scene, &maker.plans, &maker.clock).into();
        maker.add_skeletons(&placed)?;
        maker.add_carriers()?;
        for mesh in &geometry.meshes {
            maker.add_mesh(mesh)?;
        }
        if let Some(first) = geometry.curves.first() {
            let count = geometry.curves.len();
            let message = format!("glTF has no curves: they are left out; {count} in all");
            let warning = Warning::new("mesh-left-out", &first.path, message);
            maker.warnings.push(warning);
        }
        maker.add_cameras()?;
        maker.add_others()?;
        maker.warn_of_unwritten()?;
        if let Some(reason) = maker.too_large {
            return Ok(Err(reason));
        }
        maker.restore_joint_extras(&placed)?;
        maker.add_clips()?;
        maker.finish().map(Ok)
    }
}

/// An asset while it is made.
struct Maker<'a> {
    file: &'a UsdFile,
    scene: &'a Scene,
    geometry: &'a Geometry,
    clock: Clock,
    builder: NodeBuilder<'a>,
    materials: MaterialTable<'a>,
    asset: Asset,
    warnings: Vec<Warning>,
    /// Of the scene's instances, then of its unbound Skeletons.
    joints: Vec<JointNodes>,
    /// Bound prims with blend shapes: binding, the node that shows it, and the shapes that are morph
    /// targets.
    shown: Vec<(usize, usize, Vec<usize>)>,
    /// Meshes that nodes share.
    meshes: HashMap<MeshKey, usize>,
    plans: Vec<SceneClip>,
    /// The scene as the stage and each other clip show it.
    shown_by: Arc<[Shown<'a>]>,
    /// By Skeleton, how far its nodes are from its joints.
    joint_errors: HashMap<usize, JointError>,
    /// Meshes that nodes carry, not skins, and their nodes.
    carried: Vec<(&'a DrawnMesh, usize)>,
    /// Bindings of skinned meshes that instances show.
    instanced: HashSet<usize>,
    /// Whether what does not fit is baked.
    bake: bool,
    /// Why the asset would be larger than it may.
    too_large: Option<String>,
}

/// What meshes that are equal have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MeshKey {
    definition: usize,
    /// The definition of the binding, if the mesh has influences or shapes.
    binding: Option<usize>,
    /// Whether it has influences.
    skinned: bool,
    materials: Vec<Option<usize>>,
    colored: Vec<bool>,
    turned: bool,
}

impl<'a> Maker<'a> {
    fn new(
        file: &'a UsdFile,
        scene: &'a Scene,
        geometry: &'a Geometry,
        options: AssetOptions,
    ) -> Self {
        let clock = Clock::new(scene.time_line);
        Self {
            file,
            scene,
            geometry,
            clock,
            builder: NodeBuilder::new(
                &file.stage,
                clock,
                Load::by_path(&geometry.meshes, clock.rest()),
            ),
            materials: MaterialTable::new(geometry),
            asset: Asset::default(),
            warnings: Vec::new(),
            joints: Vec::new(),
            shown: Vec::new(),
            meshes: HashMap::new(),
            plans: Vec::new(),
            shown_by: Arc::default(),
            joint_errors: HashMap::new(),
            carried: Vec::new(),
            instanced: HashSet::new(),
            bake: options.bake,
            too_large: None,
        }
    }

    fn warn(&mut self, code: &'static str, path: &str, message: impl Into<String>) {
        self.warnings.push(Warning::new(code, path, message));
    }

    /// The prim at a path that the scene has.
    fn prim(&self, path: &str) -> Option<Prim<'a>> {
        self.file.stage.prim(&Path::parse(path).ok()?)
    }

    /// What a prim is called.
    fn name(&self, path: &str) -> Result<String, sinew_stage::Error> {
        match self.prim(path) {
            Some(prim) => nodes::display_name(prim),
            None => Ok(name_of(path).to_owned()),
        }
    }

    fn add_skeletons(&mut self, placed: &[&'a PlacedSkeleton]) -> Result<(), sinew_stage::Error> {
        for (i, placed) in placed.iter().enumerate() {
            let space = match self.prim(&placed.path) {
                Some(prim) => self.builder.space_unless_identity(prim)?,
                None => None,
            };
            let skeleton = placed.instance.skeleton();
            let mut moved = vec![false; skeleton.joints().len()];
            let parts = self.plans.iter().flat_map(|p| &p.parts);
            for (_, animation) in parts.filter(|(s, _)| *s == i) {
                let mapper = sinew::skel::AnimMapper::new(&animation.joints, skeleton.joints());
                mapper
                    .targets()
                    .flatten()
                    .for_each(|joint| moved[joint] = true);
            }
            let mut joints = JointNodes::new(&mut self.builder, skeleton, space, moved);
            joints.misfits = misfits::of_clips(i, skeleton, &self.plans, &self.clock);
            let mut bindings = self.scene.bindings.iter().filter(|b| b.instance == i);
            if !bindings.any(|b| b.influences.is_some()) {
                // No points tell how much it is.
                for misfit in joints.misfits.iter().chain(&joints.shear) {
                    let warning = Warning::new(misfit.code, skeleton.path(), &*misfit.what);
                    self.warnings.push(warning);
                }
            }
            self.joints.push(joints);
        }
        Ok(())
    }

    /// Adds the nodes that show a mesh.
    fn add_mesh(&mut self, mesh: &'a DrawnMesh) -> Result<(), sinew_stage::Error> {
        if let Some(node) = self.add_shown(mesh)? {
            self.hide(mesh, node);
        }
        Ok(())
    }

    /// Hides the node of a mesh that is never visible. Of one that appears or vanishes it warns.
    fn hide(&mut self, mesh: &DrawnMesh, node: usize) {
        let mut times = mesh.place.times();
        times.extend(mesh.instances.iter().flat_map(|i| i.place.times()));
        times.push(self.clock.start());
        let times = time::merged(times);
        let visible = times.iter().filter(|t| mesh.visible(Time::At(**t))).count();
        if visible == 0 {
            self.builder.nodes[node].hidden = true;
        } else if visible < times.len() {
            let message =
                "its visibility changes over time, which glTF cannot hold: it is always visible";
            self.warn("gltf-visibility", &mesh.path, message);
        }
    }

    /// Adds the node of a mesh; `None` if there is nothing to show.
    fn add_shown(&mut self, mesh: &'a DrawnMesh) -> Result<Option<usize>, sinew_stage::Error> {
        let name = self.name(&mesh.path)?;
        if let Some(binding) = mesh.binding
            && mesh.instances.is_empty()
        {
            match self.add_bound(mesh, binding) {
                Ok(Some(node)) => {
                    self.builder.nodes[node].name = name;
                    if let Some(prim) = self.prim(&mesh.path) {
                        let extras = extras::source_data(prim, "nodeExtras")?;
                        self.builder.nodes[node].extras = extras;
                    }
                    return Ok(Some(node));
                }
                Ok(None) => {}
                Err(invalid) => {
                    let message = format!("it is written at rest: {}", invalid.brief());
                    let code = invalid.code.unwrap_or("not-skinned");
                    self.warn(code, &mesh.path, message);
                }
            }
        }
        if let Some(binding) = mesh.binding
            && !mesh.instances.is_empty()
            && self.scene.bindings[binding].influences.is_some()
        {
            self.warn_of_instances(mesh, binding);
        }
        let shapes = match mesh.binding {
            Some(binding) => self.shapes(self.scene.bound(binding)),
            None => Vec::new(),
        };
        if mesh.points.is_animated() {
            if self.bake && shapes.is_empty() && mesh.instances.is_empty() {
                let space = match self.prim(&mesh.path) {
                    Some(prim) => self.builder.space(prim)?,
                    None => None,
                };
                return Ok(Some(self.add_baked_points(mesh, space)));
            }
            misfits::warn_of_points(mesh, &self.clock, &mut self.warnings);
        }
        let Some(index) = self.mesh(mesh, None, &shapes, false) else {
            return Ok(None);
        };
        let node = match self.prim(&mesh.path).filter(|_| mesh.instances.is_empty()) {
            Some(prim) => self.own_node(prim)?,
            None => self.instance(mesh),
        };
        self.builder.nodes[node].mesh = Some(index);
        self.carried.push((mesh, node));
        if let (Some(binding), false) = (mesh.binding, shapes.is_empty()) {
            self.show(binding, node, &shapes);
        }
        Ok(Some(node))
    }

    /// Warns of a skinned mesh that instances show at rest, at the first of them.
    fn warn_of_instances(&mut self, mesh: &DrawnMesh, binding: usize) {
        if !self.instanced.insert(binding) {
            return;
        }
        let misfit = Misfit {
            code: "gltf-instanced-skin",
            what: "instances of a PointInstancer show it at rest, not as its Skeleton moves it, and the first of them is measured".into(),
            least: 0.0,
        };
        let prim = AsGltf {
            bound: self.scene.bound(binding),
            form: Form::AtRest(mesh),
            moved: &[],
        };
        let movements = misfits::movements(binding, &self.shown_by, &self.clock);
        let code = misfit.code;
        match misfits::measure(&prim, vec![misfit], &movements, &self.plans, &self.clock) {
            Ok(made) => self.warnings.extend(made),
            Err(invalid) => {
                let message = format!("it is written at rest: {}", invalid.brief());
                self.warn(code, &mesh.path, message);
            }
        }
    }

    fn show(&mut self, binding: usize, node: usize, shapes: &[Channel]) {
        let channels = shapes.iter().map(|s| s.index).collect();
        self.shown.push((binding, node, channels));
    }

    /// A node for a mesh that an instance of a PointInstancer shows.
    fn instance(&mut self, mesh: &DrawnMesh) -> usize {
        let name = name_of(&mesh.path);
        let mut times = mesh.place.times();
        for instance in &mesh.instances {
            times.extend(instance.place.times());
            times.extend(instance.prototype.times());
        }
        let times = time::merged(times);
        if times.len() > 1 {
            let world = |time| mesh.world_from_prim(time);
            let load = Load::of_mesh(mesh, self.clock.rest());
            return self.builder.add_moving(name, None, times, load, world);
        }
        let world = mesh.world_from_prim(self.clock.rest());
        self.builder.push(name, None, local_transform(&world))
    }

    /// Adds the node of a prim with influences; `None` if it only blends.
    fn add_bound(&mut self, mesh: &'a DrawnMesh, binding: usize) -> Result<Option<usize>, Invalid> {
        let bound = self.scene.bound(binding);
        let skin = bound.skin(self.clock.rest())?;
        if skin.influences().is_none() {
            return Ok(None);
        }
        let geom_bind = bound.binding().geom_bind.at(self.clock.rest());
        let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
        let instance = bound.binding().instance;
        // Without them the prim cannot be skinned at all.
        bound
            .skeleton()
            .instance
            .skinning_transforms(self.clock.rest())?;
        let shapes = self.shapes(bound);
        let carried = self.builder.carried(&mesh.path);
        let carried = carried.filter(|_| bound.binding().is_rigid());
        let mut misfits = misfits::of_bound(bound.binding(), &skin, carried.is_some());
        if carried.is_none() {
            let error = self.joint_error(bound)?;
            let points = skin.points().iter();
            let points = points.map(|p| geom_bind.transform_point3(p.as_dvec3()));
            let of_clips = &self.joints[instance].misfits;
            match of_clips.is_empty() {
                true => misfits.extend(error.misfit(points)),
                false => misfits.extend(of_clips.iter().cloned()),
            }
        }
        let prim = AsGltf {
            bound,
            form: match carried {
                Some(_) => Form::Carried,
                None => Form::Skinned,
            },
            moved: &self.joints[instance].moved,
        };
        if !misfits.is_empty() {
            let movements = misfits::movements(binding, &self.shown_by, &self.clock);
            let made = misfits::measure(&prim, misfits, &movements, &self.plans, &self.clock)?;
            if self.bake && !made.is_empty() {
                return self.add_baked(mesh, bound).map(Some);
            }
            self.warnings.extend(made);
        }
        if let (Some(shear), None) = (&self.joints[instance].shear, carried) {
            let shown = shown::at_rest(self.scene, &self.clock);
            let movements = [misfits::at_rest(binding, &shown, &self.clock)];
            let shear = vec![shear.clone()];
            let made = misfits::measure(&prim, shear, &movements, &self.plans, &self.clock);
            // Without rest transforms there is no pose that no clip gives.
            self.warnings.extend(made.unwrap_or_default());
        }
        if let Some(node) = carried {
            // Its node has the transform that usd-core's bake would give the prim.
            let Some(index) = self.mesh(mesh, None, &shapes, false) else {
                return Ok(None);
            };
            self.builder.nodes[node].mesh = Some(index);
            self.carried.push((mesh, node));
            self.show(binding, node, &shapes);
            return Ok(Some(node));
        }
        let joints = &mut self.joints[instance];
        let (points, has_unmapped) = point_influences(&skin, joints.unmapped_joint() as u32);
        let asset_skin = joints.skin(
            geom_bind,
            has_unmapped,
            &mut self.builder,
            &mut self.asset.skins,
        )?;
        // Its node has no parent and no transform.
        let turned = self.is_turned(mesh, &DMat4::IDENTITY)?;
        let Some(index) = self.mesh(mesh, Some(&points), &shapes, turned) else {
            return Ok(None);
        };
        let rest = sinew_animate::asset::LocalTransform::default();
        let node = self.builder.push("", None, rest);
        self.builder.nodes[node].mesh = Some(index);
        self.builder.nodes[node].skin = Some(asset_skin);
        self.show(binding, node, &shapes);
        Ok(Some(node))
    }

    /// The blend shapes of a bound prim, without those of which no part is whole.
    fn shapes(&self, bound: BoundSkin<'_>) -> Vec<Channel> {
        let channels = bound.binding().shapes.iter().enumerate();
        channels
            .filter_map(|(index, channel)| {
                let shape = channel.shape.as_ref()?;
                let moves = shape.sub_shapes().iter().any(|s| !s.offsets.is_empty());
                (moves || shape.first_fault().is_none()).then(|| Channel {
                    index,
                    token: channel.token.clone(),
                    shape: shape.clone(),
                })
            })
            .collect()
    }

    /// Whether the triangles of a prim have to turn the other way. Both USD and glTF turn them where
    /// the prim or the node is mirrored, so one of the two alone must not be. A prim that joints
    /// move as a whole is taken as a bake moves it.
    fn is_turned(&self, mesh: &DrawnMesh, world_from_node: &DMat4) -> Result<bool, Invalid> {
        let rest = self.clock.rest();
        let bound = mesh.binding.map(|b| self.scene.bound(b));
        let world_from_prim = match bound.filter(|b| b.binding().is_rigid()) {
            Some(bound) => self
                .scene
                .at(rest, OutSpace::World)
                .rigid_out_from_prim(bound)?,
            None => mesh.world_from_prim(rest),
        };
        Ok((world_from_prim.determinant() < 0.0) != (world_from_node.determinant() < 0.0))
    }

    /// The index of the asset's mesh; `None` if it has no triangles. `turned` reverses them.
    fn mesh(
        &mut self,
        mesh: &'a DrawnMesh,
        influences: Option<&PointInfluences>,
        shapes: &[Channel],
        turned: bool,
    ) -> Option<usize> {
        let parts = self.parts(mesh);
        let has_data = influences.is_some() || !shapes.is_empty();
        let key = MeshKey {
            definition: mesh.definition,
            binding: mesh
                .binding
                .filter(|_| has_data)
                .map(|b| self.scene.bindings[b].definition),
            skinned: influences.is_some(),
            materials: parts.iter().map(|p| p.material).collect(),
            colored: parts.iter().map(|p| p.colored).collect(),
            turned,
        };
        if let Some(known) = self.meshes.get(&key) {
            return Some(*known);
        }
        let shapes: Vec<(String, Arc<BlendShape>)> = shapes
            .iter()
            .map(|c| (c.token.clone(), c.shape.clone()))
            .collect();
        let made = self.make(&MeshInputs {
            mesh,
            time: self.clock.rest(),
            influences,
            shapes: &shapes,
            parts,
            turned,
        })?;
        let mut made = made.mesh;
        if let Some(prim) = self.prim(&mesh.path) {
            made.extras = extras::extras(prim).ok().flatten();
        }
        self.asset.meshes.push(made);
        self.meshes.insert(key, self.asset.meshes.len() - 1);
        Some(self.asset.meshes.len() - 1)
    }

    /// The parts of a mesh with their materials.
    fn parts(&mut self, mesh: &DrawnMesh) -> Vec<Part> {
        let mut parts = Vec::new();
        for subset in &mesh.subsets {
            let made = self.materials.of(mesh, subset.material);
            parts.push(Part {
                faces: Some(subset.faces.clone()),
                material: made.material,
                uv_names: made.uv_names,
                colored: made.colored,
            });
        }
        let made = self.materials.of(mesh, mesh.material);
        parts.push(Part {
            faces: None,
            material: made.material,
            uv_names: made.uv_names,
            colored: made.colored,
        });
        parts
    }

    /// Makes a mesh; `None` if it has no triangles, or cannot be made and is among those left out.
    fn make(&mut self, inputs: &MeshInputs<'_>) -> Option<MadeMesh> {
        let path = &inputs.mesh.path;
        match meshes::make(inputs, name_of(path), &mut self.warnings) {
            Ok(made) if made.mesh.primitives.is_empty() => None,
            Ok(made) => Some(made),
            Err(invalid) => {
                self.asset.left_out.push(invalid);
                None
            }
        }
    }

    fn add_cameras(&mut self) -> Result<(), sinew_stage::Error> {
        for camera in &self.geometry.cameras {
            let Some(prim) = self.prim(&camera.path) else {
                continue;
            };
            let rest = self.clock.rest();
            let made = cameras::camera(prim, camera, rest, &mut self.warnings)?;
            let node = self.own_node(prim)?;
            self.builder.nodes[node].camera = Some(self.asset.cameras.len());
            self.asset.cameras.push(made);
        }
        Ok(())
    }

    /// Adds lights, and nodes for transforms that nothing else has needed: sockets, for example.
    fn add_others(&mut self) -> Result<(), sinew_stage::Error> {
        let mut prims = self.file.stage.traverse(Predicate::DEFAULT_PROXIES);
        while let Some(prim) = prims.next() {
            if prim.is_a("PointInstancer") {
                prims.skip_children();
            } else if prim.has_api("LightAPI") {
                if let Some(light) = cameras::light(prim, &mut self.warnings)? {
                    let node = self.own_node(prim)?;
                    self.builder.nodes[node].light = Some(self.asset.lights.len());
                    self.asset.lights.push(light);
                }
            } else if prim.type_name() == "Xform" {
                self.builder.space(prim)?;
            }
        }
        Ok(())
    }

    /// Warns of meshes of other purposes, which are not written.
    fn warn_of_unwritten(&mut self) -> Result<(), sinew_stage::Error> {
        let drawn = self.geometry.meshes.iter().map(|m| m.path.as_str());
        let known = drawn.chain(self.geometry.errors.iter().map(|e| e.prim.as_str()));
        let left = self.geometry.warnings.iter().map(|w| w.path.as_str());
        let known: HashSet<&str> = known.chain(left).collect();
        let (mut first, mut count) = (None, 0);
        let is_mesh = |prim: &Prim<'_>| prim.type_name() == "Mesh" || is_shape(prim);
        let mut prims = self.file.stage.traverse(Predicate::DEFAULT_PROXIES);
        while let Some(prim) = prims.next() {
            if prim.is_a("PointInstancer") {
                prims.skip_children();
            } else if is_mesh(&prim) && !known.contains(prim.path().as_str()) {
                first.get_or_insert_with(|| prim.path());
                count += 1;
            }
        }
        if let Some(first) = first {
            let message = format!("its purpose is proxy or guide: it is left out; {count} in all");
            self.warn("mesh-left-out", first.as_str(), message);
        }
        Ok(())
    }

    /// The node in a prim's space; one without a transform if that is the world.
    fn own_node(&mut self, prim: Prim<'a>) -> Result<usize, sinew_stage::Error> {
        Ok(match self.builder.space(prim)? {
            Some(node) => node,
            // The only root prim, where it does not move anything.
            None => {
                let rest = sinew_animate::asset::LocalTransform::default();
                self.builder.push(prim.name(), None, rest)
            }
        })
    }

    /// Gives joints the extras that the file had that their Skeletons come from.
    fn restore_joint_extras(
        &mut self,
        placed: &[&PlacedSkeleton],
    ) -> Result<(), sinew_stage::Error> {
        for (joints, placed) in self.joints.iter().zip(placed) {
            let Some(prim) = self.prim(&placed.path) else {
                continue;
            };
            let Some(Json::Object(kept)) = extras::source_data(prim, "jointExtras")? else {
                continue;
            };
            for (joint, node) in joints.skeleton.joints().iter().zip(&joints.nodes) {
                if let Some(extras) = kept.get(joint.as_str()) {
                    self.builder.nodes[*node].extras = Some(extras.clone());
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Asset, sinew_stage::Error> {
        let mut scene = AssetScene::default();
        if let Some(root) = self.builder.only_root() {
            scene.name = match extras::source_data(root, "scene")? {
                Some(Json::String(name)) => name,
                _ => root.name().to_owned(),
            };
            scene.extras = extras::extras(root)?;
        }
        let info = self.file.stage.metadata("customLayerData")?;
        let info = extras::of_layer(info.as_ref());
        self.asset.info.copyright = info.copyright;
        self.asset.info.extras = info.asset_extras;
        self.asset.extras = info.extras;
        for (material, path) in self
            .materials
            .materials
            .iter_mut()
            .zip(&self.materials.paths)
        {
            let prim = path
                .as_ref()
                .and_then(|path| self.file.stage.prim(&Path::parse(path).ok()?));
            if let Some(prim) = prim {
                material.name = nodes::display_name(prim)?;
                material.extras = extras::extras(prim)?;
            }
        }
        let nodes = self.builder.nodes;
        let roots: Vec<usize> = (0..nodes.len())
            .filter(|i| nodes[*i].parent.is_none())
            .collect();
        self.asset.file = self.file.file().to_owned();
        self.asset.up_axis = match self.scene.up_axis {
            'Z' => Axis::Z,
            _ => Axis::Y,
        };
        self.asset.meters_per_unit = self.scene.meters_per_unit;
        scene.roots.clone_from(&roots);
        self.asset.scenes = vec![scene];
        self.asset.default_scene = Some(0);
        self.asset.roots = roots;
        self.asset.nodes = nodes;
        self.asset.materials = self.materials.materials;
        self.asset.images = self.materials.images.images;
        self.asset.warnings = self.geometry.warnings.clone();
        self.asset.left_out.extend_from_slice(&self.geometry.errors);
        self.asset
            .warnings
            .append(&mut self.materials.images.warnings);
        self.asset.warnings.append(&mut self.warnings);
        Ok(self.asset)
    }
}

/// A blend shape of a prim: its index in skel:blendShapes, its token and what it does.
struct Channel {
    index: usize,
    token: String,
    shape: Arc<BlendShape>,
}

/// The influences of all points on the Skeleton's joints, each joint once a point, and whether `unmapped` is among them.
fn point_influences(skin: &Skin, unmapped: u32) -> (PointInfluences, bool) {
    let Some(influences) = skin.influences() else {
        return (PointInfluences::default(), false);
    };
    let mut out = PointInfluences {
        each: influences.count(),
        ..PointInfluences::default()
    };
    let mut has_unmapped = false;
    for point in 0..skin.points().len() {
        let first = out.weights.len();
        let row = influences.of_point(point);
        out.weights.extend(row.map(|(_, weight)| weight));
        misfits::fit_weights(&mut out.weights[first..]);
        for ((joint, _), weight) in influences.of_point(point).zip(&out.weights[first..]) {
            let joint = skin.skeleton_joint(joint);
            has_unmapped |= joint.is_none() && *weight > 0.0;
            out.joints.push(match joint {
                Some(joint) => joint,
                None if *weight > 0.0 => unmapped,
                None => 0,
            });
        }
        merge_repeats(&mut out.joints[first..], &mut out.weights[first..]);
    }
    (out, has_unmapped)
}

/// Adds the weight of a joint that was there before to the first one of it. Which joint is the heaviest depends on it.
fn merge_repeats(joints: &mut [u32], weights: &mut [f32]) {
    for i in 1..joints.len() {
        if let Some(first) = (0..i).find(|k| joints[*k] == joints[i] && weights[*k] > 0.0) {
            weights[first] += weights[i];
            weights[i] = 0.0;
        }
    }
}
