//! Animation samplers: key times and values.

use glam::{DQuat, DVec3};

use super::document::Document;
use super::element::{self, Shape};
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::{Curve, CurveInterpolation, Keys};

/// What the values of a channel are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Translation,
    Rotation,
    Scale,
    /// That many weights for each key.
    Weights(usize),
}

impl Component {
    /// Weights, before it is known how many.
    pub(super) const WEIGHTS: Self = Self::Weights(0);

    pub(super) fn parse(name: &str) -> Option<Self> {
        let all = [
            Self::Translation,
            Self::Rotation,
            Self::Scale,
            Self::WEIGHTS,
        ];
        all.into_iter().find(|c| c.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Weights(_) => "weights",
        }
    }
}

/// Floats, or small integers that stand for -1 to 1 or 0 to 1.
const VALUES: &[(element::Component, bool)] = &[
    (element::Component::F32, false),
    (element::Component::I8, true),
    (element::Component::U8, true),
    (element::Component::I16, true),
    (element::Component::U16, true),
];

pub(super) fn read(
    document: &Document,
    sampler: &Json<'_>,
    component: Component,
) -> Result<Curve, Invalid> {
    let interpolation = match sampler.get("interpolation")? {
        None => CurveInterpolation::Linear,
        Some(json) => match json.string()? {
            "LINEAR" => CurveInterpolation::Linear,
            "STEP" => CurveInterpolation::Step,
            "CUBICSPLINE" => CurveInterpolation::CubicSpline,
            _ => return Err(json.wrong("LINEAR, STEP or CUBICSPLINE")),
        },
    };
    let times = times(document, &sampler.need("input")?)?;
    let cubic = interpolation == CurveInterpolation::CubicSpline;
    let each = if cubic { 3 } else { 1 };
    let (shape, per_key) = match component {
        Component::Translation | Component::Scale => (Shape::vector(3), 1),
        Component::Rotation => (Shape::vector(4), 1),
        Component::Weights(count) => (Shape::SCALAR, count),
    };
    let expected = format!("FLOAT or normalized integers, VEC{}", shape.rows);
    let expected = expected.replace("VEC1", "SCALAR");
    let output = document
        .accessor(&sampler.need("output")?)?
        .expect(shape, VALUES, &expected)?
        .expect_count(
            times.len().saturating_mul(each).saturating_mul(per_key),
            &format!(
                "{} for each of {} keys",
                each.saturating_mul(per_key),
                times.len()
            ),
        )?;
    let keys = match component {
        Component::Translation => Keys::Translation(output.read(DVec3::from_array)?),
        Component::Scale => Keys::Scale(output.read(DVec3::from_array)?),
        Component::Rotation => {
            let mut rotations = output.read(DQuat::from_array)?;
            normalize(&mut rotations, cubic).map_err(|i| {
                let found = format!("length 0 as element {i} of {}", output.at);
                Invalid::new(&output.used_at, "", "rotations of length 1", found)
            })?;
            Keys::Rotation(rotations)
        }
        Component::Weights(count) => Keys::Weights {
            count,
            values: output.read(|[w]| w)?,
        },
    };
    Ok(Curve {
        times,
        interpolation,
        keys,
    })
}

/// Makes rotations of length 1, which quantised ones are only nearly. Splines stay as they are, since
/// scaling a value without its tangents would bend them; they are normalised when evaluated.
///
/// # Errors
/// Which one has no length.
fn normalize(rotations: &mut [DQuat], cubic: bool) -> Result<(), usize> {
    for (i, rotation) in rotations.iter_mut().enumerate() {
        if cubic && i % 3 != 1 {
            continue;
        }
        let length = rotation.length();
        if length < 1e-9 {
            return Err(i);
        }
        if !cubic {
            *rotation /= length;
        }
    }
    Ok(())
}

/// Seconds, strictly rising.
fn times(document: &Document, input: &Json<'_>) -> Result<Vec<f64>, Invalid> {
    let accessor = document.accessor(input)?.expect(
        Shape::SCALAR,
        &[(element::Component::F32, false)],
        "FLOAT SCALAR",
    )?;
    let times = accessor.read(|[t]| t)?;
    if let Some(i) = times.windows(2).position(|w| w[0] >= w[1]) {
        let found = format!("{} after {} in {}", times[i + 1], times[i], accessor.at);
        return Err(input.error("key times that rise", found));
    }
    Ok(times)
}
