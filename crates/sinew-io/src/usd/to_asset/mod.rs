//! A stage as an [`Asset`], the way back from `from_asset`.
//!
//! | on the stage | in the asset |
//! |---|---|
//! | prims with transforms | nodes, with the same names and hierarchy |
//! | a Skeleton | a node per joint below the Skeleton's own |
//! | a mesh with influences | a node without a parent, with a skin per geomBindTransform |
//! | a mesh that one joint moves as a whole | a node below that joint |
//! | any other mesh | the node of its prim |
//! | blend shapes, with in-betweens | morph targets |
//! | a SkelAnimation | a clip; the bound ones come first, with all that moves on the time line |
//! | UsdPreviewSurface | materials |
//!
//! Points, transforms and names stay in stage units and with the stage's up axis. Joints, weights
//! and keys are what UsdSkel means by them, at the times that the file has.

mod cameras;
mod clips;
mod extras;
mod materials;
mod meshes;
mod nodes;
mod skeletons;
mod textures;
mod time;

use std::collections::HashMap;
use std::sync::Arc;

use glam::DMat4;
use sinew_layer::Path;
use sinew_stage::{Predicate, Prim};

use crate::error::Result;
use crate::usd::file::UsdFile;
use clips::{ClipPlan, ClipSkeleton};
use materials::MaterialTable;
use meshes::{MeshInputs, Part, PointInfluences};
use nodes::{NodeBuilder, local_transform};
use sinew::error::{Invalid, Warning};
use sinew::scene::{BoundSkin, DrawnMesh, Geometry, PlacedSkeleton, Scene};
use sinew::skel::{BlendShape, InfluenceInterpolation, SkelAnimation, Skin};
use sinew_animate::asset::{Asset, AssetClip, AssetScene, Axis, Track};
use skeletons::{JointNodes, name_of};
use time::Clock;

/// A constant influence with a weight this near to 1 moves a prim as a whole.
const WHOLE: f32 = 1e-6;

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
        let _ = options;
        let geometry = self.geometry_with_all_uvs(scene)?;
        let animations = self.animations()?;
        self.all_read(self.make_asset(scene, &geometry, &animations))
    }

    fn make_asset(
        &self,
        scene: &Scene,
        geometry: &Geometry,
        animations: &[SkelAnimation],
    ) -> Result<Asset, sinew_stage::Error> {
        let clock = Clock::new(scene.time_line);
        let mut maker = Maker {
            file: self,
            scene,
            geometry,
            clock,
            builder: NodeBuilder::new(&self.stage, clock),
            materials: MaterialTable::new(geometry),
            asset: Asset::default(),
            warnings: Vec::new(),
            joints: Vec::new(),
            shown: Vec::new(),
            meshes: HashMap::new(),
        };
        let placed: Vec<&PlacedSkeleton> = scene
            .instances
            .iter()
            .chain(&scene.unbound_skeletons)
            .collect();
        let plans = maker.plan_clips(&placed, animations);
        maker.add_skeletons(&placed, &plans)?;
        for mesh in &geometry.meshes {
            maker.add_mesh(mesh)?;
        }
        maker.add_cameras()?;
        maker.add_others()?;
        maker.add_clips(&plans);
        Ok(maker.finish())
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
}

impl<'a> Maker<'a> {
    fn plan_clips(
        &self,
        placed: &[&'a PlacedSkeleton],
        animations: &[SkelAnimation],
    ) -> Vec<ClipPlan> {
        let shapes = |path: &str| {
            let bindings = self.scene.bindings.iter();
            let bound = bindings.filter(|b| self.scene.instances[b.instance].path == path);
            bound
                .flat_map(|b| b.shapes.iter().map(|s| s.token.as_str()))
                .collect()
        };
        let skeletons: Vec<ClipSkeleton<'_>> = placed
            .iter()
            .map(|p| ClipSkeleton {
                path: &p.path,
                skeleton: p.instance.skeleton(),
                bound: p.instance.animation(),
                shapes: shapes(&p.path),
            })
            .collect();
        clips::plan(&skeletons, animations)
    }

    /// The prim at a path that the scene has.
    fn prim(&self, path: &str) -> Option<Prim<'a>> {
        self.file.stage.prim(&Path::parse(path).ok()?)
    }

    fn add_skeletons(
        &mut self,
        placed: &[&'a PlacedSkeleton],
        plans: &[ClipPlan],
    ) -> Result<(), sinew_stage::Error> {
        for (i, placed) in placed.iter().enumerate() {
            let space = match self.prim(&placed.path) {
                Some(prim) => self.builder.space_unless_identity(prim)?,
                None => None,
            };
            let skeleton = placed.instance.skeleton();
            let mut moved = vec![false; skeleton.joints().len()];
            let parts = plans.iter().flat_map(|p| &p.parts);
            for (_, animation) in parts.filter(|(s, _)| *s == i) {
                let mapper = sinew::skel::AnimMapper::new(&animation.joints, skeleton.joints());
                mapper
                    .targets()
                    .flatten()
                    .for_each(|joint| moved[joint] = true);
            }
            let joints = JointNodes::new(
                &mut self.builder,
                skeleton,
                space,
                &moved,
                &mut self.warnings,
            );
            self.joints.push(joints);
        }
        Ok(())
    }

    /// Adds the nodes that show a mesh.
    fn add_mesh(&mut self, mesh: &'a DrawnMesh) -> Result<(), sinew_stage::Error> {
        let name = name_of(&mesh.path);
        if let Some(binding) = mesh.binding
            && mesh.instances.is_empty()
        {
            match self.add_bound(mesh, binding) {
                Ok(Some(node)) => {
                    self.builder.nodes[node].name = name.to_owned();
                    return Ok(());
                }
                Ok(None) => {}
                Err(invalid) => {
                    let message = format!("it is written at rest: {}", invalid.brief());
                    let code = invalid.code.unwrap_or("not-skinned");
                    self.warnings.push(Warning::new(code, &mesh.path, message));
                }
            }
        }
        let shapes = match mesh.binding {
            Some(binding) => self.shapes(self.scene.bound(binding)),
            None => Vec::new(),
        };
        let Some(index) = self.mesh(mesh, None, &shapes) else {
            return Ok(());
        };
        let node = match self.prim(&mesh.path).filter(|_| mesh.instances.is_empty()) {
            Some(prim) => self.own_node(prim)?,
            None => self.instance(mesh),
        };
        self.builder.nodes[node].mesh = Some(index);
        if let (Some(binding), false) = (mesh.binding, shapes.is_empty()) {
            self.show(binding, node, &shapes);
        }
        Ok(())
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
            return self.builder.add_moving(name, None, times, world);
        }
        let world = mesh.world_from_prim(self.clock.rest());
        self.builder.push(name, None, local_transform(&world))
    }

    /// Adds the node of a prim with influences; `None` if it only blends.
    fn add_bound(&mut self, mesh: &'a DrawnMesh, binding: usize) -> Result<Option<usize>, Invalid> {
        let bound = self.scene.bound(binding);
        let skin = bound.skin(self.clock.rest())?;
        let Some(influences) = skin.influences() else {
            return Ok(None);
        };
        let geom_bind = bound.binding().geom_bind.at(self.clock.rest());
        let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
        let instance = bound.binding().instance;
        let shapes = self.shapes(bound);
        if influences.interpolation() == InfluenceInterpolation::Constant
            && let Some(joint) = whole_joint(&skin)
        {
            let joints = &self.joints[instance];
            let inverse = joints.skeleton.inverse_bind()?;
            let (parent, local) = match skin.skeleton_joint(joint) {
                Some(joint) => {
                    let joint = joint as usize;
                    (Some(joints.nodes[joint]), inverse[joint] * geom_bind)
                }
                None => (joints.space, geom_bind),
            };
            let Some(index) = self.mesh(mesh, None, &shapes) else {
                return Ok(None);
            };
            let node = self.builder.push("", parent, local_transform(&local));
            self.builder.nodes[node].mesh = Some(index);
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
        let Some(index) = self.mesh(mesh, Some(&points), &shapes) else {
            return Ok(None);
        };
        let rest = sinew_animate::asset::LocalTransform::default();
        let node = self.builder.push("", None, rest);
        self.builder.nodes[node].mesh = Some(index);
        self.builder.nodes[node].skin = Some(asset_skin);
        self.show(binding, node, &shapes);
        Ok(Some(node))
    }

    /// The blend shapes of a bound prim that are whole.
    fn shapes(&self, bound: BoundSkin<'_>) -> Vec<Channel> {
        let channels = bound.binding().shapes.iter().enumerate();
        channels
            .filter_map(|(index, channel)| match &channel.shape {
                Some(Ok(shape)) => Some(Channel {
                    index,
                    token: channel.token.clone(),
                    shape: shape.clone(),
                }),
                _ => None,
            })
            .collect()
    }

    /// The index of the asset's mesh; `None` if it has no triangles.
    fn mesh(
        &mut self,
        mesh: &'a DrawnMesh,
        influences: Option<&PointInfluences>,
        shapes: &[Channel],
    ) -> Option<usize> {
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
        };
        if let Some(known) = self.meshes.get(&key) {
            return Some(*known);
        }
        let shapes: Vec<(String, Arc<BlendShape>)> = shapes
            .iter()
            .map(|c| (c.token.clone(), c.shape.clone()))
            .collect();
        let inputs = MeshInputs {
            mesh,
            time: self.clock.rest(),
            influences,
            shapes: &shapes,
            parts,
        };
        let made = match meshes::make(&inputs, name_of(&mesh.path), &mut self.warnings) {
            Ok(made) => made,
            Err(invalid) => {
                let code = invalid.code.unwrap_or("mesh-left-out");
                let message = format!("it is left out: {}", invalid.brief());
                self.warnings.push(Warning::new(code, &mesh.path, message));
                return None;
            }
        };
        if made.mesh.primitives.is_empty() {
            return None;
        }
        self.asset.meshes.push(made.mesh);
        self.meshes.insert(key, self.asset.meshes.len() - 1);
        Some(self.asset.meshes.len() - 1)
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

    /// The node in a prim's space; one without a transform if that is the world.
    fn own_node(&mut self, prim: Prim<'a>) -> Result<usize, sinew_stage::Error> {
        Ok(match self.builder.space(prim)? {
            Some(node) => node,
            None => {
                let rest = sinew_animate::asset::LocalTransform::default();
                self.builder.push(prim.name(), None, rest)
            }
        })
    }

    fn add_clips(&mut self, plans: &[ClipPlan]) {
        if !self.builder.tracks.is_empty() && !plans.iter().any(|p| p.is_stage) {
            self.asset.clips.push(AssetClip {
                name: clips::STAGE.to_owned(),
                tracks: std::mem::take(&mut self.builder.tracks),
                ..AssetClip::default()
            });
        }
        for plan in plans {
            let mut tracks: Vec<Track> = Vec::new();
            for (skeleton, animation) in &plan.parts {
                let joints = &self.joints[*skeleton];
                tracks.extend(joints.tracks(animation, &self.clock, &mut self.warnings));
                for (binding, node, channels) in &self.shown {
                    let binding = &self.scene.bindings[*binding];
                    if binding.instance == *skeleton {
                        let node = (*node, channels.as_slice());
                        let skeleton = &joints.skeleton;
                        tracks.extend(clips::weights_track(
                            binding,
                            skeleton,
                            animation,
                            node,
                            &self.clock,
                        ));
                    }
                }
            }
            if plan.is_stage {
                tracks.append(&mut self.builder.tracks);
            }
            if tracks.is_empty() {
                let message = "it moves nothing: left out";
                self.warnings
                    .push(Warning::new("clip-empty", &plan.name, message));
                continue;
            }
            self.asset.clips.push(AssetClip {
                name: plan.name.clone(),
                tracks,
                ..AssetClip::default()
            });
        }
    }

    fn finish(mut self) -> Asset {
        let name = self.builder.only_root().map(|p| p.name().to_owned());
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
        self.asset.scenes = vec![AssetScene {
            name: name.unwrap_or_default(),
            roots: roots.clone(),
            ..AssetScene::default()
        }];
        self.asset.default_scene = Some(0);
        self.asset.roots = roots;
        self.asset.nodes = nodes;
        self.asset.materials = self.materials.materials;
        self.asset.images = self.materials.images.images;
        self.asset.warnings = self.geometry.warnings.clone();
        self.asset
            .warnings
            .append(&mut self.materials.images.warnings);
        self.asset.warnings.append(&mut self.warnings);
        self.asset
    }
}

/// A blend shape of a prim: its index in skel:blendShapes, its token and what it does.
struct Channel {
    index: usize,
    token: String,
    shape: Arc<BlendShape>,
}

/// The joint, in the prim's order, that moves a prim with constant influences as a whole.
fn whole_joint(skin: &Skin) -> Option<u32> {
    let mut used = skin.influences()?.of_point(0).filter(|(_, w)| *w != 0.0);
    let (joint, weight) = used.next()?;
    ((weight - 1.0).abs() <= WHOLE && used.next().is_none()).then_some(joint)
}

/// The influences of all points on the Skeleton's joints, and whether `unmapped` is among them.
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
        for (joint, weight) in influences.of_point(point) {
            let joint = skin.skeleton_joint(joint);
            has_unmapped |= joint.is_none() && weight != 0.0;
            out.joints.push(match joint {
                Some(joint) => joint,
                None if weight == 0.0 => 0,
                None => unmapped,
            });
            out.weights.push(weight);
        }
    }
    (out, has_unmapped)
}
