//! Works around: openusd 0.8's flatten leaves out what value clips supply. Here their samples are written into the flattened
//! layer.
//!
//! See the fault: flatten `tests/goldens/clips_switch.usda` with `openusd::usd::Stage::flatten`: the attributes that the
//! clips animate have no samples. usd-core writes them.
//!
//! Test: the cases `clips_*` of `crates/sinew-bake/tests/against_usd_core/goldens.rs`.
//!
//! Goes when: those cases pass without [`flatten_clips`]. [`clip_samples`] stays as long as `Attribute::time_samples` gives
//! nothing for attributes that clips supply.
//!
//! A clip set may jump: where another clip becomes active, or where its times run back to the start.
//! Samples of a flattened attribute interpolate into the jump, so one more sample stands just before it.

use std::collections::HashSet;

use half::f16;
use openusd::sdf::Value;
use openusd::{sdf, usd};

/// A time and the value there; `None` where a block is.
pub(crate) type Sample = (f64, Option<Value>);

/// The samples of an attribute whose value clips supply, or `None` for any other attribute.
pub(crate) fn clip_samples(
    attribute: &usd::Attribute,
) -> Result<Option<Vec<Sample>>, openusd::Error> {
    let times = attribute.time_sample_times()?;
    // Clips answer with a schedule instead of a map.
    if times.is_empty() || attribute.time_samples()?.is_some() {
        return Ok(None);
    }
    let query = attribute.query();
    let mut out: Vec<Sample> = Vec::with_capacity(times.len());
    for time in times {
        let value: Option<Value> = query.get_at(usd::TimeCode::new(time))?;
        if let Some((last_time, last)) = out.last() {
            let step = usd::TimeCode::safe_step(time.abs().max(1e6), 10.0);
            let just_before = time - step;
            if just_before > *last_time {
                let before: Option<Value> = query.get_at(usd::TimeCode::new(just_before))?;
                if jumps(last.as_ref(), before.as_ref(), value.as_ref()) {
                    out.push((just_before, before));
                }
            }
        }
        out.push((time, value));
    }
    Ok(Some(out))
}

/// Whether `before`, a moment before `now`, is what no interpolation from `last` to `now` gives.
fn jumps(last: Option<&Value>, before: Option<&Value>, now: Option<&Value>) -> bool {
    let (before, now) = match (before, now) {
        // Nothing interpolates towards a block.
        (Some(_), None) => return true,
        (None, _) => return last.is_some(),
        (Some(before), Some(now)) => (before, now),
    };
    match (numbers(before), numbers(now)) {
        (Some(before), Some(now)) if before.len() == now.len() => {
            let last = last.and_then(numbers);
            let last = last.filter(|l| l.len() == now.len());
            before.iter().zip(&now).enumerate().any(|(i, (b, n))| {
                // What changes evenly is within a billionth of its whole change a moment before.
                let change = last.as_ref().map_or(0.0, |l| (n - l[i]).abs());
                (b - n).abs() > 1e-3 * change + 1e-6 * (b.abs() + n.abs())
            })
        }
        // Held until the next sample.
        _ => Some(before) != last,
    }
}

/// Numbers of a value that interpolates.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    fn single(v: &[f32]) -> Vec<f64> {
        v.iter().map(|x| f64::from(*x)).collect()
    }
    fn half(v: &[f16]) -> Vec<f64> {
        v.iter().map(|x| f64::from(*x)).collect()
    }
    macro_rules! packed {
        ($($one:ident $many:ident => $convert:expr),+ $(,)?) => {
            match value {
                $(
                    Value::$one(v) => Some($convert(bytemuck::cast_slice(std::slice::from_ref(v)))),
                    Value::$many(v) => Some($convert(bytemuck::cast_slice(v))),
                )+
                _ => None,
            }
        };
    }
    packed!(
        Half HalfVec => half,
        Vec2h Vec2hVec => half,
        Vec3h Vec3hVec => half,
        Vec4h Vec4hVec => half,
        Quath QuathVec => half,
        Float FloatVec => single,
        Vec2f Vec2fVec => single,
        Vec3f Vec3fVec => single,
        Vec4f Vec4fVec => single,
        Quatf QuatfVec => single,
        Double DoubleVec => <[f64]>::to_vec,
        Vec2d Vec2dVec => <[f64]>::to_vec,
        Vec3d Vec3dVec => <[f64]>::to_vec,
        Vec4d Vec4dVec => <[f64]>::to_vec,
        Quatd QuatdVec => <[f64]>::to_vec,
        Matrix2d Matrix2dVec => <[f64]>::to_vec,
        Matrix3d Matrix3dVec => <[f64]>::to_vec,
        Matrix4d Matrix4dVec => <[f64]>::to_vec,
    )
}

/// Writes the samples of every attribute that clips supply into the flattened layer.
pub(crate) fn flatten_clips(
    stage: &usd::Stage,
    layer: &mut sdf::Layer,
) -> Result<(), openusd::Error> {
    let mut paths = Vec::new();
    stage.traverse(usd::PrimPredicate::ALL, |p| paths.push(p.clone()))?;
    let mut clipped: HashSet<sdf::Path> = HashSet::new();
    let mut samples: Vec<(sdf::Path, usd::Attribute, Vec<Sample>)> = Vec::new();
    for path in paths {
        let prim = stage.prim(&path)?;
        // A clip set holds for its prim and all below.
        if !path.parent().is_some_and(|p| clipped.contains(&p)) && !prim.has_clips()? {
            continue;
        }
        clipped.insert(path.clone());
        // The schema's own ones too: a manifest may name what no layer of the stage does.
        for attribute in prim.attributes()? {
            if let Some(found) = clip_samples(&attribute)? {
                samples.push((attribute.path().clone(), attribute, found));
            }
        }
    }
    let mut declared = Vec::with_capacity(samples.len());
    for (path, attribute, samples) in samples {
        let type_name = attribute.type_name()?.unwrap_or(sdf::ValueTypeName::TOKEN);
        let variability = attribute.variability()?.unwrap_or_default();
        let samples: sdf::TimeSampleMap = samples
            .into_iter()
            .map(|(t, v)| (t, v.unwrap_or(Value::ValueBlock)))
            .collect();
        declared.push((path, type_name, variability, samples));
    }
    layer.edit(|edit| {
        for (path, type_name, variability, samples) in declared {
            let data = edit.data_mut();
            if !data.has_spec(&path) {
                sdf::AttributeSpec::new(data, &path, type_name, variability, false)?;
            }
            let key = sdf::FieldKey::TimeSamples.as_str();
            data.set_field(&path, key, Value::TimeSamples(samples));
        }
        Ok::<(), sdf::AuthoringError>(())
    })?;
    Ok(())
}
