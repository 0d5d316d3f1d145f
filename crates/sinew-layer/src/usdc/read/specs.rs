//! Makes a layer of a crate file's specs.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::bytes::{Bad, Checked};
use super::paths::{Names, Paths};
use super::sections::{END, Specs};
use super::values::Decoder;
use super::{File, error};
use crate::error::Result;
use crate::layer::{Below, Fields, Layer, Spec, SpecKind, field};
use crate::path::{is_identifier, is_property_name, is_variant_name};
use crate::usdc::format::{Rep, kind};
use crate::value::{ListOp, Value};

/// Up to this many names are compared one by one.
const FEW: usize = 16;

/// What the specs that have one list of fields share.
#[derive(Clone, Default)]
struct Shared {
    fields: Fields,
    below: Option<Box<Below>>,
}

pub(super) fn layer(
    file: &Arc<File>,
    (names, reps): &(Vec<u32>, Vec<Rep>),
    sets: &[u32],
    paths: &Paths,
    specs: &Specs,
) -> Result<Layer> {
    let mut layer = Layer::new(file.name.clone());
    layer.specs.reserve(specs.paths.len());
    let mut builder = Builder {
        file,
        names,
        reps,
        decoder: Decoder::new(file, &paths.paths),
        values: HashMap::default(),
    };
    // A file may have lists that no spec uses: they take no memory.
    let mut shared: HashMap<usize, Shared, foldhash::fast::RandomState> = HashMap::default();
    // Every child has a path. Specs may share their list of children, but that is none of a real file with more
    // names than there are paths.
    let mut room = 4 * paths.paths.len() + 4096;
    let mut spec_of = vec![None; paths.paths.len()];
    for (spec, path) in specs.paths.iter().enumerate() {
        if paths.names[*path as usize] == Names::Nothing {
            let reason = format!("path {path} is not in the tree of paths");
            return Err(error(&file.name, "SPECS", Bad::new(spec, reason)));
        }
        if spec_of[*path as usize].replace(spec as u32).is_some() {
            let what = paths.paths[*path as usize].to_string();
            let bad = Bad::new(spec, "there are two specs of this path");
            return Err(error(&file.name, &what, bad));
        }
    }
    for index in &paths.order {
        let Some(i) = spec_of[*index as usize].map(|i: u32| i as usize) else {
            continue;
        };
        let path = &paths.paths[*index as usize];
        let malformed = |reason: &str| error(&file.name, path.as_str(), Bad::new(i, reason));
        let kind = match (specs.kinds[i], paths.names[*index as usize]) {
            (1, Names::Property) => SpecKind::Attribute,
            (6, Names::Prim) => SpecKind::Prim,
            (7, Names::Root) => SpecKind::Root,
            (8, Names::Property) => SpecKind::Relationship,
            (10, Names::Variant) => SpecKind::Variant,
            (11, Names::VariantSet) => SpecKind::VariantSet,
            // Connections, expressions, mappers, targets and their like.
            (0 | 2..=5 | 9, _) => continue,
            (kind, _) => {
                return Err(malformed(&format!(
                    "no spec of the kind {kind} can stand here"
                )));
            }
        };
        let start = specs.field_sets[i] as usize;
        let shared = match shared.entry(start) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(none) => {
                let fields = builder
                    .shared(&sets[start..])
                    .map_err(|(name, bad)| error(&file.name, &format!("{path} {name}"), bad))?;
                none.insert(fields)
            }
        };
        if let Some(below) = &shared.below {
            let count = below.children.len() + below.properties.len() + below.variant_sets.len();
            room = room
                .checked_sub(count)
                .ok_or_else(|| malformed("children are named that have no paths"))?;
        }
        let spec = Spec {
            kind,
            fields: shared.fields.clone(),
            below: below(shared, kind),
        };
        let old = layer.specs.insert(path.clone(), spec);
        if old.is_some_and(|_| kind != SpecKind::Root) {
            return Err(malformed("there are two specs of this path"));
        }
    }
    Ok(layer)
}

/// The names below a spec. What its kind cannot have is left out.
fn below(shared: &Shared, kind: SpecKind) -> Option<Box<Below>> {
    let mut below = shared.below.clone()?;
    let keep = |list: &mut Vec<SmolStr>, is_name: fn(&str) -> bool| list.retain(|n| is_name(n));
    match kind {
        SpecKind::VariantSet => {
            keep(&mut below.children, |name| {
                !name.is_empty() && is_variant_name(name)
            });
            below.properties.clear();
            below.variant_sets.clear();
        }
        SpecKind::Attribute | SpecKind::Relationship => return None,
        SpecKind::Root | SpecKind::Prim | SpecKind::Variant => {
            keep(&mut below.children, is_identifier);
            keep(&mut below.properties, is_property_name);
            keep(&mut below.variant_sets, is_property_name);
        }
    }
    Some(below)
}

struct Builder<'a> {
    file: &'a File,
    /// The token of each field's name.
    names: &'a [u32],
    reps: &'a [Rep],
    decoder: Decoder<'a>,
    /// Fields that are decoded already, by index.
    values: HashMap<usize, Value, foldhash::fast::RandomState>,
}

impl Builder<'_> {
    /// The fields up to the end of the list. An error comes with the field's name.
    fn shared(&mut self, set: &[u32]) -> std::result::Result<Shared, (SmolStr, Bad)> {
        let set = &set[..set.iter().position(|i| *i == END).unwrap_or(set.len())];
        let mut below: Option<Box<Below>> = None;
        let mut fields = Vec::new();
        let mut seen = HashSet::new();
        for (i, field) in set.iter().map(|i| *i as usize).enumerate() {
            // The first of two fields of one name counts. Broken files have two tokens with one text.
            let name_of = |field: usize| &self.file.tokens[self.names[field] as usize];
            let name = name_of(field);
            let again = match set.len() <= FEW {
                true => set[..i].iter().any(|f| name_of(*f as usize) == name),
                false => !seen.insert(name),
            };
            if again {
                continue;
            }
            let value = self
                .field(field, name, &mut below)
                .map_err(|bad| (name.clone(), bad))?;
            if let Some(value) = value {
                fields.push((name.clone(), value));
            }
        }
        Ok(Shared {
            fields: fields.into_iter().collect(),
            below,
        })
    }

    /// A field's value; none if it is a list of children.
    fn field(
        &mut self,
        index: usize,
        name: &str,
        below: &mut Option<Box<Below>>,
    ) -> Checked<Option<Value>> {
        let rep = self.reps[index];
        let list = match name {
            "primChildren" | "variantChildren" | "properties" | "variantSetChildren" => name,
            "connectionChildren" | "targetChildren" | "mapperChildren" | "mapperArgChildren"
            | "expressionChildren" => return Ok(None),
            _ => "",
        };
        if !list.is_empty()
            && let Some(names) = self.decoder.names(rep)?
        {
            let below = below.get_or_insert_default();
            let list = match list {
                "properties" => &mut below.properties,
                "variantSetChildren" => &mut below.variant_sets,
                _ => &mut below.children,
            };
            *list = unique(names);
            return Ok(None);
        }
        if let Some(value) = self.values.get(&index) {
            return Ok(Some(value.clone()));
        }
        let mut value = self.decoder.field(rep)?;
        if name == field::PAYLOAD && rep.kind() == kind::PAYLOAD {
            value = payload_list(value);
        }
        self.values.insert(index, value.clone());
        Ok(Some(value))
    }
}

/// A single payload as the list that newer files have, where one without an asset is an empty list.
fn payload_list(value: Value) -> Value {
    match value {
        Value::Payload(payload) => {
            let payload = Arc::unwrap_or_clone(payload);
            let items = match payload.asset.is_empty() {
                true => Vec::new(),
                false => vec![payload],
            };
            Value::PayloadListOp(Arc::new(ListOp::explicit(items)))
        }
        value => value,
    }
}

/// Leaves out names that are there already: a spec that is reached twice would be counted twice.
fn unique(mut names: Vec<SmolStr>) -> Vec<SmolStr> {
    if names.len() <= FEW {
        let mut i = 0;
        while i < names.len() {
            match names[..i].contains(&names[i]) {
                true => drop(names.remove(i)),
                false => i += 1,
            }
        }
        return names;
    }
    let mut seen: HashSet<SmolStr, foldhash::fast::RandomState> = HashSet::default();
    names.retain(|name| seen.insert(name.clone()));
    names
}
