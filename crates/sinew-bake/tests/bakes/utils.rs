//! UsdSkel's utilities against usd-core's answers (tests/goldens/make_utils.py).

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use common::tolerance::{HALF, UTILITY, UTILITY_IN_F32};
use glam::{DMat4, Quat, Vec3, Vec4};
use half::f16;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::utils::{self, Components, ShapeTable};
use sinew::skel::{
    AnimMapper, BlendShape, Inbetween, SkinningMethod, Topology, skeleton_extent, skin_transform,
};
use sinew_io::usd::UsdFile;

fn folder() -> PathBuf {
    common::repository().join("tests/goldens/utils")
}

static GOLDEN: LazyLock<Value> = LazyLock::new(|| {
    let text = std::fs::read_to_string(folder().join("utils.json")).expect("utils.json");
    serde_json::from_str(&text).expect("JSON")
});

/// The cases of a kind; there are some.
fn cases<T: DeserializeOwned>(pointer: &str) -> Vec<T> {
    let value = GOLDEN.pointer(pointer).expect("in the golden").clone();
    let cases: Vec<T> = serde_json::from_value(value).expect("cases as declared");
    assert!(cases.len() >= 3, "{pointer}: {} cases", cases.len());
    cases
}

/// Sixteen numbers of a row-vector matrix, row by row: a column-vector one, column by column.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(from = "[f64; 16]")]
struct Matrix(DMat4);

impl From<[f64; 16]> for Matrix {
    fn from(values: [f64; 16]) -> Self {
        Self(DMat4::from_cols_array(&values))
    }
}

fn matrices(all: &[Matrix]) -> Vec<DMat4> {
    all.iter().map(|m| m.0).collect()
}

fn close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let largest = want.iter().fold(1.0, |m: f64, w| m.max(w.abs()));
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        // Not `>`, so that NaN fails.
        let ok = (g - w).abs() <= tolerance * largest;
        assert!(ok, "{what}: {g} at {i}, usd-core has {w}");
    }
}

fn close_matrix(got: DMat4, want: Matrix, tolerance: f64, what: &str) {
    close(
        &got.to_cols_array(),
        &want.0.to_cols_array(),
        tolerance,
        what,
    );
}

fn close_box(got: Option<[Vec3; 2]>, want: Option<[[f32; 3]; 2]>, what: &str) {
    let flat = |b: [[f32; 3]; 2]| b.concat().into_iter().map(f64::from).collect::<Vec<_>>();
    assert_eq!(got.is_some(), want.is_some(), "{what}: {got:?}, {want:?}");
    if let (Some(got), Some(want)) = (got, want) {
        let got = flat(got.map(|v| v.to_array()));
        close(&got, &flat(want), UTILITY_IN_F32, what);
    }
}

// ------------------------------------------------------------------ influences

pub fn weights_normalise_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        weights: Vec<f32>,
        size: usize,
        eps: f32,
        out: Vec<f32>,
    }
    for mut case in cases::<Case>("/influences/normalize") {
        utils::normalize_weights(&mut case.weights, case.size, case.eps).unwrap();
        assert_eq!(case.weights, case.out);
    }
}

pub fn influences_sort_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        joints: Vec<i32>,
        weights: Vec<f32>,
        size: usize,
        out: (Vec<i32>, Vec<f32>),
    }
    for mut case in cases::<Case>("/influences/sort") {
        utils::sort_influences(&mut case.joints, &mut case.weights, case.size).unwrap();
        assert_eq!((case.joints, case.weights), case.out);
    }
}

pub fn influences_resize_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        joints: Vec<i32>,
        weights: Vec<f32>,
        from: usize,
        to: usize,
        out: (Vec<i32>, Vec<f32>),
    }
    for mut case in cases::<Case>("/influences/resize") {
        let (joints, weights) = (&mut case.joints, &mut case.weights);
        utils::resize_influences(joints, weights, case.from, case.to).unwrap();
        assert_eq!((case.joints, case.weights), case.out);
    }
}

pub fn constant_influences_expand_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        values: Vec<i32>,
        points: usize,
        out: Vec<i32>,
    }
    for mut case in cases::<Case>("/influences/expand") {
        utils::expand_constant_influences_to_varying(&mut case.values, case.points);
        assert_eq!(case.values, case.out);
    }
}

// ------------------------------------------------------------------ joints

pub fn rule_07_topologies_and_what_is_wrong_with_them_are_pixars() {
    #[derive(Deserialize)]
    struct Case {
        joints: Option<Vec<String>>,
        parents: Vec<i32>,
        valid: bool,
        reason: String,
    }
    let mut invalid = 0;
    for case in cases::<Case>("/topologies") {
        let parents: Vec<_> = case
            .parents
            .iter()
            .map(|p| u32::try_from(*p).ok())
            .collect();
        let topology = match &case.joints {
            Some(joints) => Topology::from_joints(joints),
            None => Topology::from_parents(parents.clone()),
        };
        let ours: Vec<_> = topology.parents().map(|p| p.map(|p| p as u32)).collect();
        assert_eq!(ours, parents, "{:?}", case.joints);
        let names = case.joints.unwrap_or_default();
        let validity = topology.validate(&names);
        assert_eq!(validity.is_ok(), case.valid, "{}", case.reason);
        if let Err(reason) = validity {
            // Both name the first joint at fault by its index; ours by its name too.
            let joint = case.reason.split(' ').nth(1).expect("Joint N has ...");
            let reason = reason.to_string();
            assert!(reason.starts_with(&format!("joint {joint} (")), "{reason}");
            let own = "has itself as its parent";
            assert_eq!(reason.contains(own), case.reason.contains(own));
            invalid += 1;
        }
    }
    assert!(invalid > 3, "{invalid} invalid topologies");
}

pub fn joint_transforms_go_to_skeleton_space_and_back_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        joints: Vec<String>,
        root: Option<Matrix>,
        local: Vec<Matrix>,
        concatenated: Vec<Matrix>,
        skel: Vec<Matrix>,
        made_local: Vec<Matrix>,
    }
    for case in cases::<Case>("/joint_transforms") {
        let topology = Topology::from_joints(&case.joints);
        let root = case.root.map(|m| m.0);
        let local = matrices(&case.local);
        let skel = utils::concat_joint_transforms(&topology, &local, root).unwrap();
        for (got, want) in skel.iter().zip(&case.concatenated) {
            close_matrix(*got, *want, UTILITY, "skeleton space");
        }
        let inverse = root.map(|m| m.inverse());
        let given = matrices(&case.skel);
        let made = utils::compute_joint_local_transforms(&topology, &given, inverse).unwrap();
        for (got, want) in made.iter().zip(&case.made_local) {
            close_matrix(*got, *want, UTILITY, "joint-local");
        }
        let back = utils::compute_joint_local_transforms(&topology, &skel, inverse).unwrap();
        for (got, want) in back.iter().zip(&case.local) {
            close_matrix(*got, *want, UTILITY_IN_F32, "there and back");
        }
    }
}

pub fn transforms_without_an_inverse_are_named() {
    let topology = Topology::from_joints(&["A", "A/B", "C"]);
    let flat = DMat4::from_scale(glam::DVec3::new(1.0, 0.0, 1.0));
    let local = |transforms: [DMat4; 3]| {
        utils::compute_joint_local_transforms(&topology, &transforms, None)
    };
    // Only parents need one.
    assert!(local([DMat4::IDENTITY, flat, flat]).is_ok());
    let error = local([flat, DMat4::IDENTITY, flat]).unwrap_err();
    assert!(
        error.to_string().starts_with("joint transform 0"),
        "{error}"
    );
    let error = utils::concat_joint_transforms(&topology, &[flat], None).unwrap_err();
    assert!(
        error.to_string().ends_with("expected 3, found 1"),
        "{error}"
    );
}

// ------------------------------------------------------------------ components

/// A number, or infinity as text.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| {
        let text = value.as_str().expect("a number or text");
        text.parse().expect("inf")
    })
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("numbers");
    list.iter().map(number).collect()
}

pub fn rule_26_transforms_come_apart_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        matrix: Matrix,
        out: Option<[Value; 3]>,
    }
    let mut singular = 0;
    for case in cases::<Case>("/components") {
        let ours = utils::decompose_transform(case.matrix.0);
        let what = format!("{:?}", case.matrix.0);
        let Some([translate, rotate, scale]) = case.out else {
            assert_eq!(ours, None, "{what}");
            singular += 1;
            continue;
        };
        let ours = ours.unwrap_or_else(|| panic!("{what} is not singular"));
        let f64s = |v: &[f32]| v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        let (got, want) = (f64s(&ours.translate.to_array()), numbers(&translate));
        close(&got, &want, UTILITY, &what);
        let (got, want) = (f64s(&ours.rotate.to_array()), numbers(&rotate));
        close(&got, &want, UTILITY_IN_F32, &what);
        for (got, want) in ours.scale.map(f64::from).iter().zip(numbers(&scale)) {
            let same = *got == want || (got - want).abs() <= HALF * want.abs();
            assert!(
                same,
                "{what}: scales {:?}, usd-core has {scale}",
                ours.scale
            );
        }
    }
    assert_eq!(singular, 3);
}

pub fn rule_12_transforms_are_made_as_pixars() {
    #[derive(Deserialize)]
    struct Case {
        translate: [f32; 3],
        rotate: [f32; 4],
        scale: [f32; 3],
        out: Matrix,
    }
    for case in cases::<Case>("/made_transforms") {
        let components = Components {
            translate: Vec3::from(case.translate),
            rotate: Quat::from_array(case.rotate),
            scale: case.scale.map(f16::from_f32),
        };
        let made = utils::make_transform(&components);
        close_matrix(made, case.out, UTILITY_IN_F32, &format!("{components:?}"));
    }
}

// ------------------------------------------------------------------ extents

pub fn joints_extents_are_pixars() {
    #[derive(Deserialize)]
    struct Case {
        transforms: Vec<Matrix>,
        pad: f32,
        root: Option<Matrix>,
        out: [[f32; 3]; 2],
    }
    for case in cases::<Case>("/joints_extents") {
        let transforms = matrices(&case.transforms);
        let got = utils::compute_joints_extent(&transforms, case.pad, case.root.map(|m| m.0));
        close_box(got, Some(case.out), "joints");
    }
}

#[derive(Deserialize)]
struct ExtentCase {
    path: String,
    root: bool,
    time: f64,
    transform: Option<Matrix>,
    out: Option<[[f32; 3]; 2]>,
}

fn extents_scene() -> Scene {
    let file = UsdFile::open(folder().join("extents.usda")).expect("the stage");
    file.scene(Default::default()).expect("a scene")
}

pub fn rule_33_extents_of_skel_roots_are_pixars() {
    let scene = extents_scene();
    let mut compared = 0;
    for case in cases::<ExtentCase>("/extents").iter().filter(|c| c.root) {
        let transform = case.transform.map(|m| m.0);
        let time = Time::At(case.time);
        let got = scene.skel_root_extent(&case.path, time, transform).unwrap();
        close_box(got, case.out, &format!("{} at {time}", case.path));
        compared += usize::from(got.is_some());
    }
    assert!(compared >= 50, "{compared} extents");
    let missing = scene.skel_root_extent("/Padded/M", Time::Default, None);
    assert!(missing.unwrap_err().to_string().contains("/Padded/M"));
}

pub fn rule_34_extents_of_skeletons_are_pixars() {
    let scene = extents_scene();
    let mut compared = 0;
    for case in cases::<ExtentCase>("/extents").iter().filter(|c| !c.root) {
        let mut placed = scene.instances.iter().chain(&scene.unbound_skeletons);
        let placed = placed.find(|s| s.path == case.path).expect("a Skeleton");
        let (transform, time) = (case.transform.map(|m| m.0), Time::At(case.time));
        let got = skeleton_extent(&placed.instance, time, transform).unwrap();
        close_box(got, case.out, &format!("{} at {time}", case.path));
        compared += 1;
    }
    assert!(compared >= 50, "{compared} extents");
}

// ------------------------------------------------------------------ rigid deformation

#[derive(Deserialize)]
struct RigidCase {
    method: String,
    geom_bind: Matrix,
    skinning: Vec<Matrix>,
    joints: Vec<u32>,
    weights: Vec<f32>,
    out: Option<Matrix>,
}

pub fn rule_28_constant_influences_move_a_prim_as_pixars() {
    let mut out_of_range = 0;
    let cases = cases::<RigidCase>("/skin_transforms");
    for case in &cases {
        let skinning = matrices(&case.skinning);
        let method = SkinningMethod::from_token(&case.method).expect("a method");
        let got = skin_transform(
            method,
            case.geom_bind.0,
            &skinning,
            &case.joints,
            &case.weights,
        );
        match case.out {
            Some(want) => close_matrix(got.unwrap(), want, UTILITY_IN_F32, &case.method),
            None => {
                let error = got.unwrap_err().to_string();
                assert!(error.starts_with("joint index"), "{error}");
                out_of_range += 1;
            }
        }
    }
    assert!(out_of_range > 0);
}

// ------------------------------------------------------------------ mapping

#[derive(Deserialize)]
struct MappingCase {
    source: Vec<String>,
    target: Vec<String>,
    null: bool,
    identity: bool,
    sparse: bool,
    len: usize,
    remaps: Vec<RemapCase>,
}

#[derive(Deserialize)]
struct RemapCase {
    values: Vec<i32>,
    held: Vec<i32>,
    size: usize,
    default: i32,
    out: Vec<i32>,
}

pub fn rule_11_mappers_remap_as_pixars() {
    let mut kinds = [0; 4];
    for case in cases::<MappingCase>("/mappings/cases") {
        let what = format!("{:?} to {:?}", case.source, case.target);
        let mapper = AnimMapper::new(&case.source, &case.target);
        let flags = (mapper.is_null(), mapper.is_identity(), mapper.is_sparse());
        assert_eq!(flags, (case.null, case.identity, case.sparse), "{what}");
        assert_eq!(mapper.target_len(), case.len, "{what}");
        let flags = [case.null, case.identity, case.sparse, true];
        kinds
            .iter_mut()
            .zip(flags)
            .for_each(|(n, f)| *n += i32::from(f));
        for remap in &case.remaps {
            let mut target = remap.held.clone();
            let (values, size) = (&remap.values, remap.size);
            mapper
                .remap_resized(values, &mut target, size, &remap.default)
                .unwrap();
            assert_eq!(target, remap.out, "{what}: {values:?} by {size}");
            if size == 1 && remap.held.len() == case.len {
                let mut target = remap.held.clone();
                mapper.remap(values, &mut target);
                assert_eq!(target, remap.out, "{what}: {values:?} in place");
            }
        }
    }
    assert!(kinds.iter().all(|n| *n >= 5), "{kinds:?}");
    let zero = AnimMapper::identity(1).remap_resized(&[1], &mut vec![0], 0, &0);
    assert!(zero.is_err());
}

pub fn rule_11_missing_transforms_are_identity() {
    #[derive(Deserialize)]
    struct Case {
        source: Vec<Matrix>,
        out: Vec<Matrix>,
    }
    let case: Case = serde_json::from_value(GOLDEN["mappings"]["transforms"].clone()).unwrap();
    let mut target = Vec::new();
    AnimMapper::new(&["b"], &["a", "b"])
        .remap_transforms(&matrices(&case.source), &mut target, 1)
        .unwrap();
    assert_eq!(target, matrices(&case.out));
}

// ------------------------------------------------------------------ blend shapes

#[derive(Deserialize)]
struct ShapesCase {
    points: usize,
    shapes: Vec<Option<ShapeCase>>,
    sub_shapes: usize,
    /// Per point, in order: offset and sub-shape.
    table: Vec<Vec<[f32; 4]>>,
    weighed: Vec<WeighedCase>,
}

#[derive(Deserialize)]
struct ShapeCase {
    path: String,
    indices: Vec<i64>,
    offsets: Vec<[f32; 3]>,
    inbetweens: Vec<InbetweenCase>,
}

#[derive(Deserialize)]
struct InbetweenCase {
    name: String,
    weight: f32,
    offsets: Vec<[f32; 3]>,
}

#[derive(Deserialize)]
struct WeighedCase {
    weights: Vec<f32>,
    /// Weight, blend shape, sub-shape.
    out: Vec<(f32, u32, u32)>,
}

fn vectors(all: &[[f32; 3]]) -> Vec<Vec3> {
    all.iter().copied().map(Vec3::from).collect()
}

fn shapes_case() -> (ShapesCase, Vec<Option<Arc<BlendShape>>>) {
    let case: ShapesCase = serde_json::from_value(GOLDEN["shapes"].clone()).unwrap();
    let build = |shape: &ShapeCase| {
        let between = |b: &InbetweenCase| Inbetween {
            name: b.name.clone(),
            weight: Some(b.weight),
            offsets: vectors(&b.offsets),
            normal_offsets: None,
        };
        let inbetweens = shape.inbetweens.iter().map(between).collect();
        let offsets = vectors(&shape.offsets);
        let indices = Some(&shape.indices[..]);
        let mut warnings = Vec::new();
        let points = case.points;
        BlendShape::new(
            &shape.path,
            indices,
            offsets,
            None,
            inbetweens,
            points,
            &mut warnings,
        )
        .map(Arc::new)
        .unwrap()
    };
    let shapes = case.shapes.iter().map(|s| s.as_ref().map(build)).collect();
    (case, shapes)
}

pub fn packed_shape_tables_are_pixars() {
    let (case, shapes) = shapes_case();
    let table = ShapeTable::of_points(&shapes, case.points);
    assert_eq!(table.sub_shape_count(), case.sub_shapes);
    assert_eq!(table.ranges().len(), case.points);
    for (range, want) in table.ranges().zip(&case.table) {
        let want: Vec<Vec4> = want.iter().copied().map(Vec4::from_array).collect();
        assert_eq!(table.offsets()[range], want);
    }
    let normals = ShapeTable::of_normals(&shapes, case.points);
    assert!(normals.offsets().is_empty());
}

pub fn rules_14_to_17_sub_shape_weights_are_pixars() {
    let (case, shapes) = shapes_case();
    // usd-core was asked without the missing target, where it reads a neighbour (rule 17).
    let (present, missing) = shapes.split_at(shapes.len() - 1);
    assert_eq!(missing, [None]);
    let table = ShapeTable::of_points(&shapes, case.points);
    for weighed in &case.weighed {
        let mut weights = weighed.weights.clone();
        assert_eq!(weights.len(), present.len());
        weights.push(0.7);
        let mut want = vec![0.0; case.sub_shapes];
        for (weight, shape, sub_shape) in &weighed.out {
            want[*sub_shape as usize] = f64::from(*weight);
            let ours = table.sub_shape_weights(&weights).unwrap();
            let same = |s: &&utils::SubShapeWeight| s.sub_shape == *sub_shape;
            if let Some(ours) = ours.iter().find(same) {
                assert_eq!(ours.blend_shape, *shape);
            }
        }
        let got = table.flattened_sub_shape_weights(&weights).unwrap();
        let got: Vec<f64> = got.into_iter().map(f64::from).collect();
        close(&got, &want, UTILITY_IN_F32, &format!("{weights:?}"));
    }
    assert!(table.sub_shape_weights(&[1.0]).is_err());
}
