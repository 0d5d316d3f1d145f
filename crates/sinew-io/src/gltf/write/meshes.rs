//! Meshes: vertices, triangles, influences and morph targets (glTF 2.0, 3.7).

use glam::{Vec2, Vec3, Vec4};
use serde_json::{Map, Value, json};

use super::buffer::BufferBuilder;
use super::materials::Materials;
use crate::vertices::{SplitVertices, bits, merged_influences, offsets_by_point};
use sinew::error::{Invalid, Warning};
use sinew::mesh::FaceTriangles;
use sinew::skel::MeshTopology;
use sinew_animate::asset::{Asset, Mesh, MorphTarget, Primitive};

/// What the sum of f32 weights may differ from 1 by, per weight, for the Khronos validator.
const SUM_TOLERANCE: f64 = 2e-7;

/// Sums further from 1 than this are no rounding: somebody meant something else.
const LOOSE_SUM: f64 = 1e-3;

/// The most influences of a vertex that anybody may ask for.
const MOST_INFLUENCES: usize = 4096;

/// Writes meshes, and counts what it changes.
pub(super) struct MeshWriter<'a> {
    pub asset: &'a Asset,
    pub buffer: &'a mut BufferBuilder,
    pub warnings: &'a mut Vec<Warning>,
    pub materials: &'a Materials,
}

/// A primitive with one value of everything per vertex, and triangles.
struct Vertices {
    /// The point of each vertex; `None` if they are the points.
    points: Option<Vec<u32>>,
    corners: Vec<u32>,
    indices: Vec<u32>,
}

impl Vertices {
    /// Splits the faces of a primitive, if that is needed.
    fn of(primitive: &Primitive, at: &str) -> Result<Self, Invalid> {
        if primitive.faces.counts.is_none() && !primitive.corner_data {
            return Ok(Self {
                points: None,
                corners: Vec::new(),
                indices: primitive.faces.indices.clone(),
            });
        }
        let too_many = || Invalid::new(at, "", "at most 2^31 corners", "more");
        let corners = &primitive.faces.indices;
        let indices: Vec<i32> = corners
            .iter()
            .map(|i| i32::try_from(*i).map_err(|_| too_many()))
            .collect::<Result<_, _>>()?;
        let counts: Vec<i32> = match &primitive.faces.counts {
            Some(counts) => counts
                .iter()
                .map(|i| i32::try_from(*i).map_err(|_| too_many()))
                .collect::<Result<_, _>>()?,
            None => vec![3; corners.len() / 3],
        };
        let topology = MeshTopology::new(at, &counts, &indices, false, primitive.points.len())?;
        let triangles = FaceTriangles::new(at, &topology, &primitive.points)?;
        let split = SplitVertices::new(
            &triangles,
            corners,
            |_| true,
            |_, corner, key| {
                let corner = corner as usize;
                if !primitive.corner_data {
                    return;
                }
                if let Some(n) = primitive.normals.get(corner) {
                    bits(&n.to_array(), key);
                }
                for uv in primitive.uvs.iter().filter_map(|uvs| uvs.get(corner)) {
                    bits(&uv.to_array(), key);
                }
                if let Some(c) = primitive.colors.get(corner) {
                    bits(&c.to_array(), key);
                }
            },
        );
        Ok(Self {
            points: Some(split.points),
            corners: split.corners,
            indices: split.indices,
        })
    }

    /// Values of vertices from values of points.
    fn of_points<T: Copy>(&self, values: &[T]) -> Vec<T> {
        match &self.points {
            Some(points) => points.iter().map(|p| values[*p as usize]).collect(),
            None => values.to_vec(),
        }
    }

    /// Values of vertices from values of points or of face corners.
    fn of_elements<T: Copy>(&self, values: &[T], corner_data: bool) -> Vec<T> {
        match corner_data {
            true => self.corners.iter().map(|c| values[*c as usize]).collect(),
            false => self.of_points(values),
        }
    }
}

impl MeshWriter<'_> {
    /// The JSON of a mesh; `None` if it has no triangles.
    pub fn mesh(&mut self, index: usize, joints: Option<usize>) -> Result<Option<Value>, Invalid> {
        let mesh = &self.asset.meshes[index];
        let mut primitives = Vec::new();
        let mut loose = (0, 0.0f64);
        for (i, primitive) in mesh.primitives.iter().enumerate() {
            let at = format!("meshes[{index}].primitives[{i}]");
            let vertices = Vertices::of(primitive, &at)?;
            if vertices.indices.is_empty() {
                continue;
            }
            let written = self.primitive(mesh, primitive, &vertices, (joints, &at), &mut loose)?;
            primitives.push(written);
        }
        if loose.0 > 0 {
            let message = format!(
                "the weights of {} vertices do not add up to 1 (by up to {:.3}): they are divided by their sum",
                loose.0, loose.1
            );
            self.warnings
                .push(Warning::new("weights-not-normalised", &mesh.name, message));
        }
        if primitives.is_empty() {
            return Ok(None);
        }
        let mut out = Map::new();
        if !mesh.name.is_empty() {
            out.insert("name".into(), json!(mesh.name));
        }
        out.insert("primitives".into(), json!(primitives));
        let mut extras = mesh.extras.clone();
        if !mesh.target_names.is_empty() {
            out.insert("weights".into(), json!(mesh.weights));
            // What Blender, three.js and others read the names of morph targets from.
            match &mut extras {
                Some(Value::Object(extras)) => {
                    extras.insert("targetNames".into(), json!(mesh.target_names));
                }
                _ => extras = Some(json!({ "targetNames": mesh.target_names })),
            }
        }
        if let Some(extras) = extras {
            out.insert("extras".into(), extras);
        }
        Ok(Some(Value::Object(out)))
    }

    fn primitive(
        &mut self,
        mesh: &Mesh,
        primitive: &Primitive,
        vertices: &Vertices,
        (joints, at): (Option<usize>, &str),
        loose: &mut (usize, f64),
    ) -> Result<Value, Invalid> {
        let corner_data = primitive.corner_data;
        let points = vertices.of_points(&primitive.points);
        let mut attributes = Map::new();
        let mut add = |name: String, accessor: usize| attributes.insert(name, json!(accessor));
        let has_normals = !primitive.normals.is_empty();
        if has_normals {
            let mut normals = vertices.of_elements(&primitive.normals, corner_data);
            make_unit(&mut normals, &points, &vertices.indices);
            add("NORMAL".into(), self.buffer.add_vec3(&normals));
        }
        let mut has_tangents = false;
        if has_normals && !primitive.tangents.is_empty() {
            let mut tangents = vertices.of_points(&primitive.tangents);
            has_tangents = make_tangents(&mut tangents);
            match has_tangents {
                true => {
                    add("TANGENT".into(), self.buffer.add_vec4(&tangents));
                }
                false => self.warnings.push(Warning::new(
                    "tangents-left-out",
                    &mesh.name,
                    "tangents without a length: left out",
                )),
            }
        }
        let needed = primitive
            .material
            .and_then(|m| self.materials.uv_sets.get(&m));
        let sets = needed.copied().unwrap_or(0).max(primitive.uvs.len());
        for set in 0..sets {
            // Sets are numbered without gaps, and a material's sets must be there.
            let uvs = match primitive.uvs.get(set).filter(|uvs| !uvs.is_empty()) {
                None => vec![Vec2::ZERO; points.len()],
                Some(uvs) => vertices.of_elements(uvs, corner_data),
            };
            add(format!("TEXCOORD_{set}"), self.buffer.add_vec2(&uvs));
        }
        if !primitive.colors.is_empty() {
            let colors = vertices.of_elements(&primitive.colors, corner_data);
            let colors: Vec<Vec4> = colors
                .iter()
                .map(|c| c.clamp(Vec4::ZERO, Vec4::ONE))
                .collect();
            let accessor = match colors.iter().all(|c| c.w == 1.0) {
                true => {
                    let rgb: Vec<Vec3> = colors.iter().map(|c| c.truncate()).collect();
                    self.buffer.add_vec3(&rgb)
                }
                false => self.buffer.add_vec4(&colors),
            };
            add("COLOR_0".into(), accessor);
        }
        if let Some(joints) = joints {
            let influences = Influences::of(primitive, joints, at)?;
            loose.0 += influences.loose;
            loose.1 = loose.1.max(influences.off);
            for (set, (joints, weights)) in influences.sets.iter().enumerate() {
                let joints = vertices.of_points(joints);
                let weights = vertices.of_points(weights);
                add(format!("JOINTS_{set}"), self.buffer.add_joints(&joints));
                add(format!("WEIGHTS_{set}"), self.buffer.add_vec4(&weights));
            }
        }
        add("POSITION".into(), self.buffer.add_positions(&points));
        let mut out = Map::new();
        out.insert("attributes".into(), Value::Object(attributes));
        let indices = self.buffer.add_indices(&vertices.indices);
        out.insert("indices".into(), json!(indices));
        if let Some(material) = self
            .materials
            .index_of
            .get(&material_of(primitive, self.asset))
        {
            out.insert("material".into(), json!(material));
        }
        if !primitive.targets.is_empty() {
            let with_normals = has_normals && !corner_data;
            let targets = &primitive.targets;
            // Some readers expect that all targets of a primitive have the same attributes.
            let any = |of: fn(&MorphTarget) -> bool| targets.iter().any(of);
            let normals = with_normals && any(|t| !t.normal_offsets.is_empty());
            let tangents = has_tangents && any(|t| !t.tangent_offsets.is_empty());
            let count = primitive.points.len();
            let mut written = Vec::new();
            for target in targets {
                let mut offsets = |values: &[Vec3], bounded: bool| {
                    let dense = dense(count, target.point_indices.as_deref(), values);
                    json!(
                        self.buffer
                            .add_offsets(&vertices.of_points(&dense), bounded)
                    )
                };
                let mut one = Map::new();
                one.insert("POSITION".into(), offsets(&target.offsets, true));
                if normals {
                    one.insert("NORMAL".into(), offsets(&target.normal_offsets, false));
                }
                if tangents {
                    one.insert("TANGENT".into(), offsets(&target.tangent_offsets, false));
                }
                written.push(Value::Object(one));
            }
            out.insert("targets".into(), Value::Array(written));
        }
        Ok(Value::Object(out))
    }
}

/// What decides a primitive's glTF material: its material, and whether back faces are drawn.
pub(super) fn material_of(primitive: &Primitive, asset: &Asset) -> (Option<usize>, bool) {
    let of_material = primitive
        .material
        .is_some_and(|m| asset.materials[m].double_sided);
    (primitive.material, primitive.double_sided || of_material)
}

/// Offsets of all points from those of some, or of all.
fn dense(count: usize, indices: Option<&[u32]>, offsets: &[Vec3]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; count];
    for (point, offset) in offsets_by_point(indices, offsets) {
        if let Some(out) = out.get_mut(point) {
            *out = offset;
        }
    }
    out
}

/// Gives all normals length 1. One without a length becomes that of the triangles around it.
fn make_unit(normals: &mut [Vec3], points: &[Vec3], indices: &[u32]) {
    let unit = |n: Vec3| n.as_dvec3().try_normalize().map(|n| n.as_vec3());
    let mut around: Option<Vec<Vec3>> = None;
    for (i, normal) in normals.iter_mut().enumerate() {
        *normal = unit(*normal).unwrap_or_else(|| {
            let around = around.get_or_insert_with(|| normals_of_triangles(points, indices));
            unit(around[i]).unwrap_or(Vec3::Y)
        });
    }
}

/// The sum of the normals of the triangles around each vertex, by their areas.
pub(crate) fn normals_of_triangles(points: &[Vec3], indices: &[u32]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; points.len()];
    for t in indices.chunks_exact(3) {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| points[i as usize]);
        let normal = (b - a).cross(c - a);
        for i in t {
            out[*i as usize] += normal;
        }
    }
    out
}

/// Gives all tangents length 1 and a handedness of 1 or -1; false if one has no length.
fn make_tangents(tangents: &mut [Vec4]) -> bool {
    for tangent in tangents {
        let Some(direction) = tangent.truncate().try_normalize() else {
            return false;
        };
        *tangent = direction.extend(if tangent.w < 0.0 { -1.0 } else { 1.0 });
    }
    true
}

/// The influences of the points of a primitive, in sets of four.
struct Influences {
    /// Joints and weights of each point.
    sets: Vec<(Vec<[u16; 4]>, Vec<Vec4>)>,
    /// Points whose weights do not add up to 1.
    loose: usize,
    /// The most that a sum of weights differs from 1 by.
    off: f64,
}

impl Influences {
    /// Weights above 0, each joint once per point, that add up to 1. A point without any follows the
    /// first joint.
    fn of(primitive: &Primitive, joints: usize, at: &str) -> Result<Self, Invalid> {
        if joints > usize::from(u16::MAX) + 1 {
            let expected = format!("a skin of at most {} joints", usize::from(u16::MAX) + 1);
            return Err(Invalid::new(at, "", expected, joints.to_string()));
        }
        let points = primitive.points.len();
        let mut out = Self {
            sets: Vec::new(),
            loose: 0,
            off: 0.0,
        };
        for point in 0..points {
            let row = merged_influences(primitive, point).into_iter();
            // Joints are below the number of the skin's, which u16 counts.
            let mut row: Vec<(u16, f32)> = row.map(|(j, w)| (j as u16, w)).collect();
            let sum: f64 = row.iter().map(|(_, w)| f64::from(*w)).sum();
            if (sum - 1.0).abs() > LOOSE_SUM {
                out.loose += 1;
                out.off = out.off.max((sum - 1.0).abs());
            }
            if row.is_empty() {
                row.push((0, 1.0));
            }
            normalise(&mut row);
            out.put(point, points, &row, at)?;
        }
        if out.sets.is_empty() {
            out.sets.push((vec![[0; 4]; points], vec![Vec4::X; points]));
        }
        Ok(out)
    }

    fn put(
        &mut self,
        point: usize,
        points: usize,
        row: &[(u16, f32)],
        at: &str,
    ) -> Result<(), Invalid> {
        if row.len() > MOST_INFLUENCES {
            let expected = format!("at most {MOST_INFLUENCES} influences of a point");
            return Err(Invalid::new(at, "", expected, row.len().to_string()));
        }
        for (set, four) in row.chunks(4).enumerate() {
            if set == self.sets.len() {
                self.sets
                    .push((vec![[0; 4]; points], vec![Vec4::ZERO; points]));
            }
            let (joints, weights) = &mut self.sets[set];
            for (i, (joint, weight)) in four.iter().enumerate() {
                joints[point][i] = *joint;
                weights[point][i] = *weight;
            }
        }
        Ok(())
    }
}

/// Divides weights by their sum. The largest one takes up what rounding to f32 leaves. Weights that
/// add up to 1 already stay as they are.
fn normalise(row: &mut [(u16, f32)]) {
    let total = |row: &[(u16, f32)]| row.iter().map(|(_, w)| f64::from(*w)).sum::<f64>();
    let sum = total(row);
    if (sum - 1.0).abs() <= SUM_TOLERANCE * row.len() as f64 {
        return;
    }
    for (_, weight) in row.iter_mut() {
        *weight = (f64::from(*weight) / sum) as f32;
    }
    let rest = 1.0 - total(row);
    if let Some((_, largest)) = row.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        *largest = (f64::from(*largest) + rest) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skinned(each: usize, joints: &[u32], weights: &[f32]) -> Primitive {
        Primitive {
            points: vec![Vec3::ZERO; joints.len() / each],
            influences: each,
            joints: joints.to_vec(),
            weights: weights.to_vec(),
            ..Primitive::default()
        }
    }

    #[test]
    fn influences_are_cleaned_and_put_into_sets() {
        let p = skinned(
            6,
            &[1, 2, 3, 4, 5, 1, 7, 7, 7, 0, 0, 0],
            &[0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0],
        );
        let made = Influences::of(&p, 8, "here").unwrap();
        assert_eq!(made.sets.len(), 2);
        assert_eq!(made.sets[0].0, [[1, 2, 3, 4], [0, 0, 0, 0]]);
        assert_eq!(made.sets[1].0, [[5, 0, 0, 0], [0; 4]]);
        assert_eq!(made.sets[0].1[0], Vec4::new(0.2, 0.2, 0.3, 0.1));
        assert_eq!(
            (made.sets[0].1[1], made.sets[1].1[1]),
            (Vec4::X, Vec4::ZERO)
        );
        assert_eq!((made.loose, made.off), (1, 1.0));
        assert!(Influences::of(&p, 70_000, "here").is_err());
    }

    #[test]
    fn normals_without_a_length_are_those_of_the_triangles() {
        let points = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let mut normals = [Vec3::ZERO, Vec3::Y * 3.0, Vec3::ZERO];
        make_unit(&mut normals, &points, &[0, 1, 2]);
        assert_eq!(normals, [Vec3::Z, Vec3::Y, Vec3::Z]);
    }
}
