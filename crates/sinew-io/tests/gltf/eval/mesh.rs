//! Meshes: attributes and morph targets, and the numbers of accessors.

use glam::DVec3;
use gltf::accessor::{DataType, Dimensions, Item, Iter};
use gltf::buffer::Data;
use gltf::mesh::Mode;
use gltf::{Accessor, Semantic};

pub struct Mesh {
    pub primitives: Vec<Primitive>,
    pub weights: Vec<f64>,
}

pub struct Primitive {
    pub points: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub targets: Vec<Target>,
    /// (joint, weight) pairs of every set, point after point.
    pub influences: Vec<Vec<(usize, f64)>>,
    /// Corners of the triangles.
    pub corners: Vec<usize>,
}

pub struct Target {
    pub points: Vec<DVec3>,
    pub normals: Vec<DVec3>,
}

impl Mesh {
    pub fn read(mesh: &gltf::Mesh<'_>, buffers: &[Data]) -> Self {
        let primitives: Vec<Primitive> = mesh
            .primitives()
            .map(|p| Primitive::read(&p, buffers))
            .collect();
        let weights = match mesh.weights() {
            Some(weights) => weights.iter().map(|w| f64::from(*w)).collect(),
            None => vec![0.0; primitives[0].targets.len()],
        };
        Self {
            primitives,
            weights,
        }
    }
}

impl Primitive {
    fn read(primitive: &gltf::Primitive<'_>, buffers: &[Data]) -> Self {
        let vectors = |accessor: Option<Accessor<'_>>| -> Vec<DVec3> {
            let numbers = accessor.map_or(Vec::new(), |a| numbers(&a, buffers));
            numbers.chunks_exact(3).map(DVec3::from_slice).collect()
        };
        let points = vectors(primitive.get(&Semantic::Positions));
        let corners = match primitive.indices() {
            Some(accessor) => {
                let indices = numbers(&accessor, buffers);
                indices.iter().map(|i| *i as usize).collect()
            }
            None => (0..points.len()).collect(),
        };
        let mut influences = vec![Vec::new(); points.len()];
        for set in 0.. {
            let both = [Semantic::Joints(set), Semantic::Weights(set)];
            let [Some(joints), Some(weights)] = both.map(|s| primitive.get(&s)) else {
                break;
            };
            let (joints, weights) = (numbers(&joints, buffers), numbers(&weights, buffers));
            for (i, (joint, weight)) in joints.iter().zip(&weights).enumerate() {
                influences[i / 4].push((*joint as usize, *weight));
            }
        }
        let targets = primitive.morph_targets().map(|target| Target {
            points: vectors(target.positions()),
            normals: vectors(target.normals()),
        });
        Self {
            normals: vectors(primitive.get(&Semantic::Normals)),
            targets: targets.collect(),
            influences,
            corners: triangles(primitive.mode(), corners),
            points,
        }
    }

    /// Points and normals with morph targets added (3.7.2.2).
    pub fn morphed(&self, weights: &[f64]) -> (Vec<DVec3>, Vec<DVec3>) {
        let (mut points, mut normals) = (self.points.clone(), self.normals.clone());
        for (target, weight) in self.targets.iter().zip(weights) {
            for (point, offset) in points.iter_mut().zip(&target.points) {
                *point += *offset * *weight;
            }
            for (normal, offset) in normals.iter_mut().zip(&target.normals) {
                *normal += *offset * *weight;
            }
        }
        (points, normals)
    }
}

/// Triangles of lists, strips and fans (3.7.2.1); none of points and lines.
fn triangles(mode: Mode, corners: Vec<usize>) -> Vec<usize> {
    let triples = 0..corners.len().saturating_sub(2);
    match mode {
        Mode::Triangles => corners,
        Mode::TriangleStrip => triples
            .flat_map(|i| [corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]])
            .collect(),
        Mode::TriangleFan => triples
            .flat_map(|i| [corners[i + 1], corners[i + 2], corners[0]])
            .collect(),
        _ => Vec::new(),
    }
}

/// All numbers of an accessor, element after element; normalised integers as fractions (3.6.2.2).
pub fn numbers(accessor: &Accessor<'_>, buffers: &[Data]) -> Vec<f64> {
    let (mut numbers, largest) = match accessor.data_type() {
        DataType::I8 => (elements::<i8>(accessor, buffers), 127.0),
        DataType::U8 => (elements::<u8>(accessor, buffers), 255.0),
        DataType::I16 => (elements::<i16>(accessor, buffers), 32767.0),
        DataType::U16 => (elements::<u16>(accessor, buffers), 65535.0),
        DataType::U32 => (elements::<u32>(accessor, buffers), f64::NAN),
        DataType::F32 => return elements::<f32>(accessor, buffers),
    };
    if accessor.normalized() {
        numbers
            .iter_mut()
            .for_each(|n| *n = (*n / largest).max(-1.0));
    }
    numbers
}

fn elements<T: Item + Copy + Into<f64>>(accessor: &Accessor<'_>, buffers: &[Data]) -> Vec<f64> {
    let scalars = match accessor.dimensions() {
        Dimensions::Scalar => items::<T>(accessor, buffers),
        Dimensions::Vec2 => items::<[T; 2]>(accessor, buffers).into_flattened(),
        Dimensions::Vec3 => items::<[T; 3]>(accessor, buffers).into_flattened(),
        Dimensions::Vec4 => items::<[T; 4]>(accessor, buffers).into_flattened(),
        Dimensions::Mat4 => {
            let matrices = items::<[[T; 4]; 4]>(accessor, buffers);
            matrices.into_flattened().into_flattened()
        }
        other => panic!("{other:?} is nothing that characters use"),
    };
    scalars.into_iter().map(Into::into).collect()
}

/// The elements of an accessor; zeros where it has neither a buffer view nor sparse values.
fn items<T: Item>(accessor: &Accessor<'_>, buffers: &[Data]) -> Vec<T> {
    if accessor.count() == 0 {
        return Vec::new();
    }
    let read = Iter::new(accessor.clone(), |buffer| {
        Some(&buffers[buffer.index()][..])
    });
    match read {
        Some(items) => items.collect(),
        None => {
            assert!(accessor.view().is_none(), "a view that ends too soon");
            (0..accessor.count()).map(|_| T::zero()).collect()
        }
    }
}
