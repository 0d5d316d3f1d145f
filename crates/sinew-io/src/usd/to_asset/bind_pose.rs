//! Skinned meshes in the pose in which their joints are bound, for programs that skin them by
//! matrices of their own, such as those of a bone texture.
//!
//! All meshes share one skin. Their points are placed: the transform from prim space to the bind
//! pose, geomBindTransform included, is applied to them.

use glam::{DMat4, Vec3};

use super::nodes::local_transform;
use super::{AssetOptions, Maker, MeshInputs, PointInfluences, point_influences};
use crate::error::{Error, Result};
use crate::usd::file::UsdFile;
use sinew::error::Invalid;
use sinew::math;
use sinew::scene::Scene;
use sinew_animate::asset::{Asset, AssetSkin, Axis, LocalTransform, Node};

/// A joint of the one skin of a bind pose.
#[derive(Clone, Debug)]
pub struct BindPoseJoint {
    /// Name of its node.
    pub name: String,
    /// Index of its parent, which is less than its own; `None` for a root.
    pub parent: Option<usize>,
    /// The joint's place in the bind pose, in the space of the asset: right-handed, Y up, metres.
    /// It has to be invertible.
    pub asset_from_joint: DMat4,
}

/// The joints that move a mesh, as indices into the joints of the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindPoseInfluences {
    /// The influences of the prim. Joint 0 of its Skeleton has this index and the others follow.
    /// Joints that the Skeleton lacks have the index after the last joint of the Skeleton.
    OfPrim(usize),
    /// One joint moves all points.
    Whole(usize),
}

/// A mesh that is wanted in a bind pose.
#[derive(Clone, Copy, Debug)]
pub struct BindPoseMesh {
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// From prim space to the space of the asset, in the bind pose.
    pub asset_from_prim: DMat4,
    /// What moves its points.
    pub influences: BindPoseInfluences,
}

/// A mesh in the bind pose.
#[derive(Clone, Debug)]
pub struct PlacedMesh {
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// Number of vertices. Points are split where values of face corners differ.
    pub vertices: usize,
    /// The points of the prim in the bind pose, as the mesh has them.
    pub points: Vec<Vec3>,
    /// Influences per point.
    pub each: usize,
    /// Joints of the skin, `each` per point.
    pub joints: Vec<u32>,
    /// Weights, `each` per point. They add up to 1.
    pub weights: Vec<f32>,
}

/// Meshes in a bind pose.
#[derive(Debug)]
pub struct BindPose {
    /// The meshes with their materials, and one skin with all joints, in metres with Y up. It has
    /// no clips and no morph targets.
    pub asset: Asset,
    /// The meshes that have triangles, in the order in which they were asked for.
    pub meshes: Vec<PlacedMesh>,
}

impl UsdFile {
    /// Makes meshes of this stage in the pose in which their joints are bound. `scene` is this
    /// file's. Rest points and influences are those of the first time. A mesh that cannot be made
    /// is among [`Asset::left_out`].
    ///
    /// # Errors
    /// Values that cannot be decoded; [`Error::Invalid`] for influences that break a rule, and for
    /// a joint whose place is singular.
    pub fn bind_pose(
        &self,
        scene: &Scene,
        joints: &[BindPoseJoint],
        meshes: &[BindPoseMesh],
    ) -> Result<BindPose> {
        let geometry = self.geometry_with_all_uvs(scene)?;
        let mut maker = Maker::new(self, scene, &geometry, AssetOptions::default());
        maker.add_bind_joints(joints)?;
        let mut placed = Vec::with_capacity(meshes.len());
        for mesh in meshes {
            placed.extend(maker.add_bind_mesh(mesh, joints.len())?);
        }
        let mut asset = self.all_read(maker.finish())?;
        // The points are placed already.
        asset.up_axis = Axis::Y;
        asset.meters_per_unit = 1.0;
        Ok(BindPose {
            asset,
            meshes: placed,
        })
    }
}

impl<'a> Maker<'a> {
    /// Adds the nodes of joints and their skin.
    fn add_bind_joints(&mut self, joints: &[BindPoseJoint]) -> Result<(), Invalid> {
        let mut inverse_bind = Vec::with_capacity(joints.len());
        for joint in joints {
            let inverse = math::try_inverse(joint.asset_from_joint).ok_or_else(|| {
                let found = format!("a singular one of {}", joint.name);
                Invalid::new("/", "bindTransforms", "an invertible transform", found)
                    .in_file(self.file.file())
            })?;
            let local = match joint.parent {
                Some(parent) => {
                    let above: &DMat4 = &inverse_bind[parent];
                    *above * joint.asset_from_joint
                }
                None => joint.asset_from_joint,
            };
            // Joints come first, so their nodes have their indices.
            self.builder
                .push(&joint.name, joint.parent, local_transform(&local));
            inverse_bind.push(inverse);
        }
        self.asset.skins.push(AssetSkin {
            name: "Joints".to_owned(),
            joints: (0..joints.len()).collect(),
            inverse_bind,
            ..AssetSkin::default()
        });
        Ok(())
    }

    /// Adds a mesh; `None` if it has no triangles.
    fn add_bind_mesh(
        &mut self,
        asked: &BindPoseMesh,
        joints: usize,
    ) -> Result<Option<PlacedMesh>, Error> {
        let mut drawn = self.geometry.meshes.iter();
        let drawn = drawn.find(|m| m.binding == Some(asked.binding) && m.instances.is_empty());
        let Some(mesh) = drawn else {
            return Ok(None);
        };
        let rest = self.clock.rest();
        let bound = self.scene.bound(asked.binding);
        let skin = bound.skin(rest)?;
        let influences = match asked.influences {
            BindPoseInfluences::OfPrim(first) => {
                let (mut all, _) = point_influences(&skin, skin.joint_count() as u32);
                all.joints.iter_mut().for_each(|j| *j += first as u32);
                all
            }
            BindPoseInfluences::Whole(joint) => PointInfluences {
                each: 1,
                joints: vec![joint as u32; skin.points().len()],
                weights: vec![1.0; skin.points().len()],
            },
        };
        if let Some(joint) = influences.joints.iter().find(|j| **j as usize >= joints) {
            let path = &mesh.path;
            let expected = format!("joints below {joints}");
            let e = Invalid::new(
                path,
                "primvars:skel:jointIndices",
                expected,
                joint.to_string(),
            );
            return Err(e.in_file(self.file.file()).into());
        }
        let parts = self.parts(mesh);
        // Programs draw what joints move as it is, whether or not they mirror it.
        let turned = self.is_turned(mesh, &DMat4::IDENTITY)?;
        let made = self.make(&MeshInputs {
            mesh,
            time: rest,
            influences: Some(&influences),
            shapes: &[],
            parts,
            turned,
        });
        let Some(mut made) = made else {
            return Ok(None);
        };
        let place = |p: &Vec3| {
            asked
                .asset_from_prim
                .transform_point3(p.as_dvec3())
                .as_vec3()
        };
        let normal = math::normal_matrix(asked.asset_from_prim);
        for primitive in &mut made.mesh.primitives {
            primitive.points.iter_mut().for_each(|p| *p = place(p));
            for n in &mut primitive.normals {
                *n = (normal * n.as_dvec3()).normalize_or_zero().as_vec3();
            }
        }
        let name = made.mesh.name.clone();
        let node = self.builder.push(&name, None, LocalTransform::default());
        let node: &mut Node = &mut self.builder.nodes[node];
        node.mesh = Some(self.asset.meshes.len());
        node.skin = Some(0);
        let vertices = made.mesh.primitives.iter().map(|p| p.points.len()).sum();
        self.asset.meshes.push(made.mesh);
        Ok(Some(PlacedMesh {
            binding: asked.binding,
            vertices,
            points: skin.points().iter().map(place).collect(),
            each: influences.each,
            joints: influences.joints,
            weights: influences.weights,
        }))
    }
}
