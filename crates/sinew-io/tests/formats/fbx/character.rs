//! FBX: a character of our own, with all that is odd about FBX, against f64 maths from the format's definitions.

use common::command::Bench;
use common::fbx::binary::binary;
use common::fbx::maker;
use common::fbx::{Axes, Character, Clip, Joint, LEFT_HANDED, Picture, Y_UP, Z_UP};
use common::rng::Rng;
use common::tolerance;
use glam::{DMat4, DVec3};
use sinew_animate::asset::{Asset, AssetFormat, Axis, Keys, TextureRef, TrackTarget, Trs};
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
        let mut locals: Vec<Trs> = asset.nodes.iter().map(|n| n.local.trs()).collect();
        let mut weights: Vec<Vec<f64>> = asset
            .nodes
            .iter()
            .map(|n| n.mesh.map_or(&[][..], |m| &asset.meshes[m].weights))
            .map(|w| w.iter().map(|w| f64::from(*w)).collect())
            .collect();
        let clip = clip.map(|name| asset.clip(name).expect(name));
        for track in clip.into_iter().flat_map(|c| &c.tracks) {
            let TrackTarget::Node(node) = track.target else {
                panic!("{:?}", track.target)
            };
            let curve = &track.curve;
            match &curve.keys {
                Keys::Translation(_) => locals[node].translation = curve.vector(time).unwrap(),
                Keys::Rotation(_) => locals[node].rotation = curve.rotation(time).unwrap(),
                Keys::Scale(_) => locals[node].scale = curve.vector(time).unwrap(),
                Keys::Weights { count, .. } => {
                    let at = |i| curve.weight(i, time).unwrap();
                    weights[node] = (0..*count).map(at).collect();
                }
            }
        }
        let world = |node| {
            let chain = asset.chain(node);
            chain.fold(DMat4::IDENTITY, |m, n| locals[n].matrix() * m)
        };
        Self {
            worlds: (0..asset.nodes.len()).map(world).collect(),
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

fn node(asset: &Asset, name: &str) -> usize {
    let found = asset.nodes.iter().position(|n| n.name == name);
    found.unwrap_or_else(|| panic!("no node {name}"))
}

/// Joints and vertices of a clip at a time, or at rest.
fn compare(character: &Character, asset: &Asset, clip: Option<&Clip>, time: f64, most: f64) {
    let what = clip.map_or("rest".to_owned(), |c| format!("{} at {time}", c.name));
    let posed = Posed::new(asset, clip.map(|c| c.name), time);
    // A clip moves what it has curves for; other joints rest.
    for (joint, want) in character
        .joints
        .iter()
        .zip(character.joint_worlds(clip, time))
    {
        let found = posed.worlds[node(asset, joint.name)];
        let found = found.w_axis.truncate();
        let want = want.w_axis.truncate();
        assert!(
            found.abs_diff_eq(want, most),
            "{what}: {}: {found}, not {want}",
            joint.name
        );
    }
    let found = posed.vertices(asset, node(asset, "Body_mesh"));
    let want = character.vertices(clip, time);
    let order = character.point_order();
    assert_eq!(found.len(), order.len());
    for (found, point) in found.iter().zip(order) {
        let want = want[point];
        assert!(
            found.abs_diff_eq(want, most),
            "{what}: point {point}: {found}, not {want}"
        );
    }
}

fn compare_all(character: &Character) -> Asset {
    let asset = read(character.text()).unwrap();
    compare(character, &asset, None, 0.0, tolerance::FBX_AT_KEYS);
    for clip in &character.clips {
        let keys = [0.0, 0.25, 0.5, 0.75, 1.0, 2.0];
        for time in keys {
            compare(character, &asset, Some(clip), time, tolerance::FBX_AT_KEYS);
        }
        for i in 0..100 {
            let time = f64::from(i) * 0.0101;
            compare(
                character,
                &asset,
                Some(clip),
                time,
                tolerance::FBX_BETWEEN_KEYS,
            );
        }
    }
    asset
}

#[test]
fn the_tube_stands_and_moves_as_fbx_has_it() {
    let character = Character::tube();
    let asset = compare_all(&character);
    assert_eq!(asset.format, AssetFormat::Fbx);
    assert_eq!(asset.up_axis, Axis::Y);
    assert_eq!(asset.meters_per_unit, 0.01);
    assert_eq!(asset.frames_per_second, Some(24.0));
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let clips: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(clips, ["Wave", "Still"]);
}

#[test]
fn axes_are_turned_to_y_up() {
    for axes in [Y_UP, Z_UP, LEFT_HANDED] {
        let character = Character {
            axes,
            ..Character::tube()
        };
        let asset = compare_all(&character);
        // A cap's corners run round it the same way, seen from outside, in every world.
        let cap = &asset.meshes[0].primitives[1].faces.indices[..3];
        let order = character.point_order();
        let first = asset.meshes[0].primitives[0].points.len();
        let [a, b, c] = [0, 1, 2].map(|i| order[first + cap[i] as usize]);
        let outward = |points: &[DVec3]| {
            let middle = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len() as f64;
            let normal = (points[b] - points[a]).cross(points[c] - points[a]);
            normal.dot(middle(&points[..5]) - middle(&points[..30])) > 0.0
        };
        let mirrored = axes.asset_from_file.determinant() < 0.0;
        let authored = outward(&character.points) != mirrored;
        assert_eq!(outward(&character.vertices(None, 0.0)), authored);
    }
}

#[test]
fn a_parent_s_scale_that_is_not_inherited() {
    let scaled = |scale: DVec3| {
        let mut character = Character::tube();
        character.joints[1].scaling_offset = DVec3::ZERO;
        character.joints[1].scaling_pivot = DVec3::ZERO;
        character.joints[1].scale = scale;
        character.joints[2].ignores_parent_scale = true;
        character
    };
    // A constant uniform one is undone in the child, others go through a helper.
    let uniform = compare_all(&scaled(DVec3::splat(2.0)));
    assert_eq!(uniform.nodes.len(), 5);
    let other = compare_all(&scaled(DVec3::new(2.0, 1.0, 0.5)));
    assert_eq!(other.nodes.len(), 6);
    assert!(
        other
            .nodes
            .iter()
            .any(|n| n.name == "mixamorig:Spine_scale")
    );
}

#[test]
fn parts_of_the_mesh() {
    let character = Character::tube();
    let asset = read(character.text()).unwrap();
    let mesh = &asset.meshes[0];
    assert_eq!(mesh.target_names, ["Face.Smile", "Wide"]);
    // A quarter of the slider, where half of it is the whole shape.
    assert_eq!(mesh.weights, [0.0, 0.5]);
    let [side, cap] = &mesh.primitives[..] else {
        panic!("{} primitives", mesh.primitives.len())
    };
    let material = |i: Option<usize>| &asset.materials[i.unwrap()];
    assert_eq!(material(side.material).name, "Side");
    assert_eq!(material(cap.material).name, "Cap");
    let color = material(side.material).base_color;
    assert!(
        color.abs_diff_eq(
            glam::Vec4::new(0.8, 0.4, 0.2, 1.0),
            tolerance::FEW_ROUNDINGS_F32
        ),
        "{color}"
    );
    // Polygons stay polygons.
    assert_eq!(cap.faces.counts.as_deref(), Some(&[5, 5][..]));
    assert_eq!(
        side.faces
            .counts
            .as_ref()
            .unwrap()
            .iter()
            .filter(|c| **c == 3)
            .count(),
        3
    );
    // Faces are flat, so that points have several normals; all corners have their uv.
    assert!(side.corner_data);
    assert_eq!(side.normals.len(), side.faces.indices.len());
    assert_eq!(side.uvs[0].len(), side.faces.indices.len());
    let first = side.uvs[0][0];
    assert!(
        first.abs_diff_eq(glam::Vec2::new(0.0, 0.75), tolerance::FEW_ROUNDINGS_F32),
        "{first}"
    );
    assert_eq!(side.influences, 3);
    // The loose triangle goes with the mesh's node.
    let skin = &asset.skins[0];
    assert_eq!(skin.joints.len(), 4);
    assert_eq!(*skin.joints.last().unwrap(), node(&asset, "Body_mesh"));
    let smile = &side.targets[0];
    assert_eq!(smile.inbetweens.len(), 1);
    assert!((smile.inbetweens[0].weight - 0.4).abs() < tolerance::FEW_ROUNDINGS_F32);
    assert_eq!(smile.point_indices.as_ref().unwrap().len(), 6);
}

#[test]
fn normals_that_no_point_has_two_of_are_per_point() {
    let mut character = Character::tube();
    // One face, flat.
    character.faces = vec![((0..5).collect(), 0)];
    let text = character.text().replace(
        "Name: \"map1\"\nMappingInformationType: \"ByPolygonVertex\"",
        "Name: \"map1\"\nMappingInformationType: \"ByVertice\"",
    );
    let asset = read(text).unwrap();
    let primitive = &asset.meshes[0].primitives[0];
    assert!(!primitive.corner_data);
    assert_eq!((primitive.points.len(), primitive.normals.len()), (5, 5));
}

#[test]
fn clips_have_what_moves() {
    let asset = read(Character::tube().text()).unwrap();
    let still = asset.clip("Still").unwrap();
    // Held in another pose than the rest one: a first and a last key.
    // Its pivots make the joint move as it turns.
    assert_eq!(still.tracks.len(), 2);
    for track in &still.tracks {
        assert_eq!(
            track.target,
            TrackTarget::Node(node(&asset, "mixamorig:Spine"))
        );
        assert_eq!(track.curve.times, [0.0, 0.5]);
    }
    let wave = asset.clip("Wave").unwrap();
    let of = |name: &str| {
        let target = TrackTarget::Node(node(&asset, name));
        wave.tracks.iter().filter(|t| t.target == target).count()
    };
    assert_eq!(
        [
            of("Hips"),
            of("mixamorig:Spine"),
            of("Neck.001"),
            of("Body_mesh"),
        ],
        [1, 2, 2, 1]
    );
    // A step is over within a microsecond.
    let neck = TrackTarget::Node(node(&asset, "Neck.001"));
    let turn = wave
        .tracks
        .iter()
        .find(|t| t.target == neck && matches!(t.curve.keys, Keys::Rotation(_)));
    let curve = &turn.unwrap().curve;
    let (before, after) = (
        curve.rotation(0.25 - 2e-6).unwrap(),
        curve.rotation(0.25).unwrap(),
    );
    assert!((before.angle_between(after).to_degrees() - 35.0).abs() < tolerance::ANGLE_BY_ACOS);
}

#[test]
fn two_joints_with_several_influences_each() {
    let mut character = Character::tube();
    // Every joint on every point.
    for (i, row) in character.weights.iter_mut().enumerate() {
        *row = (0..3)
            .map(|j| (j, 1.0 + ((i * 7 + j * 3) % 5) as f64))
            .collect();
    }
    let asset = compare_all(&character);
    assert_eq!(
        asset.skins[0].joints.len(),
        3,
        "no point goes with the node"
    );
}

#[test]
fn dual_quaternions_are_warned_about() {
    let character = Character {
        skinning: "DualQuaternion",
        ..Character::tube()
    };
    let asset = compare_all(&character);
    let codes: Vec<&str> = asset.warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, ["fbx-dual-quaternion"]);
}

#[test]
fn units_are_the_file_s() {
    for (unit, metres) in [(1.0, 0.01), (100.0, 1.0), (2.54, 0.0254)] {
        let character = Character {
            unit,
            ..Character::tube()
        };
        let asset = compare_all(&character);
        assert!(
            (asset.meters_per_unit - metres).abs() < tolerance::FORMULAS_IN_F64,
            "{unit}"
        );
    }
}

#[test]
fn pictures_are_embedded_or_below_the_folder() {
    let png = |fill: u8| [&b"\x89PNG\r\n\x1a\n"[..], &[fill; 8]].concat();
    let picture = |material, property, relative, embedded| Picture {
        material,
        property,
        relative,
        embedded,
        translation: DVec3::ZERO,
        scaling: DVec3::ONE,
    };
    let character = Character {
        pictures: vec![
            Picture {
                // Drawn twice as large, a quarter to the right and an eighth up.
                translation: DVec3::new(0.25, 0.125, 0.0),
                scaling: DVec3::new(2.0, 2.0, 1.0),
                ..picture(0, "DiffuseColor", "art\\\\skin.png", None)
            },
            picture(0, "NormalMap", "bumps.png", Some(png(2))),
            picture(1, "DiffuseColor", "..\\\\secret.png", None),
            picture(1, "EmissiveColor", "art\\\\notes.png", None),
        ],
        ..Character::tube()
    };
    let bench = Bench::new();
    for folder in ["in", "in/art"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    bench.write("in/art/skin.png", png(1));
    bench.write("secret.png", png(3));
    bench.write("in/art/notes.png", "no picture");
    let asset = io::fbx::read(&bench.write("in/tube.fbx", character.text())).unwrap();
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

#[test]
fn a_file_that_asks_for_more_than_its_size_justifies() {
    let mut character = Character::tube();
    character.clips.clear();
    character.channels.clear();
    // One point has a thousand influences, so that all would have as many.
    let count = 180_000;
    character.points = (0..count)
        .map(|i| DVec3::new(f64::from(i % 7), 1.0, 0.0))
        .collect();
    character.faces = (0..count as usize / 3)
        .map(|i| (vec![3 * i, 3 * i + 1, 3 * i + 2], 0))
        .collect();
    character.joints = (0..1_000)
        .map(|_| Joint::plain("j", None, DVec3::ZERO))
        .collect();
    character.weights = vec![vec![(0, 1.0)]; count as usize];
    character.weights[5] = (0..1_000).map(|j| (j, 1.0)).collect();
    refused(character.text(), &["the limit for a file of this size"]);
}

fn refused(text: impl AsRef<[u8]>, words: &[&str]) {
    let error = read(text).unwrap_err().to_string();
    for word in words.iter().chain(&["tube.fbx"]) {
        assert!(error.contains(word), "'{error}' should say '{word}'");
    }
}

#[test]
fn broken_files_are_refused() {
    let text = Character::tube().text();
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
        let mut fbx = maker::Fbx::new(String::new());
        let mut parent = maker::ROOT;
        for _ in 0..levels {
            let node = fbx.object("Model", "Model", "n", "LimbNode", "");
            fbx.connect(node, parent);
            parent = node;
        }
        fbx.text()
    };
    assert_eq!(read(deep(400)).unwrap().nodes.len(), 400);
    refused(deep(2_000), &["NodeDepthLimit"]);
    let error = io::fbx::read(std::path::Path::new("/nowhere/a.fbx")).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error}");
}

#[test]
fn binary_files_say_the_same_as_text() {
    let text = Character::tube().text();
    let (a, b) = (read(&text).unwrap(), read(binary(&text)).unwrap());
    assert_eq!((a.nodes, a.skins, a.clips), (b.nodes, b.skins, b.clips));
    assert_eq!((a.meshes, a.materials), (b.meshes, b.materials));
}

#[test]
fn truncations_and_flipped_bytes_do_no_harm() {
    let text = Character::tube().text();
    let mut rng = Rng::new(11);
    for bytes in [binary(&text), text.into_bytes()] {
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

#[test]
fn cycles_of_axes_are_what_they_say() {
    // The three fixtures' own matrices, against the axes that they name.
    for Axes {
        up,
        front,
        coord,
        asset_from_file,
    } in [Y_UP, Z_UP, LEFT_HANDED]
    {
        let axis = |(axis, sign): (i64, i64)| DVec3::AXES[axis as usize] * sign as f64;
        assert_eq!(asset_from_file * axis(up), DVec3::Y);
        assert_eq!(asset_from_file * axis(coord), DVec3::X);
        assert_eq!(asset_from_file * axis(front), DVec3::Z);
    }
}
