//! FBX 7.4 text files of our own: objects, connections, curves.

use std::fmt::Write;

use glam::{DMat4, DVec3};

/// FBX's ticks per second.
const TICKS: f64 = 46_186_158_000.0;

/// An object's number in the file; 0 is the scene's root.
pub type Id = i64;
pub const ROOT: Id = 0;

/// A file in the making.
pub struct Fbx {
    settings: String,
    objects: String,
    connections: String,
    last: Id,
}

/// How a curve runs from a key to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Run {
    Linear,
    Step,
    /// Slope at this key and at the next, per second.
    Cubic(f64, f64),
}

/// Keys of one number.
#[derive(Clone, Debug)]
pub struct Keys(pub Vec<(f64, f64, Run)>);

impl Keys {
    /// By definition; before the first and after the last key those hold.
    pub fn at(&self, time: f64) -> f64 {
        let keys = &self.0;
        let next = keys.partition_point(|k| k.0 <= time);
        if next == 0 {
            return keys[0].1;
        }
        let (t0, a, run) = keys[next - 1];
        let Some((t1, b, _)) = keys.get(next).copied() else {
            return a;
        };
        let (span, u) = (t1 - t0, (time - t0) / (t1 - t0));
        match run {
            Run::Linear => a + (b - a) * u,
            Run::Step => a,
            Run::Cubic(m0, m1) => {
                let (u2, u3) = (u * u, u * u * u);
                (2.0 * u3 - 3.0 * u2 + 1.0) * a
                    + (u3 - 2.0 * u2 + u) * span * m0
                    + (3.0 * u2 - 2.0 * u3) * b
                    + (u3 - u2) * span * m1
            }
        }
    }
}

/// A list as FBX's text has it.
pub fn array<T: std::fmt::Debug>(name: &str, values: &[T]) -> String {
    let list: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    format!("{name}: *{} {{ a: {} }}\n", values.len(), list.join(","))
}

pub fn vectors(name: &str, values: &[DVec3]) -> String {
    let flat: Vec<f64> = values.iter().flat_map(|v| v.to_array()).collect();
    array(name, &flat)
}

pub fn matrix(name: &str, m: &DMat4) -> String {
    array(name, &m.to_cols_array())
}

/// One line of a property block, for three numbers.
pub fn property(name: &str, kind: &str, v: DVec3) -> String {
    format!(
        "P: \"{name}\", \"{kind}\", \"\", \"A\",{:?},{:?},{:?}\n",
        v.x, v.y, v.z
    )
}

pub fn number(name: &str, kind: &str, v: f64) -> String {
    format!("P: \"{name}\", \"{kind}\", \"\", \"A\",{v:?}\n")
}

pub fn integer(name: &str, v: i64) -> String {
    format!("P: \"{name}\", \"int\", \"Integer\", \"\",{v}\n")
}

pub fn properties(lines: &str) -> String {
    format!("Properties70: {{\n{lines}}}\n")
}

impl Fbx {
    /// `settings` are property lines of GlobalSettings.
    pub fn new(settings: String) -> Self {
        Self {
            settings,
            objects: String::new(),
            connections: String::new(),
            last: 1_000,
        }
    }

    /// An object such as `Model: 1001, "Model::Hips", "LimbNode" { body }`.
    pub fn object(&mut self, node: &str, class: &str, name: &str, kind: &str, body: &str) -> Id {
        self.last += 1;
        let id = self.last;
        writeln!(
            self.objects,
            "{node}: {id}, \"{class}::{name}\", \"{kind}\" {{\n{body}}}"
        )
        .unwrap();
        id
    }

    pub fn connect(&mut self, child: Id, parent: Id) {
        writeln!(self.connections, "C: \"OO\",{child},{parent}").unwrap();
    }

    pub fn connect_property(&mut self, child: Id, parent: Id, property: &str) {
        writeln!(
            self.connections,
            "C: \"OP\",{child},{parent}, \"{property}\""
        )
        .unwrap();
    }

    /// A stack with its one layer, which is what curves are connected to.
    pub fn stack(&mut self, name: &str, seconds: f64) -> Id {
        let stop = ticks(seconds);
        let span = format!("P: \"LocalStop\", \"KTime\", \"Time\", \"\",{stop}\n");
        let stack = self.object("AnimationStack", "AnimStack", name, "", &properties(&span));
        let layer = self.object("AnimationLayer", "AnimLayer", "Base", "", "");
        self.connect(layer, stack);
        layer
    }

    /// Curves of one property. Parts, such as `d|X`, without a curve keep the value given.
    pub fn animate(
        &mut self,
        layer: Id,
        object: Id,
        property: &str,
        parts: &[(&str, f64, Option<&Keys>)],
    ) {
        let defaults = parts
            .iter()
            .map(|(part, value, _)| number(part, "Number", *value));
        let body = properties(&defaults.collect::<String>());
        let node = self.object("AnimationCurveNode", "AnimCurveNode", property, "", &body);
        self.connect(node, layer);
        self.connect_property(node, object, property);
        for (part, _, keys) in parts {
            if let Some(keys) = keys {
                let curve = self.curve(keys);
                self.connect_property(curve, node, part);
            }
        }
    }

    fn curve(&mut self, keys: &Keys) -> Id {
        let keys = &keys.0;
        let times: Vec<i64> = keys.iter().map(|k| ticks(k.0)).collect();
        let values: Vec<f64> = keys.iter().map(|k| k.1).collect();
        let flags: Vec<i64> = keys
            .iter()
            .map(|k| match k.2 {
                Run::Linear => 0x4,
                Run::Step => 0x2,
                // With tangents as given, on each side its own.
                Run::Cubic(..) => 0x8 | 0x400 | 0x800,
            })
            .collect();
        // Text files hold the bits of 32-bit numbers, as a whole number.
        let slopes: Vec<i32> = keys
            .iter()
            .flat_map(|k| match k.2 {
                Run::Cubic(right, next_left) => [right, next_left, 0.0, 0.0],
                _ => [0.0; 4],
            })
            .map(|slope| (slope as f32).to_bits() as i32)
            .collect();
        let body = [
            "Default: 0\nKeyVer: 4009\n".to_owned(),
            array("KeyTime", &times),
            array("KeyValueFloat", &values),
            array("KeyAttrFlags", &flags),
            array("KeyAttrDataFloat", &slopes),
            array("KeyAttrRefCount", &vec![1; keys.len()]),
        ];
        self.object("AnimationCurve", "AnimCurve", "", "", &body.concat())
    }

    pub fn text(&self) -> String {
        let Self {
            settings,
            objects,
            connections,
            ..
        } = self;
        let settings = properties(settings);
        format!(
            "; FBX 7.4.0 project file\n\
             FBXHeaderExtension: {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\n\
             GlobalSettings: {{\nVersion: 1000\n{settings}}}\n\
             Objects: {{\n{objects}}}\n\
             Connections: {{\n{connections}}}\n"
        )
    }
}

fn ticks(seconds: f64) -> i64 {
    (seconds * TICKS).round() as i64
}
