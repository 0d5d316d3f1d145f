//! FBX: a character with all that is odd about FBX, against tables from the format's definitions.

use std::fmt::Write;

use common::command::Bench;
use common::fbx::{self, JOINTS, Table, table};
use common::pose::{self, node};
use common::rng::Rng;
use common::{fixture, rows, tolerance};
use glam::{DMat4, DVec3};
use sinew_animate::asset::{Asset, AssetClip, Keys, TextureRef, TrackTarget};
use sinew_io as io;
use sinew_io::Error;

fn read(text: impl AsRef<[u8]>) -> Result<Asset, Error> {
    let bench = Bench::new();
    io::fbx::read(&bench.write("tube.fbx", text))
}

/// An asset posed: plain evaluation of its nodes, curves, shapes and skins.
struct Posed {
    worlds: Vec<DMat4>,
    weights: Vec<Vec<f64>>,
}

impl Posed {
    fn new(asset: &Asset, clip: Option<&str>, time: f64) -> Self {
        let still = AssetClip::default();
        let clip = clip.map_or(&still, |name| asset.clip(name).expect(name));
        let nodes = 0..asset.nodes.len();
        let worlds = nodes.map(|node| pose::world(asset, clip, node, time));
        let mut weights: Vec<Vec<f64>> = asset
            .nodes
            .iter()
            .map(|n| n.mesh.map_or(&[][..], |m| &asset.meshes[m].weights))
            .map(|w| w.iter().map(|w| f64::from(*w)).collect())
            .collect();
        for track in &clip.tracks {
            if let (TrackTarget::Node(node), Keys::Weights { count, .. }) =
                (&track.target, &track.curve.keys)
            {
                let at = |i| track.curve.weight(i, time).unwrap();
                weights[*node] = (0..*count).map(at).collect();
            }
        }
        Self {
            worlds: worlds.collect(),
            weights,
        }
    }

    /// Points of the node's mesh, primitive after primitive.
    fn vertices(&self, asset: &Asset, node: usize) -> Vec<DVec3> {
        let mesh = &asset.meshes[asset.nodes[node].mesh.unwrap()];
        let skin = &asset.skins[asset.nodes[node].skin.unwrap()];
        let mut out = Vec::new();
        for primitive in &mesh.primitives {
            let mut points: Vec<DVec3> = primitive.points.iter().map(|p| p.as_dvec3()).collect();
            for (target, weight) in primitive.targets.iter().zip(&self.weights[node]) {
                // Straight lines between the weights that have offsets of their own, on beyond the ends.
                let mut knots: Vec<(f64, &[glam::Vec3])> = vec![(0.0, &[]), (1.0, &target.offsets)];
                let inbetweens = target.inbetweens.iter();
                knots.extend(inbetweens.map(|i| (f64::from(i.weight), &i.offsets[..])));
                knots.sort_by(|a, b| a.0.total_cmp(&b.0));
                let above = knots.iter().position(|k| k.0 > *weight);
                let above = above.unwrap_or(knots.len() - 1).max(1);
                let (from, to) = (knots[above - 1], knots[above]);
                let u = (weight - from.0) / (to.0 - from.0);
                for (slot, point) in target.point_indices.as_ref().unwrap().iter().enumerate() {
                    for (knot, amount) in [(from, 1.0 - u), (to, u)] {
                        let offset = knot.1.get(slot).copied().unwrap_or_default();
                        points[*point as usize] += offset.as_dvec3() * amount;
                    }
                }
            }
            let rows = primitive.joints.chunks(primitive.influences);
            let rows = rows.zip(primitive.weights.chunks(primitive.influences));
            for (point, (joints, weights)) in points.into_iter().zip(rows) {
                let terms = joints.iter().zip(weights).map(|(joint, weight)| {
                    let joint = *joint as usize;
                    let world = self.worlds[skin.joints[joint]] * skin.inverse_bind[joint];
                    world.transform_point3(point) * f64::from(*weight)
                });
                out.push(terms.sum());
            }
        }
        out
    }
}

/// Joints and vertices stand where the table has them.
fn compare(asset: &Asset, table: &Table) {
    for pose in &table.poses {
        let clip = pose.clip.as_deref();
        let what = format!("{} at {}", clip.unwrap_or("rest"), pose.seconds);
        let is_key = clip.is_none() || pose.seconds % 0.25 == 0.0;
        let most = match is_key {
            true => tolerance::FBX_AT_KEYS,
            false => tolerance::FBX_BETWEEN_KEYS,
        };
        let posed = Posed::new(asset, clip, pose.seconds);
        for (name, want) in JOINTS.iter().zip(&pose.joints) {
            let found = posed.worlds[node(asset, name)].w_axis.truncate();
            let is_near = found.abs_diff_eq(*want, most);
            assert!(is_near, "{what}: {name}: {found}, not {want}");
        }
        let found = posed.vertices(asset, node(asset, "Body_mesh"));
        assert_eq!(found.len(), table.order.len());
        for (found, point) in found.iter().zip(&table.order) {
            let want = pose.points[*point];
            let is_near = found.abs_diff_eq(want, most);
            assert!(is_near, "{what}: point {point}: {found}, not {want}");
        }
    }
}

/// What files say, and where their joints and points stand, as the table of the file's name has them.
#[test]
fn files_stand_and_move_as_fbx_has_them() {
    rows::check(&fixture("fbx/read.txt"), |row| {
        let asset = read(&row.bytes)?;
        let name = row.name.file_stem().unwrap().to_str().unwrap();
        // One face has no joints, and its table would say nothing.
        if name != "one_face" {
            compare(&asset, &table(name));
        }
        Ok(asset)
    });
}

#[test]
fn a_step_is_over_within_a_microsecond() {
    let asset = read(fbx::text("tube")).unwrap();
    let neck = node(&asset, "Neck.001");
    let turn = |time| pose::local(&asset, &asset.clips[0], neck, time).rotation;
    let angle = turn(0.25 - 2e-6).angle_between(turn(0.25)).to_degrees();
    assert!((angle - 35.0).abs() < tolerance::ANGLE_BY_ACOS, "{angle}");
}

#[test]
fn pictures_are_embedded_or_below_the_folder() {
    let png = |fill: u8| [&b"\x89PNG\r\n\x1a\n"[..], &[fill; 8]].concat();
    let bench = Bench::new();
    for folder in ["in", "in/art"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    bench.write("in/art/skin.png", png(1));
    bench.write("secret.png", png(3));
    bench.write("in/art/notes.png", "no picture");
    let asset = io::fbx::read(&bench.write("in/tube.fbx", fbx::text("pictures"))).unwrap();
    let material = |name| asset.materials.iter().find(|m| m.name == name).unwrap();
    let (side, cap) = (material("Side"), material("Cap"));
    let image = |t: &Option<TextureRef>| &asset.images[t.as_ref().unwrap().image];
    let color = image(&side.base_color_texture);
    assert_eq!(
        (color.file_name.as_str(), &color.bytes),
        ("skin.png", &png(1))
    );
    let bumps = image(&side.normal_texture);
    assert_eq!(
        (bumps.file_name.as_str(), &bumps.bytes),
        ("bumps.png", &png(2))
    );
    // A texture replaces the colour.
    assert_eq!(side.base_color, glam::Vec4::ONE);
    // Nothing outside the folder is read, and nothing that is no picture.
    assert!(image(&cap.base_color_texture).bytes.is_empty());
    assert!(image(&cap.emissive_texture).bytes.is_empty());
    let mut codes: Vec<&str> = asset.warnings.iter().map(|w| w.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["fbx-image-format", "fbx-image-unreadable"]);

    let texture = side.base_color_texture.as_ref().unwrap();
    let transform = texture.transform.unwrap();
    // Drawn twice as large, a quarter to the right and an eighth up.
    // FBX's own picture place at its uv (0.5, 0.75), both from the lower left.
    let place = picture_place(0.5, 0.75);
    let found = transform.transform_point2(glam::Vec2::new(0.5, 1.0 - 0.75));
    let want = glam::Vec2::new(place.0, 1.0 - place.1);
    assert!(
        found.abs_diff_eq(want, tolerance::FEW_ROUNDINGS_F32),
        "{found}, not {want}"
    );
    assert!(side.normal_texture.as_ref().unwrap().transform.is_none());
}

/// Where in the picture a uv falls: scaled, then moved, as 3ds Max and Maya export it.
fn picture_place(u: f32, v: f32) -> (f32, f32) {
    ((u - 0.25) / 2.0, (v - 0.125) / 2.0)
}

/// An FBX file of those objects and connections.
fn file_of(objects: &str, connections: &str) -> String {
    format!(
        "; FBX 7.4.0 project file\n\
         FBXHeaderExtension: {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\n\
         Objects: {{\n{objects}}}\nConnections: {{\n{connections}}}\n"
    )
}

/// A list as FBX's text has it.
fn list<T: ToString>(name: &str, values: impl Iterator<Item = T>) -> String {
    let values: Vec<String> = values.map(|v| v.to_string()).collect();
    format!("{name}: *{} {{ a: {} }}\n", values.len(), values.join(","))
}

/// One point has a thousand influences, so that all would have as many.
#[test]
fn a_file_that_asks_for_more_than_its_size_justifies() {
    let count = 180_000_i64;
    let points = (0..count).flat_map(|i| [i % 7, 1, 0]);
    let corners = (0..count).map(|i| if i % 3 == 2 { -i - 1 } else { i });
    let points = list("Vertices", points) + &list("PolygonVertexIndex", corners);
    let mut objects = format!(
        "Model: 1, \"Model::Body\", \"Mesh\" {{\n}}\n\
         Geometry: 2, \"Geometry::\", \"Mesh\" {{\n{points}}}\n\
         Deformer: 3, \"Deformer::\", \"Skin\" {{\n}}\n"
    );
    let mut connections = "C: \"OO\",1,0\nC: \"OO\",2,1\nC: \"OO\",3,2\n".to_owned();
    for (joint, cluster) in (0..1_000).map(|i| (1_000 + i, 5_000 + i)) {
        let last = if joint == 1_000 { count } else { 6 };
        let points = if joint == 1_000 { 0..last } else { 5..last };
        let weights = list("Weights", points.clone().map(|_| 1));
        let points = list("Indexes", points);
        writeln!(
            objects,
            "Model: {joint}, \"Model::j\", \"LimbNode\" {{\n}}\n\
             Deformer: {cluster}, \"SubDeformer::\", \"Cluster\" {{\n{points}{weights}}}"
        )
        .unwrap();
        let pairs = [(joint, 0), (cluster, 3), (joint, cluster)];
        for (child, parent) in pairs {
            writeln!(connections, "C: \"OO\",{child},{parent}").unwrap();
        }
    }
    let text = file_of(&objects, &connections);
    refused(text, &["the limit for a file of this size"]);
}

fn refused(text: impl AsRef<[u8]>, words: &[&str]) {
    let error = read(text).unwrap_err().to_string();
    for word in words.iter().chain(&["tube.fbx"]) {
        assert!(error.contains(word), "'{error}' should say '{word}'");
    }
}

#[test]
fn broken_files_are_refused() {
    let text = fbx::text("tube");
    refused("", &["Empty file"]);
    refused("HIERARCHY\nROOT Hips\n", &["cannot open"]);
    refused(
        text.replace(
            "PolygonVertexIndex: *",
            "PolygonVertexIndex: *99999999999 x",
        ),
        &["cannot open"],
    );
    let deep = |levels: i64| {
        let model = |i| format!("Model: {i}, \"Model::n\", \"LimbNode\" {{\n}}\n");
        let below = |i| format!("C: \"OO\",{i},{}\n", i - 1);
        let objects: String = (1..=levels).map(model).collect();
        let connections: String = (1..=levels).map(below).collect();
        file_of(&objects, &connections)
    };
    assert_eq!(read(deep(400)).unwrap().nodes.len(), 400);
    refused(deep(2_000), &["NodeDepthLimit"]);
    let error = io::fbx::read(std::path::Path::new("/nowhere/a.fbx")).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error}");
}

#[test]
fn binary_files_say_the_same_as_text() {
    let [a, b] = ["tube", "tube_binary"].map(|name| io::fbx::read(&fbx::path(name)).unwrap());
    assert_eq!((a.nodes, a.skins, a.clips), (b.nodes, b.skins, b.clips));
    assert_eq!((a.meshes, a.materials), (b.meshes, b.materials));
}

#[test]
fn truncations_and_flipped_bytes_do_no_harm() {
    let mut rng = Rng::new(11);
    for name in ["tube_binary", "tube"] {
        let bytes = std::fs::read(fbx::path(name)).unwrap();
        let mut refused = 0;
        for i in 0..200 {
            // Refused or read: what is read has passed the asset's own validation.
            refused += usize::from(read(&bytes[..bytes.len() * i / 200]).is_err());
        }
        assert!(refused > 50, "{refused}");
        for _ in 0..400 {
            let mut bytes = bytes.clone();
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len());
                bytes[at] = match rng.below(3) {
                    0 => rng.bits() as u8,
                    1 => 0xff,
                    _ => b"0123456789-,{}\"*"[rng.below(16)],
                };
            }
            let _ = read(&bytes);
        }
    }
}
