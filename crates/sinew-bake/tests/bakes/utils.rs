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

/// A case of the golden: the utility's arguments, and what usd-core answers.
struct Case(Value);

impl Case {
    fn get<T: DeserializeOwned>(&self, key: &str) -> T {
        let value = serde_json::from_value(self.0[key].clone());
        value.unwrap_or_else(|e| panic!("{key}: {e}"))
    }

    fn matrix(&self, key: &str) -> DMat4 {
        self.get::<Matrix>(key).0
    }

    fn matrices(&self, key: &str) -> Vec<DMat4> {
        let all: Vec<Matrix> = self.get(key);
        all.into_iter().map(|m| m.0).collect()
    }

    fn optional(&self, key: &str) -> Option<DMat4> {
        self.get::<Option<Matrix>>(key).map(|m| m.0)
    }
}

/// The cases of a kind; there are some.
fn cases(pointer: &str) -> Vec<Case> {
    let value = GOLDEN.pointer(pointer).and_then(Value::as_array);
    let cases: Vec<Case> = value.expect("a list").iter().cloned().map(Case).collect();
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

fn close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let largest = want.iter().fold(1.0, |m: f64, w| m.max(w.abs()));
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        // Not `>`, so that NaN fails.
        let ok = (g - w).abs() <= tolerance * largest;
        assert!(ok, "{what}: {g} at {i}, usd-core has {w}");
    }
}

fn close_matrix(got: DMat4, want: DMat4, tolerance: f64, what: &str) {
    let [got, want] = [got, want].map(|m| m.to_cols_array());
    close(&got, &want, tolerance, what);
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
    for case in cases("/influences/normalize") {
        let mut weights: Vec<f32> = case.get("weights");
        utils::normalize_weights(&mut weights, case.get("size"), case.get("eps")).unwrap();
        assert_eq!(weights, case.get::<Vec<f32>>("out"));
    }
}

pub fn influences_sort_and_resize_as_pixars() {
    for case in cases("/influences/sort") {
        let mut found: (Vec<i32>, Vec<f32>) = (case.get("joints"), case.get("weights"));
        utils::sort_influences(&mut found.0, &mut found.1, case.get("size")).unwrap();
        assert_eq!(found, case.get("out"));
    }
    for case in cases("/influences/resize") {
        let mut found: (Vec<i32>, Vec<f32>) = (case.get("joints"), case.get("weights"));
        let (from, to) = (case.get("from"), case.get("to"));
        utils::resize_influences(&mut found.0, &mut found.1, from, to).unwrap();
        assert_eq!(found, case.get("out"));
    }
}

pub fn constant_influences_expand_as_pixars() {
    for case in cases("/influences/expand") {
        let mut values: Vec<i32> = case.get("values");
        utils::expand_constant_influences_to_varying(&mut values, case.get("points"));
        assert_eq!(values, case.get::<Vec<i32>>("out"));
    }
}

// ------------------------------------------------------------------ joints

pub fn rule_07_topologies_and_what_is_wrong_with_them_are_pixars() {
    let mut invalid = 0;
    for case in cases("/topologies") {
        let parents: Vec<i32> = case.get("parents");
        let parents: Vec<_> = parents.iter().map(|p| u32::try_from(*p).ok()).collect();
        let joints: Option<Vec<String>> = case.get("joints");
        let topology = match &joints {
            Some(joints) => Topology::from_joints(joints),
            None => Topology::from_parents(parents.clone()),
        };
        let ours: Vec<_> = topology.parents().map(|p| p.map(|p| p as u32)).collect();
        assert_eq!(ours, parents, "{joints:?}");
        let validity = topology.validate(&joints.unwrap_or_default());
        let theirs: String = case.get("reason");
        assert_eq!(validity.is_ok(), case.get::<bool>("valid"), "{theirs}");
        if let Err(reason) = validity {
            // Both name the first joint at fault by its index; ours by its name too.
            let joint = theirs.split(' ').nth(1).expect("Joint N has ...");
            let reason = reason.to_string();
            assert!(reason.starts_with(&format!("joint {joint} (")), "{reason}");
            let own = "has itself as its parent";
            assert_eq!(reason.contains(own), theirs.contains(own));
            invalid += 1;
        }
    }
    assert!(invalid > 3, "{invalid} invalid topologies");
}

pub fn joint_transforms_go_to_skeleton_space_and_back_as_pixars() {
    for case in cases("/joint_transforms") {
        let topology = Topology::from_joints(&case.get::<Vec<String>>("joints"));
        let root = case.optional("root");
        let inverse = root.map(|m| m.inverse());
        let to_local = |skel: &[DMat4]| {
            utils::compute_joint_local_transforms(&topology, skel, inverse).unwrap()
        };
        let local = case.matrices("local");
        let skel = utils::concat_joint_transforms(&topology, &local, root).unwrap();
        let (made, back) = (to_local(&case.matrices("skel")), to_local(&skel));
        for (got, want, tolerance) in [
            (skel, case.matrices("concatenated"), UTILITY),
            (made, case.matrices("made_local"), UTILITY),
            (back, local, UTILITY_IN_F32),
        ] {
            for (got, want) in got.into_iter().zip(want) {
                close_matrix(got, want, tolerance, "joints");
            }
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
    let mut singular = 0;
    for case in cases("/components") {
        let matrix = case.matrix("matrix");
        let ours = utils::decompose_transform(matrix);
        let what = format!("{matrix:?}");
        let Some([translate, rotate, scale]) = case.get::<Option<[Value; 3]>>("out") else {
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
            let ours = ours.scale;
            assert!(same, "{what}: scales {ours:?}, usd-core has {scale}");
        }
    }
    assert_eq!(singular, 3);
}

pub fn rule_12_transforms_are_made_as_pixars() {
    for case in cases("/made_transforms") {
        let components = Components {
            translate: Vec3::from(case.get::<[f32; 3]>("translate")),
            rotate: Quat::from_array(case.get("rotate")),
            scale: case.get::<[f32; 3]>("scale").map(f16::from_f32),
        };
        let (made, what) = (
            utils::make_transform(&components),
            format!("{components:?}"),
        );
        close_matrix(made, case.matrix("out"), UTILITY_IN_F32, &what);
    }
}

// ------------------------------------------------------------------ extents

pub fn joints_extents_are_pixars() {
    for case in cases("/joints_extents") {
        let (transforms, root) = (case.matrices("transforms"), case.optional("root"));
        let got = utils::compute_joints_extent(&transforms, case.get("pad"), root);
        close_box(got, Some(case.get("out")), "joints");
    }
}

/// The cases of SkelRoots, or those of Skeletons: path, time, transform and box.
fn extents(of_roots: bool, mut extent: impl FnMut(&str, Time, Option<DMat4>) -> Option<[Vec3; 2]>) {
    let mut compared = 0;
    for case in cases("/extents") {
        if case.get::<bool>("root") != of_roots {
            continue;
        }
        let (path, time) = (case.get::<String>("path"), Time::At(case.get("time")));
        let got = extent(&path, time, case.optional("transform"));
        close_box(got, case.get("out"), &format!("{path} at {time}"));
        compared += usize::from(got.is_some() || !of_roots);
    }
    assert!(compared >= 50, "{compared} extents");
}

fn extents_scene() -> Scene {
    let file = UsdFile::open(folder().join("extents.usda")).expect("the stage");
    file.scene(Default::default()).expect("a scene")
}

pub fn rule_33_extents_of_skel_roots_are_pixars() {
    let scene = extents_scene();
    extents(true, |path, time, transform| {
        scene.skel_root_extent(path, time, transform).unwrap()
    });
    let missing = scene.skel_root_extent("/Padded/M", Time::Default, None);
    assert!(missing.unwrap_err().to_string().contains("/Padded/M"));
}

pub fn rule_34_extents_of_skeletons_are_pixars() {
    let scene = extents_scene();
    extents(false, |path, time, transform| {
        let mut placed = scene.instances.iter().chain(&scene.unbound_skeletons);
        let placed = placed.find(|s| s.path == path).expect("a Skeleton");
        skeleton_extent(&placed.instance, time, transform).unwrap()
    });
}

// ------------------------------------------------------------------ rigid deformation

pub fn rule_28_constant_influences_move_a_prim_as_pixars() {
    let mut out_of_range = 0;
    for case in cases("/skin_transforms") {
        let token: String = case.get("method");
        let method = SkinningMethod::from_token(&token).expect("a method");
        let (geom_bind, skinning) = (case.matrix("geom_bind"), case.matrices("skinning"));
        let (joints, weights): (Vec<u32>, Vec<f32>) = (case.get("joints"), case.get("weights"));
        let got = skin_transform(method, geom_bind, &skinning, &joints, &weights);
        match case.optional("out") {
            Some(want) => close_matrix(got.unwrap(), want, UTILITY_IN_F32, &token),
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

pub fn rule_11_mappers_remap_as_pixars() {
    let mut kinds = [0; 4];
    for case in cases("/mappings/cases") {
        let (source, target): (Vec<String>, Vec<String>) = (case.get("source"), case.get("target"));
        let what = format!("{source:?} to {target:?}");
        let mapper = AnimMapper::new(&source, &target);
        let flags = [mapper.is_null(), mapper.is_identity(), mapper.is_sparse()];
        assert_eq!(
            flags,
            ["null", "identity", "sparse"].map(|flag| case.get::<bool>(flag)),
            "{what}"
        );
        let length: usize = case.get("len");
        assert_eq!(mapper.target_len(), length, "{what}");
        let flags = flags.into_iter().chain([true]);
        kinds
            .iter_mut()
            .zip(flags)
            .for_each(|(n, f)| *n += i32::from(f));
        for remap in case.get::<Vec<Value>>("remaps").into_iter().map(Case) {
            let (values, held): (Vec<i32>, Vec<i32>) = (remap.get("values"), remap.get("held"));
            let (size, want): (usize, Vec<i32>) = (remap.get("size"), remap.get("out"));
            let mut found = held.clone();
            let default: i32 = remap.get("default");
            mapper
                .remap_resized(&values, &mut found, size, &default)
                .unwrap();
            assert_eq!(found, want, "{what}: {values:?} by {size}");
            if size == 1 && held.len() == length {
                let mut found = held;
                mapper.remap(&values, &mut found);
                assert_eq!(found, want, "{what}: {values:?} in place");
            }
        }
    }
    assert!(kinds.iter().all(|n| *n >= 5), "{kinds:?}");
    let zero = AnimMapper::identity(1).remap_resized(&[1], &mut vec![0], 0, &0);
    assert!(zero.is_err());
}

pub fn rule_11_missing_transforms_are_identity() {
    let case = Case(GOLDEN["mappings"]["transforms"].clone());
    let mut target = Vec::new();
    AnimMapper::new(&["b"], &["a", "b"])
        .remap_transforms(&case.matrices("source"), &mut target, 1)
        .unwrap();
    assert_eq!(target, case.matrices("out"));
}

// ------------------------------------------------------------------ blend shapes

fn vectors(case: &Case) -> Vec<Vec3> {
    let all: Vec<[f32; 3]> = case.get("offsets");
    all.into_iter().map(Vec3::from).collect()
}

/// The case of shapes, its number of points, and its shapes, of which one is missing.
fn shapes_case() -> (Case, usize, Vec<Option<Arc<BlendShape>>>) {
    let case = Case(GOLDEN["shapes"].clone());
    let points = case.get("points");
    let build = |shape: Value| {
        let shape = Case(shape);
        let between = |b: Value| {
            let b = Case(b);
            Inbetween {
                name: b.get("name"),
                weight: Some(b.get("weight")),
                offsets: vectors(&b),
                normal_offsets: None,
            }
        };
        let between = shape
            .get::<Vec<Value>>("inbetweens")
            .into_iter()
            .map(between);
        let (path, indices): (String, Vec<i64>) = (shape.get("path"), shape.get("indices"));
        let (offsets, indices) = (vectors(&shape), Some(&indices[..]));
        let (between, warnings) = (between.collect(), &mut Vec::new());
        let made = BlendShape::new(&path, indices, offsets, None, between, points, warnings);
        Arc::new(made)
    };
    let shapes = case.get::<Vec<Option<Value>>>("shapes").into_iter();
    let shapes = shapes.map(|shape| shape.map(build)).collect();
    (case, points, shapes)
}

pub fn packed_shape_tables_are_pixars() {
    let (case, points, shapes) = shapes_case();
    let table = ShapeTable::of_points(&shapes, points);
    assert_eq!(table.sub_shape_count(), case.get::<usize>("sub_shapes"));
    assert_eq!(table.ranges().len(), points);
    // Per point, in order: offset and sub-shape.
    let wanted: Vec<Vec<[f32; 4]>> = case.get("table");
    for (range, want) in table.ranges().zip(wanted) {
        let want: Vec<Vec4> = want.into_iter().map(Vec4::from_array).collect();
        assert_eq!(table.offsets()[range], want);
    }
    let normals = ShapeTable::of_normals(&shapes, points);
    assert!(normals.offsets().is_empty());
}

pub fn rules_14_to_17_sub_shape_weights_are_pixars() {
    let (case, points, shapes) = shapes_case();
    // usd-core was asked without the missing target, where it reads a neighbour (rule 17).
    let (present, missing) = shapes.split_at(shapes.len() - 1);
    assert_eq!(missing, [None]);
    let table = ShapeTable::of_points(&shapes, points);
    for weighed in case.get::<Vec<Value>>("weighed").into_iter().map(Case) {
        let mut weights: Vec<f32> = weighed.get("weights");
        assert_eq!(weights.len(), present.len());
        weights.push(0.7);
        let mut want = vec![0.0; case.get("sub_shapes")];
        // Weight, blend shape, sub-shape.
        for (weight, shape, sub_shape) in weighed.get::<Vec<(f32, u32, u32)>>("out") {
            want[sub_shape as usize] = f64::from(weight);
            let ours = table.sub_shape_weights(&weights).unwrap();
            let same = |s: &&utils::SubShapeWeight| s.sub_shape == sub_shape;
            if let Some(ours) = ours.iter().find(same) {
                assert_eq!(ours.blend_shape, shape);
            }
        }
        let got = table.flattened_sub_shape_weights(&weights).unwrap();
        let got: Vec<f64> = got.into_iter().map(f64::from).collect();
        close(&got, &want, UTILITY_IN_F32, &format!("{weights:?}"));
    }
    assert!(table.sub_shape_weights(&[1.0]).is_err());
}
