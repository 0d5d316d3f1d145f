//! The asset paths that a layer names, wherever they stand.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::error::Result;
use crate::layer::{Fields, Layer, Spec, SpecKind, field};
use crate::path::Path;
use crate::value::{AssetPath, Dictionary, ListOp, Payload, Reference, TimeSamples, Value};

/// The field that describes the asset that a prim or a layer is, and the key in it of the asset's name.
const ASSET_INFO: &str = "assetInfo";
const IDENTIFIER: &str = "identifier";

/// The key of a clip set whose value is a string, although it is the path of an asset.
const TEMPLATE: &str = "templateAssetPath";

/// Replaces asset paths of a layer, as `UsdUtilsModifyAssetPaths` does: sublayers, references and payloads (also deleted
/// ones), the templates of value clips, and paths in values, time samples, arrays and dictionaries.
///
/// `new` gets each path once, as it is authored, and gives the path that takes its place, or none if it stays. It is
/// called in the order of [`Layer::walk`]. Fields without such a path stay shared. A sublayer that becomes the same as one
/// before it is left out together with its offset.
///
/// # Errors
/// [`crate::Error::Malformed`] if a value that may hold an asset path lies in a file that is broken there. The layer is then
/// unchanged.
pub fn map(layer: &mut Layer, mut new: impl FnMut(&str) -> Option<SmolStr>) -> Result<()> {
    map_by(layer, &mut new, false)
}

/// Replaces the asset paths of a layer as [`map`] does, except `assetInfo.identifier` of prims and of the layer. These name the
/// asset that the prim or the layer is, and are no dependencies (as in `UsdUtilsComputeAllDependencies`).
///
/// # Errors
/// Those of [`map`].
pub fn map_dependencies(
    layer: &mut Layer,
    mut new: impl FnMut(&str) -> Option<SmolStr>,
) -> Result<()> {
    map_by(layer, &mut new, true)
}

fn map_by(
    layer: &mut Layer,
    new: &mut dyn FnMut(&str) -> Option<SmolStr>,
    keeps_identifiers: bool,
) -> Result<()> {
    let mut mapper = Mapper {
        new,
        known: HashMap::new(),
        keeps_identifiers,
    };
    // Specs of crate files share their fields: they are mapped once and stay shared.
    let mut shared: HashMap<(usize, bool), Option<Fields>> = HashMap::new();
    let mut changed: Vec<(Path, Fields)> = Vec::new();
    let mut failed = None;
    layer.walk(&Path::root(), &mut |path, spec| {
        if failed.is_some() {
            return;
        }
        let shares = (spec.fields.address(), has_identifier(spec));
        let fields = match shared.entry(shares) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => match mapper.fields(spec) {
                Ok(fields) => new.insert(fields),
                Err(e) => return failed = Some(e),
            },
        };
        if let Some(fields) = fields {
            changed.push((path.clone(), fields.clone()));
        }
    });
    if let Some(e) = failed {
        return Err(e);
    }
    for (path, fields) in changed {
        if let Some(spec) = layer.spec_mut(&path) {
            spec.fields = fields;
        }
    }
    Ok(())
}

/// Whether the spec's `assetInfo` says which asset it is. That of a property does not.
fn has_identifier(spec: &Spec) -> bool {
    matches!(
        spec.kind,
        SpecKind::Root | SpecKind::Prim | SpecKind::Variant
    )
}

/// Gives the new parts of values, and none for those that stay.
struct Mapper<'a> {
    new: &'a mut dyn FnMut(&str) -> Option<SmolStr>,
    /// What became of each path so far.
    known: HashMap<SmolStr, Option<SmolStr>>,
    /// Whether identifiers of prims and of the layer stay.
    keeps_identifiers: bool,
}

impl Mapper<'_> {
    fn fields(&mut self, spec: &Spec) -> Result<Option<Fields>> {
        let mut out: Option<Fields> = None;
        for (name, value) in spec.fields.iter() {
            let new = match name.as_str() {
                field::SUBLAYERS => {
                    let Value::StringVector(paths) = value.load()? else {
                        continue;
                    };
                    if let Some((paths, offsets)) = self.sublayers(&paths, spec)? {
                        let out = out.get_or_insert_with(|| spec.fields.clone());
                        out.set(field::SUBLAYERS, paths);
                        if let Some(offsets) = offsets {
                            out.set(field::SUBLAYER_OFFSETS, offsets);
                        }
                    }
                    continue;
                }
                field::CLIPS => self.clips(value)?,
                ASSET_INFO if self.keeps_identifiers && has_identifier(spec) => {
                    self.asset_info(value)?
                }
                _ => self.value(value)?,
            };
            if let Some(new) = new {
                out.get_or_insert_with(|| spec.fields.clone())
                    .set(name.clone(), new);
            }
        }
        Ok(out)
    }

    /// The new paths, and the new offsets if a sublayer went.
    fn sublayers(
        &mut self,
        paths: &[SmolStr],
        spec: &Spec,
    ) -> Result<Option<(Value, Option<Value>)>> {
        let Some(paths) = self.list(paths, |m, p| Ok(m.path(p)))? else {
            return Ok(None);
        };
        let kept: Vec<usize> = (0..paths.len())
            .filter(|i| !paths[..*i].contains(&paths[*i]))
            .collect();
        let offsets = spec.get(field::SUBLAYER_OFFSETS).map(Value::load);
        let offsets = match offsets.transpose()? {
            Some(Value::LayerOffsetVector(offsets)) if kept.len() < paths.len() => {
                let offsets = kept.iter().filter_map(|i| offsets.get(*i).copied());
                Some(Value::LayerOffsetVector(Arc::new(offsets.collect())))
            }
            _ => None,
        };
        let paths = kept.iter().map(|i| paths[*i].clone()).collect();
        Ok(Some((Value::StringVector(Arc::new(paths)), offsets)))
    }

    /// The `assetInfo` of a prim or a layer, whose identifier stays. That of a layer is no registered field.
    fn asset_info(&mut self, value: &Value) -> Result<Option<Value>> {
        match value.load()? {
            Value::Unregistered(value) => {
                let new = self.asset_info(&value)?;
                Ok(new.map(|value| Value::Unregistered(Arc::new(value))))
            }
            Value::Dictionary(entries) => {
                let new = self.dictionary(&entries, |m, key, value| match key.as_str() {
                    IDENTIFIER => Ok(None),
                    _ => m.value(value),
                })?;
                Ok(new.map(Value::Dictionary))
            }
            value => self.value(&value),
        }
    }

    /// The clip sets of a prim, which also have templates.
    fn clips(&mut self, value: &Value) -> Result<Option<Value>> {
        let value = value.load()?;
        let new = self.value(&value)?;
        let Value::Dictionary(sets) = new.as_ref().unwrap_or(&value) else {
            return Ok(new);
        };
        let sets = self.dictionary(sets, |m, _, set| {
            let Value::Dictionary(set) = set else {
                return Ok(None);
            };
            let set = m.dictionary(set, |m, key, value| {
                Ok(match value {
                    Value::String(path) if key == TEMPLATE => m.path(path).map(Value::String),
                    _ => None,
                })
            })?;
            Ok(set.map(Value::Dictionary))
        })?;
        Ok(sets.map(Value::Dictionary).or(new))
    }

    fn path(&mut self, path: &SmolStr) -> Option<SmolStr> {
        if path.is_empty() {
            return None;
        }
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let new = (self.new)(path).filter(|new| new != path);
        self.known.insert(path.clone(), new.clone());
        new
    }

    fn value(&mut self, value: &Value) -> Result<Option<Value>> {
        Ok(match value {
            Value::AssetPath(path) => self.path(&path.0).map(|p| Value::AssetPath(AssetPath(p))),
            Value::AssetPathArray(paths) => {
                let new = self.list(paths, |m, path| Ok(m.path(&path.0).map(AssetPath)))?;
                new.map(|paths| Value::AssetPathArray(paths.into()))
            }
            Value::TimeSamples(samples) => {
                let new = self.list(samples.values(), |m, value| m.value(value))?;
                new.map(|values| {
                    let times = Arc::clone(samples.shared_times());
                    Value::TimeSamples(TimeSamples::from_sorted(times, values.into()))
                })
            }
            Value::Dictionary(entries) => self
                .dictionary(entries, |m, _, value| m.value(value))?
                .map(Value::Dictionary),
            Value::ReferenceListOp(op) => self
                .list_op(op, Self::reference)?
                .map(Value::ReferenceListOp),
            Value::PayloadListOp(op) => self
                .list_op(op, |m, payload| Ok(m.payload(payload)))?
                .map(Value::PayloadListOp),
            Value::Payload(payload) => self.payload(payload).map(|p| Value::Payload(Arc::new(p))),
            Value::Unregistered(value) => {
                let new = self.value(value)?;
                new.map(|value| Value::Unregistered(Arc::new(value)))
            }
            Value::UnregisteredListOp(op) => self
                .list_op(op, |m, value| m.value(value))?
                .map(Value::UnregisteredListOp),
            // Points and the like need not be read to know that they are no assets.
            Value::Stored(stored) if stored.type_name().starts_with("asset") => {
                self.value(&value.load()?)?
            }
            _ => None,
        })
    }

    fn reference(&mut self, reference: &Reference) -> Result<Option<Reference>> {
        let asset = self.path(&reference.asset);
        let custom_data = self.dictionary(&reference.custom_data, |m, _, value| m.value(value))?;
        if asset.is_none() && custom_data.is_none() {
            return Ok(None);
        }
        let mut new = reference.clone();
        if let Some(asset) = asset {
            new.asset = asset;
        }
        if let Some(custom_data) = custom_data {
            new.custom_data = Arc::unwrap_or_clone(custom_data);
        }
        Ok(Some(new))
    }

    fn payload(&mut self, payload: &Payload) -> Option<Payload> {
        let asset = self.path(&payload.asset)?;
        Some(Payload {
            asset,
            ..payload.clone()
        })
    }

    /// A copy of a list with its new items.
    fn list<T: Clone>(
        &mut self,
        items: &[T],
        mut new: impl FnMut(&mut Self, &T) -> Result<Option<T>>,
    ) -> Result<Option<Vec<T>>> {
        let mut out: Option<Vec<T>> = None;
        for (i, item) in items.iter().enumerate() {
            if let Some(item) = new(self, item)? {
                out.get_or_insert_with(|| items.to_vec())[i] = item;
            }
        }
        Ok(out)
    }

    fn list_op<T: Clone>(
        &mut self,
        op: &ListOp<T>,
        mut new: impl FnMut(&mut Self, &T) -> Result<Option<T>>,
    ) -> Result<Option<Arc<ListOp<T>>>> {
        let mut out = op.clone();
        let mut changed = false;
        for list in [
            &mut out.explicit_items,
            &mut out.added,
            &mut out.prepended,
            &mut out.appended,
            &mut out.deleted,
            &mut out.ordered,
        ] {
            if let Some(items) = self.list(list, &mut new)? {
                *list = items;
                changed = true;
            }
        }
        Ok(changed.then(|| Arc::new(out)))
    }

    fn dictionary(
        &mut self,
        entries: &Dictionary,
        mut new: impl FnMut(&mut Self, &SmolStr, &Value) -> Result<Option<Value>>,
    ) -> Result<Option<Arc<Dictionary>>> {
        let mut out: Option<Dictionary> = None;
        for (key, value) in entries {
            if let Some(value) = new(self, key, value)? {
                out.get_or_insert_with(|| entries.clone())
                    .insert(key.clone(), value);
            }
        }
        Ok(out.map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::layer::SpecKind;
    use crate::usdc::write_layer;
    use crate::value::LayerOffset;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn asset(text: &str) -> Value {
        Value::AssetPath(AssetPath(text.into()))
    }

    /// A layer with an asset path in every place where one can stand.
    fn layer_of_every_place(it: &str, identifier: &str) -> Layer {
        let text = include_str!("assets.usda").replace("IDENTIFIER", identifier);
        let text = text.replace("IT", it);
        let mut layer = crate::usda::parse("test", text.as_bytes()).unwrap();
        // Text has neither single payloads nor dictionaries in lists.
        let payload = Payload {
            asset: it.into(),
            ..Payload::default()
        };
        let old = layer.spec_mut(&path("/Old{v=a}")).unwrap();
        old.fields
            .set(field::PAYLOAD, Value::Payload(Arc::new(payload)));
        let prim = layer.spec_mut(&path("/Prim")).unwrap();
        let unknown = vec![prim.get("unknown").unwrap().clone()];
        prim.fields.set(
            "unknownList",
            Value::UnregisteredListOp(Arc::new(ListOp::explicit(unknown))),
        );
        layer
    }

    fn all(layer: &Layer) -> Vec<(Path, Spec)> {
        let mut out = Vec::new();
        layer.walk(&Path::root(), &mut |p, s| out.push((p.clone(), s.clone())));
        out
    }

    #[test]
    fn paths_in_every_place_are_replaced_once_each() {
        for keeps_identifiers in [false, true] {
            let mut layer = layer_of_every_place("old.usd", "old.usd");
            let mut seen = Vec::new();
            let mut new = |path: &str| {
                seen.push(path.to_owned());
                (path == "old.usd").then(|| "new.usd".into())
            };
            let identifier = match keeps_identifiers {
                true => {
                    map_dependencies(&mut layer, &mut new).unwrap();
                    "old.usd"
                }
                false => {
                    map(&mut layer, &mut new).unwrap();
                    "new.usd"
                }
            };
            let expected = layer_of_every_place("new.usd", identifier);
            assert_eq!(all(&layer), all(&expected));
            assert_eq!(seen, ["stays.usd", "old.usd", "stays.png"]);
        }
    }

    #[test]
    fn specs_that_share_fields_still_do() {
        let mut layer = Layer::new("test");
        let fields: Fields = [(SmolStr::new("icon"), asset("a"))].into_iter().collect();
        let other: Fields = [(SmolStr::new("icon"), asset("b"))].into_iter().collect();
        for (at, fields) in [("/A", &fields), ("/B", &fields), ("/C", &other)] {
            layer.create(&path(at), SpecKind::Prim).fields = fields.clone();
        }
        map(&mut layer, |path| (path == "a").then(|| "new".into())).unwrap();
        let at = |text| &layer.spec(&path(text)).unwrap().fields;
        assert!(at("/A").is_same(at("/B")) && !at("/A").is_same(&fields));
        assert_eq!(at("/A").get("icon"), Some(&asset("new")));
        assert!(at("/C").is_same(&other));
    }

    #[test]
    fn arrays_of_a_file_are_read_only_if_they_hold_assets() {
        let mut layer = Layer::new("test");
        let points = Value::FloatArray(vec![1.5; 100].into());
        let paths = |text: &str| Value::AssetPathArray(vec![AssetPath(text.into()); 100].into());
        for (name, type_name, value) in [
            ("points", "float[]", points),
            ("files", "asset[]", paths("old.png")),
        ] {
            let attribute = layer.attribute(&path("/A").property(name), type_name);
            attribute.fields.set(field::DEFAULT, value);
        }
        let mut bytes = Cursor::new(Vec::new());
        write_layer(&layer, &mut bytes).unwrap();
        let mut layer = Layer::from_bytes("test.usdc", bytes.into_inner()).unwrap();
        let before = layer.spec(&path("/A.points")).unwrap().clone();
        map(&mut layer, |path| {
            assert_eq!(path, "old.png");
            Some("new.png".into())
        })
        .unwrap();
        let points = layer.spec(&path("/A.points")).unwrap();
        assert!(points.fields.is_same(&before.fields));
        assert!(matches!(points.get(field::DEFAULT), Some(Value::Stored(_))));
        let files = layer.get(&path("/A.files"), field::DEFAULT);
        assert_eq!(files.unwrap(), Some(paths("new.png")));
    }

    #[test]
    fn sublayers_that_become_one_are_named_once() {
        let mut layer = Layer::new("test");
        let paths = ["a", "b", "c"].map(SmolStr::new).to_vec();
        let offset = |offset| LayerOffset { offset, scale: 1.0 };
        let offsets = vec![offset(1.0), offset(2.0), offset(3.0)];
        let root = layer.root_mut();
        root.fields
            .set(field::SUBLAYERS, Value::StringVector(Arc::new(paths)));
        root.fields.set(
            field::SUBLAYER_OFFSETS,
            Value::LayerOffsetVector(Arc::new(offsets)),
        );
        map(&mut layer, |path| (path == "b").then(|| "a".into())).unwrap();
        let paths = ["a", "c"].map(SmolStr::new).to_vec();
        assert_eq!(
            layer.root().get(field::SUBLAYERS),
            Some(&Value::StringVector(Arc::new(paths)))
        );
        assert_eq!(
            layer.root().get(field::SUBLAYER_OFFSETS),
            Some(&Value::LayerOffsetVector(Arc::new(vec![
                offset(1.0),
                offset(3.0)
            ])))
        );
    }
}
