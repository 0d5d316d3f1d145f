//! A SkelAnimation written into an open file and bound to a Skeleton, or as a layer of its own.

use std::path::Path;

use openusd::{gf, sdf};

use super::blend_shapes::{Authored, Failure, refuse, token_array};
use super::edits::author;
use crate::error::{Error, Result, Source};
use crate::usd::file::UsdFile;
use crate::usd::write::edits::Samples;
use crate::usd::write::flatten::Authoring;
use sinew::error::{Invalid, Warning};
use sinew::sampled::Sampled;
use sinew::scene::TimeLine;
use sinew::skel::SkelAnimation;

impl UsdFile {
    /// Adds a SkelAnimation below a Skeleton and binds it there: skel:animationSource, with SkelBindingAPI where it is not
    /// applied yet. The stage takes the animation's rate, and the range where one is given; up axis and units stay. Gives
    /// the new prim's path, whose last part is `name`, numbered where that is taken.
    ///
    /// An animation that the Skeleton had stays in the file, bound to nothing there.
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
        out: &Path,
        name: &str,
        animation: &SkelAnimation,
        time_line: &TimeLine,
    ) -> Result<Vec<Warning>> {
        self.check_output(out)?;
        let path = format!("/{name}");
        check(name, &path, animation, time_line).map_err(|e| self.failure(e))?;
        let fail = |source: Source| Error::Write {
            file: out.to_owned(),
            source,
        };
        let theirs = |key: &str| {
            let value = self.stage.stage_metadata(key);
            value.map_err(|e| fail(e.into()))
        };
        // Without an opinion USD's fallbacks hold, which are said here.
        let up = theirs("upAxis")?.unwrap_or_else(|| sdf::Value::token("Y"));
        let unit = theirs("metersPerUnit")?.unwrap_or(sdf::Value::Double(0.01));
        let mut layer = sdf::Layer::new_anonymous("animation");
        layer
            .edit(|edit| {
                author_animation(edit.data_mut(), &path, animation)?;
                author_times(edit.data_mut(), time_line);
                let data = edit.data_mut();
                let root = sdf::Path::abs_root();
                data.set_field(&root, "defaultPrim", sdf::Value::token(name));
                data.set_field(&root, "upAxis", up);
                data.set_field(&root, "metersPerUnit", unit);
                Ok(())
            })
            .map_err(|e| fail(e.into()))?;
        self.write_whole(layer, out)
    }

    fn try_set_animation(
        &self,
        skeleton: &str,
        name: &str,
        animation: &SkelAnimation,
        time_line: &TimeLine,
    ) -> Authored<String> {
        let prim = self.prim_to_edit(skeleton, "Skeleton")?;
        check(name, &format!("{skeleton}/{name}"), animation, time_line)?;
        let mut path = prim.path().append_path(name)?;
        for number in 2.. {
            if !self.stage.prim(&path)?.is_valid()? {
                break;
            }
            path = prim
                .path()
                .append_path(format!("{name}_{number}").as_str())?;
        }
        let binds = prim.has_api_schema("SkelBindingAPI")?;
        let root = self.stage.root_layer().identifier().to_owned();
        let Some(mut layer) = self.stage.layer_mut(&root) else {
            return refuse("its root layer cannot be edited".into());
        };
        layer.edit(|edit| {
            let data = edit.data_mut();
            author_animation(data, path.as_str(), animation)?;
            author_times(data, time_line);
            if !binds {
                sdf::PrimSpec::over(data, skeleton)?.add_applied_schema("SkelBindingAPI")?;
            }
            let source = sdf::Path::new(skeleton)?.append_property("skel:animationSource")?;
            if !data.has_spec(&source) {
                let uniform = sdf::Variability::Uniform;
                sdf::RelationshipSpec::new(data, &source, uniform, false)?;
            }
            let key = sdf::FieldKey::TargetPaths.as_str();
            let target = sdf::PathListOp::explicit(vec![path.clone()]);
            data.set_field(&source, key, target.into());
            Ok(())
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
    if !sdf::Path::is_valid_identifier(name) {
        return refuse(format!("'{name}' is no name for a prim"));
    }
    let rates = [time_line.time_codes_per_second, time_line.frames_per_second];
    if !rates.iter().all(|r| r.is_finite() && *r > 0.0) {
        return refuse(format!("{path}: rates of {rates:?} per second"));
    }
    let joints = animation.joints.len();
    let component = |name: &str, mut lengths: &mut dyn Iterator<Item = usize>, missing: bool| {
        let found = match (&mut lengths).find(|n| *n != joints) {
            _ if missing => "none".to_owned(),
            Some(n) => n.to_string(),
            None => return Ok(()),
        };
        Err(Invalid::new(
            path,
            name,
            format!("{joints} values, one per joint"),
            found,
        ))
    };
    let (t, r, s) = (
        &animation.translations,
        &animation.rotations,
        &animation.scales,
    );
    component(
        "translations",
        &mut t.values().map(|v| v.len()),
        !t.has_value(),
    )?;
    component(
        "rotations",
        &mut r.values().map(|v| v.len()),
        !r.has_value(),
    )?;
    component("scales", &mut s.values().map(|v| v.len()), !s.has_value())?;
    Ok(())
}

/// The prim with everything that the animation holds.
pub(crate) fn author_animation(
    data: &mut dyn sdf::AbstractData,
    path: &str,
    animation: &SkelAnimation,
) -> Authoring {
    sdf::PrimSpec::new(data, path, sdf::Specifier::Def, "SkelAnimation")?;
    author_tokens(data, path, "joints", &animation.joints)?;
    let translations = samples(&animation.translations, |v| {
        sdf::Value::Vec3fVec(bytemuck::cast_slice(v).to_vec())
    });
    author(data, path, "translations", "float3[]", translations)?;
    let rotations = samples(&animation.rotations, |v| {
        let quat = |q: &glam::Quat| gf::Quatf {
            w: q.w,
            x: q.x,
            y: q.y,
            z: q.z,
        };
        sdf::Value::QuatfVec(v.iter().map(quat).collect())
    });
    author(data, path, "rotations", "quatf[]", rotations)?;
    let scales = samples(&animation.scales, |v| {
        let half = |[x, y, z]: &[half::f16; 3]| gf::Vec3h {
            x: *x,
            y: *y,
            z: *z,
        };
        sdf::Value::Vec3hVec(v.iter().map(half).collect())
    });
    author(data, path, "scales", "half3[]", scales)?;
    if !animation.blend_shapes.is_empty() {
        author_tokens(data, path, "blendShapes", &animation.blend_shapes)?;
        let weights = samples(&animation.blend_shape_weights, |v| {
            sdf::Value::FloatVec(v.clone())
        });
        author(data, path, "blendShapeWeights", "float[]", weights)?;
    }
    Ok(())
}

fn author_tokens(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    name: &str,
    tokens: &[String],
) -> Authoring {
    let path = sdf::Path::new(prim)?.append_property(name)?;
    let uniform = sdf::Variability::Uniform;
    sdf::AttributeSpec::new(data, &path, "token[]", uniform, false)?;
    let default = sdf::FieldKey::Default.as_str();
    data.set_field(&path, default, token_array(tokens.to_vec()));
    Ok(())
}

fn samples<T>(sampled: &Sampled<T>, value: impl Fn(&T) -> sdf::Value) -> Samples<sdf::Value> {
    let timed = sampled.authored();
    timed
        .map(|(time, v)| (time, v.map_or(sdf::Value::ValueBlock, &value)))
        .collect()
}

/// Rates, and the range where there is one.
fn author_times(data: &mut dyn sdf::AbstractData, time_line: &TimeLine) {
    let root = sdf::Path::abs_root();
    let mut set = |key: &str, value: f64| {
        data.set_field(&root, key, sdf::Value::Double(value));
    };
    set("timeCodesPerSecond", time_line.time_codes_per_second);
    set("framesPerSecond", time_line.frames_per_second);
    if let Some((start, end)) = time_line.range {
        set("startTimeCode", start);
        set("endTimeCode", end);
    }
}
