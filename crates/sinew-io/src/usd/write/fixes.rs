//! A copy of a file with fixes in it.

use std::path::Path;

use sinew_layer::value::Quat;
use sinew_layer::{Layer, Path as PrimPath, Value};

use super::edits::author;
use super::save::{self, Written};
use crate::error::Result;
use crate::usd::file::UsdFile;
use crate::usd::read::authored::AuthoredValue;
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::flatten::has_extension;
use sinew::sampled::Time;

/// One change that fixes a prim.
#[derive(Clone, Debug, PartialEq)]
pub enum Fix {
    /// Applies SkelBindingAPI.
    ApplyBinding,
    /// Authors values, with metadata where given.
    Author {
        name: String,
        /// Type of an attribute that is not there yet, or of one that is.
        type_name: &'static str,
        /// The default and the samples; the values that are there stay where empty.
        values: Vec<(Time, AuthoredValue)>,
        interpolation: Option<&'static str>,
        element_size: Option<i32>,
    },
    /// Takes an in-between away: its property is removed, or blocked where other layers, references or
    /// variants hold it too.
    RemoveInbetween { name: String },
}

/// A change and the prim that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimFix {
    /// Composed prim path.
    pub path: String,
    pub fix: Fix,
}

impl UsdFile {
    /// True if the fixed copy can only be flattened: a package holds no layer that could be copied alone.
    #[must_use]
    pub fn fixes_are_flattened(&self, out: &Path) -> bool {
        has_extension(self.file(), "usdz") || has_extension(out, "usdz")
    }

    /// Writes a copy of the root layer with the fixes as its own opinions, which are the strongest;
    /// relative asset paths keep leading to the same files. See [`UsdFile::fixes_are_flattened`] for
    /// packages, which are flattened; instances around fixed prims are expanded there.
    ///
    /// # Errors
    /// A prim in a native instance, unless flattened; a file that cannot be written.
    pub fn write_fixed(&self, out: &Path, fixes: &[PrimFix]) -> Result<Written> {
        if self.fixes_are_flattened(out) {
            let fixed: Vec<String> = fixes.iter().map(|f| f.path.clone()).collect();
            return self.write_flattened_with(out, BakeEdits::default(), &fixed, |layer| {
                fixes.iter().for_each(|f| apply(layer, f, &|_| false));
            });
        }
        let mut layer = Layer::clone(self.stage.root_layer());
        self.move_paths(&mut layer, out)?;
        let elsewhere = |path: &PrimPath| self.is_held_elsewhere(path);
        fixes.iter().for_each(|f| apply(&mut layer, f, &elsewhere));
        save::export(&layer, out)?;
        Ok(Written::file(out, Vec::new()))
    }

    /// Whether some opinion on the property is not the root layer's own, at this very path.
    fn is_held_elsewhere(&self, path: &PrimPath) -> bool {
        let Some(prim) = self.stage.prim(&path.prim_path()) else {
            return false;
        };
        let root = self.stage.root_layer();
        let attribute = prim.attribute(path.name());
        attribute
            .opinions()
            .any(|o| !std::sync::Arc::ptr_eq(&o.layer.layer, root) || o.path != *path)
    }
}

fn apply(
    layer: &mut Layer,
    PrimFix { path, fix }: &PrimFix,
    is_held_elsewhere: &dyn Fn(&PrimPath) -> bool,
) {
    // Paths of the stage are valid.
    let prim = PrimPath::parse(path).unwrap_or_default();
    match fix {
        Fix::ApplyBinding => layer.apply_schema(&prim, "SkelBindingAPI"),
        Fix::Author {
            name,
            type_name,
            values,
            interpolation,
            element_size,
        } => {
            let values = values
                .iter()
                .map(|(t, v)| Some((*t, to_usd(v)?)))
                .collect::<Option<Vec<_>>>()
                .unwrap_or_default();
            author(layer, path, name, type_name, values);
            // Metadata alone need a spec to stand on.
            let fields = &mut layer.attribute(&prim.property(name), type_name).fields;
            fields.set("typeName", Value::token(*type_name));
            if let Some(interpolation) = interpolation {
                fields.set("interpolation", Value::token(*interpolation));
            }
            if let Some(size) = element_size {
                fields.set("elementSize", Value::Int(*size));
            }
        }
        Fix::RemoveInbetween { name } => {
            for name in [name.clone(), format!("{name}:normalOffsets")] {
                let property = prim.property(&name);
                let blocked = is_held_elsewhere(&property);
                layer.remove(&property);
                if !blocked {
                    continue;
                }
                let block = vec![(Time::Default, Value::Block)];
                author(layer, path, &name, "vector3f[]", block);
                // Readers that go by the weight alone leave one at the null shape out.
                let fields = &mut layer.attribute(&property, "vector3f[]").fields;
                fields.set("weight", Value::Float(0.0));
            }
        }
    }
}

/// The value as usd-core's schemas type it; none for a type that no fix writes.
fn to_usd(value: &AuthoredValue) -> Option<Value> {
    Some(match value {
        AuthoredValue::Ints(v) => {
            let v: std::result::Result<Vec<i32>, _> = v.iter().map(|i| i32::try_from(*i)).collect();
            Value::IntArray(v.ok()?.into())
        }
        AuthoredValue::Floats(v) => Value::FloatArray(v.clone().into()),
        AuthoredValue::Quats(v) => {
            Value::QuatfArray(v.iter().map(|q| Quat(q.to_array())).collect())
        }
        AuthoredValue::Blocked => Value::Block,
        _ => return None,
    })
}
