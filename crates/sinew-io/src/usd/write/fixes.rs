//! A copy of a file with fixes in it.

use std::path::Path;

use openusd::sdf;

use super::edits::author;
use super::save;
use crate::error::{Error, Result, Source};
use crate::usd::file::UsdFile;
use crate::usd::read::authored::AuthoredValue;
use crate::usd::write::edits::BakeEdits;
use crate::usd::write::flatten::{Authoring, has_extension};
use sinew::error::Warning;
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
    pub fn write_fixed(&self, out: &Path, fixes: &[PrimFix]) -> Result<Vec<Warning>> {
        if self.fixes_are_flattened(out) {
            let fixed: Vec<String> = fixes.iter().map(|f| f.path.clone()).collect();
            return self.write_flattened_with(out, BakeEdits::default(), &fixed, |edit| {
                fixes.iter().try_for_each(|f| apply(edit, f, &|_| false))
            });
        }
        let fail = |source: Source| Error::Write {
            file: out.to_owned(),
            source,
        };
        self.check_root_values(out)?;
        let mut layer = self.root_layer_copy(out).map_err(|e| fail(e.into()))?;
        let elsewhere = |path: &sdf::Path| self.is_held_elsewhere(path);
        layer
            .edit(|edit| fixes.iter().try_for_each(|f| apply(edit, f, &elsewhere)))
            .map_err(|e| fail(e.into()))?;
        save::export(&layer, out)?;
        Ok(Vec::new())
    }

    /// Some opinion on the property is not the root layer's own, at this very path.
    fn is_held_elsewhere(&self, path: &sdf::Path) -> bool {
        let root = self.stage.root_layer().identifier().to_owned();
        // What cannot be told is blocked, which never harms.
        let Ok(attribute) = self.stage.attribute(path.clone()) else {
            return true;
        };
        attribute.property_stack().map_or(true, |sites| {
            let mut sites = sites.iter();
            sites.any(|site| site.layer != root || site.path != *path)
        })
    }
}

fn apply(
    edit: &mut sdf::LayerEdit<'_>,
    PrimFix { path, fix }: &PrimFix,
    is_held_elsewhere: &dyn Fn(&sdf::Path) -> bool,
) -> Authoring {
    match fix {
        Fix::ApplyBinding => {
            sdf::PrimSpec::over(edit.data_mut(), path.as_str())?
                .add_applied_schema("SkelBindingAPI")?;
        }
        Fix::Author {
            name,
            type_name,
            values,
            interpolation,
            element_size,
        } => {
            let property = sdf::Path::new(path)?.append_property(name)?;
            let data = edit.data_mut();
            let is_new = !data.has_spec(&property);
            let values = values
                .iter()
                .map(|(t, v)| Some((*t, to_usd(v)?)))
                .collect::<Option<Vec<_>>>()
                .unwrap_or_default();
            if values.is_empty() && is_new {
                // Metadata alone need a spec to stand on.
                sdf::AttributeSpec::new(
                    data,
                    &property,
                    *type_name,
                    sdf::Variability::Varying,
                    false,
                )?;
            } else {
                author(data, path, name, type_name, values)?;
            }
            let mut set = |key: &str, value| data.set_field(&property, key, value);
            set(
                sdf::FieldKey::TypeName.as_str(),
                sdf::Value::token(*type_name),
            );
            if let Some(interpolation) = interpolation {
                set("interpolation", sdf::Value::token(*interpolation));
            }
            if let Some(size) = element_size {
                set("elementSize", sdf::Value::Int(*size));
            }
        }
        Fix::RemoveInbetween { name } => {
            for name in [name.clone(), format!("{name}:normalOffsets")] {
                let property = sdf::Path::new(path)?.append_property(&name)?;
                let blocked = is_held_elsewhere(&property);
                edit.remove_spec(&property)?;
                if !blocked {
                    continue;
                }
                let block = vec![(Time::Default, sdf::Value::ValueBlock)];
                author(edit.data_mut(), path, &name, "vector3f[]", block)?;
                // Readers that go by the weight alone leave one at the null shape out.
                let data = edit.data_mut();
                data.set_field(&property, "weight", sdf::Value::Float(0.0));
            }
        }
    }
    Ok(())
}

/// The value as usd-core's schemas type it; none for a type that no fix writes.
fn to_usd(value: &AuthoredValue) -> Option<sdf::Value> {
    Some(match value {
        AuthoredValue::Ints(v) => {
            let v: Result<Vec<i32>, _> = v.iter().map(|i| i32::try_from(*i)).collect();
            sdf::Value::IntVec(v.ok()?)
        }
        AuthoredValue::Floats(v) => sdf::Value::FloatVec(v.clone()),
        AuthoredValue::Quats(v) => sdf::Value::QuatfVec(
            v.iter()
                .map(|q| openusd::gf::Quatf {
                    w: q.w,
                    x: q.x,
                    y: q.y,
                    z: q.z,
                })
                .collect(),
        ),
        AuthoredValue::Blocked => sdf::Value::ValueBlock,
        _ => return None,
    })
}
