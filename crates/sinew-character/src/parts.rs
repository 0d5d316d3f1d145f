//! Cuts a mesh into parts of one material each, for hosts with vertex buffers of their own.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use glam::{Vec2, Vec3, Vec4};
use sinew::Invalid;
use sinew::mesh::RenderMesh;
use sinew::skel::{
    BlendShape, Inbetween, InfluenceInterpolation, JointInfluences, MeshTopology, RestNormals, Skin,
};

/// A mesh, or the part of one that has one material.
pub(crate) struct MeshPart {
    /// Its vertices. Their points and corners are those of the skin.
    pub render: RenderMesh,
    pub indices: Vec<u32>,
    /// Ranges of the indices, with the index of the material of each.
    pub sections: Vec<(Option<usize>, Range<u32>)>,
    pub skin: Skin,
    /// The faces that smooth normals of its vertices are computed from.
    pub topology: Arc<MeshTopology>,
}

impl MeshPart {
    pub fn uvs(&self) -> Vec<Vec2> {
        let none = || vec![Vec2::ZERO; self.render.points.len()];
        self.render.uvs.clone().unwrap_or_else(none)
    }

    pub fn colors(&self) -> Vec<Vec4> {
        let render = &self.render;
        let of_vertex = |v: usize| {
            let color = render.colors.as_ref().map_or(Vec3::ONE, |c| c[v]);
            color.extend(render.opacities.as_ref().map_or(1.0, |o| o[v]))
        };
        (0..render.points.len()).map(of_vertex).collect()
    }

    /// Cuts a mesh into one part for each section. A part has the points that it draws, and those of
    /// their other faces if smooth normals are computed from these.
    ///
    /// # Errors
    /// Parts that have much more points together than the mesh, because many of them meet at points
    /// with many faces.
    pub fn cut(self, prim: &str) -> Result<Vec<Self>, Invalid> {
        if self.sections.len() < 2 {
            return Ok(vec![self]);
        }
        let whole = Whole::new(prim, &self);
        // A face of a grid has 4 points, and 16 with those of the faces around it.
        let most = 32 * self.render.points.len() + 65_536;
        let mut points = 0;
        let mut out = Vec::with_capacity(self.sections.len());
        for (material, range) in &self.sections {
            let drawn = &self.indices[range.start as usize..range.end as usize];
            let part = whole.part(*material, drawn)?;
            points += part.skin.points().len();
            if points > most {
                let expected = format!("parts of one material with at most {most} points together");
                let found = format!("more in {} of {}", out.len() + 1, self.sections.len());
                return Err(Invalid::new(prim, "material:binding", expected, found));
            }
            out.push(part);
        }
        Ok(out)
    }
}

/// A mesh, indexed by point.
struct Whole<'a> {
    prim: &'a str,
    mesh: &'a MeshPart,
    /// A vertex of each point.
    vertex_of: HashMap<u32, u32>,
    /// Point and face of each corner that is drawn, sorted; none if the normals are the file's own.
    faces: Vec<(u32, u32)>,
    /// For each blend shape with indices: point and entry of each offset, sorted.
    entries: Vec<Vec<(u32, u32)>>,
}

/// All pairs that begin with a number, of a sorted list.
fn beginning_with(pairs: &[(u32, u32)], first: u32) -> impl Iterator<Item = u32> + '_ {
    let start = pairs.partition_point(|(a, _)| *a < first);
    let own = pairs[start..].iter().take_while(move |(a, _)| *a == first);
    own.map(|(_, b)| *b)
}

fn sorted(pairs: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let mut out: Vec<_> = pairs.collect();
    out.sort_unstable();
    out
}

impl<'a> Whole<'a> {
    fn new(prim: &'a str, mesh: &'a MeshPart) -> Self {
        let is_smooth = mesh.skin.normals().is_none();
        let topology = &mesh.topology;
        let holes: BTreeSet<u32> = topology.holes().iter().copied().collect();
        let faces = (0..topology.face_count() as u32)
            .filter(|face| is_smooth && !holes.contains(face))
            .flat_map(|face| {
                let points = &topology.corner_points()[topology.corners(face as usize)];
                points.iter().map(move |point| (*point, face))
            });
        let shapes = mesh.skin.shapes().iter();
        let entries = shapes.map(|shape| {
            let indices = shape.as_ref().and_then(|s| s.point_indices());
            let numbered = indices.unwrap_or_default().iter().zip(0u32..);
            sorted(numbered.map(|(point, entry)| (*point, entry)))
        });
        Self {
            prim,
            vertex_of: mesh.render.points.iter().copied().zip(0..).collect(),
            faces: sorted(faces),
            entries: entries.collect(),
            mesh,
        }
    }

    /// The part that draws some vertices.
    fn part(&self, material: Option<usize>, drawn: &[u32]) -> Result<MeshPart, Invalid> {
        let (mut vertices, mut points) = (Kept::default(), Kept::default());
        let indices: Vec<u32> = drawn.iter().map(|vertex| vertices.keep(*vertex)).collect();
        let point_of = |vertex: &u32| self.mesh.render.points[*vertex as usize];
        for vertex in &vertices.all {
            points.keep(point_of(vertex));
        }
        let faces: BTreeSet<u32> = points
            .all
            .iter()
            .flat_map(|point| beginning_with(&self.faces, *point))
            .collect();
        let topology = &self.mesh.topology;
        let (mut counts, mut corners) = (Vec::with_capacity(faces.len()), Vec::new());
        for face in faces {
            let of_face = &topology.corner_points()[topology.corners(face as usize)];
            counts.push(of_face.len() as i32);
            for point in of_face {
                let known = points.all.len();
                corners.push(points.keep(*point) as i32);
                // Smooth normals are computed from results.
                if points.all.len() > known
                    && let Some(vertex) = self.vertex_of.get(point)
                {
                    vertices.keep(*vertex);
                }
            }
        }
        let count = points.all.len();
        let left_handed = topology.is_left_handed();
        let topology = MeshTopology::new(self.prim, &counts, &corners, left_handed, count)?;
        let of_vertices: Vec<u32> = vertices
            .all
            .iter()
            .map(|vertex| points.keep(point_of(vertex)))
            .collect();
        let skin = self.skin(&points.all, &vertices.all, &of_vertices)?;
        let mut render = of_vertices_only(&self.mesh.render, &vertices.all);
        if skin.normal_points().is_some() {
            render.corners = (0..of_vertices.len() as u32).collect();
        }
        render.points = of_vertices;
        Ok(MeshPart {
            render,
            sections: vec![(material, 0..indices.len() as u32)],
            indices,
            skin,
            topology: Arc::new(topology),
        })
    }

    /// The skin of some points. Normals of face corners become those of `vertices`, whose points are
    /// `of_vertices`.
    fn skin(&self, points: &[u32], vertices: &[u32], of_vertices: &[u32]) -> Result<Skin, Invalid> {
        let skin = &self.mesh.skin;
        let corners = &self.mesh.render.corners;
        let normals = skin.normals().map(|all| match skin.normal_points() {
            None => RestNormals::per_point(Arc::new(select(all, points))),
            Some(_) => RestNormals {
                values: Arc::new(select(all, &select(corners, vertices))),
                points: Some(Arc::new(of_vertices.to_vec())),
            },
        });
        let influences = skin.influences().map(|all| match all.interpolation() {
            InfluenceInterpolation::Constant => Ok(all.clone()),
            InfluenceInterpolation::Vertex => {
                let own = || points.iter().flat_map(|p| all.of_point(*p as usize));
                let joints: Vec<i32> = own().map(|(joint, _)| joint as i32).collect();
                JointInfluences::new(
                    self.prim,
                    all.interpolation(),
                    all.count(),
                    &joints,
                    own().map(|(_, weight)| weight).collect(),
                    points.len(),
                    skin.own_joint_count(),
                )
            }
        });
        let joint_map = skin.has_own_joints().then(|| {
            let joints = 0..skin.own_joint_count() as u32;
            joints.map(|joint| skin.skeleton_joint(joint)).collect()
        });
        let shapes = skin.shapes().iter().zip(&self.entries);
        let shapes = shapes.map(|(shape, entries)| {
            let shape = shape.as_ref();
            shape.map(|s| self.shape(s, entries, points))
        });
        let out = Skin::new(
            self.prim,
            Arc::new(select(skin.points(), points)),
            normals,
            influences.transpose()?,
            joint_map,
            skin.joint_count(),
            shapes.collect(),
        )?;
        Ok(out.with_method(skin.method()))
    }

    fn shape(&self, shape: &BlendShape, entries: &[(u32, u32)], points: &[u32]) -> Arc<BlendShape> {
        // The new point and the old entry of each offset that stays.
        let kept: Vec<(i64, u32)> = match shape.point_indices() {
            None => (0..).zip(points.iter().copied()).collect(),
            Some(_) => (0..)
                .zip(points)
                .flat_map(|(new, old)| beginning_with(entries, *old).map(move |e| (new, e)))
                .collect(),
        };
        let (indices, entries): (Vec<i64>, Vec<u32>) = kept.into_iter().unzip();
        let own = |all: &Vec<Vec3>| match all.is_empty() {
            true => Vec::new(),
            false => select(all, &entries),
        };
        let (mut primary, mut others) = (None, Vec::new());
        for sub in shape.sub_shapes() {
            let offsets = own(&sub.offsets);
            let normal_offsets = sub.normal_offsets.as_ref().map(own);
            if sub.weight == 1.0 && primary.is_none() {
                primary = Some((offsets, normal_offsets));
            } else {
                others.push(Inbetween {
                    name: String::new(),
                    weight: Some(sub.weight),
                    offsets,
                    normal_offsets,
                });
            }
        }
        let (offsets, normal_offsets) = primary.unwrap_or_default();
        // What is wrong with the shape was said of the whole.
        let mut said = Vec::new();
        let count = points.len();
        let path = shape.path();
        let indices = Some(&indices[..]);
        let normals = normal_offsets;
        let shape = BlendShape::new(path, indices, offsets, normals, others, count, &mut said);
        Arc::new(shape)
    }
}

/// Numbers in the order in which they were first seen.
#[derive(Default)]
struct Kept {
    all: Vec<u32>,
    index: HashMap<u32, u32>,
}

impl Kept {
    /// The new number of an old one.
    fn keep(&mut self, old: u32) -> u32 {
        *self.index.entry(old).or_insert_with(|| {
            self.all.push(old);
            self.all.len() as u32 - 1
        })
    }
}

fn select<T: Copy>(all: &[T], which: &[u32]) -> Vec<T> {
    which.iter().map(|i| all[*i as usize]).collect()
}

/// Some vertices of a mesh, without its triangles.
fn of_vertices_only(render: &RenderMesh, vertices: &[u32]) -> RenderMesh {
    RenderMesh {
        corners: select(&render.corners, vertices),
        normals: render.normals.as_ref().map(|n| select(n, vertices)),
        uvs: render.uvs.as_ref().map(|n| select(n, vertices)),
        colors: render.colors.as_ref().map(|n| select(n, vertices)),
        opacities: render.opacities.as_ref().map(|n| select(n, vertices)),
        ..RenderMesh::default()
    }
}

#[cfg(test)]
mod tests {
    use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
    use sinew::mesh::RenderInputs;
    use sinew::skel::{
        BlendShapeDef, InbetweenDef, Pose, PrimvarInterpolation, PrimvarSlice, Skeleton,
        SkinBuilder,
    };

    use super::*;

    /// Squares in a row and in a column, whose points two blend shapes move.
    fn points(side: usize) -> Vec<Vec3> {
        let of = |i: usize| {
            let (x, y) = (i % (side + 1), i / (side + 1));
            Vec3::new(x as f32, y as f32, (x * x + 3 * y) as f32 * 0.1)
        };
        (0..(side + 1) * (side + 1)).map(of).collect()
    }

    fn builder(points: &[Vec3]) -> SkinBuilder {
        let last = points.len() as u32 - 1;
        let lift = |p: &Vec3| Vec3::Z * p.x;
        SkinBuilder::new("Grid", points.to_vec())
            .shape(BlendShapeDef {
                name: "Dense".into(),
                offsets: points.iter().map(lift).collect(),
                ..Default::default()
            })
            .shape(BlendShapeDef {
                name: "Sparse".into(),
                // The first point twice: its offsets add up.
                point_indices: Some(vec![0, last, 0]),
                offsets: vec![Vec3::X, Vec3::Y, Vec3::Z],
                inbetweens: vec![InbetweenDef {
                    name: "Half".into(),
                    weight: 0.5,
                    offsets: vec![Vec3::Y, Vec3::X, Vec3::Y],
                    normal_offsets: None,
                }],
                ..Default::default()
            })
    }

    fn whole(skin: Skin, topology: MeshTopology, normals: Option<&[Vec3]>) -> MeshPart {
        let corner = PrimvarInterpolation::FaceVarying;
        let inputs = RenderInputs {
            points: skin.points(),
            normals: normals.map(|values| PrimvarSlice::new(corner, values)),
            ..RenderInputs::default()
        };
        let render = RenderMesh::new("Grid", &topology, &inputs).unwrap();
        let of_faces: Vec<Option<usize>> = (0..topology.face_count()).map(Some).collect();
        let (indices, sections) = render.sections(&of_faces);
        MeshPart {
            render,
            indices,
            sections,
            skin,
            topology: Arc::new(topology),
        }
    }

    /// Position and normal of each corner of the triangles.
    fn results(part: &MeshPart) -> Vec<(Vec3, Vec3)> {
        let mut skin = PackedSkin::pack("Grid", &part.skin).unwrap();
        if skin.normals().is_none() {
            skin = skin.with_smooth_normals(&part.topology).unwrap();
        }
        let vertices = skin.vertices_of(&part.render);
        let skin = skin.with_vertices(vertices).unwrap();
        let pose = PackedPose::pack(&skin, &Pose::of_shapes(vec![0.75, 0.5])).unwrap();
        let mut points = vec![Vec3::ZERO; skin.output_count()];
        let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
        skin_on_cpu(&skin, &pose, &mut points, Some(&mut normals)).unwrap();
        let of = |vertex: &u32| (points[*vertex as usize], normals[*vertex as usize]);
        part.indices.iter().map(of).collect()
    }

    fn grid(side: usize) -> MeshTopology {
        let row = side as i32 + 1;
        let corners = (0..(side * side) as i32).flat_map(|face| {
            let first = face / side as i32 * row + face % side as i32;
            [first, first + 1, first + row + 1, first + row]
        });
        let corners: Vec<i32> = corners.collect();
        let count = (side + 1) * (side + 1);
        MeshTopology::new("Grid", &vec![4; side * side], &corners, false, count).unwrap()
    }

    #[test]
    fn parts_have_the_points_around_them_and_the_results_of_the_whole() {
        let (side, skeleton) = (
            12,
            Skeleton::from_parents("None", vec![], &[], vec![], None),
        );
        let (topology, skeleton) = (grid(side), skeleton.unwrap());
        let rest = points(side);
        let corners = topology.corner_points().to_vec();
        let normals: Vec<Vec3> = (0..corners.len())
            .map(|c| Vec3::new(c as f32, 1.0, 2.0).normalize())
            .collect();
        let smooth = builder(&rest).build(&skeleton).unwrap();
        let own = builder(&rest).corner_normals(normals.clone(), corners);
        let own = own.build(&skeleton).unwrap();
        for (skin, normals, most) in [(smooth, None, 16), (own, Some(&normals[..]), 4)] {
            let mesh = whole(skin, topology.clone(), normals);
            let expected = results(&mesh);
            let parts = mesh.cut("Grid").unwrap();
            assert_eq!(parts.len(), side * side);
            let mut found = Vec::new();
            for part in &parts {
                assert!(part.skin.points().len() <= most);
                assert!(part.render.points.len() <= most);
                found.extend(results(part));
            }
            assert!(found.iter().all(|(p, n)| p.is_finite() && n.length() > 0.5));
            assert!(found == expected);
        }
    }

    #[test]
    fn parts_that_all_need_the_whole_mesh_are_refused() {
        let (count, skeleton) = (
            1_500,
            Skeleton::from_parents("None", vec![], &[], vec![], None),
        );
        let skin = builder(&points(39)).build(&skeleton.unwrap()).unwrap();
        let fan = (1..=count).flat_map(|i| [0, i, i + 1]);
        let fan: Vec<i32> = fan.collect();
        let counts = vec![3; count as usize];
        let topology = MeshTopology::new("Grid", &counts, &fan, false, 1_600).unwrap();
        let error = whole(skin, topology, None).cut("Grid").err().unwrap();
        assert!(error.to_string().contains("points together"), "{error}");
    }
}
