//! Following connections of shader networks (UsdShade) to what gives a value.

use openusd::{sdf, usd};

use crate::usd::read::values::{FromUsd, Token, read_uniform};

/// Interfaces of node graphs within node graphs; networks may run in circles.
const MOST_CONNECTIONS: usize = 32;

/// What gives an input its value.
pub(super) enum Source {
    /// A shader, its `info:id`, and which of its outputs, without `outputs:`.
    Shader {
        prim: usd::Prim,
        id: String,
        output: String,
    },
    /// The input itself, or one of an interface around it.
    Value(usd::Attribute),
}

/// Follows an attribute's connection, through the interfaces of materials and node graphs.
pub(super) fn source(attribute: usd::Attribute) -> Result<Source, openusd::Error> {
    let stage = attribute.stage().clone();
    let mut at = attribute;
    for _ in 0..MOST_CONNECTIONS {
        let Some(target) = at.connections()?.into_iter().next() else {
            break;
        };
        let Some((owner, name)) = target.split_property() else {
            break;
        };
        let prim = stage.prim(&owner)?;
        if !prim.is_valid()? {
            break;
        }
        if let Some(output) = name.strip_prefix("outputs:")
            && prim.is_a("Shader")?
        {
            let id = read_uniform::<Token>(&prim.attribute("info:id"))?;
            return Ok(Source::Shader {
                id: id.map_or_else(String::new, |t| t.0),
                output: output.to_owned(),
                prim,
            });
        }
        at = prim.attribute(name);
    }
    Ok(Source::Value(at))
}

/// A shader's input, wherever its value comes from; none where a shader computes it.
pub(super) fn value<T: FromUsd>(
    shader: &usd::Prim,
    input: &str,
) -> Result<Option<T>, openusd::Error> {
    let attribute = shader.attribute(format!("inputs:{input}"));
    if let Source::Value(at) = source(attribute)?
        && let Some(value) = read_uniform(&at)?
    {
        return Ok(Some(value));
    }
    // A connection that gives nothing leaves the input's own value.
    read_uniform(&shader.attribute(format!("inputs:{input}")))
}

/// A string or a token, as varname is either.
pub(super) struct Text(pub String);

impl FromUsd for Text {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Token(t) => Some(Self(t.as_str().to_owned())),
            sdf::Value::String(s) => Some(Self(s)),
            _ => None,
        }
    }
}
