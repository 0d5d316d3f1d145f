//! Which material a prim is bound to (UsdShadeMaterialBindingAPI, direct bindings).

use std::collections::HashMap;

use openusd::{sdf, usd};

/// Relationships by purpose: that of previews, that of all purposes, and where a file has nothing else that of full renders.
const PURPOSES: [&str; 3] = [
    "material:binding:preview",
    "material:binding",
    "material:binding:full",
];

/// A binding authored on a prim.
#[derive(Clone)]
struct Direct {
    material: sdf::Path,
    /// strongerThanDescendants.
    stronger: bool,
}

/// Bindings of prims by path, each read once.
#[derive(Default)]
pub(super) struct MaterialBindings {
    known: HashMap<sdf::Path, [Option<Direct>; PURPOSES.len()]>,
}

impl MaterialBindings {
    /// The path of the material that a prim is bound to, by itself or by a prim above it. The nearest counts, but for those
    /// that are stronger than their descendants.
    pub fn bound(
        &mut self,
        stage: &usd::Stage,
        path: &sdf::Path,
    ) -> Result<Option<sdf::Path>, openusd::Error> {
        let mut found: [Option<Direct>; PURPOSES.len()] = Default::default();
        for path in path.ancestors_below_root() {
            let direct = match self.known.get(&path) {
                Some(known) => known,
                None => {
                    let read = read(&stage.prim(&path)?)?;
                    self.known.entry(path).or_insert(read)
                }
            };
            for (found, direct) in found.iter_mut().zip(direct) {
                if let Some(direct) = direct
                    && (found.is_none() || direct.stronger)
                {
                    *found = Some(direct.clone());
                }
            }
        }
        Ok(found.into_iter().flatten().next().map(|d| d.material))
    }
}

fn read(prim: &usd::Prim) -> Result<[Option<Direct>; PURPOSES.len()], openusd::Error> {
    let mut out: [Option<Direct>; PURPOSES.len()] = Default::default();
    for (name, out) in PURPOSES.iter().zip(&mut out) {
        let relationship = prim.relationship(*name);
        let Some(material) = relationship.forwarded_targets()?.into_iter().next() else {
            continue;
        };
        let strength = relationship.get_metadata::<sdf::Value>("bindMaterialAs")?;
        let stronger = matches!(&strength, Some(sdf::Value::Token(t)) if t.as_str() == "strongerThanDescendants");
        *out = Some(Direct { material, stronger });
    }
    Ok(out)
}
