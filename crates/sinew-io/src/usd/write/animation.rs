//! A SkelAnimation written into an open file and bound to a Skeleton, or as a layer of its own.

use std::path::Path as FilePath;

use half::f16;
use sinew_layer::path::is_identifier;
use sinew_layer::value::Quat;
use sinew_layer::{Layer, Path, Value};

use super::blend_shapes::{Authored, Failure, refuse, token_array};
use super::edits::author;
use super::sockets::MovedSockets;
use crate::error::{Error, Result, Source};
use crate::usd::file::UsdFile;
use crate::usd::read::skeletons::{ComponentFault, component_faults};
use crate::usd::read::values::vectors;
use crate::usd::write::edits::Samples;
use sinew::error::{Invalid, Warning};
use sinew::sampled::Sampled;
use sinew::scene::TimeLine;
use sinew::skel::SkelAnimation;

impl UsdFile {
    /// Adds a SkelAnimation below a Skeleton and binds it there: skel:animationSource, with SkelBindingAPI where it is not
    /// applied yet. The stage takes the animation's rate, and the range where one is given; up axis and units stay. Gives
    /// the new prim's path, whose last part is `name`, numbered where that is taken.
    ///
    /// An animation that the Skeleton had stays in the file, bound to nothing there. Nodes of a
    /// converted file that stand below joints move along.
    ///
    /// # Errors
    /// A path that is no Skeleton, or lies in a native instance; a name that is no identifier; components that are not
    /// one per joint, or missing; rates that are not above 0.
    pub fn set_animation(
        &mut self,
        skeleton: &str,
        name: &str,
        animation: &SkelAnimation,
        time_line: &TimeLine,
    ) -> Result<String> {
        let set = self.try_set_animation(skeleton, name, animation, time_line);
        set.map_err(|e| self.failure(e))
    }

    /// Writes a SkelAnimation alone, as the default prim of a file with this stage's up axis and units, for its
    /// Skeletons to reference.
    ///
    /// # Errors
    /// As [`UsdFile::set_animation`]; a file that cannot be written, or that this stage is read from.
    pub fn write_animation(
        &self,
        out: &FilePath,
        name: &str,
        animation: &SkelAnimation,
        time_line: &TimeLine,
    ) -> Result<Vec<Warning>> {
        self.check_output(out)?;
        let path = format!("/{name}");
        check(name, &path, animation, time_line).map_err(|e| self.failure(e))?;
        let path = Path::root().child(name);
        let fail = |source: Source| Error::Write {
            file: out.to_owned(),
            source,
        };
        // Without an opinion this is USD's fallback.
        let theirs = |key: &str| {
            let value = self.stage.metadata(key);
            value.map_err(|e| fail(e.into()))
        };
        let up = theirs("upAxis")?.unwrap_or_else(|| Value::token("Y"));
        let unit = theirs("metersPerUnit")?.unwrap_or(Value::Double(0.01));
        let mut layer = Layer::new("animation");
        author_animation(&mut layer, &path, animation);
        author_times(&mut layer, time_line);
        let root = &mut layer.root_mut().fields;
        root.set("defaultPrim", Value::token(name));
        root.set("upAxis", up);
        root.set("metersPerUnit", unit);
        Ok(self.write_whole(layer, out)?.warnings)
    }

    fn try_set_animation(
        &mut self,
        skeleton: &str,
        name: &str,
        animation: &SkelAnimation,
        time_line: &TimeLine,
    ) -> Authored<String> {
        let prim = self.prim_to_edit(skeleton, "Skeleton")?;
        check(name, &format!("{skeleton}/{name}"), animation, time_line)?;
        let skeleton = prim.path().clone();
        let mut path = skeleton.child(name);
        for number in 2.. {
            if self.stage.prim(&path).is_none() {
                break;
            }
            path = skeleton.child(&format!("{name}_{number}"));
        }
        let binds = prim.has_api("SkelBindingAPI");
        let sockets = MovedSockets::new(prim, animation)?;
        self.edit_root(|layer| {
            sockets.author(layer);
            author_animation(layer, &path, animation);
            author_times(layer, time_line);
            if !binds {
                layer.apply_schema(&skeleton, "SkelBindingAPI");
            }
            let source = skeleton.property("skel:animationSource");
            layer.relationship(&source, vec![path.clone()]);
        })?;
        Ok(path.as_str().to_owned())
    }
}

fn check(
    name: &str,
    path: &str,
    animation: &SkelAnimation,
    time_line: &TimeLine,
) -> std::result::Result<(), Failure> {
    if !is_identifier(name) {
        return refuse(format!("'{name}' is not a valid prim name"));
    }
    let rates = [time_line.time_codes_per_second, time_line.frames_per_second];
    if !rates.iter().all(|r| r.is_finite() && *r > 0.0) {
        return refuse(format!("{path}: rates of {rates:?} per second"));
    }
    if let Some((name, fault)) = component_faults(animation).into_iter().next() {
        let found = match fault {
            ComponentFault::Missing => "none".to_owned(),
            ComponentFault::Length(n) => n.to_string(),
        };
        let expected = format!("{} values, one per joint", animation.joints.len());
        return Err(Invalid::new(path, name, expected, found).into());
    }
    Ok(())
}

/// The prim with everything that the animation holds.
pub(crate) fn author_animation(layer: &mut Layer, path: &Path, animation: &SkelAnimation) {
    layer.define(path, "SkelAnimation");
    let tokens = |names: &[String]| token_array(names);
    layer.uniform(
        &path.property("joints"),
        "token[]",
        tokens(&animation.joints),
    );
    let prim = path.as_str();
    let translations = samples(&animation.translations, |v| vectors(v));
    author(layer, prim, "translations", "float3[]", translations);
    let rotations = samples(&animation.rotations, |v| {
        let quats = v.iter().map(|q| Quat(q.to_array()));
        Value::QuatfArray(quats.collect())
    });
    author(layer, prim, "rotations", "quatf[]", rotations);
    let scales = samples(&animation.scales, |v: &Vec<[f16; 3]>| {
        Value::Vec3hArray(v.clone().into())
    });
    author(layer, prim, "scales", "half3[]", scales);
    if !animation.blend_shapes.is_empty() {
        let shapes = tokens(&animation.blend_shapes);
        layer.uniform(&path.property("blendShapes"), "token[]", shapes);
        let weights = samples(&animation.blend_shape_weights, |v| {
            Value::FloatArray(v.clone().into())
        });
        author(layer, prim, "blendShapeWeights", "float[]", weights);
    }
}

fn samples<T>(sampled: &Sampled<T>, value: impl Fn(&T) -> Value) -> Samples<Value> {
    let timed = sampled.authored();
    timed
        .map(|(time, v)| (time, v.map_or(Value::Block, &value)))
        .collect()
}

/// Rates, and the range where there is one.
pub(crate) fn author_times(layer: &mut Layer, time_line: &TimeLine) {
    let mut set = |key: &str, value: f64| {
        layer.root_mut().fields.set(key, Value::Double(value));
    };
    set("timeCodesPerSecond", time_line.time_codes_per_second);
    set("framesPerSecond", time_line.frames_per_second);
    if let Some((start, end)) = time_line.range {
        set("startTimeCode", start);
        set("endTimeCode", end);
    }
}
