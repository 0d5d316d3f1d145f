//! The rules of an [`Asset`], which hold for every reader.

use super::{
    Asset, AssetCamera, AssetLight, CameraProjection, CurveInterpolation, Faces, Keys, LightKind,
    LocalTransform, Mesh, Primitive, TrackTarget, Trs,
};
use sinew::error::Invalid;

/// An error at `at`.
fn broken<T>(at: &str, expected: impl Into<String>, found: impl ToString) -> Result<T, Invalid> {
    Err(Invalid::new(at, "", expected, found.to_string()))
}

fn below(at: &str, what: &str, index: usize, count: usize) -> Result<(), Invalid> {
    if index < count {
        return Ok(());
    }
    broken(at, format!("a {what} below {count}"), index)
}

impl Asset {
    /// Checks that all indices are in range, all arrays have matching lengths and all numbers are
    /// finite. Readers call it last; they find most errors themselves, with a location in the file.
    ///
    /// # Errors
    /// The first rule that is broken, at a location such as `nodes[3]` or
    /// `meshes[0].primitives[1]`.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.validate_nodes()?;
        self.validate_scenes()?;
        for (i, camera) in self.cameras.iter().enumerate() {
            validate_camera(camera, &format!("cameras[{i}]"))?;
        }
        for (i, light) in self.lights.iter().enumerate() {
            validate_light(light, &format!("lights[{i}]"))?;
        }
        for (i, mesh) in self.meshes.iter().enumerate() {
            self.validate_mesh(mesh, &format!("meshes[{i}]"))?;
        }
        for (i, skin) in self.skins.iter().enumerate() {
            let at = format!("skins[{i}]");
            if skin.inverse_bind.len() != skin.joints.len() {
                let expected = format!("{} inverse bind matrices", skin.joints.len());
                return broken(&at, expected, skin.inverse_bind.len());
            }
            let mut seen = std::collections::HashSet::new();
            for joint in &skin.joints {
                below(&at, "node", *joint, self.nodes.len())?;
                if !seen.insert(joint) {
                    return broken(
                        &at,
                        "each joint once",
                        format!("node {joint} more than once"),
                    );
                }
            }
            if let Some(bad) = skin.inverse_bind.iter().find(|m| !m.is_finite()) {
                return broken(&at, "finite inverse bind matrices", bad);
            }
        }
        self.validate_uses()?;
        for (i, clip) in self.clips.iter().enumerate() {
            for (j, track) in clip.tracks.iter().enumerate() {
                self.validate_track(track, &format!("clips[{i}].tracks[{j}]"))?;
            }
        }
        for humanoid in &self.humanoids {
            for node in humanoid.bones.values().chain(&humanoid.root) {
                below(&humanoid.location, "node", *node, self.nodes.len())?;
            }
        }
        for (i, expression) in self.expressions.iter().enumerate() {
            let at = format!("expressions[{i}]");
            for bind in &expression.binds {
                below(&at, "mesh", bind.mesh, self.meshes.len())?;
                let targets = self.meshes[bind.mesh].target_names.len();
                below(&at, "morph target", bind.target, targets)?;
            }
        }
        Ok(())
    }

    fn validate_nodes(&self) -> Result<(), Invalid> {
        for (i, node) in self.nodes.iter().enumerate() {
            let at = format!("nodes[{i}]");
            if let Some(parent) = node.parent {
                below(&at, "node", parent, self.nodes.len())?;
            }
            if !node.local.matrix().is_finite() {
                return broken(&at, "a finite transform", node.local.matrix());
            }
            if let LocalTransform::Trs(trs) = &node.local
                && !trs.rotation.is_normalized()
            {
                return broken(&at, "a rotation of length 1", trs.rotation);
            }
        }
        for root in &self.roots {
            below("roots", "node", *root, self.nodes.len())?;
        }
        // Nodes of a cycle are not below any root.
        let reached = self.parents_first().len();
        if reached != self.nodes.len() {
            let found = format!("a cycle with {} nodes", self.nodes.len() - reached);
            return broken("nodes", "no node that is its own ancestor", found);
        }
        Ok(())
    }

    fn validate_scenes(&self) -> Result<(), Invalid> {
        for (i, scene) in self.scenes.iter().enumerate() {
            let at = format!("scenes[{i}]");
            let mut seen = std::collections::HashSet::new();
            for root in &scene.roots {
                below(&at, "node", *root, self.nodes.len())?;
                if self.nodes[*root].parent.is_some() {
                    return broken(&at, "nodes without a parent", format!("node {root}"));
                }
                if !seen.insert(root) {
                    return broken(&at, "each node once", format!("node {root} more than once"));
                }
            }
        }
        let Some(shown) = self.default_scene else {
            return Ok(());
        };
        below("default_scene", "scene", shown, self.scenes.len())?;
        if self.scenes[shown].roots != self.roots {
            let expected = format!("the roots of scenes[{shown}]");
            return broken("roots", expected, format!("{:?}", self.roots));
        }
        Ok(())
    }

    fn validate_uses(&self) -> Result<(), Invalid> {
        // Once per mesh, since many nodes may show the same one.
        let highest: Vec<u32> = self.meshes.iter().map(highest_joint).collect();
        for (i, node) in self.nodes.iter().enumerate() {
            let at = format!("nodes[{i}]");
            if let Some(camera) = node.camera {
                below(&at, "camera", camera, self.cameras.len())?;
            }
            if let Some(light) = node.light {
                below(&at, "light", light, self.lights.len())?;
            }
            let is_unit = |trs: &Trs| trs.matrix().is_finite() && trs.rotation.is_normalized();
            if let Some(bad) = node.instances.iter().position(|t| !is_unit(t)) {
                let expected = "finite instances with rotations of length 1";
                return broken(&at, expected, format!("another at {bad}"));
            }
            let Some(index) = node.mesh else { continue };
            below(&at, "mesh", index, self.meshes.len())?;
            let mesh = &self.meshes[index];
            if let Some(weights) = &node.weights
                && weights.len() != mesh.target_names.len()
            {
                let expected = format!("{} weights", mesh.target_names.len());
                return broken(&at, expected, weights.len());
            }
            let Some(skin) = node.skin else { continue };
            below(&at, "skin", skin, self.skins.len())?;
            let joints = self.skins[skin].joints.len();
            below(&at, "joint", highest[index] as usize, joints.max(1))?;
        }
        Ok(())
    }

    fn validate_mesh(&self, mesh: &Mesh, at: &str) -> Result<(), Invalid> {
        if mesh.weights.len() != mesh.target_names.len() {
            let expected = format!("{} weights", mesh.target_names.len());
            return broken(at, expected, mesh.weights.len());
        }
        for (i, primitive) in mesh.primitives.iter().enumerate() {
            let at = format!("{at}.primitives[{i}]");
            self.validate_primitive(primitive, mesh.target_names.len(), &at)?;
        }
        Ok(())
    }

    fn validate_primitive(&self, p: &Primitive, targets: usize, at: &str) -> Result<(), Invalid> {
        let points = p.points.len();
        let elements = if p.corner_data {
            p.faces.indices.len()
        } else {
            points
        };
        let count = |what: &str, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            broken(at, format!("{expected} {what}"), found)
        };
        let count_or_none = |what: &str, found: usize, expected: usize| {
            if found == 0 {
                Ok(())
            } else {
                count(what, found, expected)
            }
        };
        count_or_none("normals", p.normals.len(), elements)?;
        count_or_none("tangents", p.tangents.len(), points)?;
        count_or_none("colours", p.colors.len(), elements)?;
        for uvs in &p.uvs {
            count_or_none("uvs", uvs.len(), elements)?;
        }
        count("joint indices", p.joints.len(), points * p.influences)?;
        count("weights", p.weights.len(), points * p.influences)?;
        count("morph targets", p.targets.len(), targets)?;
        if let Some(m) = p.material {
            below(at, "material", m, self.materials.len())?;
        }
        let mut seen = std::collections::HashSet::new();
        for (variant, material) in &p.variant_materials {
            below(at, "variant", *variant, self.material_variants.len())?;
            below(at, "material", *material, self.materials.len())?;
            if !seen.insert(variant) {
                return broken(at, "each variant once", format!("{variant} more than once"));
            }
        }
        validate_faces(&p.faces, points, at)?;
        if p.points.iter().any(|v| !v.is_finite()) {
            return broken(at, "finite points", "a point that is not finite");
        }
        if p.weights.iter().any(|w| !w.is_finite()) {
            return broken(at, "finite weights", "a weight that is not finite");
        }
        for (i, target) in p.targets.iter().enumerate() {
            let touched = target.point_indices.as_ref().map_or(points, Vec::len);
            let of = |what: &str| format!("{what} of target {i}");
            count_or_none(&of("offsets"), target.offsets.len(), touched)?;
            count_or_none(&of("normal offsets"), target.normal_offsets.len(), touched)?;
            count_or_none(
                &of("tangent offsets"),
                target.tangent_offsets.len(),
                touched,
            )?;
            for index in target.point_indices.iter().flatten() {
                below(at, "point", *index as usize, points)?;
            }
            if target.offsets.iter().any(|v| !v.is_finite()) {
                return broken(
                    at,
                    "finite offsets",
                    format!("an offset of target {i} that is not finite"),
                );
            }
        }
        Ok(())
    }

    fn validate_track(&self, track: &super::Track, at: &str) -> Result<(), Invalid> {
        if let TrackTarget::Node(node) = track.target {
            below(at, "node", node, self.nodes.len())?;
        }
        let curve = &track.curve;
        if curve.times.is_empty() {
            return broken(at, "at least one key", 0);
        }
        if curve.times.iter().any(|t| !t.is_finite())
            || curve.times.windows(2).any(|w| w[0] >= w[1])
        {
            return broken(
                at,
                "finite, strictly increasing times",
                "times that are not",
            );
        }
        let per_key = match curve.interpolation {
            CurveInterpolation::CubicSpline => 3,
            _ => 1,
        };
        let (values, each, finite) = match &curve.keys {
            Keys::Translation(v) | Keys::Scale(v) => (v.len(), 1, v.iter().all(|v| v.is_finite())),
            Keys::Rotation(v) => (v.len(), 1, v.iter().all(|v| v.is_finite())),
            Keys::Weights { count, values } => {
                (values.len(), *count, values.iter().all(|v| v.is_finite()))
            }
        };
        let expected = curve.times.len() * per_key * each;
        if values != expected {
            return broken(at, format!("{expected} values"), values);
        }
        if !finite {
            return broken(at, "finite values", "a value that is not finite");
        }
        Ok(())
    }
}

fn validate_camera(camera: &AssetCamera, at: &str) -> Result<(), Invalid> {
    let (near, far, is_right) = match camera.projection {
        CameraProjection::Perspective {
            y_fov,
            aspect_ratio,
            z_near,
            z_far,
        } => {
            if !(y_fov > 0.0 && y_fov < std::f64::consts::PI) {
                return broken(at, "a field of view above 0 and below pi", y_fov);
            }
            if let Some(ratio) = aspect_ratio
                && !(ratio > 0.0 && ratio.is_finite())
            {
                return broken(at, "an aspect ratio above 0", ratio);
            }
            (z_near, z_far, z_near > 0.0)
        }
        CameraProjection::Orthographic {
            x_mag,
            y_mag,
            z_near,
            z_far,
        } => {
            let is_size = |mag: f64| mag.is_finite() && mag != 0.0;
            if !is_size(x_mag) || !is_size(y_mag) {
                return broken(at, "sizes other than 0", format!("{x_mag} and {y_mag}"));
            }
            (z_near, Some(z_far), z_near >= 0.0)
        }
    };
    if !is_right || !near.is_finite() || far.is_some_and(|far| !(far > near && far.is_finite())) {
        let expected = "clipping planes in front of the camera, the near one nearer";
        return broken(at, expected, format!("{near} and {far:?}"));
    }
    Ok(())
}

fn validate_light(light: &AssetLight, at: &str) -> Result<(), Invalid> {
    if !light.color.is_finite() || light.color.min_element() < 0.0 {
        return broken(at, "a colour from 0 up", light.color);
    }
    if !(light.intensity >= 0.0 && light.intensity.is_finite()) {
        return broken(at, "an intensity from 0 up", light.intensity);
    }
    if let Some(range) = light.range
        && !(range > 0.0 && range.is_finite())
    {
        return broken(at, "a range above 0", range);
    }
    if let LightKind::Spot {
        inner_cone_angle: inner,
        outer_cone_angle: outer,
    } = light.kind
        && !(0.0 <= inner && inner < outer && outer <= MOST_OUTER_CONE_ANGLE)
    {
        let expected = "cone angles from 0 to pi / 2, the inner one smaller";
        return broken(at, expected, format!("{inner} and {outer}"));
    }
    Ok(())
}

/// Half a turn divided by two, with room for the rounding of single precision.
const MOST_OUTER_CONE_ANGLE: f64 = std::f64::consts::FRAC_PI_2 + 1e-6;

/// The highest joint that any weight of the mesh goes to.
fn highest_joint(mesh: &Mesh) -> u32 {
    let influences = mesh.primitives.iter();
    let influences = influences.flat_map(|p| p.joints.iter().zip(&p.weights));
    let used = influences.filter(|(_, w)| **w != 0.0);
    used.map(|(j, _)| *j).max().unwrap_or(0)
}

fn validate_faces(faces: &Faces, points: usize, at: &str) -> Result<(), Invalid> {
    let corners = match &faces.counts {
        Some(counts) => counts.iter().map(|c| *c as usize).sum::<usize>(),
        None => faces.indices.len() / 3 * 3,
    };
    if corners != faces.indices.len() {
        return broken(at, format!("{corners} corners"), faces.indices.len());
    }
    match faces.indices.iter().max() {
        Some(highest) => below(at, "point", *highest as usize, points),
        None => Ok(()),
    }
}
