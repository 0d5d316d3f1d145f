//! Crate files whose first token is the name of no property.
//!
//! A crate marks properties by the negative numbers of their names' tokens, so one that is named by token 0 reads as a
//! prim, in usd-core too, which aborts on it. usd-core keeps token 0 for nothing; openusd 0.8 numbers tokens as it meets
//! them, and so begins with what the layer's first field holds: mostly the default prim's name, which may
//! well be "points" or "joints".

use std::borrow::Cow;
use std::collections::HashSet;

use openusd::sdf::{self, AbstractData, DataError, Path, Value};

/// Written where a layer has no number of its own; it says what a layer without it means.
const RATE: (&str, Value) = ("timeCodesPerSecond", Value::Double(24.0));

/// Writes a layer, with the numbers of its root first where the tokens of other fields could be names of properties.
///
/// # Errors
/// As [`sdf::FileFormat::write`].
pub(super) fn write(
    format: &dyn sdf::FileFormat,
    data: &dyn AbstractData,
    sink: &mut dyn sdf::WriteSeek,
) -> Result<(), sdf::FormatError> {
    match NumberFirst::needed(data) {
        Some(ordered) => format.write(&ordered, sink),
        None => format.write(data, sink),
    }
}

/// A layer seen with a number as its root's first field. The token that is met first is then that field's own name.
struct NumberFirst<'a> {
    data: &'a dyn AbstractData,
    root: Path,
    /// The root's fields in order.
    fields: Vec<String>,
}

impl<'a> NumberFirst<'a> {
    /// None where no property has the name of a root prim or of what else the root's fields hold.
    fn needed(data: &'a dyn AbstractData) -> Option<Self> {
        let root = Path::abs_root();
        let mut fields = data.list_fields(&root)?;
        let mut first: HashSet<String> = HashSet::new();
        for field in &fields {
            match data.try_field(&root, field).ok()??.as_ref() {
                Value::Token(text) => {
                    first.insert(text.as_str().to_owned());
                }
                Value::String(text) => {
                    first.insert(text.clone());
                }
                Value::TokenVec(list) => first.extend(list.iter().map(|t| t.as_str().to_owned())),
                _ => {}
            }
        }
        let is_named_so = |path: &Path| {
            let property = path.split_property();
            property.is_some_and(|(_, name)| first.contains(name))
        };
        if !data.spec_paths().iter().any(is_named_so) {
            return None;
        }
        let is_number = |field: &String| {
            let value = data.try_field(&root, field);
            matches!(value.ok().flatten().as_deref(), Some(Value::Double(_)))
        };
        match fields.iter().position(is_number) {
            Some(number) => fields[..=number].rotate_right(1),
            None => fields.insert(0, RATE.0.to_owned()),
        }
        Some(Self { data, root, fields })
    }
}

impl AbstractData for NumberFirst<'_> {
    fn has_spec(&self, path: &Path) -> bool {
        self.data.has_spec(path)
    }

    fn has_field(&self, path: &Path, field: &str) -> bool {
        match *path == self.root {
            true => self.fields.iter().any(|f| f == field),
            false => self.data.has_field(path, field),
        }
    }

    fn spec_type(&self, path: &Path) -> Option<sdf::SpecType> {
        self.data.spec_type(path)
    }

    fn try_field(&self, path: &Path, field: &str) -> Result<Option<Cow<'_, Value>>, DataError> {
        let found = self.data.try_field(path, field)?;
        let added = found.is_none() && field == RATE.0 && *path == self.root;
        Ok(match added {
            true => Some(Cow::Owned(RATE.1)),
            false => found,
        })
    }

    fn list_fields(&self, path: &Path) -> Option<Vec<String>> {
        match *path == self.root {
            true => Some(self.fields.clone()),
            false => self.data.list_fields(path),
        }
    }

    fn spec_paths(&self) -> Vec<Path> {
        self.data.spec_paths()
    }

    // A format only reads what it writes; these change nothing.

    fn create_spec(&mut self, _: Path, _: sdf::SpecType) {}

    fn erase_spec(&mut self, _: &Path) {}

    fn set_field(&mut self, _: &Path, _: &str, _: Value) {}

    fn erase_field(&mut self, _: &Path, _: &str) {}
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A root prim and an attribute below it of the same name, written and read again.
    fn round_trip(root_fields: &[(&str, Value)]) -> (Vec<String>, Vec<String>) {
        let mut data = sdf::Data::new();
        let root = data.create_spec(Path::abs_root(), sdf::SpecType::PseudoRoot);
        for (name, value) in root_fields {
            root.add(*name, value.clone());
        }
        root.add("primChildren", Value::TokenVec(vec!["points".into()]));
        let prim = Path::abs_root().append_path("points").unwrap();
        let spec = data.create_spec(prim.clone(), sdf::SpecType::Prim);
        spec.add("specifier", Value::Specifier(sdf::Specifier::Def));
        spec.add("properties", Value::TokenVec(vec!["points".into()]));
        let attribute = prim.append_property("points").unwrap();
        let spec = data.create_spec(attribute, sdf::SpecType::Attribute);
        spec.add("typeName", Value::token("float"));
        spec.add("default", Value::Float(1.0));
        let format = sdf::LayerRegistry::find_by_extension("usdc").unwrap();
        let mut out = Cursor::new(Vec::new());
        write(format, &data, &mut out).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("layer.usdc");
        std::fs::write(&file, out.get_ref()).unwrap();
        let layer = sdf::Layer::open(file.to_str().unwrap()).unwrap();
        let paths = layer.data().spec_paths();
        let names = |paths: Vec<Path>| paths.iter().map(|p| p.as_str().to_owned()).collect();
        let fields = layer.data().list_fields(&Path::abs_root());
        (names(paths), fields.unwrap())
    }

    #[test]
    fn a_property_of_the_root_prims_name_stays_one() {
        let name = ("defaultPrim", Value::token("points"));
        let unit = ("metersPerUnit", Value::Double(1.0));
        for (fields, first) in [
            (vec![], RATE.0),
            (vec![name.clone()], RATE.0),
            (vec![name, unit], "metersPerUnit"),
        ] {
            let (paths, found) = round_trip(&fields);
            assert_eq!(paths, ["/", "/points", "/points.points"]);
            assert_eq!(found[0], first);
        }
    }
}
