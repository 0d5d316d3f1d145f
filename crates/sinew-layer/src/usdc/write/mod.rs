//! Writes crate files.
//!
//! Values go to the file as they come; what stays in memory is a few numbers for each spec and path, and 24 bytes for
//! each different value. The tables follow at the end.
//!
//! Source: pxr/usd/sdf/crateFile.cpp of OpenUSD.

mod element;
pub(super) mod ints;
mod layer;
mod output;
mod pack;
mod paths;
mod tables;

use std::io::{self, Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smol_str::SmolStr;

pub use element::Element;
pub use layer::write_layer;

use super::format::{HEADER, MAGIC, Rep, Version};
use super::{Placed, Stored};
use crate::error::{Error, Result};
use crate::layer::{Fields, Spec, SpecKind};
use crate::path::Path;
use crate::value::Value;
use ints::{compress, pack32, prefixed};
use output::Output;
use paths::Paths;
use tables::{ContentHash, FieldTable, Hash, Map, SharedFields, Tokens};

/// The oldest version that a file is written as, which is usd-core's.
const OLDEST: Version = Version(0, 8, 0);

/// Names of fields that hold the lists of what is below a spec.
const PRIM_CHILDREN: &str = "primChildren";
const PROPERTIES: &str = "properties";
const VARIANT_SETS: &str = "variantSetChildren";
const VARIANTS: &str = "variantChildren";

/// Why a value cannot be written; where it is is added later.
enum Fault {
    Io(io::Error),
    Other(Error),
    Reason(String),
}

impl Fault {
    fn new(reason: impl Into<String>) -> Self {
        Self::Reason(reason.into())
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes a crate file (`.usdc`) spec by spec.
///
/// Equal values are written once, and specs that share [`Fields`] cost little more than their path. Arrays may be
/// written ahead with [`Self::place`], so that they need not stay in memory.
///
/// ```
/// use sinew_layer::usdc::CrateWriter;
/// use sinew_layer::{Path, Spec, SpecKind, Value};
///
/// let mut writer = CrateWriter::new(std::io::Cursor::new(Vec::new()))?;
/// let points = writer.place_slice(&[[0.0f32, 1.0, 2.0]])?;
/// let mut points_spec = Spec::new(SpecKind::Attribute);
/// points_spec.fields.set("typeName", Value::token("point3f[]"));
/// points_spec.fields.set("default", points);
/// let root = Path::root();
/// let mesh = root.child("Mesh");
/// let none = Default::default();
/// writer.spec_parts(&root, SpecKind::Root, &none, &["Mesh".into()], &[], &[])?;
/// writer.spec_parts(&mesh, SpecKind::Prim, &none, &[], &["points".into()], &[])?;
/// writer.spec(&mesh.property("points"), &points_spec)?;
/// let bytes = writer.finish()?.into_inner();
/// assert!(bytes.starts_with(b"PXR-USDC"));
/// # Ok::<(), sinew_layer::Error>(())
/// ```
pub struct CrateWriter<W: Write> {
    out: Output<W>,
    /// How messages call the file.
    name: String,
    /// Tells this writer's placed values from those of others.
    id: u64,
    version: Version,
    tokens: Tokens,
    paths: Paths,
    table: FieldTable,
    shared: SharedFields,
    hash: ContentHash,
    /// What was written, by the hash of its type and bytes.
    values: Map<Hash, Rep>,
    /// What was written for values that lie in other files, which stay open for it.
    stored: Map<(usize, Rep), (Stored, Rep)>,
    /// Path, set of fields and kind of each spec.
    specs: [Vec<i32>; 3],
    /// Whether a path has a spec.
    has_spec: Vec<bool>,
    /// The prim that relative paths start at, without variants.
    anchor: Path,
    /// Whether a relative path was met since the spec began: then its fields are no other spec's.
    anchored: bool,
    /// How many bytes the values have that were packed since the spec began.
    weight: u64,
    /// How deep the value is nested that is being written.
    depth: usize,
}

impl<W: Write + Seek> CrateWriter<W> {
    /// Starts a file where `out` stands.
    ///
    /// # Errors
    /// [`Error::Io`] if `out` cannot be written.
    pub fn new(out: W) -> Result<Self> {
        Self::with_name(out, "crate file")
    }

    /// Starts a file that messages call `name`.
    ///
    /// # Errors
    /// [`Error::Io`] if `out` cannot be written.
    pub fn with_name(out: W, name: impl Into<String>) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let name = name.into();
        let out = Output::new(out).map_err(|source| Error::Io {
            file: name.clone().into(),
            source,
        })?;
        Ok(Self {
            out,
            name,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            version: OLDEST,
            tokens: Tokens::new(),
            paths: Paths::default(),
            table: FieldTable::default(),
            shared: SharedFields::default(),
            hash: ContentHash::new(),
            values: Map::default(),
            stored: Map::default(),
            specs: Default::default(),
            has_spec: Vec::new(),
            anchor: Path::empty(),
            anchored: false,
            weight: 0,
            depth: 0,
        })
    }

    /// Writes a value now, ahead of the spec that has it. What this gives is a field's value or a time sample's, for
    /// this writer only.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if crate files have no such value; [`Error::Io`].
    pub fn place(&mut self, value: &Value) -> Result<Value> {
        self.anchor = Path::empty();
        let rep = self.pack(value);
        self.placed(rep)
    }

    /// As [`Self::place`], for an array of plain data. `[f64; 4]` are `double4`, not `matrix2d`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn place_slice<T: Element>(&mut self, array: &[T]) -> Result<Value> {
        let rep = self.array(array);
        self.placed(rep)
    }

    fn placed(&self, rep: Result<Rep, Fault>) -> Result<Value> {
        let rep = rep.map_err(|fault| self.error(fault, "(no spec yet)", "(placed value)"))?;
        Ok(Value::Placed(Placed {
            rep: rep.0,
            writer: self.id,
        }))
    }

    /// Writes a spec. Its parent has to be written before, and the layer's own spec at `/` is one.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if a value cannot be written, or the spec has no place; [`Error::Io`].
    pub fn spec(&mut self, path: &Path, spec: &Spec) -> Result<()> {
        self.spec_parts(
            path,
            spec.kind,
            &spec.fields,
            spec.children(),
            spec.properties(),
            spec.variant_sets(),
        )
    }

    /// As [`Self::spec`], from a spec's parts: `children` are prims of a prim, a variant or the root, or variants of a
    /// variant set. Each name has to get its spec.
    ///
    /// # Errors
    /// As [`Self::spec`].
    pub fn spec_parts(
        &mut self,
        path: &Path,
        kind: SpecKind,
        fields: &Fields,
        children: &[SmolStr],
        properties: &[SmolStr],
        variant_sets: &[SmolStr],
    ) -> Result<()> {
        let index = self.place_spec(path, kind);
        let index = index.map_err(|fault| self.error(fault, path.as_str(), "(spec)"))?;
        let alone = children.is_empty() && properties.is_empty() && variant_sets.is_empty();
        let set = match self.shared.get(fields) {
            Some((_, set)) if alone => set,
            known => {
                let mut all = match known {
                    Some((indices, _)) => indices.to_vec(),
                    None => self.fields(path, fields)?,
                };
                let named = match kind {
                    SpecKind::VariantSet => VARIANTS,
                    _ => PRIM_CHILDREN,
                };
                for (name, list) in [
                    (PROPERTIES, properties),
                    (VARIANT_SETS, variant_sets),
                    (named, children),
                ] {
                    if !list.is_empty() {
                        let field = self.children(name, list);
                        all.push(field.map_err(|f| self.error(f, path.as_str(), name))?);
                    }
                }
                let set = self.table.add_set(&all, &self.hash);
                set.ok_or_else(|| self.error(too_many("fields"), path.as_str(), "(spec)"))?
            }
        };
        // Only now: what failed may be tried again with other fields.
        self.has_spec[index as usize] = true;
        self.specs[0].push(index as i32);
        self.specs[1].push(set as i32);
        self.specs[2].push(number(kind));
        Ok(())
    }

    /// How many specs were written.
    pub(crate) fn len(&self) -> usize {
        self.specs[0].len()
    }

    /// Whether a spec was written.
    pub(crate) fn has(&mut self, path: &Path) -> bool {
        self.path(path)
            .is_ok_and(|index| self.has_spec.get(index as usize) == Some(&true))
    }

    /// The path of a new spec, which has to fit its kind and its parent's.
    fn place_spec(&mut self, path: &Path, kind: SpecKind) -> Result<u32, Fault> {
        use paths::Element;

        if !path.is_absolute() {
            return Err(Fault::new("a spec needs an absolute path"));
        }
        let index = self.path(path)?;
        let variant = path.variant().map(|(_, variant)| variant);
        let fits = match kind {
            SpecKind::Root => path.is_root(),
            SpecKind::Prim => self.paths.element(index) == Element::Prim && !path.is_root(),
            SpecKind::Attribute | SpecKind::Relationship => matches!(
                self.paths.element(index),
                Element::Property | Element::TargetProperty
            ),
            SpecKind::VariantSet => variant == Some(""),
            SpecKind::Variant => variant.is_some_and(|v| !v.is_empty()),
        };
        if !fits {
            return Err(Fault::new(format!("{kind:?} does not fit the path")));
        }
        if self.has_spec.len() < self.paths.len() {
            self.has_spec.resize(self.paths.len(), false);
        }
        if self.has_spec[index as usize] {
            return Err(Fault::new("there is a spec at this path already"));
        }
        if let Some(parent) = self.paths.parent(index) {
            // Targets have no specs.
            let target = self.paths.element(parent) == Element::Target;
            if !target && !self.has_spec[parent as usize] {
                return Err(Fault::new("the spec's parent has to be written first"));
            }
        }
        Ok(index)
    }

    /// Writes fields and remembers what they are.
    fn fields(&mut self, path: &Path, fields: &Fields) -> Result<Vec<u32>> {
        self.anchor = path.prim_path().strip_variants();
        self.anchored = false;
        self.weight = 0;
        let mut all = Vec::with_capacity(fields.len());
        for (name, value) in fields.iter() {
            let field = self.field(name, value);
            all.push(field.map_err(|fault| self.error(fault, path.as_str(), name))?);
        }
        if !self.anchored {
            let set = self.table.add_set(&all, &self.hash);
            let set = set.ok_or_else(|| self.error(too_many("fields"), path.as_str(), "(spec)"))?;
            self.shared.add(fields, &all, set, self.weight);
        }
        Ok(all)
    }

    fn field(&mut self, name: &SmolStr, value: &Value) -> Result<u32, Fault> {
        if [PRIM_CHILDREN, PROPERTIES, VARIANT_SETS, VARIANTS].contains(&name.as_str()) {
            return Err(Fault::new("lists of children are no fields"));
        }
        let rep = self.pack(value)?;
        let token = self.token(name)?;
        self.table.add(token, rep).ok_or_else(|| too_many("fields"))
    }

    fn children(&mut self, name: &'static str, list: &[SmolStr]) -> Result<u32, Fault> {
        // A clone of the list costs less than what is written for its items.
        let rep = self.pack(&Value::TokenVector(Arc::new(list.to_vec())))?;
        let token = self.token(&SmolStr::new_static(name))?;
        self.table.add(token, rep).ok_or_else(|| too_many("fields"))
    }

    fn token(&mut self, token: &SmolStr) -> Result<u32, Fault> {
        self.tokens.add(token).ok_or_else(no_token)
    }

    fn string(&mut self, text: &SmolStr) -> Result<u32, Fault> {
        self.tokens.add_string(text).ok_or_else(no_token)
    }

    fn path(&mut self, path: &Path) -> Result<u32, Fault> {
        self.paths.add(path, &mut self.tokens).ok_or_else(no_token)
    }

    /// Makes the file one that needs this version to be read.
    fn require(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    fn error(&self, fault: Fault, path: &str, field: &str) -> Error {
        match fault {
            Fault::Io(source) => Error::Io {
                file: self.name.clone().into(),
                source,
            },
            Fault::Other(error) => error,
            Fault::Reason(reason) => Error::Unwritable {
                path: path.to_owned(),
                field: field.to_owned(),
                reason,
            },
        }
    }

    /// Writes the tables and the header. Gives back what was written to, which stands at the file's end.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Unwritable`] if a table is larger than crate files can have.
    pub fn finish(mut self) -> Result<W> {
        if !self.has(&Path::root()) {
            let none = Fields::default();
            self.spec_parts(&Path::root(), SpecKind::Root, &none, &[], &[], &[])?;
        }
        let sections = self.sections();
        sections.map_err(|fault| self.error(fault, "/", "(tables)"))?;
        let Self { out, name, .. } = self;
        out.into_inner().map_err(|source| Error::Io {
            file: name.into(),
            source,
        })
    }

    fn sections(&mut self) -> Result<(), Fault> {
        let mut sections = Vec::new();
        self.out.align()?;
        for name in ["TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"] {
            let start = self.out.position;
            for part in self.section(name).ok_or_else(|| too_many("bytes"))? {
                self.out.write(&part)?;
            }
            sections.push((name, start, self.out.position - start));
        }
        let table = self.out.position;
        self.out.write(&(sections.len() as u64).to_le_bytes())?;
        for (name, start, size) in sections {
            let mut bytes = [0; 32];
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            bytes[16..24].copy_from_slice(&start.to_le_bytes());
            bytes[24..].copy_from_slice(&size.to_le_bytes());
            self.out.write(&bytes)?;
        }
        let Version(major, minor, patch) = self.version;
        let mut header = [0; HEADER as usize];
        header[..8].copy_from_slice(MAGIC);
        header[8..11].copy_from_slice(&[major, minor, patch]);
        header[16..24].copy_from_slice(&table.to_le_bytes());
        self.out.write_header(&header)?;
        Ok(())
    }

    /// The parts of a section. None if a table is too large.
    fn section(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        let count = |count: usize| (count as u64).to_le_bytes().to_vec();
        Some(match name {
            "TOKENS" => vec![
                count(self.tokens.len()),
                count(self.tokens.text.len()),
                prefixed(&compress(&self.tokens.text)?),
            ],
            "STRINGS" => vec![
                count(self.tokens.strings.len()),
                element::bytes_of(&self.tokens.strings).into_owned(),
            ],
            "FIELDS" => {
                let fields = &self.table.fields;
                let tokens: Vec<i32> = fields.iter().map(|(token, _)| *token as i32).collect();
                let reps: Vec<u64> = fields.iter().map(|(_, rep)| rep.0).collect();
                vec![
                    count(fields.len()),
                    pack32(&tokens)?,
                    prefixed(&compress(&element::bytes_of(&reps))?),
                ]
            }
            "FIELDSETS" => vec![
                count(self.table.sets.len()),
                pack32(bytemuck::cast_slice(&self.table.sets))?,
            ],
            "PATHS" => {
                let tree = self.paths.tree(&self.tokens);
                vec![
                    count(self.paths.len()),
                    count(tree[0].len()),
                    pack32(&tree[0])?,
                    pack32(&tree[1])?,
                    pack32(&tree[2])?,
                ]
            }
            _ => vec![
                count(self.specs[0].len()),
                pack32(&self.specs[0])?,
                pack32(&self.specs[1])?,
                pack32(&self.specs[2])?,
            ],
        })
    }
}

fn no_token() -> Fault {
    Fault::new("a text has a NUL character, or there are more texts or paths than a file can have")
}

fn too_many(what: &str) -> Fault {
    Fault::new(format!("there are more {what} than a file can have"))
}

/// The number of a kind of specs.
const fn number(kind: SpecKind) -> i32 {
    match kind {
        SpecKind::Attribute => 1,
        SpecKind::Prim => 6,
        SpecKind::Root => 7,
        SpecKind::Relationship => 8,
        SpecKind::Variant => 10,
        SpecKind::VariantSet => 11,
    }
}

impl<W: Write> std::fmt::Debug for CrateWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrateWriter")
            .field("name", &self.name)
            .field("specs", &self.specs[0].len())
            .field("bytes", &self.out.position)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
