//! The materials of a scene, and the variant set that chooses between them
//! (KHR_materials_variants).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use sinew_layer::{Path, Token};

use super::layer::{LayerBuilder, PrimId};
use super::materials::author_material;
use super::names::Names;
use crate::error::Result;
use sinew::error::Warning;
use sinew_animate::asset::{Asset, Primitive};

/// The variant set of the root prim.
const SET: &str = "materialVariant";

/// The variant in which primitives have their own material.
const DEFAULT: &str = "Default";

/// Material prims that have been written, and what binds them.
pub(super) struct Materials<'a> {
    asset: &'a Asset,
    /// The prim above everything of the scene.
    root: PrimId,
    scope: Option<PrimId>,
    paths: HashMap<usize, Path>,
    /// Pictures that they name: asset path and image.
    pub images: Vec<(String, usize)>,
    /// Meshes whose material depends on the variant: the path, and the material of each variant,
    /// that of [`DEFAULT`] first.
    varying: Vec<(Path, Vec<Option<Path>>)>,
}

impl<'a> Materials<'a> {
    pub fn new(asset: &'a Asset, root: PrimId) -> Self {
        Self {
            asset,
            root,
            scope: None,
            paths: HashMap::new(),
            images: Vec::new(),
            varying: Vec::new(),
        }
    }

    /// The path of a material, which is written if it is not there yet.
    pub fn path(
        &mut self,
        layer: &mut LayerBuilder,
        index: usize,
        warnings: &mut Vec<Warning>,
    ) -> Result<Path> {
        if let Some(path) = self.paths.get(&index) {
            return Ok(path.clone());
        }
        let scope = match self.scope {
            Some(scope) => scope,
            None => {
                let scope = layer.define(self.root, &["Materials"], "Scope")?;
                *self.scope.insert(scope)
            }
        };
        let (prim, images) = author_material(layer, scope, self.asset, index, warnings)?;
        self.images.extend(images);
        let path = layer.path(prim).clone();
        self.paths.insert(index, path.clone());
        Ok(path)
    }

    /// Binds a Mesh prim to the material of its primitive. One that depends on the variant is bound
    /// in the variants alone, since an opinion of the prim itself would be stronger.
    pub fn bind(
        &mut self,
        layer: &mut LayerBuilder,
        mesh: PrimId,
        primitive: &Primitive,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let own = match primitive.material {
            Some(material) => Some(self.path(layer, material, warnings)?),
            None => None,
        };
        if own.is_some() || !primitive.variant_materials.is_empty() {
            layer.apply(mesh, "MaterialBindingAPI");
        }
        if primitive.variant_materials.is_empty() {
            let Some(own) = own else { return Ok(()) };
            return layer.relationship(mesh, "material:binding", vec![own]);
        }
        let mut each = vec![own; 1 + self.asset.material_variants.len()];
        for (variant, material) in &primitive.variant_materials {
            each[1 + variant] = Some(self.path(layer, *material, warnings)?);
        }
        self.varying.push((layer.path(mesh).clone(), each));
        Ok(())
    }

    /// Authors the variant set, where some mesh depends on it.
    pub fn author_variants(&self, layer: &mut LayerBuilder) -> Result<()> {
        if self.varying.is_empty() {
            return Ok(());
        }
        let mut names = Names::default();
        let wanted = self.asset.material_variants.iter().enumerate();
        let default = names.unique(&[DEFAULT]);
        let named = wanted.map(|(i, name)| names.unique(&[name, &format!("Variant{i}")]));
        let all: Vec<String> = std::iter::once(default).chain(named).collect();
        let mut binds: Vec<Vec<(&Path, &Path)>> = vec![Vec::new(); all.len()];
        for (mesh, each) in &self.varying {
            for (binds, material) in binds.iter_mut().zip(each) {
                binds.extend(material.as_ref().map(|m| (mesh, m)));
            }
        }
        for (name, binds) in all.iter().zip(binds) {
            layer.variant(self.root, (SET, name), &binds)?;
        }
        let selection = BTreeMap::from([(Token::from(SET), Token::from(all[0].as_str()))]);
        layer.select_variants(self.root, Arc::new(selection));
        Ok(())
    }
}
