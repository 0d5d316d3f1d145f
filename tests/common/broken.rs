//! Malformed stages: one good stage, and one change each.

use sinew_check::CheckOptions;

/// A character with nothing wrong: three joints, vertex and constant influences, two shapes with
/// an in-between, all driven.
pub const BASE: &str = r#"#usda 1.0
(
    defaultPrim = "R"
    endTimeCode = 2
    framesPerSecond = 24
    metersPerUnit = 0.01
    startTimeCode = 1
    timeCodesPerSecond = 24
    upAxis = "Y"
)

def SkelRoot "R" (prepend apiSchemas = ["SkelBindingAPI"])
{
    rel skel:skeleton = </R/Skel>

    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        rel skel:animationSource = </R/Anim>
        uniform token[] joints = ["A", "A/B", "A/B/C"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(1,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(2,0,0,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(1,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(1,0,0,1))]
    }

    def SkelAnimation "Anim"
    {
        uniform token[] joints = ["A", "A/B", "A/B/C"]
        float3[] translations = [(0, 0, 0), (1, 0, 0), (1, 0, 0)]
        quatf[] rotations = [(1, 0, 0, 0), (0.8, 0, 0.6, 0), (1, 0, 0, 0)]
        half3[] scales = [(1, 1, 1), (1, 1, 1), (1, 1, 1)]
        uniform token[] blendShapes = ["smile", "blink"]
        float[] blendShapeWeights.timeSamples = {
            1: [1, 0],
            2: [0, 0.5],
        }
    }

    def Mesh "M" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "vertex")
        matrix4d primvars:skel:geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))
        int[] primvars:skel:jointIndices = [0, 1, 1, 2, 2, 1, 1, 0] (elementSize = 2; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (elementSize = 2; interpolation = "vertex")
        uniform token[] skel:blendShapes = ["smile", "blink"]
        rel skel:blendShapeTargets = [</R/M/Smile>, </R/M/Blink>]

        def BlendShape "Smile"
        {
            uniform vector3f[] offsets = [(0, 0, 1), (0, 1, 0)]
            uniform int[] pointIndices = [1, 3]
            uniform vector3f[] inbetweens:half = [(0, 0, 0.25), (0, 0.75, 0)] (weight = 0.5)
        }

        def BlendShape "Blink"
        {
            uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]
            uniform vector3f[] normalOffsets = [(0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)]
        }
    }

    def Mesh "Stiff" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 2), (1, 0, 2), (1, 1, 2)]
        int[] primvars:skel:jointIndices = [2] (interpolation = "constant")
        float[] primvars:skel:jointWeights = [1] (interpolation = "constant")
    }
    # more
}
"#;

/// Changes to [`BASE`] that bring four findings, all of which can be mended.
pub const BROKEN: [(&str, &str); 3] = [
    ("0.75, 0.25, 0.5, 0.5,", "0.25, 0.75, 3, 1,"),
    ("weight = 0.5", "weight = 1"),
    (
        "def Mesh \"Stiff\" (prepend apiSchemas = [\"SkelBindingAPI\"])",
        "def Mesh \"Stiff\"",
    ),
];

/// [`BASE`] with each first text replaced by the second.
pub fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = BASE.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "'{from}' is not there");
        text = text.replacen(from, to, 1);
    }
    text
}

/// One malformed stage.
pub struct Case {
    pub name: &'static str,
    /// The code that has to be found.
    pub code: &'static str,
    /// Where; the file itself where empty.
    pub path: &'static str,
    /// Texts of [`BASE`], each of which is there, and what stands there instead.
    pub changes: Vec<(&'static str, &'static str)>,
    pub max_influences: Option<usize>,
    /// Most findings that the one change may lead to.
    pub most: usize,
}

impl Case {
    pub fn text(&self) -> String {
        let mut text = BASE.to_owned();
        for (from, to) in &self.changes {
            assert!(text.contains(from), "{}: '{from}' is not there", self.name);
            text = text.replacen(from, to, 1);
        }
        text
    }

    pub fn options(&self) -> CheckOptions {
        let mut options = CheckOptions::default();
        options.max_influences = self.max_influences;
        options
    }

    fn limit(mut self, max_influences: usize) -> Self {
        self.max_influences = Some(max_influences);
        self
    }

    /// Allows for what follows from the one change.
    fn at_most(mut self, findings: usize) -> Self {
        self.most = findings;
        self
    }
}

const SKEL_ROOT: &str = r#"def SkelRoot "R" (prepend apiSchemas = ["SkelBindingAPI"])"#;
const SKELETON: &str = r#"def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])"#;
const MESH: &str = r#"def Mesh "M" (prepend apiSchemas = ["SkelBindingAPI"])"#;
const STIFF: &str = r#"def Mesh "Stiff" (prepend apiSchemas = ["SkelBindingAPI"])"#;
const JOINTS: &str = r#"joints = ["A", "A/B", "A/B/C"]
        uniform matrix4d[] bind"#;
const ANIM_JOINTS: &str = r#"joints = ["A", "A/B", "A/B/C"]
        float3[]"#;
const BIND: &str = "bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ";
const REST: &str = "restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ";
const NO_REST: (&str, &str) = (
    "uniform matrix4d[] restTransforms",
    "uniform matrix4d[] was",
);
const INDICES: &str =
    "jointIndices = [0, 1, 1, 2, 2, 1, 1, 0] (elementSize = 2; interpolation = \"vertex\")";
const WEIGHTS: &str = "jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (elementSize = 2; interpolation = \"vertex\")";
const VALUES: &str = "[1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125]";
const GEOM_BIND: &str = "geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";
const MORE: &str = "    # more";
const HALF: &str = "inbetweens:half = [(0, 0, 0.25), (0, 0.75, 0)] (weight = 0.5)";
const NORMALS: &str = "normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]";

fn case(
    name: &'static str,
    code: &'static str,
    path: &'static str,
    changes: &[(&'static str, &'static str)],
) -> Case {
    Case {
        name,
        code,
        path,
        changes: changes.to_vec(),
        max_influences: None,
        most: 1,
    }
}

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut all = file();
    all.extend(binding());
    all.extend(skeleton());
    all.extend(animation());
    all.extend(shapes());
    all.extend(influences());
    all.extend(geometry());
    all.extend(drawn());
    all
}

fn file() -> Vec<Case> {
    vec![
        case(
            "missing_reference",
            "missing-asset",
            "/R/Gone",
            &[(
                MORE,
                r#"def "Gone" (prepend references = @./gone.usda@) {}"#,
            )],
        ),
        case(
            "missing_sublayer",
            "missing-asset",
            "",
            &[("upAxis = \"Y\"", r#"subLayers = [@./gone.usda@]"#)],
        ),
        case(
            "a_folder_as_reference",
            "unreadable-layer",
            "/R/Gone",
            &[(MORE, r#"def "Gone" (prepend references = @.@) {}"#)],
        ),
        case(
            "a_reference_to_no_prim",
            "missing-prim",
            "/R/Gone",
            &[(MORE, r#"def "Gone" (prepend references = </R/Nowhere>) {}"#)],
        ),
        case(
            "a_reference_without_a_prim",
            "missing-default-prim",
            "/R/Gone",
            &[
                ("    defaultPrim = \"R\"\n", ""),
                (MORE, r#"def "Gone" (prepend references = @./in.usda@) {}"#),
            ],
        ),
        case(
            "arcs_in_a_circle",
            "arc-cycle",
            "/R/Gone",
            &[(
                MORE,
                r#"def "Gone" (prepend references = </R/Back>) {}
    def "Back" (prepend references = </R/Gone>) {}"#,
            )],
        )
        .at_most(2),
        case(
            "sublayers_in_a_circle",
            "sublayer-cycle",
            "",
            &[("upAxis = \"Y\"", r#"subLayers = [@./in.usda@]"#)],
        ),
        case(
            "an_offset_that_is_not_finite",
            "bad-offset",
            "/R/Gone",
            &[(
                MORE,
                r#"def "Gone" (prepend references = </R/Anim> (offset = inf)) {}"#,
            )],
        )
        .at_most(2),
        case(
            "an_expression_without_its_variable",
            "bad-expression",
            "/R/Gone",
            &[(
                MORE,
                r#"def "Gone" (prepend references = @`"${NOT_THERE"`@) {}"#,
            )],
        ),
        case(
            "a_relocate_to_itself",
            "bad-relocate",
            "",
            &[("upAxis = \"Y\"", r#"relocates = { </R/M>: </R/M> }"#)],
        ),
        case(
            "an_arc_to_a_moved_prim",
            "arc-to-moved-prim",
            "/R/Gone",
            &[
                (
                    "upAxis = \"Y\"",
                    r#"relocates = { </R/Up/Old>: </R/Up/New> }"#,
                ),
                (
                    MORE,
                    r#"def "Up" { def "Old" {}
    }
    def "Gone" (prepend references = </R/Up/Old>) {}"#,
                ),
            ],
        )
        .at_most(2),
        case(
            "opinions_at_a_moved_prim",
            "opinion-at-moved-prim",
            "/R/Up/New",
            &[
                (
                    "upAxis = \"Y\"",
                    r#"relocates = { </R/Up/Old>: </R/Up/New> }"#,
                ),
                (
                    MORE,
                    r#"def "Up" (prepend references = </R/From>) { over "Old" {}
    }
    def "From" { def "Old" {}
    }"#,
                ),
            ],
        ),
        case(
            "a_clip_set_that_is_no_dictionary",
            "clip-set-invalid",
            "/R/Gone",
            &[(MORE, r#"def "Gone" (clips = { int default = 1 }) {}"#)],
        ),
        case(
            "start_after_end",
            "time-range-reversed",
            "",
            &[("startTimeCode = 1", "startTimeCode = 3")],
        ),
        case(
            "negative_time_codes_per_second",
            "frame-rate-invalid",
            "",
            &[("timeCodesPerSecond = 24", "timeCodesPerSecond = -24")],
        ),
        Case {
            name: "an_empty_stage",
            code: "nothing-to-skin",
            path: "",
            changes: vec![(BASE, "#usda 1.0\ndef Xform \"R\" {}\n")],
            max_influences: None,
            most: 1,
        },
    ]
}

fn binding() -> Vec<Case> {
    vec![
        case(
            "mesh_without_the_api",
            "binding-api-missing",
            "/R/M",
            &[(MESH, "def Mesh \"M\"")],
        )
        .at_most(2),
        case(
            "root_without_the_api",
            "binding-api-missing",
            "/R",
            &[(SKEL_ROOT, "def SkelRoot \"R\"")],
        )
        .at_most(5),
        case(
            "skeleton_without_the_api",
            "binding-api-missing",
            "/R/Skel",
            &[(SKELETON, "def Skeleton \"Skel\"")],
        )
        .at_most(3),
        case(
            "skeleton_without_the_api_drives_nothing",
            "animation-source-ignored",
            "/R/Skel",
            &[(SKELETON, "def Skeleton \"Skel\"")],
        )
        .at_most(3),
        case(
            "unbound_mesh_without_the_api_outside",
            "binding-api-missing",
            "/Other",
            &[("def SkelRoot", "def Mesh \"Other\" { matrix4d primvars:skel:geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))\n}\ndef SkelRoot")],
        ),
        case(
            "no_skel_root",
            "skel-root-missing",
            "/R/M",
            &[("def SkelRoot", "def Xform")],
        )
        .at_most(6),
        case(
            "the_api_outside_a_skel_root",
            "binding-outside-skel-root",
            "/Other",
            &[("def SkelRoot", "def Xform \"Other\" (prepend apiSchemas = [\"SkelBindingAPI\"]) {}\ndef SkelRoot")],
        ),
        case(
            "nested_skel_roots",
            "skel-root-nested",
            "/R/Inner",
            &[(MORE, "def SkelRoot \"Inner\" {}")],
        ),
        case(
            "skeleton_target_is_missing",
            "skeleton-unbound",
            "/R",
            &[("skel:skeleton = </R/Skel>", "skel:skeleton = </R/Gone>")],
        )
        .at_most(5),
        case(
            "skeleton_target_is_no_skeleton",
            "skeleton-unbound",
            "/R",
            &[("skel:skeleton = </R/Skel>", "skel:skeleton = </R/M>")],
        )
        .at_most(5),
        case(
            "skeleton_is_inactive",
            "skeleton-unbound",
            "/R",
            &[(SKELETON, "def Skeleton \"Skel\" (active = false; prepend apiSchemas = [\"SkelBindingAPI\"])")],
        )
        .at_most(5),
        case(
            "no_skeleton_at_all",
            "no-skeleton-bound",
            "/R/M",
            &[("rel skel:skeleton = </R/Skel>", "")],
        )
        .at_most(5),
        case(
            "two_skeleton_targets",
            "several-targets",
            "/R",
            &[("skel:skeleton = </R/Skel>", "skel:skeleton = [</R/Skel>, </R/Other>]")],
        ),
        case(
            "two_animation_sources",
            "several-targets",
            "/R/Skel",
            &[("skel:animationSource = </R/Anim>", "skel:animationSource = [</R/Anim>, </R/Other>]")],
        ),
        case(
            "bound_below_a_gprim",
            "binding-not-visited",
            "/R/Stiff/In",
            &[(STIFF, r#"over "Stiff" { def Mesh "In" (prepend apiSchemas = ["SkelBindingAPI"]) {
                int[] primvars:skel:jointIndices = [0]
                float[] primvars:skel:jointWeights = [1]
                }
            }
            def Mesh "Other" (prepend apiSchemas = ["SkelBindingAPI"])"#), ("over \"Stiff\"", "def Mesh \"Stiff\"")],
        ),
        case(
            "bound_below_a_material",
            "binding-not-visited",
            "/R/Looks/In",
            &[(MORE, r#"def Material "Looks" { def Mesh "In" (prepend apiSchemas = ["SkelBindingAPI"]) {
                int[] primvars:skel:jointIndices = [0]
                float[] primvars:skel:jointWeights = [1]
                }
            }"#)],
        ),
        case(
            "skeleton_bound_where_nothing_has_influences",
            "binding-no-effect",
            "/R/Group",
            &[(MORE, r#"def Xform "Group" (prepend apiSchemas = ["SkelBindingAPI"]) { rel skel:skeleton = </R/Skel>
            }"#)],
        ),
        case(
            "joint_order_without_influences",
            "binding-no-effect",
            "/R/Group",
            &[(MORE, r#"def Xform "Group" (prepend apiSchemas = ["SkelBindingAPI"]) { uniform token[] skel:joints = ["A"]
            }"#)],
        ),
        case(
            "indices_without_weights",
            "influences-incomplete",
            "/R/Stiff",
            &[("float[] primvars:skel:jointWeights = [1] (", "float[] primvars:other = [1] (")],
        ),
        case(
            "weights_without_indices",
            "influences-incomplete",
            "/R/Stiff",
            &[("int[] primvars:skel:jointIndices = [2] (", "int[] primvars:other = [2] (")],
        ),
        case(
            "shapes_on_a_group",
            "blend-shapes-not-inherited",
            "/R/Group",
            &[(MORE, r#"def Xform "Group" (prepend apiSchemas = ["SkelBindingAPI"]) {
                uniform token[] skel:blendShapes = ["smile"]
                rel skel:blendShapeTargets = </R/M/Smile>
            }"#)],
        ),
        case(
            "vertex_influences_on_a_sphere",
            "influences-without-points",
            "/R/Ball",
            &[(MORE, r#"def Sphere "Ball" (prepend apiSchemas = ["SkelBindingAPI"]) {
                int[] primvars:skel:jointIndices = [0] (interpolation = "vertex")
                float[] primvars:skel:jointWeights = [1] (interpolation = "vertex")
            }"#)],
        )
        .at_most(2),
        case(
            "a_native_instance",
            "native-instance",
            "/Copy",
            &[("def SkelRoot", "def \"Copy\" (instanceable = true; prepend references = </R>) {}\ndef SkelRoot")],
        )
        .at_most(3),
        case(
            "a_skeleton_without_prims",
            "skeleton-unused",
            "/R/Spare",
            &[(MORE, "def Skeleton \"Spare\" {}")],
        ),
        case(
            "influences_over_time_that_do_not_fit_the_shapes",
            "points-count-varies",
            "/R/M",
            &[("point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]",
               "point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], 2: [(0, 0, 0)] }"),
              (INDICES, "jointIndices = [0] (interpolation = \"constant\")"),
              (WEIGHTS, "jointWeights = [1] (interpolation = \"constant\")")],
        )
        .at_most(2),
    ]
}

fn skeleton() -> Vec<Case> {
    vec![
        case(
            "parents_after_children",
            "joint-order",
            "/R/Skel",
            &[(
                JOINTS,
                "joints = [\"A/B\", \"A\", \"A/B/C\"]\n        uniform matrix4d[] bind",
            )],
        ),
        case(
            "last_joint_is_the_root",
            "joint-order",
            "/R/Skel",
            &[(
                JOINTS,
                "joints = [\"A/B\", \"A/B/C\", \"A\"]\n        uniform matrix4d[] bind",
            )],
        ),
        case(
            "joint_listed_twice",
            "joint-duplicate",
            "/R/Skel",
            &[(
                JOINTS,
                "joints = [\"A\", \"A/B\", \"A/B\"]\n        uniform matrix4d[] bind",
            )],
        )
        .at_most(3),
        case(
            "joint_with_a_space",
            "joint-name-invalid",
            "/R/Skel",
            &[(
                JOINTS,
                "joints = [\"A\", \"A/B\", \"my joint\"]\n        uniform matrix4d[] bind",
            )],
        )
        .at_most(3),
        case(
            "joint_without_a_name",
            "joint-name-invalid",
            "/R/Skel",
            &[(
                JOINTS,
                "joints = [\"A\", \"A/B\", \"\"]\n        uniform matrix4d[] bind",
            )],
        )
        .at_most(3),
        case(
            "skeleton_without_joints",
            "skeleton-without-joints",
            "/R/Skel",
            &[(JOINTS, "was = [\"A\"]\n        uniform matrix4d[] bind")],
        )
        .at_most(6),
        case(
            "no_bind_transforms",
            "bind-transforms-missing",
            "/R/Skel",
            &[(
                "uniform matrix4d[] bindTransforms",
                "uniform matrix4d[] was",
            )],
        ),
        case(
            "too_many_bind_transforms",
            "bind-transforms-count",
            "/R/Skel",
            &[(
                BIND,
                "bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ",
            )],
        ),
        case(
            "singular_bind_transform",
            "bind-transforms-singular",
            "/R/Skel",
            &[(
                BIND,
                "bindTransforms = [((0,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ",
            )],
        ),
        case(
            "bind_transform_is_not_finite",
            "bind-transforms-singular",
            "/R/Skel",
            &[(
                BIND,
                "bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(nan,0,0,1)), ",
            )],
        ),
        case(
            "bind_transform_projects",
            "matrix-not-affine",
            "/R/Skel",
            &[(
                BIND,
                "bindTransforms = [((1,0,0,0.5),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ",
            )],
        ),
        case(
            "no_rest_transforms",
            "rest-transforms-missing",
            "/R/Skel",
            &[NO_REST],
        ),
        case(
            "too_few_rest_transforms",
            "rest-transforms-ignored",
            "/R/Skel",
            &[(REST, "restTransforms = [")],
        ),
        case(
            "rest_transform_is_infinite",
            "rest-transforms-ignored",
            "/R/Skel",
            &[(
                REST,
                "restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(inf,0,0,1)), ",
            )],
        ),
        case(
            "sparse_animation_without_rest",
            "rest-transforms-needed",
            "/R/Skel",
            &[
                NO_REST,
                (ANIM_JOINTS, "joints = [\"A\", \"A/B\"]\n        float3[]"),
                (
                    "[(0, 0, 0), (1, 0, 0), (1, 0, 0)]",
                    "[(0, 0, 0), (1, 0, 0)]",
                ),
                (
                    "[(1, 0, 0, 0), (0.8, 0, 0.6, 0), (1, 0, 0, 0)]",
                    "[(1, 0, 0, 0), (1, 0, 0, 0)]",
                ),
                (
                    "[(1, 1, 1), (1, 1, 1), (1, 1, 1)]",
                    "[(1, 1, 1), (1, 1, 1)]",
                ),
            ],
        )
        .at_most(3),
        case(
            "no_animation_and_no_rest",
            "rest-transforms-needed",
            "/R/Skel",
            &[NO_REST, ("rel skel:animationSource = </R/Anim>", "")],
        )
        .at_most(3),
        case(
            "singular_rest_transform",
            "rest-transforms-singular",
            "/R/Skel",
            &[(
                REST,
                "restTransforms = [((0,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ",
            )],
        ),
        case(
            "rest_in_world_space_below_a_rotated_skel_root",
            "rest-pose-lies",
            "/R/Skel",
            &[
                (
                    "    rel skel:skeleton = </R/Skel>\n",
                    "    rel skel:skeleton = </R/Skel>\n    float xformOp:rotateX = 90\n    uniform token[] xformOpOrder = [\"xformOp:rotateX\"]\n",
                ),
                (
                    "quatf[] rotations = [(1, 0, 0, 0),",
                    "quatf[] rotations = [(0.70710678, -0.70710678, 0, 0),",
                ),
            ],
        ),
        case(
            "rest_far_from_bind",
            "rest-bind-mismatch",
            "/R/Skel",
            &[("(1,0,0,1))]\n    }", "(1,5,0,1))]\n    }")],
        ),
        case(
            "rest_turned_against_bind",
            "rest-bind-mismatch",
            "/R/Skel",
            &[(
                "((1,0,0,0),(0,1,0,0),(0,0,1,0),(1,0,0,1))]\n    }",
                "((0,1,0,0),(-1,0,0,0),(0,0,1,0),(1,0,0,1))]\n    }",
            )],
        ),
    ]
}

fn animation() -> Vec<Case> {
    vec![
        case(
            "animation_source_is_missing",
            "animation-ignored",
            "/R/Skel",
            &[(
                "skel:animationSource = </R/Anim>",
                "skel:animationSource = </R/Gone>",
            )],
        )
        .at_most(2),
        case(
            "animation_source_is_a_mesh",
            "animation-ignored",
            "/R/Skel",
            &[(
                "skel:animationSource = </R/Anim>",
                "skel:animationSource = </R/M>",
            )],
        )
        .at_most(2),
        case(
            "animation_source_on_the_mesh",
            "animation-source-ignored",
            "/R/M",
            &[
                (
                    MESH,
                    "def Mesh \"M\" (prepend apiSchemas = [\"SkelBindingAPI\"])",
                ),
                (
                    "uniform token[] skel:blendShapes",
                    "rel skel:animationSource = </R/Anim>\n        uniform token[] skel:blendShapes",
                ),
            ],
        ),
        case(
            "animation_that_nothing_targets",
            "animation-unused",
            "/R/Spare",
            &[(MORE, "def SkelAnimation \"Spare\" {}")],
        ),
        case(
            "animation_of_nothing",
            "animation-empty",
            "/R/Spare",
            &[
                (MORE, "def SkelAnimation \"Spare\" {}"),
                (
                    "skel:animationSource = </R/Anim>",
                    "skel:animationSource = </R/Spare>",
                ),
            ],
        )
        .at_most(3),
        case(
            "no_scales",
            "animation-component",
            "/R/Anim",
            &[("half3[] scales", "half3[] was")],
        ),
        case(
            "no_rotations",
            "animation-component",
            "/R/Anim",
            &[("quatf[] rotations", "quatf[] was")],
        ),
        case(
            "too_few_translations",
            "animation-component",
            "/R/Anim",
            &[(
                "[(0, 0, 0), (1, 0, 0), (1, 0, 0)]",
                "[(0, 0, 0), (1, 0, 0)]",
            )],
        ),
        case(
            "float3_scales",
            "attribute-type",
            "/R/Anim",
            &[("half3[] scales", "float3[] scales")],
        )
        .at_most(2),
        case(
            "rotations_in_double",
            "attribute-type",
            "/R/Anim",
            &[("quatf[] rotations", "quatd[] rotations")],
        )
        .at_most(2),
        case(
            "translation_is_not_a_number",
            "animation-not-finite",
            "/R/Anim",
            &[(
                "[(0, 0, 0), (1, 0, 0), (1, 0, 0)]",
                "[(0, nan, 0), (1, 0, 0), (1, 0, 0)]",
            )],
        ),
        case(
            "channel_weight_is_infinite",
            "animation-not-finite",
            "/R/Anim",
            &[("2: [0, 0.5]", "2: [0, inf]")],
        ),
        case(
            "joints_by_their_last_names",
            "animation-joints-foreign",
            "/R/Anim",
            &[(
                ANIM_JOINTS,
                "joints = [\"a\", \"B\", \"C\"]\n        float3[]",
            )],
        ),
        case(
            "a_joint_that_the_skeleton_lacks",
            "animation-joints-unknown",
            "/R/Anim",
            &[(
                ANIM_JOINTS,
                "joints = [\"A\", \"A/B\", \"A/Tail\"]\n        float3[]",
            )],
        )
        .at_most(2),
        case(
            "a_joint_without_animation",
            "animation-sparse",
            "/R/Anim",
            &[(
                ANIM_JOINTS,
                "joints = [\"A\", \"A/B\", \"A/Tail\"]\n        float3[]",
            )],
        )
        .at_most(2),
        case(
            "animated_joint_listed_twice",
            "joint-duplicate",
            "/R/Anim",
            &[(
                ANIM_JOINTS,
                "joints = [\"A\", \"A/B\", \"A/B\"]\n        float3[]",
            )],
        )
        .at_most(2),
        case(
            "quaternion_of_length_two",
            "rotation-not-unit",
            "/R/Anim",
            &[("(0.8, 0, 0.6, 0)", "(1.6, 0, 1.2, 0)")],
        ),
        case(
            "zero_quaternion",
            "rotation-zero",
            "/R/Anim",
            &[("(0.8, 0, 0.6, 0)", "(0, 0, 0, 0)")],
        ),
        case(
            "joint_scaled_to_nothing",
            "scale-zero",
            "/R/Anim",
            &[(
                "[(1, 1, 1), (1, 1, 1), (1, 1, 1)]",
                "[(1, 1, 1), (1, 0, 1), (1, 1, 1)]",
            )],
        ),
        case(
            "fewer_weights_than_channels",
            "channel-weights-count",
            "/R/Anim",
            &[("2: [0, 0.5]", "2: [0]")],
        ),
        case(
            "channels_without_weights",
            "channel-weights-missing",
            "/R/Anim",
            &[(
                "float[] blendShapeWeights.timeSamples",
                "float[] was.timeSamples",
            )],
        ),
        case(
            "a_channel_without_a_shape",
            "channel-unused",
            "/R/Anim",
            &[(
                "blendShapes = [\"smile\", \"blink\"]\n        float",
                "blendShapes = [\"smile\", \"frown\"]\n        float",
            )],
        )
        .at_most(2),
        case(
            "channel_listed_twice",
            "shape-duplicate",
            "/R/Anim",
            &[(
                "blendShapes = [\"smile\", \"blink\"]\n        float",
                "blendShapes = [\"smile\", \"smile\"]\n        float",
            )],
        )
        .at_most(2),
    ]
}

fn shapes() -> Vec<Case> {
    const TARGETS: &str = "[</R/M/Smile>, </R/M/Blink>]";
    const SHAPES: &str = "skel:blendShapes = [\"smile\", \"blink\"]";
    vec![
        case(
            "a_shape_without_a_channel",
            "shape-undriven",
            "/R/M",
            &[(SHAPES, "skel:blendShapes = [\"smile\", \"frown\"]")],
        )
        .at_most(2),
        case(
            "shape_listed_twice",
            "shape-duplicate",
            "/R/M",
            &[(SHAPES, "skel:blendShapes = [\"smile\", \"smile\"]")],
        )
        .at_most(2),
        case(
            "fewer_tokens_than_targets",
            "blend-shapes-ignored",
            "/R/M",
            &[(SHAPES, "skel:blendShapes = [\"smile\"]")],
        )
        .at_most(2),
        case(
            "shapes_without_targets",
            "blend-shapes-ignored",
            "/R/M",
            &[("rel skel:blendShapeTargets", "rel was")],
        )
        .at_most(4),
        case(
            "shape_target_is_missing",
            "blend-shape-missing",
            "/R/M",
            &[(TARGETS, "[</R/M/Smile>, </R/M/Gone>]")],
        )
        .at_most(2),
        case(
            "shape_target_is_a_skeleton",
            "blend-shape-missing",
            "/R/M",
            &[(TARGETS, "[</R/M/Smile>, </R/Skel>]")],
        )
        .at_most(2),
        case(
            "a_shape_that_nothing_targets",
            "blend-shape-unbound",
            "/R/M/Spare",
            &[(
                "def BlendShape \"Smile\"",
                "def BlendShape \"Spare\" { uniform vector3f[] offsets = [(0, 0, 1)]\n        }\n        def BlendShape \"Smile\"",
            )],
        ),
        case(
            "shape_without_offsets",
            "offsets-missing",
            "/R/M/Blink",
            &[
                (
                    "uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]",
                    "",
                ),
                ("uniform vector3f[] normalOffsets", "uniform vector3f[] was"),
            ],
        ),
        case(
            "fewer_offsets_than_indices",
            "offsets-count",
            "/R/M/Smile",
            &[
                ("[(0, 0, 1), (0, 1, 0)]", "[(0, 0, 1)]"),
                (HALF, "was = []"),
            ],
        ),
        case(
            "more_offsets_than_points",
            "offsets-count",
            "/R/M/Blink",
            &[(
                "offsets = [(0, 0, 1), (0, 0, 1),",
                "offsets = [(0, 0, 1), (0, 0, 1), (0, 0, 1),",
            )],
        )
        .at_most(2),
        case(
            "offset_is_not_a_number",
            "offsets-not-finite",
            "/R/M/Smile",
            &[("[(0, 0, 1), (0, 1, 0)]", "[(0, nan, 1), (0, 1, 0)]")],
        ),
        case(
            "offsets_in_double",
            "attribute-type",
            "/R/M/Blink",
            &[(
                "vector3f[] offsets = [(0, 0, 1), (0, 0, 1)",
                "vector3d[] offsets = [(0, 0, 1), (0, 0, 1)",
            )],
        ),
        case(
            "point_index_too_large",
            "point-index-range",
            "/R/M/Smile",
            &[("pointIndices = [1, 3]", "pointIndices = [1, 4]")],
        ),
        case(
            "point_index_below_zero",
            "point-index-range",
            "/R/M/Smile",
            &[("pointIndices = [1, 3]", "pointIndices = [1, -1]")],
        ),
        case(
            "point_index_listed_twice",
            "point-index-duplicate",
            "/R/M/Smile",
            &[("pointIndices = [1, 3]", "pointIndices = [1, 1]")],
        ),
        case(
            "unsigned_point_indices",
            "point-indices-uint",
            "/R/M/Smile",
            &[("uniform int[] pointIndices", "uniform uint[] pointIndices")],
        ),
        case(
            "too_few_normal_offsets",
            "normal-offsets-ignored",
            "/R/M/Blink",
            &[("normalOffsets = [(0, 1, 0), ", "normalOffsets = [")],
        ),
        case(
            "inbetween_normal_offsets_of_the_wrong_number",
            "normal-offsets-ignored",
            "/R/M/Smile",
            &[(
                HALF,
                "inbetweens:half = [(0, 0, 0.25), (0, 0.75, 0)] (weight = 0.5)\n            uniform vector3f[] inbetweens:half:normalOffsets = [(0, 0, 1)]",
            )],
        ),
        case(
            "inbetween_without_weight",
            "inbetween-skipped",
            "/R/M/Smile",
            &[(HALF, "inbetweens:half = [(0, 0, 0.25), (0, 0.75, 0)]")],
        ),
        case(
            "inbetween_at_the_null_shape",
            "inbetween-skipped",
            "/R/M/Smile",
            &[("weight = 0.5", "weight = 0")],
        ),
        case(
            "inbetween_at_the_primary_shape",
            "inbetween-skipped",
            "/R/M/Smile",
            &[("weight = 0.5", "weight = 1")],
        ),
        case(
            "two_inbetweens_of_one_weight",
            "inbetween-skipped",
            "/R/M/Smile",
            &[(
                HALF,
                "inbetweens:half = [(0, 0, 0.25), (0, 0.75, 0)] (weight = 0.5)\n            uniform vector3f[] inbetweens:too = [(0, 0, 0.5), (0, 0.5, 0)] (weight = 0.5)",
            )],
        ),
        case(
            "inbetween_of_the_wrong_size",
            "inbetween-offsets",
            "/R/M/Smile",
            &[("[(0, 0, 0.25), (0, 0.75, 0)]", "[(0, 0, 0.25)]")],
        ),
        case(
            "inbetween_is_not_a_number",
            "inbetween-offsets",
            "/R/M/Smile",
            &[(
                "[(0, 0, 0.25), (0, 0.75, 0)]",
                "[(0, 0, nan), (0, 0.75, 0)]",
            )],
        ),
    ]
}

fn influences() -> Vec<Case> {
    vec![
        case(
            "interpolations_differ",
            "influences-ignored",
            "/R/Stiff",
            &[("jointWeights = [1] (interpolation = \"constant\")", "jointWeights = [1] (interpolation = \"vertex\")")],
        )
        .at_most(2),
        case(
            "element_sizes_differ",
            "influences-ignored",
            "/R/M",
            &[(INDICES, "jointIndices = [0, 1, 1, 2, 2, 1, 1, 0] (elementSize = 4; interpolation = \"vertex\")")],
        ),
        case(
            "face_varying_influences",
            "influences-ignored",
            "/R/M",
            &[(INDICES, "jointIndices = [0, 1, 1, 2, 2, 1, 1, 0] (elementSize = 2; interpolation = \"faceVarying\")"), (WEIGHTS, "jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (elementSize = 2; interpolation = \"faceVarying\")")],
        ),
        case(
            "element_size_zero",
            "influences-ignored",
            "/R/M",
            &[(INDICES, "jointIndices = [0, 1, 1, 2, 2, 1, 1, 0] (elementSize = 0; interpolation = \"vertex\")"), (WEIGHTS, "jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (elementSize = 0; interpolation = \"vertex\")")],
        ),
        case(
            "no_interpolation",
            "interpolation-missing",
            "/R/M",
            &[(INDICES, "jointIndices = [0, 1, 1, 2, 2, 1, 1, 0] (elementSize = 2)"), (WEIGHTS, "jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (elementSize = 2)")],
        )
        .at_most(2),
        case(
            "no_interpolation_of_the_weights",
            "interpolation-missing",
            "/R/M",
            &[(WEIGHTS, "jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (elementSize = 2)")],
        ),
        case(
            "constant_without_element_size",
            "element-size-missing",
            "/R/Stiff",
            &[("jointIndices = [2] (", "jointIndices = [2, 1] ("), ("jointWeights = [1] (interpolation = \"constant\")", "jointWeights = [0.5, 0.5] (interpolation = \"constant\")")],
        )
        .at_most(2),
        case(
            "constant_without_any_metadata",
            "element-size-missing",
            "/R/Stiff",
            &[("jointIndices = [2] (interpolation = \"constant\")", "jointIndices = [2, 1]"), ("jointWeights = [1] (interpolation = \"constant\")", "jointWeights = [0.5, 0.5]")],
        )
        .at_most(2),
        case(
            "double_weights",
            "influences-no-value",
            "/R/M",
            &[("float[] primvars:skel:jointWeights = [1, 0,", "double[] primvars:skel:jointWeights = [1, 0,")],
        )
        .at_most(2),
        case(
            "double_weights_are_named",
            "attribute-type",
            "/R/M",
            &[("float[] primvars:skel:jointWeights = [1, 0,", "double[] primvars:skel:jointWeights = [1, 0,")],
        )
        .at_most(2),
        case(
            "influences_for_three_of_four_points",
            "influences-count",
            "/R/M",
            &[("[0, 1, 1, 2, 2, 1, 1, 0]", "[0, 1, 1, 2, 2, 1]"), (VALUES, "[1, 0, 0.75, 0.25, 0.5, 0.5]")],
        ),
        case(
            "half_a_row_of_influences",
            "influences-count",
            "/R/M",
            &[("[0, 1, 1, 2, 2, 1, 1, 0]", "[0, 1, 1, 2, 2, 1, 1]"), (VALUES, "[1, 0, 0.75, 0.25, 0.5, 0.5, 1]")],
        ),
        case(
            "fewer_weights_than_indices",
            "weights-count",
            "/R/M",
            &[(VALUES, "[1, 0, 0.75, 0.25, 0.5, 0.5]")],
        ),
        case(
            "joint_index_too_large",
            "joint-index-range",
            "/R/M",
            &[("[0, 1, 1, 2, 2, 1, 1, 0]", "[0, 1, 1, 2, 2, 1, 1, 3]")],
        ),
        case(
            "joint_index_below_zero",
            "joint-index-range",
            "/R/M",
            &[("[0, 1, 1, 2, 2, 1, 1, 0]", "[0, -1, 1, 2, 2, 1, 1, 0]")],
        ),
        case(
            "joint_index_beyond_the_own_order",
            "joint-index-range",
            "/R/M",
            &[("uniform token[] skel:blendShapes", "uniform token[] skel:joints = [\"A\", \"A/B\"]\n        uniform token[] skel:blendShapes")],
        ),
        case(
            "indexed_weights_out_of_range",
            "primvar-index-range",
            "/R/M",
            &[(VALUES, "[1, 0, 0.75, 0.25]"), ("uniform token[] skel:blendShapes", "int[] primvars:skel:jointWeights:indices = [0, 1, 1, 2]\n        uniform token[] skel:blendShapes")],
        )
        .at_most(2),
        case(
            "own_joints_that_the_skeleton_lacks",
            "joints-unknown",
            "/R/M",
            &[("uniform token[] skel:blendShapes", "uniform token[] skel:joints = [\"A\", \"B\", \"C\"]\n        uniform token[] skel:blendShapes")],
        ),
        case(
            "own_joint_listed_twice",
            "joint-duplicate",
            "/R/M",
            &[("uniform token[] skel:blendShapes", "uniform token[] skel:joints = [\"A\", \"A/B\", \"A/B\"]\n        uniform token[] skel:blendShapes")],
        ),
        case(
            "weights_sum_to_more_than_one",
            "weights-unnormalised",
            "/R/M",
            &[(VALUES, "[1, 0, 0.75, 0.25, 0.75, 0.5, 0.875, 0.125]")],
        ),
        case(
            "constant_weight_is_not_one",
            "weights-unnormalised",
            "/R/Stiff",
            &[("jointWeights = [1] (", "jointWeights = [0.5] (")],
        ),
        case(
            "animated_weights_sum_to_less_than_one",
            "weights-unnormalised",
            "/R/M",
            &[("jointWeights = [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125] (", "jointWeights.timeSamples = { 1: [1, 0, 0.75, 0.25, 0.5, 0.5, 0.875, 0.125], 2: [1, 0, 0.75, 0.25, 0.5, 0.5, 0.5, 0.125] }\n        float[] primvars:skel:jointWeights (")],
        ),
        case(
            "a_point_without_weight",
            "weights-zero",
            "/R/M",
            &[(VALUES, "[1, 0, 0.75, 0.25, 0, 0, 0.875, 0.125]")],
        ),
        case(
            "a_negative_weight",
            "weights-negative",
            "/R/M",
            &[(VALUES, "[1, 0, 1.25, -0.25, 0.5, 0.5, 0.875, 0.125]")],
        ),
        case(
            "the_smaller_weight_first",
            "weights-unsorted",
            "/R/M",
            &[(VALUES, "[1, 0, 0.25, 0.75, 0.5, 0.5, 0.875, 0.125]")],
        ),
        case(
            "weight_is_not_a_number",
            "weights-not-finite",
            "/R/M",
            &[(VALUES, "[1, 0, nan, 0.25, 0.5, 0.5, 0.875, 0.125]")],
        ),
        case("two_influences_where_one_is_asked_for", "influences-too-many", "/R/M", &[]).limit(1),
        case(
            "geom_bind_is_not_finite",
            "geom-bind-not-finite",
            "/R/M",
            &[(GEOM_BIND, "geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(nan,0,0,1))")],
        ),
        case(
            "geom_bind_is_singular",
            "geom-bind-singular",
            "/R/M",
            &[(GEOM_BIND, "geomBindTransform = ((1,0,0,0),(0,0,0,0),(0,0,1,0),(0,0,0,1))")],
        ),
        case(
            "geom_bind_projects",
            "matrix-not-affine",
            "/R/M",
            &[(GEOM_BIND, "geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0.25),(0,0,0,1))")],
        ),
        case(
            "an_unknown_skinning_method",
            "skinning-method-unknown",
            "/R/M",
            &[("uniform token[] skel:blendShapes", "uniform token primvars:skel:skinningMethod = \"quick\"\n        uniform token[] skel:blendShapes")],
        ),
        case(
            "dual_quaternions_with_scale",
            "dual-quaternion-scale",
            "/R/M",
            &[("uniform token[] skel:blendShapes", "uniform token primvars:skel:skinningMethod = \"dualQuaternion\"\n        uniform token[] skel:blendShapes"), ("[(1, 1, 1), (1, 1, 1), (1, 1, 1)]", "[(1, 1, 1), (2, 1, 1), (1, 1, 1)]")],
        )
        .at_most(2),
    ]
}

fn geometry() -> Vec<Case> {
    vec![
        case(
            "empty_lists_of_shapes",
            "not-skinned",
            "/R/Empty",
            &[(
                MORE,
                r#"def Mesh "Empty" (prepend apiSchemas = ["SkelBindingAPI"]) {
                point3f[] points = [(0, 0, 0)]
                uniform token[] skel:blendShapes = []
                rel skel:blendShapeTargets = []
            }"#,
            )],
        ),
        case(
            "no_points",
            "points-missing",
            "/R/Stiff",
            &[(
                "point3f[] points = [(0, 0, 2)",
                "point3f[] was = [(0, 0, 2)",
            )],
        ),
        case(
            "points_in_double",
            "attribute-type",
            "/R/Stiff",
            &[(
                "point3f[] points = [(0, 0, 2)",
                "point3d[] points = [(0, 0, 2)",
            )],
        )
        .at_most(2),
        case(
            "point_is_not_a_number",
            "points-not-finite",
            "/R/Stiff",
            &[(
                "point3f[] points = [(0, 0, 2)",
                "point3f[] points = [(0, nan, 2)",
            )],
        ),
        case(
            "three_normals_for_four_points",
            "normals-left",
            "/R/M",
            &[(NORMALS, "normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1)]")],
        ),
        case(
            "prim_scaled_to_nothing",
            "prim-transform-singular",
            "/R/M",
            &[(
                "point3f[] points = [(0, 0, 0)",
                "float3 xformOp:scale = (1, 0, 1)\n        uniform token[] xformOpOrder = [\"xformOp:scale\"]\n        point3f[] points = [(0, 0, 0)",
            )],
        ),
        case(
            "an_unknown_xform_op",
            "xform-op-ignored",
            "/R/Stiff",
            &[(
                "point3f[] points = [(0, 0, 2)",
                "uniform token[] xformOpOrder = [\"xformOp:wobble\"]\n        point3f[] points = [(0, 0, 2)",
            )],
        ),
        case(
            "a_hint_over_an_instancer_of_unknown_extent",
            "extents-hint-incomplete",
            "/R/Crowd",
            &[(
                "rel skel:skeleton = </R/Skel>",
                "float3[] extentsHint = [(0, 0, 0), (1, 1, 1)]\n    rel skel:skeleton = </R/Skel>\n    def PointInstancer \"Crowd\" {}",
            )],
        )
        .at_most(2),
    ]
}

fn drawn() -> Vec<Case> {
    const FACES: &str = "faceVertexIndices = [0, 1, 2, 3]";
    const COUNTS: &str = "int[] faceVertexCounts = [4]";
    vec![
        case(
            "faces_of_points_that_are_not_there",
            "mesh-topology",
            "/R/M",
            &[(FACES, "faceVertexIndices = [0, 1, 2, 4]")],
        ),
        case(
            "counts_that_do_not_add_up",
            "mesh-topology",
            "/R/M",
            &[("faceVertexCounts = [4]", "faceVertexCounts = [3]")],
        ),
        case(
            "faces_over_time",
            "faces-change",
            "/R/M",
            &[(
                COUNTS,
                "int[] faceVertexCounts.timeSamples = { 1: [4], 2: [2, 2] }",
            )],
        ),
        case(
            "three_uvs_for_four_corners",
            "primvar-count",
            "/R/M",
            &[(
                COUNTS,
                "texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1)] (interpolation = \"faceVarying\")\n        int[] faceVertexCounts = [4]",
            )],
        ),
        case(
            "an_index_of_no_uv",
            "primvar-count",
            "/R/M",
            &[(
                COUNTS,
                "texCoord2f[] primvars:st = [(0, 0), (1, 0)] (interpolation = \"vertex\")\n        int[] primvars:st:indices = [0, 1, 0, -1]\n        int[] faceVertexCounts = [4]",
            )],
        ),
        case(
            "a_subset_beyond_the_faces",
            "subset-faces",
            "/R/M/Part",
            &[(
                COUNTS,
                "def GeomSubset \"Part\" { uniform token familyName = \"materialBind\"\n int[] indices = [0, 7]\n }\n        int[] faceVertexCounts = [4]",
            )],
        ),
        case(
            "a_material_of_another_kind",
            "material-unsupported",
            "/R/Glass",
            &[(
                MORE,
                r#"def Mesh "Pane" (prepend apiSchemas = ["MaterialBindingAPI"]) { rel material:binding = </R/Glass>
        }
    def Material "Glass" { token outputs:surface.connect = </R/Glass/S.outputs:out>
        def Shader "S" { uniform token info:id = "ND_standard_surface_surfaceshader"
        }
        }"#,
            )],
        ),
        case(
            "a_picture_that_is_not_there",
            "texture-left-out",
            "/R/Paint/T",
            &[(
                MORE,
                r#"def Mesh "Wall" (prepend apiSchemas = ["MaterialBindingAPI"]) { rel material:binding = </R/Paint>
        }
    def Material "Paint" { token outputs:surface.connect = </R/Paint/S.outputs:surface>
        def Shader "S" { uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </R/Paint/T.outputs:rgb>
        }
        def Shader "T" { uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./gone.png@
        }
        }"#,
            )],
        ),
        case(
            "a_normal_map_without_its_range",
            "normal-map-range",
            "/R/Paint/S",
            &[(
                MORE,
                r#"def Mesh "Wall" (prepend apiSchemas = ["MaterialBindingAPI"]) { rel material:binding = </R/Paint>
        }
    def Material "Paint" { token outputs:surface.connect = </R/Paint/S.outputs:surface>
        def Shader "S" { uniform token info:id = "UsdPreviewSurface"
            normal3f inputs:normal.connect = </R/Paint/T.outputs:rgb>
        }
        def Shader "T" { uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./in.usda@
            token inputs:sourceColorSpace = "raw"
        }
        }"#,
            )],
        ),
        case(
            "curves_with_too_few_points",
            "curve-counts",
            "/R/Hair",
            &[(
                MORE,
                r#"def BasisCurves "Hair" { uniform token type = "linear"
        int[] curveVertexCounts = [3]
        point3f[] points = [(0, 0, 0), (0, 1, 0)]
        }"#,
            )],
        ),
        case(
            "two_sets_of_uvs",
            "uv-sets",
            "/R/Wall",
            &[(
                MORE,
                r#"def Mesh "Wall" (prepend apiSchemas = ["MaterialBindingAPI"]) { rel material:binding = </R/Paint>
        texCoord2f[] primvars:st = [] (interpolation = "vertex")
        }
    def Material "Paint" { token outputs:surface.connect = </R/Paint/S.outputs:surface>
        def Shader "S" { uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </R/Paint/T.outputs:rgb>
            float inputs:roughness.connect = </R/Paint/U.outputs:r>
        }
        def Shader "T" { uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./in.usda@
        }
        def Shader "U" { uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./in.usda@
            float2 inputs:st.connect = </R/Paint/R.outputs:result>
        }
        def Shader "R" { uniform token info:id = "UsdPrimvarReader_float2"
            string inputs:varname = "other"
        }
        }"#,
            )],
        ),
        case(
            "a_sphere_in_a_prototype",
            "not-drawn",
            "/R/Trees/Tree/Apple",
            &[(
                MORE,
                r#"def PointInstancer "Trees" { int[] protoIndices = [0]
            point3f[] positions = [(0, 0, 0)]
            rel prototypes = </R/Trees/Tree>
            def Xform "Tree" { def Sphere "Apple" {
            }
            }
        }"#,
            )],
        ),
        case(
            "an_instancer_without_positions",
            "not-drawn",
            "/R/Trees",
            &[(
                MORE,
                r#"def PointInstancer "Trees" { int[] protoIndices = [0]
            rel prototypes = </R/Trees/Tree>
            def Mesh "Tree" {}
        }"#,
            )],
        ),
    ]
}
