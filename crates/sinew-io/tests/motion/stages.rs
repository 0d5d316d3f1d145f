//! Generated rigs as USD files.

use std::fmt::Write;

use glam::DMat4;
use sinew::math::Trs;

use common::rigs::Made;

/// A pose at each of some times.
pub type Poses = Vec<(f64, Vec<Trs>)>;

/// A character in a file: /Char/Skel, with a mesh beside it.
pub struct Stage<'a> {
    pub made: &'a Made,
    pub up: char,
    pub meters_per_unit: f64,
    pub rate: f64,
    /// Clips by name: a pose at each time. The first is bound.
    pub clips: Vec<(&'a str, Poses)>,
    /// Channels of the clips, with weights at their times.
    pub channels: &'a [&'a str],
    /// Shapes of the mesh.
    pub shapes: &'a [&'a str],
}

pub fn matrix(m: &DMat4) -> String {
    // Column-major columns are USD's rows.
    let row = |c: [f64; 4]| format!("({:?}, {:?}, {:?}, {:?})", c[0], c[1], c[2], c[3]);
    format!("({})", m.to_cols_array_2d().map(row).join(", "))
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    format!(
        "[{}]",
        items.iter().map(text).collect::<Vec<_>>().join(", ")
    )
}

fn quoted(s: &impl AsRef<str>) -> String {
    format!("{:?}", s.as_ref())
}

impl<'a> Stage<'a> {
    /// A character that stands along Y, in metres, with 24 time codes a second and no clips.
    pub fn of(made: &'a Made) -> Self {
        Self {
            made,
            up: 'Y',
            meters_per_unit: 1.0,
            rate: 24.0,
            clips: vec![],
            channels: &[],
            shapes: &[],
        }
    }
}

impl Stage<'_> {
    pub fn text(&self) -> String {
        let rig = &self.made.rig;
        let skeleton = &self.made.skeleton;
        let placed = matrix(&rig.placement().world_from_skel);
        let bind = list(skeleton.bind(), matrix);
        let rest = list(skeleton.rest().unwrap(), matrix);
        let joints = list(rig.joints(), quoted);
        let names = list(rig.names(), quoted);
        let clips: String = self
            .clips
            .iter()
            .map(|(n, poses)| self.clip(n, poses))
            .collect();
        let bound = match self.clips.first() {
            Some((name, _)) => format!("rel skel:animationSource = </Char/Skel/{name}>"),
            None => String::new(),
        };
        let targets: Vec<String> = self
            .shapes
            .iter()
            .map(|s| format!("</Char/Body/{s}>"))
            .collect();
        let shapes: String = self
            .shapes
            .iter()
            .map(|s| format!("def BlendShape \"{s}\" {{\n uniform vector3f[] offsets = [(0,0,1),(0,0,1),(0,0,1)]\n}}\n"))
            .collect();
        let binding = match self.shapes {
            [] => String::new(),
            _ => format!(
                "uniform token[] skel:blendShapes = {}\nrel skel:blendShapeTargets = [{}]\n{shapes}",
                list(self.shapes, quoted),
                targets.join(", ")
            ),
        };
        format!(
            r#"#usda 1.0
(
    defaultPrim = "Char"
    upAxis = "{up}"
    metersPerUnit = {unit:?}
    timeCodesPerSecond = {rate:?}
    framesPerSecond = {rate:?}
)
def SkelRoot "Char" (prepend apiSchemas = ["SkelBindingAPI"]) {{
    matrix4d xformOp:transform = {placed}
    uniform token[] xformOpOrder = ["xformOp:transform"]
    rel skel:skeleton = </Char/Skel>
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        {bound}
        uniform token[] joints = {joints}
        uniform token[] jointNames = {names}
        uniform matrix4d[] bindTransforms = {bind}
        uniform matrix4d[] restTransforms = {rest}
        {clips}
    }}
    def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        float3[] extent = [(0, 0, 0), (1, 1, 0)]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]
        uniform token subdivisionScheme = "none"
        int[] primvars:skel:jointIndices = [0, 1, 2] (elementSize = 1; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1] (elementSize = 1; interpolation = "vertex")
        {binding}
    }}
}}
"#,
            up = self.up,
            unit = self.meters_per_unit,
            rate = self.rate,
        )
    }

    fn clip(&self, name: &str, poses: &[(f64, Vec<Trs>)]) -> String {
        let mut out = format!("def SkelAnimation \"{name}\" {{\n");
        let joints = list(self.made.rig.joints(), quoted);
        let samples = |of: &dyn Fn(&Trs) -> String| -> String {
            let lines = poses
                .iter()
                .map(|(t, pose)| format!("{t:?}: {},\n", list(pose, of)));
            lines.collect()
        };
        let t = samples(&|p| {
            let v = p.translation.as_vec3();
            format!("({:?}, {:?}, {:?})", v.x, v.y, v.z)
        });
        let r = samples(&|p| {
            let q = p.rotation.as_quat();
            format!("({:?}, {:?}, {:?}, {:?})", q.w, q.x, q.y, q.z)
        });
        let s = samples(&|_| "(1, 1, 1)".to_owned());
        let _ = write!(
            out,
            "uniform token[] joints = {joints}
             float3[] translations.timeSamples = {{ {t} }}
             quatf[] rotations.timeSamples = {{ {r} }}
             half3[] scales.timeSamples = {{ {s} }}\n"
        );
        if !self.channels.is_empty() {
            let weights = |i: usize| {
                let w = |c: usize| format!("{:?}", 0.125 * (i + 1) as f32 + 0.5 * c as f32);
                (0..self.channels.len())
                    .map(w)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let lines: String = poses
                .iter()
                .enumerate()
                .map(|(i, (t, _))| format!("{t:?}: [{}],\n", weights(i)))
                .collect();
            let _ = write!(
                out,
                "uniform token[] blendShapes = {}\nfloat[] blendShapeWeights.timeSamples = {{ {lines} }}\n",
                list(self.channels, quoted)
            );
        }
        out + "}\n"
    }
}
