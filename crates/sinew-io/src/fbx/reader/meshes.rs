//! Meshes, the nodes that have them, and the faces of each material.

use std::collections::HashMap;
use std::rc::Rc;

use glam::{DMat4, Vec2, Vec3, Vec4};

use super::load::Budget;
use super::nodes::{Nodes, matrix, uv, vec3, vec4};
use super::skins::{Channel, MeshSkin, Property, channels};
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{AssetSkin, Faces, Mesh, Primitive};

/// Meshes and skins of the whole file.
#[derive(Default)]
pub struct Meshes {
    pub meshes: Vec<Mesh>,
    pub skins: Vec<AssetSkin>,
    /// Blend channels of each mesh, in the order of its targets.
    pub channels: Vec<Vec<MeshChannel>>,
    pub warnings: Vec<Warning>,
}

/// A blend channel as clips see it.
pub struct MeshChannel {
    /// The properties that animate it, in percent; the first one that has keys counts.
    pub percents: Vec<Property>,
    /// Weight that counts as 1.
    pub full: f64,
    /// At rest.
    pub weight: f64,
}

/// A mesh that some node has already.
#[derive(Clone, Copy)]
struct Known {
    mesh: usize,
    /// Some points have no influences and go with the node, so that each node has a skin of its
    /// own.
    has_rigid_points: bool,
    /// The skin that nodes share otherwise.
    skin: Option<usize>,
}

struct Reader<'a> {
    out: Meshes,
    /// By ufbx's mesh.
    skins: HashMap<u32, Option<Rc<MeshSkin<'a>>>>,
    /// By ufbx's mesh and the materials that a node gives it.
    known: HashMap<(u32, Vec<u32>), Known>,
}

/// Reads the meshes of all nodes, and hands them to those.
pub fn read(
    scene: &ufbx::Scene,
    nodes: &mut Nodes,
    budget: &mut Budget,
) -> Result<Meshes, Invalid> {
    let mut reader = Reader {
        out: Meshes::default(),
        skins: HashMap::new(),
        known: HashMap::new(),
    };
    for node in &scene.nodes {
        if let (Some(mesh), Some(index)) = (&node.mesh, nodes.index(node)) {
            reader.read_node(node, mesh, index, nodes, budget)?;
        }
    }
    Ok(reader.out)
}

impl<'a> Reader<'a> {
    fn read_node(
        &mut self,
        node: &ufbx::Node,
        mesh: &'a ufbx::Mesh,
        index: usize,
        nodes: &mut Nodes,
        budget: &mut Budget,
    ) -> Result<(), Invalid> {
        // Instances of a mesh may have materials of their own.
        let owner = match &node.parent {
            Some(parent) if node.is_geometry_transform_helper => parent,
            _ => node,
        };
        let materials = if owner.materials.is_empty() {
            &mesh.materials
        } else {
            &owner.materials
        };
        let materials = materials.into_iter().map(|m| m.element.typed_id).collect();
        let key = (mesh.element.typed_id, materials);
        let skin = self.skin(mesh, nodes);
        let mut known = match self.known.get(&key) {
            Some(known) => *known,
            None => self.read_mesh(mesh, skin.as_deref(), &key.1, budget)?,
        };
        nodes.nodes[index].mesh = Some(known.mesh);
        if let Some(skin) = skin {
            if known.has_rigid_points || known.skin.is_none() {
                let joints = skin.rigid_joint() as usize + 1;
                budget.spend::<(usize, DMat4)>(joints, &node.element.name)?;
                let place = matrix(&node.geometry_to_node);
                let rigid = known.has_rigid_points.then_some((index, place));
                known.skin = Some(self.out.skins.len());
                self.out.skins.push(skin.with_rigid(rigid));
            }
            nodes.nodes[index].skin = known.skin;
        }
        self.known.insert(key, known);
        Ok(())
    }

    fn skin(&mut self, mesh: &'a ufbx::Mesh, nodes: &mut Nodes) -> Option<Rc<MeshSkin<'a>>> {
        let warnings = &mut self.out.warnings;
        let read = || {
            let name = &*mesh.element.name;
            let mut warn = |code, message: &str| warnings.push(Warning::new(code, name, message));
            if mesh.skin_deformers.len() > 1 {
                warn(
                    "fbx-several-skins",
                    "the mesh has more than one skin: the first one is used",
                );
            }
            if !mesh.cache_deformers.is_empty() {
                warn(
                    "fbx-geometry-cache",
                    "the mesh has a geometry cache, which is not read",
                );
            }
            let deformer = mesh.skin_deformers.into_iter().next()?;
            if matches!(
                deformer.skinning_method,
                ufbx::SkinningMethod::DualQuaternion | ufbx::SkinningMethod::BlendedDqLinear
            ) {
                let message = "dual quaternion skinning is converted to linear skinning";
                warn("fbx-dual-quaternion", message);
            }
            let skin = MeshSkin::new(deformer, nodes);
            if skin.is_none() {
                warn(
                    "fbx-skin-ignored",
                    "the skin has no joints: the mesh is not skinned",
                );
            }
            skin.map(Rc::new)
        };
        let skin = self.skins.entry(mesh.element.typed_id);
        skin.or_insert_with(read).clone()
    }

    fn read_mesh(
        &mut self,
        mesh: &'a ufbx::Mesh,
        skin: Option<&MeshSkin>,
        materials: &[u32],
        budget: &mut Budget,
    ) -> Result<Known, Invalid> {
        let name = &*mesh.element.name;
        let channels = channels(mesh);
        budget.spend::<u32>(mesh.vertices.len(), name)?;
        let mut source = Source {
            mesh,
            skin,
            channels: &channels,
            local: vec![u32::MAX; mesh.vertices.len()],
        };
        let mut primitives = Vec::new();
        for part in &mesh.material_parts {
            budget.spend::<[Vec3; 3]>(part.num_faces, name)?;
            if let Some(mut primitive) = source.primitive(part, budget)? {
                let material = materials.get(part.index as usize);
                primitive.material = material.map(|m| *m as usize);
                primitives.push(primitive);
            }
        }
        let rigid = skin.map(MeshSkin::rigid_joint);
        let known = Known {
            mesh: self.out.meshes.len(),
            has_rigid_points: primitives
                .iter()
                .any(|p| p.joints.iter().any(|j| Some(*j) == rigid)),
            skin: None,
        };
        self.out.meshes.push(Mesh {
            name: name.to_owned(),
            primitives,
            target_names: channels.iter().map(|c| c.name.clone()).collect(),
            weights: channels.iter().map(|c| c.weight as f32).collect(),
            ..Mesh::default()
        });
        let of_clips = channels.iter().map(|c| MeshChannel {
            percents: c.percents.clone(),
            full: c.full,
            weight: c.weight,
        });
        self.out.channels.push(of_clips.collect());
        Ok(known)
    }
}

/// What the primitives of a mesh share.
pub struct Source<'a> {
    pub mesh: &'a ufbx::Mesh,
    pub skin: Option<&'a MeshSkin<'a>>,
    pub channels: &'a [Channel<'a>],
    /// By vertex: the primitive's point, `u32::MAX` where it has none. Always all `u32::MAX`
    /// between primitives.
    pub local: Vec<u32>,
}

/// Faces, and where in the mesh they come from.
struct Corners {
    counts: Vec<u32>,
    /// Points of the primitive.
    indices: Vec<u32>,
    /// Corners of the mesh.
    corners: Vec<u32>,
    /// Vertices of the mesh, one per point.
    vertices: Vec<u32>,
}

impl Source<'_> {
    /// `None` where no face has three corners.
    pub fn primitive(
        &mut self,
        part: &ufbx::MeshPart,
        budget: &mut Budget,
    ) -> Result<Option<Primitive>, Invalid> {
        let corners = self.corners(part);
        if corners.counts.is_empty() {
            return Ok(None);
        }
        let result = self.fill(&corners, budget);
        for vertex in &corners.vertices {
            self.local[*vertex as usize] = u32::MAX;
        }
        result.map(Some)
    }

    fn corners(&mut self, part: &ufbx::MeshPart) -> Corners {
        let mut out = Corners {
            counts: Vec::new(),
            indices: Vec::new(),
            corners: Vec::new(),
            vertices: Vec::new(),
        };
        let faces = part.face_indices.iter();
        for face in faces.filter_map(|f| self.mesh.faces.get(*f as usize)) {
            let range =
                face.index_begin as usize..face.index_begin as usize + face.num_indices as usize;
            let Some(vertices) = self.mesh.vertex_indices.get(range) else {
                continue;
            };
            // Points and lines are faces to FBX.
            if vertices.len() < 3 || vertices.iter().any(|v| *v as usize >= self.local.len()) {
                continue;
            }
            out.counts.push(face.num_indices);
            for (corner, vertex) in (face.index_begin..).zip(vertices) {
                let point = &mut self.local[*vertex as usize];
                if *point == u32::MAX {
                    *point = out.vertices.len() as u32;
                    out.vertices.push(*vertex);
                }
                out.indices.push(*point);
                out.corners.push(corner);
            }
        }
        out
    }

    fn fill(&self, corners: &Corners, budget: &mut Budget) -> Result<Primitive, Invalid> {
        let mesh = self.mesh;
        let points = corners.vertices.iter();
        let mut primitive = Primitive {
            points: points.map(|v| vec3(mesh.vertices[*v as usize])).collect(),
            normals: normals(&mesh.vertex_normal, &corners.corners),
            colors: colors(&mesh.vertex_color, &corners.corners),
            corner_data: true,
            ..Primitive::default()
        };
        for set in &mesh.uv_sets {
            budget.spend::<Vec2>(corners.corners.len(), &mesh.element.name)?;
            primitive.uvs.push(uvs(&set.vertex_uv, &corners.corners));
        }
        self.fill_influences(corners, &mut primitive, budget)?;
        for channel in self.channels {
            primitive.targets.push(channel.target(&self.local, budget)?);
        }
        join_corners(&mut primitive, corners);
        primitive.faces = Faces {
            counts: corners
                .counts
                .iter()
                .any(|c| *c != 3)
                .then(|| corners.counts.clone()),
            indices: corners.indices.clone(),
        };
        Ok(primitive)
    }

    fn fill_influences(
        &self,
        corners: &Corners,
        primitive: &mut Primitive,
        budget: &mut Budget,
    ) -> Result<(), Invalid> {
        let Some(skin) = self.skin else {
            return Ok(());
        };
        let rows: Vec<Vec<(u32, f32)>> = corners
            .vertices
            .iter()
            .map(|v| {
                let row = skin.influences(*v);
                if row.is_empty() {
                    vec![(skin.rigid_joint(), 1.0)]
                } else {
                    row
                }
            })
            .collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        budget.spend::<(u32, f32)>(width * rows.len(), &self.mesh.element.name)?;
        primitive.influences = width;
        for row in rows {
            let padding = std::iter::repeat_n((0, 0.0), width - row.len());
            for (joint, weight) in row.into_iter().chain(padding) {
                primitive.joints.push(joint);
                primitive.weights.push(weight);
            }
        }
        Ok(())
    }
}

/// Values at corners; none where the mesh has none.
fn at_corners<T: Copy, U>(
    exists: bool,
    values: &[T],
    indices: &[u32],
    corners: &[u32],
    convert: impl Fn(T) -> U,
) -> Vec<U> {
    if !exists {
        return Vec::new();
    }
    let value = |corner: &u32| {
        values
            .get(*indices.get(*corner as usize)? as usize)
            .copied()
    };
    let found: Option<Vec<U>> = corners.iter().map(|c| value(c).map(&convert)).collect();
    found.unwrap_or_default()
}

fn normals(a: &ufbx::VertexVec3, corners: &[u32]) -> Vec<Vec3> {
    at_corners(a.exists, &a.values, &a.indices, corners, vec3)
}

fn uvs(a: &ufbx::VertexVec2, corners: &[u32]) -> Vec<Vec2> {
    at_corners(a.exists, &a.values, &a.indices, corners, uv)
}

fn colors(a: &ufbx::VertexVec4, corners: &[u32]) -> Vec<Vec4> {
    at_corners(a.exists, &a.values, &a.indices, corners, vec4)
}

/// FBX writes nearly all data per corner; where no point has two values, per point says the same.
fn join_corners(primitive: &mut Primitive, corners: &Corners) {
    // A corner for each point.
    let mut first = vec![usize::MAX; corners.vertices.len()];
    for (corner, point) in corners.indices.iter().enumerate() {
        let lowest = &mut first[*point as usize];
        *lowest = (*lowest).min(corner);
    }
    let is_split = |corner: usize, point: usize| {
        let other = first[point];
        let differ = |v: &[Vec3]| v.get(corner) != v.get(other);
        differ(&primitive.normals)
            || primitive.colors.get(corner) != primitive.colors.get(other)
            || primitive
                .uvs
                .iter()
                .any(|uv| uv.get(corner) != uv.get(other))
    };
    let mut indices = corners.indices.iter().enumerate();
    if indices.any(|(corner, point)| is_split(corner, *point as usize)) {
        return;
    }
    fn pick<T: Copy>(values: &mut Vec<T>, first: &[usize]) {
        if !values.is_empty() {
            *values = first.iter().map(|corner| values[*corner]).collect();
        }
    }
    pick(&mut primitive.normals, &first);
    pick(&mut primitive.colors, &first);
    for uvs in &mut primitive.uvs {
        pick(uvs, &first);
    }
    primitive.corner_data = false;
}
