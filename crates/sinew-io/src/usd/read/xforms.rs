//! xformOpOrder of a prim as an [`XformStack`].

use sinew_stage::{Attribute, Prim};

use crate::usd::read::values::{OneVec3, read_sampled, read_uniform};
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{OpKind, OpValue, XformOp, XformStack};

/// Reads a prim's ops. An op whose attribute or kind is unknown is dropped with a warning.
pub(crate) fn read_stack(
    prim: &Prim<'_>,
    interpolation: Interpolation,
    warnings: &mut Vec<Warning>,
) -> Result<XformStack, sinew_stage::Error> {
    let order: Vec<String> = read_uniform(&prim.attribute("xformOpOrder"))?.unwrap_or_default();
    let mut stack = XformStack::default();
    for token in order {
        if token == "!resetXformStack!" {
            // What stands before it no longer counts.
            stack.ops.clear();
            stack.resets = true;
            continue;
        }
        let (name, invert) = match token.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (token.as_str(), false),
        };
        let mut drop = |why: &str| {
            warnings.push(Warning::new(
                "xform-op-ignored",
                prim.path().as_str(),
                format!("xformOpOrder lists {name}, {why}: ignored"),
            ));
        };
        let Some(kind) = OpKind::from_name(name) else {
            drop("which is no known op");
            continue;
        };
        match read_value(&prim.attribute(name), kind, interpolation)? {
            Some(value) => stack.ops.push(XformOp {
                kind,
                name: name.to_owned(),
                invert,
                value,
            }),
            None => drop("which has no value of a fitting type"),
        }
    }
    Ok(stack)
}

fn read_value(
    attribute: &Attribute<'_, '_>,
    kind: OpKind,
    interpolation: Interpolation,
) -> Result<Option<OpValue>, sinew_stage::Error> {
    macro_rules! first_of {
        ($($variant:path),+) => {{
            $(
                let sampled = read_sampled(attribute, interpolation)?;
                if sampled.has_value() {
                    return Ok(Some($variant(sampled)));
                }
            )+
            Ok(None)
        }};
    }
    match kind {
        OpKind::Transform => first_of!(OpValue::Matrix),
        OpKind::Translate | OpKind::Scale | OpKind::RotateEuler(_) => {
            let floats: Sampled<OneVec3> = read_sampled(attribute, interpolation)?;
            if floats.has_value() {
                return Ok(Some(OpValue::Vec3F(floats.map(|v| v.0.clone()))));
            }
            first_of!(OpValue::Vec3, OpValue::Vec3H)
        }
        OpKind::Orient => first_of!(OpValue::QuatF, OpValue::Quat, OpValue::QuatH),
        OpKind::TranslateAxis(_) | OpKind::ScaleAxis(_) | OpKind::RotateAxis(_) => {
            first_of!(OpValue::Scalar, OpValue::ScalarF, OpValue::ScalarH)
        }
    }
}
