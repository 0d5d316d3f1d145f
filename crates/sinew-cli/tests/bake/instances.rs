//! PointInstancers: where their instances stand, and what is drawn of them.

use std::process::Command;

use common::command::{Bench, stderr};
use common::python;
use common::sketch::{JOINTS, TRIANGLE, character, influences};
use common::trials::Trial;
use libtest_mimic::Failed;

pub fn trials() -> Vec<Trial> {
    let mut trials = common::trials::named([(
        "instances_of_skinned_prototypes_are_drawn",
        instances_of_skinned_prototypes_are_drawn as fn(),
        common::gpu::ignored(),
    )]);
    trials.push(python::trial(
        "instances_stand_where_usd_core_places_them",
        instances_stand_where_usd_core_places_them,
    ));
    trials
}

/// Two prototypes, one below the instancer and one elsewhere, orientations, scales, ids, and instances in a prototype.
fn instancers() -> String {
    let moved = |x: f32| {
        format!(
            "double3 xformOp:translate = ({x}, 0.5, 0)\n    uniform token[] xformOpOrder = [\"xformOp:translate\"]"
        )
    };
    format!(
        r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 10
)
def Xform "World"
{{
    {}
    def PointInstancer "P" (inactiveIds = [13])
    {{
        float3 xformOp:rotateXYZ = (10, 80, 20)
        float3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:rotateXYZ", "xformOp:scale"]
        int[] protoIndices = [0, 1, 2, 1, 0]
        int64[] ids = [10, 11, 12, 13, 14]
        int64[] invisibleIds.timeSamples = {{ 1: [], 5: [11], 8: [14] }}
        point3f[] positions.timeSamples = {{
            1: [(0, 0, 0), (5, 0, 0), (0, 6, 1), (1, 1, 1), (9, 9, 9)],
            10: [(0, 3, 0), (5, 1, 2), (0, 6, 4), (1, 1, 1), (8, 9, 9)],
        }}
        quath[] orientations = [(1, 0, 0, 0), (0.5, 0.5, 0.5, 0.5), (0, 1, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0)]
        float3[] scales = [(1, 1, 1), (2, 1, 0.5), (1, 3, 1), (1, 1, 1), (1, 1, 1)]
        rel prototypes = [</World/P/Protos/A>, </Lib/B>, </World/P/Protos/Inner>]
        def Xform "Protos"
        {{
            {}
            def Xform "A"
            {{
                {}
                def Mesh "M"
                {{
                    {}
                    {TRIANGLE}
                }}
            }}
            def PointInstancer "Inner"
            {{
                {}
                int[] protoIndices = [0, 0]
                point3f[] positions = [(1, 0, 0), (0, 0, 2)]
                rel prototypes = </World/P/Protos/Inner/C>
                def Mesh "C"
                {{
                    {}
                    {TRIANGLE}
                }}
            }}
        }}
    }}
}}
def Xform "Lib"
{{
    {}
    token visibility = "invisible"
    def Mesh "B"
    {{
        {}
        {TRIANGLE}
    }}
}}
"#,
        moved(1.0),
        moved(20.0),
        moved(0.25),
        moved(0.125),
        moved(3.0),
        moved(4.0),
        moved(50.0),
        moved(0.75),
    )
}

fn instances_stand_where_usd_core_places_them(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let input = bench.write("in.usda", instancers());
    let file = sinew_io::open(&input).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    assert!(geometry.errors.is_empty() && geometry.warnings.is_empty());
    let bare: Vec<&str> = geometry
        .meshes
        .iter()
        .filter(|m| m.instances.is_empty())
        .map(|m| m.path.as_str())
        .collect();
    assert_eq!(bare, ["/Lib/B"], "a prototype that stands for itself too");
    let times = [1.0, 4.0, 6.5, 10.0];
    let seen = |time: f64| {
        let time = sinew::sampled::Time::At(time);
        let shown = geometry.meshes.iter().filter(|m| m.visible(time));
        let mut all: Vec<(String, [f64; 16])> = shown
            .map(|m| (m.path.clone(), m.world_from_prim(time).to_cols_array()))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let count = |time| seen(time).len();
    assert_eq!([1.0, 6.5, 10.0].map(count), [5, 4, 4]);
    let script = "
import json, sys
from pxr import Gf, Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])

def shown(instancer, time, root):
    # Matrices to the space of the instancer's parent, without what is above.
    out = []
    all = instancer.ComputeInstanceTransformsAtTime(
        time, time, UsdGeom.PointInstancer.IncludeProtoXform, UsdGeom.PointInstancer.IgnoreMask)
    mask = instancer.ComputeMaskAtTime(time)
    indices = instancer.GetProtoIndicesAttr().Get(time)
    targets = instancer.GetPrototypesRel().GetTargets()
    own = UsdGeom.Xformable(instancer).GetLocalTransformation(time)
    for i, (matrix, index) in enumerate(zip(all, indices)):
        if mask and not mask[i]:
            continue
        proto = stage.GetPrimAtPath(targets[index])
        if proto.IsA(UsdGeom.PointInstancer):
            inverse = UsdGeom.Xformable(proto).GetLocalTransformation(time).GetInverse()
            for path, m in shown(UsdGeom.PointInstancer(proto), time, proto):
                # The matrix of the instance has the prototype's own transform already.
                out.append((path, m * inverse * matrix * own))
            continue
        for prim in Usd.PrimRange(proto):
            if prim.IsA(UsdGeom.Mesh):
                m = Gf.Matrix4d(1)
                at = prim
                while at != proto:
                    m = m * UsdGeom.Xformable(at).GetLocalTransformation(time)
                    at = at.GetParent()
                out.append((str(prim.GetPath()), m * matrix * own))
    return out

out = []
for time in map(float, sys.argv[2:]):
    prim = stage.GetPrimAtPath('/World/P')
    above = UsdGeom.Xformable(prim).ComputeParentToWorldTransform(time)
    meshes = [(p, [v for row in m * above for v in row]) for p, m in shown(UsdGeom.PointInstancer(prim), time, prim)]
    out.append(sorted(meshes))
print(json.dumps(out))
";
    let mut command = Command::new(python);
    command.args(["-c", script]).arg(&input);
    let output = command.args(times.map(|t| t.to_string())).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected: Vec<Vec<(String, Vec<f64>)>> = serde_json::from_slice(&output.stdout).unwrap();
    for (time, expected) in times.into_iter().zip(expected) {
        let mut found = seen(time);
        assert_eq!(found.len(), expected.len(), "at {time}");
        for (path, matrix) in expected {
            let near = |m: &[f64; 16]| m.iter().zip(&matrix).all(|(a, b)| (a - b).abs() < 1e-3);
            let at = found.iter().position(|(p, m)| *p == path && near(m));
            let at = at.unwrap_or_else(|| panic!("{path} at {time}: {matrix:?} in {found:?}"));
            found.remove(at);
        }
    }
    Ok(())
}

/// Skinned prototypes move with their instances.
fn instances_of_skinned_prototypes_are_drawn() {
    use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
    let bench = Bench::new();
    let body = format!(
        "{}\n        int[] faceVertexCounts = [3]\n        int[] faceVertexIndices = [0, 1, 2]",
        influences()
    )
    .replace("[0, 1] (", "[0, 1, 1] (")
    .replace("[1, 1] (", "[1, 1, 1] (");
    let hero = character("Hero", JOINTS, "[0, 1]", &[("M", &body)])
        .replace(
            "[(0, 0, 0), (1, 0, 0)]",
            "[(0, 0, 0), (1, 0, 0), (0, 1, 0)]",
        )
        .replace("</Hero", "</P/Hero");
    let text = format!(
        "#usda 1.0\ndef PointInstancer \"P\" {{\n double3 xformOp:translate = (100, 0, 0)\n \
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\n int[] protoIndices = [0, 0]\n \
         point3f[] positions = [(0, 0, 0), (5, 7, 0)]\n rel prototypes = </P/Hero>\n{hero}}}\n"
    );
    let input = bench.write("in.usda", text);
    let gpu = GpuDevice::new(&AdapterChoice::Any).unwrap();
    let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap();
    let mut stage = sinew_render::Stage::open(&skinner, &input, &Default::default()).unwrap();
    let control = stage.control().clone();
    stage
        .set_time(sinew::sampled::Time::Default, &control)
        .unwrap();
    assert_eq!(stage.meshes().len(), 2);
    let bounds = stage.bounds();
    let size = [bounds.low, bounds.high];
    assert_eq!(
        size.map(|v| v.to_array()),
        [[100.0, 0.0, 0.0], [106.0, 8.0, 0.0]]
    );
}
