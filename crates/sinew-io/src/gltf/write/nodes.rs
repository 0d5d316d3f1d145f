//! Nodes, scenes and skins: what glTF asks of them beyond an [`Asset`].

use std::collections::HashSet;

use glam::{DMat3, DMat4, DQuat, DVec3, EulerRot, Vec3};

use serde_json::{Map, Value, json};
use sinew::math::principal_axes;
use sinew_animate::asset::{
    Asset, AssetCamera, AssetLight, Axis, CameraProjection, LightKind, LocalTransform, Node, Trs,
};

/// Shear below this part of a transform's size is rounding.
const NO_SHEAR: f64 = 1e-7;

/// Makes an asset fit glTF: metres, Y up, no sheared matrices, joints of a skin with a common root,
/// and a node for each instance of a mesh. Nodes that are added come after all others, so indices
/// stay valid.
pub(super) fn prepare(asset: &mut Asset) {
    expand_instances(asset);
    split_shear(asset);
    add_root(asset);
}

/// Shows each further instance of a mesh by a node of its own.
fn expand_instances(asset: &mut Asset) {
    for i in 0..asset.nodes.len() {
        let instances = std::mem::take(&mut asset.nodes[i].instances);
        if instances.is_empty() {
            continue;
        }
        let shown = Node {
            parent: Some(i),
            mesh: asset.nodes[i].mesh.take(),
            skin: asset.nodes[i].skin.take(),
            weights: asset.nodes[i].weights.take(),
            ..Node::default()
        };
        let name = asset.nodes[i].name.clone();
        for (number, instance) in instances.into_iter().enumerate() {
            asset.nodes.push(Node {
                name: format!("{name}_{number}"),
                local: LocalTransform::Trs(instance),
                ..shown.clone()
            });
        }
    }
}

/// Replaces a matrix by translation, rotation and scale, in two nodes if it has shear.
fn split_shear(asset: &mut Asset) {
    for i in 0..asset.nodes.len() {
        let LocalTransform::Matrix(m) = asset.nodes[i].local else {
            continue;
        };
        let (outer, inner) = without_shear(&m);
        let Some(inner) = inner else {
            asset.nodes[i].local = LocalTransform::Trs(outer);
            continue;
        };
        let above = Node {
            name: format!("{}_shear", asset.nodes[i].name),
            parent: asset.nodes[i].parent,
            local: LocalTransform::Trs(outer),
            ..Node::default()
        };
        asset.nodes.push(above);
        let above = asset.nodes.len() - 1;
        asset.nodes[i].parent = Some(above);
        asset.nodes[i].local = LocalTransform::Trs(inner);
        let scenes = asset.scenes.iter_mut().map(|s| &mut s.roots);
        for root in scenes.chain([&mut asset.roots]).flatten() {
            if *root == i {
                *root = above;
            }
        }
    }
}

/// A transform as one of translation, rotation and scale, or as a product of two: the first has the
/// scales along the principal axes, the second only turns. Together they are exact.
pub(crate) fn without_shear(m: &DMat4) -> (Trs, Option<Trs>) {
    let trs = Trs::from_matrix(m);
    let size = DMat3::from_mat4(*m)
        .to_cols_array()
        .iter()
        .fold(0.0f64, |a, v| a.max(v.abs()));
    let off = DMat3::from_mat4(trs.matrix()) - DMat3::from_mat4(*m);
    if off
        .to_cols_array()
        .iter()
        .all(|v| v.abs() <= NO_SHEAR * size)
    {
        return (trs, None);
    }
    let basis = DMat3::from_mat4(*m);
    let (mut axes, _) = principal_axes(basis.transpose() * basis);
    if axes.determinant() < 0.0 {
        axes.z_axis = -axes.z_axis;
    }
    let outer = DMat4::from_mat3(basis * axes);
    let mut outer = Trs::from_matrix(&outer);
    outer.translation = m.w_axis.truncate();
    let inner = Trs {
        rotation: DQuat::from_mat3(&axes.transpose()).normalize(),
        ..Trs::IDENTITY
    };
    (outer, Some(inner))
}

/// Turns Z up to Y up and scales to metres at a node above everything, and adds that node too where
/// the joints of a skin have no ancestor in common.
fn add_root(asset: &mut Asset) {
    let unit = asset.meters_per_unit;
    let scale = match unit.is_finite() && unit > 0.0 {
        true => unit,
        false => 1.0,
    };
    let rotation = match asset.up_axis {
        Axis::Y => DQuat::IDENTITY,
        Axis::Z => DQuat::from_euler(EulerRot::XYZ, -std::f64::consts::FRAC_PI_2, 0.0, 0.0),
    };
    let stands = rotation == DQuat::IDENTITY && scale == 1.0;
    let rooted = asset.skins.iter().all(|skin| {
        let tops: HashSet<Option<usize>> =
            skin.joints.iter().map(|j| asset.chain(*j).last()).collect();
        tops.len() <= 1
    });
    if stands && rooted {
        return;
    }
    let root = asset.nodes.len();
    // Its node does not move a skinned mesh, so that stays where it is, unless it is a joint.
    let joints: HashSet<usize> = asset
        .skins
        .iter()
        .flat_map(|s| &s.joints)
        .copied()
        .collect();
    let children = asset.children();
    let is_apart = |n: &&usize| {
        let node = &asset.nodes[**n];
        let is_skinned = node.skin.is_some() && node.mesh.is_some();
        is_skinned && children[**n].is_empty() && !joints.contains(n)
    };
    let (apart, below): (Vec<usize>, Vec<usize>) = asset.roots.iter().partition(is_apart);
    for shown in below {
        asset.nodes[shown].parent = Some(root);
    }
    asset.roots = std::iter::once(root).chain(apart).collect();
    asset.nodes.push(Node {
        name: "Root".into(),
        local: LocalTransform::Trs(Trs {
            translation: DVec3::ZERO,
            rotation,
            scale: DVec3::splat(scale),
        }),
        ..Node::default()
    });
    for (i, scene) in asset.scenes.iter_mut().enumerate() {
        let nodes = &asset.nodes;
        scene.roots.retain(|r| nodes[*r].parent.is_none());
        if asset.default_scene == Some(i) {
            scene.roots.clone_from(&asset.roots);
        }
    }
    // Distances of cameras and lights are in metres whatever the scale of their nodes.
    for camera in &mut asset.cameras {
        match &mut camera.projection {
            CameraProjection::Perspective { z_near, z_far, .. } => {
                *z_near *= scale;
                z_far.iter_mut().for_each(|far| *far *= scale);
            }
            CameraProjection::Orthographic {
                x_mag,
                y_mag,
                z_near,
                z_far,
            } => {
                for distance in [x_mag, y_mag, z_near, z_far] {
                    *distance *= scale;
                }
            }
        }
    }
    for light in &mut asset.lights {
        light.range.iter_mut().for_each(|range| *range *= scale);
    }
    asset.up_axis = Axis::Y;
    asset.meters_per_unit = 1.0;
}

/// The JSON of all nodes. `meshes` has the new index of each mesh that is written.
pub(super) fn write(asset: &Asset, meshes: &[Option<usize>]) -> Vec<Value> {
    let children = asset.children();
    let node = |(node, children): (&Node, &Vec<usize>)| write_node(node, children, meshes);
    asset.nodes.iter().zip(&children).map(node).collect()
}

fn write_node(node: &Node, children: &[usize], meshes: &[Option<usize>]) -> Value {
    let mut out = Map::new();
    let mut set = |key: &str, value: Value| out.insert(key.to_owned(), value);
    if !node.name.is_empty() {
        set("name", json!(node.name));
    }
    if !children.is_empty() {
        set("children", json!(children));
    }
    let trs = node.local.trs();
    if trs.translation != DVec3::ZERO {
        set("translation", json!(trs.translation.to_array()));
    }
    if trs.rotation != DQuat::IDENTITY {
        set("rotation", json!(trs.rotation.normalize().to_array()));
    }
    if trs.scale != DVec3::ONE {
        set("scale", json!(trs.scale.to_array()));
    }
    if let Some(mesh) = node.mesh.and_then(|m| meshes[m]) {
        set("mesh", json!(mesh));
        if let Some(skin) = node.skin {
            set("skin", json!(skin));
        }
        if let Some(weights) = node.weights.as_ref().filter(|w| !w.is_empty()) {
            set("weights", json!(weights));
        }
    }
    if let Some(camera) = node.camera {
        set("camera", json!(camera));
    }
    let mut extensions = Map::new();
    if let Some(light) = node.light {
        extensions.insert(LIGHTS.into(), json!({ "light": light }));
    }
    if node.hidden {
        extensions.insert(VISIBILITY.into(), json!({ "visible": false }));
    }
    if !extensions.is_empty() {
        set("extensions", Value::Object(extensions));
    }
    if let Some(extras) = &node.extras {
        set("extras", extras.clone());
    }
    Value::Object(out)
}

pub(super) const LIGHTS: &str = "KHR_lights_punctual";
pub(super) const VISIBILITY: &str = "KHR_node_visibility";

/// The JSON of all cameras.
pub(super) fn write_cameras(asset: &Asset) -> Vec<Value> {
    let camera = |camera: &AssetCamera| {
        let mut out = named(&camera.name, camera.extras.as_ref());
        match camera.projection {
            CameraProjection::Perspective {
                y_fov,
                aspect_ratio,
                z_near,
                z_far,
            } => {
                let mut view = json!({ "yfov": y_fov, "znear": z_near });
                if let Some(ratio) = aspect_ratio {
                    view["aspectRatio"] = json!(ratio);
                }
                if let Some(far) = z_far {
                    view["zfar"] = json!(far);
                }
                out.insert("type".into(), json!("perspective"));
                out.insert("perspective".into(), view);
            }
            CameraProjection::Orthographic {
                x_mag,
                y_mag,
                z_near,
                z_far,
            } => {
                out.insert("type".into(), json!("orthographic"));
                out.insert(
                    "orthographic".into(),
                    json!({ "xmag": x_mag, "ymag": y_mag, "znear": z_near, "zfar": z_far }),
                );
            }
        }
        Value::Object(out)
    };
    asset.cameras.iter().map(camera).collect()
}

/// The JSON of all lights (KHR_lights_punctual).
pub(super) fn write_lights(asset: &Asset) -> Vec<Value> {
    let light = |light: &AssetLight| {
        let mut out = named(&light.name, light.extras.as_ref());
        let (kind, cone) = match light.kind {
            LightKind::Directional => ("directional", None),
            LightKind::Point => ("point", None),
            LightKind::Spot {
                inner_cone_angle,
                outer_cone_angle,
            } => ("spot", Some([inner_cone_angle, outer_cone_angle])),
        };
        out.insert("type".into(), json!(kind));
        // Colours end at 1.
        let excess = light.color.max_element().max(1.0);
        let color = (light.color / excess).min(Vec3::ONE);
        let intensity = light.intensity * f64::from(excess);
        out.insert("color".into(), json!(color.to_array()));
        out.insert("intensity".into(), json!(intensity));
        if let (Some(range), false) = (light.range, light.kind == LightKind::Directional) {
            out.insert("range".into(), json!(range));
        }
        if let Some([inner, outer]) = cone {
            let outer = outer.min(std::f64::consts::FRAC_PI_2);
            out.insert(
                "spot".into(),
                json!({ "innerConeAngle": inner, "outerConeAngle": outer }),
            );
        }
        Value::Object(out)
    };
    asset.lights.iter().map(light).collect()
}

/// An object with a name and extras, if there are any.
pub(super) fn named(name: &str, extras: Option<&Value>) -> Map<String, Value> {
    let mut out = Map::new();
    if !name.is_empty() {
        out.insert("name".into(), json!(name));
    }
    if let Some(extras) = extras {
        out.insert("extras".into(), extras.clone());
    }
    out
}
