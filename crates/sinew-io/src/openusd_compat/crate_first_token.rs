//! Works around: three things that usd-core needs of a crate file and openusd 0.8 does not write.
//!
//! - A crate marks properties by the negative numbers of their names' tokens, so a property that is named by token 0 reads as
//!   a prim. usd-core aborts on such a file. usd-core never uses token 0 for a name; openusd numbers tokens as it meets
//!   them, so token 0 is what the layer's first field holds: mostly the default prim's name, which may be "points" or
//!   "joints". Here the first token is the empty one.
//! - usd-core looks for the empty token, the root's name, when it saves a layer to the file that it opened; without one
//!   it fails and leaves a broken file behind. openusd writes none.
//! - usd-core then writes its header anew, which is longer than openusd's. Here values begin behind the longer header.
//!
//! See the fault: write a layer with the default prim `/points` and the property `/points.points` by
//! `sdf::FileFormat::write` and open it in usd-core.
//!
//! Test: `a_property_of_the_root_prims_name_stays_one` below.
//!
//! Goes when: openusd writes the empty token first and leaves room for usd-core's header.
//!
//! Source of the layout: pxr/usd/sdf/crateFile.h of OpenUSD 26 (`_BootStrap`).

use std::borrow::Cow;
use std::io::{self, Seek, SeekFrom, Write};

use openusd::sdf::{self, AbstractData, DataError, Path, Value};

use crate::openusd_compat::layer_view::{LayerView, Viewed};

/// Bytes of usd-core's header; openusd's is shorter, and zeros fill the rest.
pub(crate) const HEADER: u64 = 88;

/// Texts of a layer, each empty where it is not given: the first that a layer does not have is written empty.
const TEXTS: [&str; 4] = ["comment", "documentation", "owner", "sessionOwner"];

/// Writes a layer, as a crate where that is the format, to an empty sink.
///
/// # Errors
/// As [`sdf::FileFormat::write`].
pub(crate) fn write(
    format: &dyn sdf::FileFormat,
    data: &dyn AbstractData,
    sink: &mut dyn sdf::WriteSeek,
) -> Result<(), sdf::FormatError> {
    if format.extensions().contains(&"usdc") {
        return format.write(&Viewed(EmptyFirst::new(data)), &mut BehindHeader(sink));
    }
    format.write(data, sink)
}

/// A file whose values begin behind usd-core's header, not openusd's.
struct BehindHeader<'a>(&'a mut dyn sdf::WriteSeek);

impl Write for BehindHeader<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for BehindHeader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(match to {
            // Only the header itself is at the start.
            SeekFrom::Start(to) if to > 0 => SeekFrom::Start(to.max(HEADER)),
            to => to,
        })
    }
}

/// A layer seen with an empty text as its root's first field.
struct EmptyFirst<'a> {
    data: &'a dyn AbstractData,
    root: Path,
    /// None where a layer has a text of its own for each.
    added: Option<&'static str>,
}

impl<'a> EmptyFirst<'a> {
    fn new(data: &'a dyn AbstractData) -> Self {
        let root = Path::abs_root();
        let is_empty = |text: &&str| match data.try_field(&root, text).ok().flatten().as_deref() {
            None => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(_) => false,
        };
        Self {
            added: TEXTS.into_iter().find(is_empty),
            data,
            root,
        }
    }
}

impl LayerView for EmptyFirst<'_> {
    fn layer(&self) -> &dyn AbstractData {
        self.data
    }

    fn has_field(&self, path: &Path, field: &str) -> bool {
        (*path == self.root && self.added == Some(field)) || self.data.has_field(path, field)
    }

    fn try_field(&self, path: &Path, field: &str) -> Result<Option<Cow<'_, Value>>, DataError> {
        if *path == self.root && self.added == Some(field) {
            return Ok(Some(Cow::Owned(Value::String(String::new()))));
        }
        self.data.try_field(path, field)
    }

    fn list_fields(&self, path: &Path) -> Option<Vec<String>> {
        let fields = self.data.list_fields(path);
        match self.added {
            Some(added) if *path == self.root => {
                let others = fields.into_iter().flatten().filter(|f| f != added);
                Some([added.to_owned()].into_iter().chain(others).collect())
            }
            _ => fields,
        }
    }
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
        let text = |name: &'static str, text: &str| (name, Value::String(text.into()));
        for (fields, first) in [
            (vec![], "comment"),
            (vec![name.clone()], "comment"),
            (vec![name.clone(), text("comment", "")], "comment"),
            (vec![name, text("comment", "points")], "documentation"),
        ] {
            let (paths, found) = round_trip(&fields);
            assert_eq!(paths, ["/", "/points", "/points.points"]);
            assert_eq!(found[0], first);
            let of_first = found.iter().filter(|f| *f == first);
            assert_eq!(of_first.count(), 1);
        }
    }
}
