//! One small stage for each rule of `src/skel/rules.md`, with the result that follows from it by hand.
//! The goldens and the differential test hold the same rules against usd-core.

use std::path::PathBuf;

use common::compare::compare_within;
use common::{tolerance, usd};
use glam::{DMat4, DVec3};
use sinew_bake::{Backend, BakeOptions, BakeReport, Rigid, bake};

/// Two joints, A and its child B one up; the animation moves A by one along x. The mesh has a point
/// at each joint, and follows it.
const BASE: &str = r#"#usda 1.0
def Xform "W" {
    def SkelRoot "R" (prepend apiSchemas = ["SkelBindingAPI"]) {
        rel skel:skeleton = </W/R/S>
        #ROOT
        def Skeleton "S" (prepend apiSchemas = ["SkelBindingAPI"]) {
            rel skel:animationSource = </W/R/Anim>
            uniform token[] joints = ["A", "A/B"]
            uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
            uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        }
        def SkelAnimation "Anim" {
            uniform token[] joints = ["A", "A/B"]
            float3[] translations = [(1,0,0), (0,1,0)]
            quatf[] rotations = [(1,0,0,0), (1,0,0,0)]
            half3[] scales = [(1,1,1), (1,1,1)]
            #ANIM
        }
        def SkelAnimation "Other" {
            uniform token[] joints = ["A", "A/B"]
            float3[] translations = [(7,0,0), (0,1,0)]
            quatf[] rotations = [(1,0,0,0), (1,0,0,0)]
            half3[] scales = [(1,1,1), (1,1,1)]
        }
        def Mesh "M" (prepend apiSchemas = ["SkelBindingAPI"]) {
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 1]
            point3f[] points = [(0,0,0), (0,1,0)]
            #INFLUENCES
            #MESH
        }
        #MORE
    }
    #WORLD
}
"#;

const VERTEX: &str = r#"int[] primvars:skel:jointIndices = [0, 1] (interpolation = "vertex")
            float[] primvars:skel:jointWeights = [1, 1] (interpolation = "vertex")"#;

const MOVED: [DVec3; 2] = [DVec3::X, DVec3::new(1.0, 1.0, 0.0)];
const REST: [DVec3; 2] = [DVec3::ZERO, DVec3::Y];

struct Stage(String);

/// The base stage; vertex influences go in unless [`Stage::put`] fills their place.
fn stage() -> Stage {
    Stage(BASE.into())
}

impl Stage {
    /// Puts text where `#PLACE` stands.
    fn put(self, place: &str, text: &str) -> Self {
        let mark = format!("#{place}");
        assert!(self.0.contains(&mark), "{mark}");
        Self(self.0.replace(&mark, text))
    }

    fn swap(self, from: &str, to: &str) -> Self {
        assert!(self.0.contains(from), "{from}");
        Self(self.0.replace(from, to))
    }

    /// A blend shape and the mesh's list of shapes, driven by one channel each.
    fn shapes(self, names: &[&str], prims: &str, weights: &str) -> Self {
        let tokens: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
        let targets: Vec<String> = names.iter().map(|n| format!("</W/R/M/{n}>")).collect();
        let (tokens, targets) = (tokens.join(", "), targets.join(", "));
        self.put(
            "MESH",
            &format!(
                "uniform token[] skel:blendShapes = [{tokens}]
                rel skel:blendShapeTargets = [{targets}]
                #MESH
                {prims}"
            ),
        )
        .put(
            "ANIM",
            &format!(
                "uniform token[] blendShapes = [{tokens}]\nfloat[] blendShapeWeights = [{weights}]"
            ),
        )
    }

    fn text(&self) -> String {
        let text = self.0.replace("#INFLUENCES", VERTEX);
        let marks = ["#ROOT", "#ANIM", "#MESH", "#MORE", "#WORLD"];
        marks.iter().fold(text, |text, mark| text.replace(mark, ""))
    }

    fn bake(&self) -> Baked {
        self.try_bake().unwrap_or_else(|e| panic!("{e}"))
    }

    fn try_bake(&self) -> sinew_bake::Result<Baked> {
        let mut options = BakeOptions::default();
        options.backend = Backend::Cpu;
        self.bake_with(options)
    }

    fn bake_with(&self, options: BakeOptions) -> sinew_bake::Result<Baked> {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (
            folder.path().join("in.usda"),
            folder.path().join("out.usda"),
        );
        std::fs::write(&input, self.text()).unwrap();
        let report = bake(&input, &out, &options, &mut |_| {})?;
        Ok(Baked {
            stage: usd::open(&out),
            report,
            _folder: folder,
        })
    }

    /// The text of the error, of the whole bake or of a prim.
    fn error(&self) -> String {
        match self.try_bake() {
            Err(e) => e.to_string(),
            Ok(baked) => {
                let errors = baked.report.errors.iter().map(ToString::to_string);
                errors.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

struct Baked {
    stage: sinew_stage::Stage,
    report: BakeReport,
    _folder: tempfile::TempDir,
}

impl Baked {
    fn vectors(&self, prim: &str, name: &str) -> Vec<DVec3> {
        let time = usd::times(&self.stage, prim, name).first().copied();
        usd::vectors(&self.stage, prim, name, time).unwrap_or_default()
    }

    fn points(&self) -> Vec<DVec3> {
        self.vectors("/W/R/M", "points")
    }

    /// Compares the mesh's points.
    #[track_caller]
    fn gives(&self, want: &[DVec3]) {
        compare_within("points", &self.points(), want, tolerance::BY_HAND).unwrap();
    }

    #[track_caller]
    fn gives_normals(&self, want: &[DVec3]) {
        let got = self.vectors("/W/R/M", "normals");
        compare_within("normals", &got, want, tolerance::BY_HAND).unwrap();
    }

    fn warns(&self, code: &str) -> bool {
        self.report.warnings.iter().any(|w| w.code == code)
    }
}

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

const CUBE: &str = r#"def Cube "C" (prepend apiSchemas = ["SkelBindingAPI"]) {
    int[] primvars:skel:jointIndices = [0] (interpolation = "constant")
    float[] primvars:skel:jointWeights = [1] (interpolation = "constant")
}"#;

/// A mesh with influences, named N, to be put somewhere.
fn another_mesh() -> String {
    format!(
        r#"def Mesh "N" (prepend apiSchemas = ["SkelBindingAPI"]) {{
            point3f[] points = [(0,0,0), (0,1,0)]
            {VERTEX}
        }}"#
    )
}

#[test]
fn rule_01_boundables_are_skinned_and_nothing_below_them_or_below_materials() {
    let baked = stage().put("MORE", CUBE).bake();
    let moved = usd::local_transform(&baked.stage, "/W/R/C", None).unwrap();
    assert_eq!(moved, DMat4::from_translation(DVec3::X));
    let below_mesh = stage().put("MESH", &another_mesh()).bake();
    assert_eq!(below_mesh.vectors("/W/R/M/N", "points"), REST);
    let material = format!("def Material \"Looks\" {{\n{}\n}}", another_mesh());
    let below_material = stage().put("MORE", &material).bake();
    assert_eq!(below_material.vectors("/W/R/Looks/N", "points"), REST);
    assert_eq!(
        stage()
            .put("MORE", &another_mesh())
            .bake()
            .vectors("/W/R/N", "points"),
        MOVED
    );
}

#[test]
fn rule_02_only_prims_with_the_api_count_and_influences_are_inherited() {
    let without = stage().swap(
        "def Mesh \"M\" (prepend apiSchemas = [\"SkelBindingAPI\"])",
        "def Mesh \"M\"",
    );
    assert!(
        without.error().contains("SkelBindingAPI is not applied"),
        "{}",
        without.error()
    );
    let inherited = stage().put("INFLUENCES", "").put("ROOT", VERTEX);
    inherited.bake().gives(&MOVED);
    // From above the SkelRoot nothing comes down.
    let above = stage().put("INFLUENCES", "").put("WORLD", "").swap(
        "def Xform \"W\" {",
        &format!("def Xform \"W\" (prepend apiSchemas = [\"SkelBindingAPI\"]) {{ {VERTEX}"),
    );
    assert!(above.try_bake().is_err());
}

#[test]
fn rule_03_animation_is_searched_from_the_skeleton_and_an_empty_list_blocks() {
    let on_mesh = stage().put("MESH", "rel skel:animationSource = </W/R/Other>");
    on_mesh.bake().gives(&MOVED);
    let blocked = stage()
        .swap(
            "rel skel:animationSource = </W/R/Anim>",
            "rel skel:animationSource = []",
        )
        .put("ROOT", "rel skel:animationSource = </W/R/Other>");
    blocked.bake().gives(&REST);
    let inherited = stage()
        .swap("rel skel:animationSource = </W/R/Anim>", "")
        .put(
            "ROOT",
            "rel skel:animationSource = [</W/R/Other>, </W/R/Anim>]",
        );
    inherited
        .bake()
        .gives(&[v(7.0, 0.0, 0.0), v(7.0, 1.0, 0.0)]);
}

#[test]
fn rule_04_influences_without_interpolation_are_constant_and_layouts_have_to_agree() {
    let constant = stage().put(
        "INFLUENCES",
        "int[] primvars:skel:jointIndices = [0]\nfloat[] primvars:skel:jointWeights = [1]",
    );
    let baked = constant.bake();
    baked.gives(&REST);
    assert_eq!(
        usd::local_transform(&baked.stage, "/W/R/M", None),
        Some(DMat4::from_translation(DVec3::X))
    );
    let two = stage().put(
        "INFLUENCES",
        "int[] primvars:skel:jointIndices = [0, 1]\nfloat[] primvars:skel:jointWeights = [1, 1]",
    );
    assert!(
        two.error().contains("elementSize of a constant primvar"),
        "{}",
        two.error()
    );
    let disagree = stage().put(
        "INFLUENCES",
        r#"int[] primvars:skel:jointIndices = [0, 1] (interpolation = "vertex"; elementSize = 2)
           float[] primvars:skel:jointWeights = [1, 1] (interpolation = "vertex")"#,
    );
    assert!(
        disagree.error().contains("have to agree"),
        "{}",
        disagree.error()
    );
}

/// Two instances of one character, with an animation bound above each.
fn instances(p: &str, q: &str) -> Stage {
    let character = BASE
        .replace("#usda 1.0", "")
        .replace("def Xform \"W\"", "class \"Proto\"")
        .replace("/W/", "/Proto/")
        .replace("rel skel:animationSource = </Proto/R/Anim>", "");
    let instance = |name: &str, anim: &str| {
        format!(
            r#"def Xform "{name}" (prepend apiSchemas = ["SkelBindingAPI"]) {{
                rel skel:animationSource = </{anim}>
                def "I" (instanceable = true; prepend references = </Proto>) {{}}
            }}"#
        )
    };
    let anim = |name: &str, x: f64| {
        format!(
            r#"def SkelAnimation "{name}" {{
                uniform token[] joints = ["A"]
                float3[] translations = [({x},0,0)]
                quatf[] rotations = [(1,0,0,0)]
                half3[] scales = [(1,1,1)]
            }}"#
        )
    };
    Stage(format!(
        "#usda 1.0\n{character}\n{}\n{}\n{}\n{}\n",
        anim("One", 1.0),
        anim("Two", 2.0),
        instance("P", p),
        instance("Q", q),
    ))
}

#[test]
fn rule_05_instances_share_definitions_and_are_animated_one_by_one() {
    let baked = instances("One", "Two").bake();
    assert_eq!(baked.vectors("/P/I/R/M", "points"), MOVED);
    assert_eq!(
        baked.vectors("/Q/I/R/M", "points"),
        [v(2.0, 0.0, 0.0), v(2.0, 1.0, 0.0)]
    );
}

#[test]
fn rule_06_native_instances_are_baked() {
    for (q, x, shared) in [("One", 1.0, true), ("Two", 2.0, false)] {
        let baked = instances("One", q).bake();
        assert_eq!(baked.report.prims, 2, "{q}");
        // Those with one result share it, the others are no instances any more.
        for instance in ["/P/I", "/Q/I"] {
            let prim = usd::prim(&baked.stage, instance);
            assert_eq!(prim.is_instance(), shared, "{q}: {instance}");
        }
        let prototypes = baked.stage.prototypes().count();
        assert_eq!(prototypes, usize::from(shared), "{q}");
        assert_eq!(baked.vectors("/P/I/R/M", "points"), MOVED, "{q}");
        let points = [v(x, 0.0, 0.0), v(x, 1.0, 0.0)];
        assert_eq!(baked.vectors("/Q/I/R/M", "points"), points, "{q}");
    }
}

#[test]
fn rule_07_a_parent_is_the_nearest_listed_ancestor_and_comes_first() {
    let gap = stage().swap("\"A/B\"", "\"A/Gap/B\"");
    gap.bake().gives(&MOVED);
    let backwards = stage().swap("[\"A\", \"A/B\"]", "[\"A/B\", \"A\"]");
    let error = backwards.error();
    assert!(error.contains("parents before their children"), "{error}");
}

#[test]
fn rule_08_an_animation_that_lacks_a_component_is_ignored_as_a_whole() {
    let lacking = stage().swap(
        "half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
        "#ANIM",
    );
    let baked = lacking.bake();
    baked.gives(&REST);
    assert!(baked.warns("animation-component"));
    let short = stage().swap(
        "half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
        "half3[] scales = [(1,1,1)]\n            #ANIM",
    );
    short.bake().gives(&REST);
}

#[test]
fn rule_09_a_sparse_animation_takes_the_other_joints_from_rest() {
    let sparse = |stage: Stage| {
        stage.swap(
            "uniform token[] joints = [\"A\", \"A/B\"]
            float3[] translations = [(1,0,0), (0,1,0)]
            quatf[] rotations = [(1,0,0,0), (1,0,0,0)]
            half3[] scales = [(1,1,1), (1,1,1)]",
            "uniform token[] joints = [\"A\"]
            float3[] translations = [(1,0,0)]
            quatf[] rotations = [(1,0,0,0)]
            half3[] scales = [(1,1,1)]",
        )
    };
    sparse(stage()).bake().gives(&MOVED);
    let rest = "uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]";
    let error = sparse(stage()).swap(rest, "").error();
    assert!(error.contains("restTransforms"), "{error}");
    // A full animation needs none.
    stage().swap(rest, "").bake().gives(&MOVED);
}

#[test]
fn rule_10_skinning_undoes_the_bind_pose_and_a_missing_one_is_no_identity() {
    let shifted = stage().swap(
        "bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))",
        "bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,5,1))",
    );
    shifted.bake().gives(&[v(1.0, 0.0, -5.0), MOVED[1]]);
    let missing = stage()
        .swap("bindTransforms", "custom:bindTransforms")
        .error();
    assert!(missing.contains("bindTransforms"), "{missing}");
    let singular = stage().swap(
        "bindTransforms = [((1,0,0,0),(0,1,0,0)",
        "bindTransforms = [((1,0,0,0),(1,0,0,0)",
    );
    assert!(
        singular.error().contains("invertible"),
        "{}",
        singular.error()
    );
}

#[test]
fn rule_11_orders_go_by_whole_paths_and_missing_joints_stay_put() {
    let own =
        |joints: &str| stage().put("MESH", &format!("uniform token[] skel:joints = [{joints}]"));
    own("\"A/B\", \"A\"").bake().gives(&MOVED);
    // The last name alone is no match: that joint has identity.
    own("\"B\", \"A\"").bake().gives(&[REST[0], MOVED[1]]);
    let shape = r#"def BlendShape "up" { uniform vector3f[] offsets = [(0,0,1), (0,0,1)]; }"#;
    let undriven = stage().shapes(&["up"], shape, "1").swap(
        "uniform token[] blendShapes = [\"up\"]",
        "uniform token[] blendShapes = [\"down\"]",
    );
    undriven.bake().gives(&MOVED);
}

#[test]
fn rule_12_scale_then_rotate_then_translate() {
    // Half a turn's half about z, twice the size along x.
    let posed = stage()
        .swap("quatf[] rotations = [(1,0,0,0), (1,0,0,0)]\n            half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
            "quatf[] rotations = [(0.70710677,0,0,0.70710677), (1,0,0,0)]\n            half3[] scales = [(2,1,1), (1,1,1)]\n            #ANIM")
        .swap("points = [(0,0,0), (0,1,0)]", "points = [(1,0,0), (0,1,0)]");
    // (1,0,0) -> (2,0,0) -> (0,2,0) -> (1,2,0); the child's origin (0,1,0) -> (-1,0,0) -> (0,0,0).
    posed.bake().gives(&[v(1.0, 2.0, 0.0), v(0.0, 0.0, 0.0)]);
}

fn blend(inbetweens: &str, weight: &str) -> Stage {
    let shape = format!(
        "def BlendShape \"up\" {{ uniform vector3f[] offsets = [(0,0,1), (0,0,1)]\n{inbetweens}\n}}"
    );
    stage().shapes(&["up"], &shape, weight)
}

/// How far the shape of [`blend`] moves the points along z.
#[track_caller]
fn raised(stage: &Stage, want: f64) {
    let want: Vec<DVec3> = MOVED.iter().map(|p| *p + DVec3::Z * want).collect();
    stage.bake().gives(&want);
}

const HALF: &str = "vector3f[] inbetweens:half = [(0,0,3), (0,0,3)] (weight = 0.5)";

#[test]
fn rule_13_inbetweens_at_the_ends_or_without_a_weight_are_skipped_and_the_first_of_two_counts() {
    for bad in ["(weight = 0)", "(weight = 1)", "", "(weight = 0.0000005)"] {
        let between = format!("vector3f[] inbetweens:bad = [(0,0,9), (0,0,9)] {bad}");
        let stage = blend(&between, "0.5");
        raised(&stage, 0.5);
        assert!(stage.bake().warns("inbetween-skipped"), "{bad}");
    }
    let again = format!("{HALF}\nvector3f[] inbetweens:zz = [(0,0,9), (0,0,9)] (weight = 0.5)");
    raised(&blend(&again, "0.5"), 3.0);
}

#[test]
fn rule_14_without_inbetweens_the_weight_is_raw() {
    raised(&blend("", "2.5"), 2.5);
    raised(&blend("", "-1"), -1.0);
}

#[test]
fn rule_15_beyond_either_end_the_two_end_shapes_extrapolate() {
    for (weight, want) in [("0.25", 1.5), ("0.75", 2.0), ("-0.5", -3.0), ("1.5", -1.0)] {
        raised(&blend(HALF, weight), want);
    }
}

#[test]
fn rule_16_terms_next_to_zero_are_dropped() {
    let huge = "def BlendShape \"up\" { uniform vector3f[] offsets = [(0,0,1000000), (0,0,0)]; }";
    stage()
        .shapes(&["up"], huge, "0.0000005")
        .bake()
        .gives(&MOVED);
    let kept = stage().shapes(&["up"], huge, "0.000002").bake();
    kept.gives(&[v(1.0, 0.0, 2.0), MOVED[1]]);
}

#[test]
fn rule_17_a_missing_target_keeps_its_slot() {
    let shape = r#"def BlendShape "up" { uniform vector3f[] offsets = [(0,0,1), (0,0,1)]; }"#;
    let baked = stage().shapes(&["gone", "up"], shape, "5, 0.5").bake();
    baked.gives(&[v(1.0, 0.0, 0.5), v(1.0, 1.0, 0.5)]);
    assert!(baked.warns("blend-shape-missing"));
}

#[test]
fn rule_18_offsets_fit_points_or_indices_and_duplicates_add() {
    let shape = |text: &str| format!("def BlendShape \"up\" {{ {text}\n}}");
    let with = |text: &str| stage().shapes(&["up"], &shape(text), "1").bake();
    with("uniform vector3f[] offsets = [(0,0,1), (0,0,2)]\nuniform int[] pointIndices = [1, 1]")
        .gives(&[MOVED[0], v(1.0, 1.0, 3.0)]);
    for broken in [
        "uniform vector3f[] offsets = [(0,0,1)]",
        "uniform vector3f[] offsets = [(0,0,1), (0,0,2)]\nuniform int[] pointIndices = [1]",
        "uniform vector3f[] offsets = [(0,0,1)]\nuniform int[] pointIndices = [2]",
    ] {
        let baked = with(broken);
        baked.gives(&MOVED);
        assert!(baked.warns("blend-shapes-dropped"), "{broken}");
    }
    // Older types.
    with("uniform point3f[] offsets = [(0,0,1)]\nuniform uint[] pointIndices = [1]")
        .gives(&[MOVED[0], v(1.0, 1.0, 1.0)]);
}

#[test]
fn rule_19_normals_blend_and_are_all_normalised_and_an_inbetween_borrows_none() {
    let shape = format!(
        "def BlendShape \"up\" {{
            uniform vector3f[] offsets = [(0,0,1)]
            uniform vector3f[] normalOffsets = [(1,0,0)]
            uniform int[] pointIndices = [0]
            {}
}}",
        HALF.replace("[(0,0,3), (0,0,3)]", "[(0,0,3)]")
    );
    let with = |weight: &str, interpolation: &str, normals: &str| {
        stage()
            .shapes(&["up"], &shape, weight)
            .put(
                "MESH",
                &format!("normal3f[] normals = {normals} (interpolation = \"{interpolation}\")"),
            )
            .bake()
    };
    let slant = v(1.0, 1.0, 0.0).normalize();
    let two = "[(0,1,0), (0,0,4)]";
    with("1", "vertex", two).gives_normals(&[slant, DVec3::Z]);
    with("1", "varying", two).gives_normals(&[slant, DVec3::Z]);
    // At the in-between's weight no normal offsets count.
    with("0.5", "vertex", two).gives_normals(&[DVec3::Y, DVec3::Z]);
    with("1", "faceVarying", "[(0,1,0), (0,0,4), (0,1,0)]").gives_normals(&[
        DVec3::Y,
        DVec3::Z,
        DVec3::Y,
    ]);
    with("1", "uniform", "[(0,3,0)]").gives_normals(&[v(0.0, 3.0, 0.0)]);
}

#[test]
fn rule_20_shapes_come_before_geom_bind_and_a_prim_that_only_blends_stays() {
    let bind =
        "matrix4d primvars:skel:geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,2,0),(0,0,0,1))";
    raised(&blend("", "1").put("MESH", bind), 2.0);
    let only = blend("", "1").put("INFLUENCES", "").bake();
    only.gives(&[v(0.0, 0.0, 1.0), v(0.0, 1.0, 1.0)]);
}

fn weighted(weights: &str) -> Stage {
    stage().put(
        "INFLUENCES",
        &format!(
            r#"int[] primvars:skel:jointIndices = [0, 1, 1, 0] (interpolation = "vertex"; elementSize = 2)
               float[] primvars:skel:jointWeights = [{weights}] (interpolation = "vertex"; elementSize = 2)"#
        ),
    )
}

#[test]
fn rule_21_weights_count_as_authored() {
    weighted("0.5, 0, 2, 0")
        .bake()
        .gives(&[v(0.5, 0.0, 0.0), v(2.0, 2.0, 0.0)]);
    weighted("1.5, -0.5, 1, 0").bake().gives(&MOVED);
    weighted("-1, 0, 1, 0")
        .bake()
        .gives(&[v(-1.0, 0.0, 0.0), MOVED[1]]);
}

#[test]
fn rule_22_a_joint_out_of_range_fails_the_prim_even_at_weight_zero() {
    let error = weighted("1, 0, 1, 0")
        .swap("[0, 1, 1, 0]", "[0, 1, 1, 2]")
        .error();
    for word in ["/W/R/M", "2 at point 1 (influence 1)", "below 2"] {
        assert!(error.contains(word), "{error} should say {word}");
    }
}

#[test]
fn rule_23_normals_go_by_inverse_transposes_and_are_normalised_in_skeleton_space_alone() {
    let normals = "normal3f[] normals = [(1,1,0), (1,1,0)] (interpolation = \"vertex\")";
    let scaled = stage().put("MESH", &format!("{normals}\n#MESH")).swap(
        "half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
        "half3[] scales = [(2,1,1), (0.5,1,1)]\n            #ANIM",
    );
    let squashed = v(0.5, 1.0, 0.0).normalize();
    scaled
        .bake()
        .gives_normals(&[squashed, v(1.0, 1.0, 0.0).normalize()]);
    // Out of skeleton space and into a prim twice as large they are twice as long.
    let larger = stage()
        .put("MESH", &format!("{normals}\nfloat3 xformOp:scale = (2,2,2)\nuniform token[] xformOpOrder = [\"xformOp:scale\"]"));
    let long = v(1.0, 1.0, 0.0).normalize() * 2.0;
    larger.bake().gives_normals(&[long, long]);
}

const TURNED: &str = "quatf[] rotations = [(0.70710677,0,0,0.70710677), (1,0,0,0)]";

#[test]
fn rule_24_face_corners_take_the_influences_of_their_points() {
    let turned = |interpolation: &str, normals: &str| {
        stage()
            .swap("quatf[] rotations = [(1,0,0,0), (1,0,0,0)]\n            half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
                &format!("{TURNED}\n half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM"))
            // B turns back, so that the second point keeps its directions.
            .swap(TURNED, "quatf[] rotations = [(0.70710677,0,0,0.70710677), (0.70710677,0,0,-0.70710677)]")
            .put("MESH", &format!("normal3f[] normals = {normals} {interpolation}"))
            .bake()
    };
    let face = r#"(interpolation = "faceVarying")"#;
    turned(face, "[(1,0,0), (1,0,0), (0,0,1)]").gives_normals(&[DVec3::Y, DVec3::X, DVec3::Z]);
    turned("", "[(1,0,0), (1,0,0)]").gives_normals(&[DVec3::Y, DVec3::X]);
    turned(r#"(interpolation = "constant")"#, "[(1,0,0)]").gives_normals(&[DVec3::X]);
    // The wrong number stays while the points are skinned.
    let wrong = turned(face, "[(1,0,0)]");
    wrong.gives_normals(&[DVec3::X]);
    assert!(wrong.warns("normals-left") && wrong.points() != REST);
}

/// Both points half A, half B, by dual quaternions; A and B have these rotations and scales.
fn dual(rotations: &str, scales: &str, weights: &str) -> Stage {
    weighted(weights)
        .put("MESH", "uniform token primvars:skel:skinningMethod = \"dualQuaternion\"\n#MESH")
        .swap("float3[] translations = [(1,0,0), (0,1,0)]", "float3[] translations = [(0,0,0), (0,0,0)]")
        .swap("bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]",
            "bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]")
        .swap("quatf[] rotations = [(1,0,0,0), (1,0,0,0)]\n            half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
            &format!("quatf[] rotations = [{rotations}]\n half3[] scales = [{scales}]\n            #ANIM"))
        .swap("points = [(0,0,0), (0,1,0)]", "points = [(1,0,0), (1,0,0)]")
}

const STILL: &str = "(1,0,0,0)";
/// A quarter turn about z, and the same with the other sign.
const QUARTER: &str = "(0.70710677,0,0,0.70710677)";
const QUARTER_NEGATED: &str = "(-0.70710677,0,0,-0.70710677)";

#[test]
fn rule_25_dual_quaternions_keep_lengths_and_residual_scale_blends_before_them() {
    let ones = "(1,1,1), (1,1,1)";
    let eighth = v(0.5f64.sqrt(), 0.5f64.sqrt(), 0.0);
    let half = "0.5, 0.5, 0.5, 0.5";
    for quarter in [QUARTER, QUARTER_NEGATED] {
        // Linear blending would give the chord's middle, 0.707 long. The second sign of the same
        // rotation is brought to the hemisphere of the first largest weight.
        dual(&format!("{STILL}, {quarter}"), ones, half)
            .bake()
            .gives(&[eighth, eighth]);
    }
    // A scales by 3 along x, B by 1: 2 in the middle, then the turn.
    dual(&format!("{STILL}, {QUARTER}"), "(3,1,1), (1,1,1)", half)
        .bake()
        .gives(&[eighth * 2.0, eighth * 2.0]);
}

#[test]
fn rule_26_singular_joints_and_zero_sums() {
    // A is flattened to nothing: no rotation of its own, and no scale to take out.
    let flat = dual(
        &format!("{STILL}, {STILL}"),
        "(0,0,0), (1,1,1)",
        "0, 1, 1, 0",
    );
    flat.bake().gives(&[DVec3::X, DVec3::X]);
    let zero = dual(
        &format!("{QUARTER}, {QUARTER}"),
        "(1,1,1), (1,1,1)",
        "0, 0, 1, 0",
    );
    // B turns with its parent, which makes half a turn.
    zero.bake().gives(&[DVec3::X, DVec3::NEG_X]);
}

#[test]
fn rule_27_dual_quaternion_normals_turn_with_the_rigid_part() {
    let normals = "normal3f[] normals = [(1,0,0), (0,1,0)] (interpolation = \"vertex\")";
    let eighth = |n: DVec3| DMat4::from_rotation_z(45f64.to_radians()).transform_vector3(n);
    let baked = dual(
        &format!("{STILL}, {QUARTER}"),
        "(1,1,1), (1,1,1)",
        "0.5, 0.5, 0.5, 0.5",
    )
    .put("MESH", normals)
    .bake();
    baked.gives_normals(&[eighth(DVec3::X), eighth(DVec3::Y)]);
}

const CONSTANT: &str = r#"int[] primvars:skel:jointIndices = [1] (interpolation = "constant")
            float[] primvars:skel:jointWeights = [1] (interpolation = "constant")"#;

#[test]
fn rule_28_constant_influences_move_the_transform_or_on_request_the_points() {
    let rigid = stage().put("INFLUENCES", CONSTANT);
    let baked = rigid.bake();
    baked.gives(&REST);
    let moved = usd::local_transform(&baked.stage, "/W/R/M", None);
    assert_eq!(moved, Some(DMat4::from_translation(DVec3::X)));
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    options.rigid = Rigid::Points;
    let by_points = rigid.bake_with(options).unwrap();
    by_points.gives(&MOVED);
    assert!(usd::tokens(&by_points.stage, "/W/R/M", "xformOpOrder").is_empty());
}

#[test]
fn rule_29_an_unknown_method_fails_the_prim_and_geom_bind_is_identity_unless_authored() {
    let error = stage()
        .put(
            "MESH",
            "uniform token primvars:skel:skinningMethod = \"magic\"",
        )
        .error();
    assert!(error.contains("magic"), "{error}");
    let animated = stage().put(
        "MESH",
        "matrix4d primvars:skel:geomBindTransform.timeSamples = {
            0: ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), 2: ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,4,1)) }",
    );
    let baked = animated.bake();
    let at = |t| usd::vectors(&baked.stage, "/W/R/M", "points", Some(t)).unwrap()[0];
    assert_eq!(
        [at(0.0), at(1.0), at(2.0)],
        [DVec3::X, v(1.0, 0.0, 2.0), v(1.0, 0.0, 4.0)]
    );
}

#[test]
fn rule_30_points_are_in_skeleton_space_whatever_the_prims_transform_says() {
    let moved = "double3 xformOp:translate = (0,0,10)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]";
    stage()
        .put("MESH", moved)
        .bake()
        .gives(&[v(1.0, 0.0, -10.0), v(1.0, 1.0, -10.0)]);
    let skeleton = stage().swap(
        "rel skel:animationSource = </W/R/Anim>",
        &format!("rel skel:animationSource = </W/R/Anim>\n{moved}"),
    );
    skeleton
        .bake()
        .gives(&[v(1.0, 0.0, 10.0), v(1.0, 1.0, 10.0)]);
}

#[test]
fn rule_31_ancestors_transforms_are_sampled_too() {
    let turning = stage().swap(
        "def Skeleton \"S\"",
        "def Xform \"Turning\" {
            float xformOp:rotateZ.timeSamples = { 1: 0, 3: 180 }
            uniform token[] xformOpOrder = [\"xformOp:rotateZ\"]
        }
        def Skeleton \"S\"",
    );
    // The mesh below it stays where the skeleton puts it.
    let text = turning.text();
    let mesh_at = text.find("def Mesh").unwrap();
    let mesh_end = text[mesh_at..].find("\n        }").unwrap() + mesh_at + "\n        }".len();
    let (mesh, without) = (
        text[mesh_at..mesh_end].to_owned(),
        format!("{}{}", &text[..mesh_at], &text[mesh_end..]),
    );
    let inside = without.replace(
        "xformOpOrder = [\"xformOp:rotateZ\"]",
        &format!("xformOpOrder = [\"xformOp:rotateZ\"]\n{mesh}"),
    );
    let baked = Stage(inside).bake();
    let prim = "/W/R/Turning/M";
    assert_eq!(usd::times(&baked.stage, prim, "points"), [1.0, 3.0]);
    let at = |t| usd::vectors(&baked.stage, prim, "points", Some(t)).unwrap();
    compare_within("unturned", &at(1.0), &MOVED, tolerance::FEW_ROUNDINGS).unwrap();
    compare_within(
        "turned back",
        &at(3.0),
        &[v(-1.0, 0.0, 0.0), v(-1.0, -1.0, 0.0)],
        tolerance::FEW_ROUNDINGS,
    )
    .unwrap();
}

/// What moves the parent cancels out where the Skeleton stands below it too; Pixar's bake samples it all the
/// same, and a turn between samples is no straight line.
#[test]
fn rule_31_a_rigid_prim_is_sampled_where_its_parent_moves() {
    let moving = "double3 xformOp:translate.timeSamples = { 1: (0,0,0), 2: (0,0,1) }
        uniform token[] xformOpOrder = [\"xformOp:translate\"]";
    let baked = stage()
        .put("ROOT", moving)
        .put("INFLUENCES", CONSTANT)
        .swap(
            "quatf[] rotations = [(1,0,0,0), (1,0,0,0)]\n            half3[] scales = [(1,1,1), (1,1,1)]\n            #ANIM",
            &format!(
                "quatf[] rotations.timeSamples = {{ 0: [(1,0,0,0), (1,0,0,0)], 4: [{QUARTER}, (1,0,0,0)] }}
                half3[] scales = [(1,1,1), (1,1,1)]"
            ),
        )
        .bake();
    let times = usd::times(&baked.stage, "/W/R/M", "xformOp:transform");
    assert_eq!(times, [0.0, 1.0, 2.0, 4.0]);
}

#[test]
fn rule_32_skel_roots_become_xforms_and_extents_follow() {
    let broken = weighted("1, 0, 1, 0").swap("[0, 1, 1, 0]", "[0, 1, 1, 9]");
    let baked = broken.put("MORE", &another_mesh()).bake();
    assert_eq!(usd::type_name(&baked.stage, "/W/R"), "Xform");
    assert_eq!(
        baked.vectors("/W/R/N", "extent"),
        [v(1.0, 0.0, 0.0), v(1.0, 1.0, 0.0)]
    );
}

/// Every rule of the list has a test that is named after it.
#[test]
fn every_rule_has_its_test() {
    let read = |file: PathBuf| std::fs::read_to_string(file).unwrap();
    let list = read(common::repository().join("src/skel/rules.md"));
    let number = |line: &str| line.split_once(". ")?.0.parse::<u32>().ok();
    let rules: Vec<u32> = list.lines().filter_map(number).collect();
    assert!(
        rules.len() >= 34 && rules.iter().copied().eq(1..=rules.len() as u32),
        "rules are numbered one by one: {rules:?}"
    );
    let folders = ["sinew-bake/tests/rules", "sinew-cli/tests/commands"];
    let files = folders
        .map(|f| common::files::files_of(&common::repository().join("crates").join(f), &["rs"]));
    let text: String = files.concat().into_iter().map(read).collect();
    let missing: Vec<u32> = rules
        .into_iter()
        .filter(|rule| !text.contains(&format!("fn rule_{rule:02}_")))
        .collect();
    assert!(missing.is_empty(), "rules without a test: {missing:?}");
}
