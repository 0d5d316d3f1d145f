//! Names and extras of the glTF file that a stage was converted from, as `from_asset` keeps them.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;
use sinew::scene::PlacedSkeleton;
use sinew_layer::Value;
use sinew_stage::{Error, Prim};

use super::Maker;
use super::extras::{extras, object_at, source_data};
use super::nodes::display_name;

impl Maker<'_> {
    /// Names the plans of clips as the files did that their animations come from: by the displayName,
    /// if it is the same for all Skeletons and no other clip has it.
    pub(super) fn name_plans(&mut self) -> Result<(), Error> {
        let mut names: HashSet<String> = self.plans.iter().map(|p| p.name.clone()).collect();
        for index in 0..self.plans.len() {
            let mut found = HashSet::new();
            for (_, animation) in &self.plans[index].parts {
                found.insert(self.name(&animation.path)?);
            }
            let mut found = found.into_iter();
            if let (Some(name), None) = (found.next(), found.next())
                && names.insert(name.clone())
            {
                self.plans[index].name = name;
            }
        }
        Ok(())
    }

    /// Gives the parts of the asset the names and extras of their prims.
    pub(super) fn restore(&mut self, placed: &[&PlacedSkeleton]) -> Result<(), Error> {
        let plans = self.plans.iter();
        let animations: HashMap<&str, &str> = plans
            .filter_map(|p| Some((p.name.as_str(), p.parts.first()?.1.path.as_str())))
            .collect();
        for clip in &mut self.asset.clips {
            let path = animations.get(clip.name.as_str()).copied();
            let path = path.and_then(|path| sinew_layer::Path::parse(path).ok());
            if let Some(prim) = path.and_then(|path| self.file.stage.prim(&path)) {
                clip.extras = extras(prim)?;
            }
        }
        for index in 0..self.materials.paths.len() {
            let path = self.materials.paths[index].clone();
            if let Some(prim) = path.and_then(|path| self.prim(&path)) {
                let material = &mut self.materials.materials[index];
                material.name = display_name(prim)?;
                material.extras = extras(prim)?;
            }
        }
        for (joints, placed) in self.joints.iter().zip(placed) {
            let Some(prim) = self.prim(&placed.path) else {
                continue;
            };
            let Some(Json::Object(kept)) = source_data(prim, "jointExtras")? else {
                continue;
            };
            for (joint, node) in joints.skeleton.joints().iter().zip(&joints.nodes) {
                if let Some(extras) = kept.get(joint.as_str()) {
                    self.builder.nodes[*node].extras = Some(extras.clone());
                }
            }
        }
        self.restore_scene()
    }

    /// The name and the extras of the scene, and what is said of the whole file.
    fn restore_scene(&mut self) -> Result<(), Error> {
        let root = self.builder.only_root();
        if let (Some(root), Some(scene)) = (root, self.asset.scenes.first_mut()) {
            if let Some(Json::String(name)) = source_data(root, "scene")? {
                scene.name = name;
            }
            scene.extras = extras(root)?;
        }
        let Some(Value::Dictionary(data)) = self.file.stage.metadata("customLayerData")? else {
            return Ok(());
        };
        let Some(mut kept) = object_at(&data, "gltf") else {
            return Ok(());
        };
        if let Some(Json::String(copyright)) = kept.remove("copyright") {
            self.asset.info.copyright = copyright;
        }
        self.asset.info.extras = kept.remove("assetExtras");
        self.asset.extras = kept.remove("extras");
        Ok(())
    }

    /// The extras of a mesh, and of its node if they are not on a prim of its own.
    pub(super) fn restore_mesh(&mut self, prim: Prim<'_>, node: usize) -> Result<(), Error> {
        if let Some(extras) = source_data(prim, "nodeExtras")? {
            self.builder.nodes[node].extras = Some(extras);
        }
        if let Some(mesh) = self.builder.nodes[node].mesh {
            self.asset.meshes[mesh].extras = source_data(prim, "extras")?;
        }
        Ok(())
    }
}
