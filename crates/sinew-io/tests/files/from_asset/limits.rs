//! What is refused, and what is warned of.

use common::trials::Trial;
use glam::DMat4;
use libtest_mimic::Failed;
use sinew_animate::asset::{
    Asset, AssetClip, Keys, LocalTransform, Mesh, Node, Primitive, TrackTarget, Trs,
};
use sinew_io::usd::{ClipChoice, OpenOptions, UsdFile};

use crate::from_asset::assets::{at_odds, character, finished, node, straight, track};
use crate::from_asset::converted;

type Outcome = Result<(), Failed>;
type Case = (&'static str, fn() -> Outcome);

pub fn trials() -> Vec<Trial> {
    let all: [Case; 11] = [
        ("an_unknown_clip", unknown_clip),
        ("a_singular_bind_matrix_in_use", singular_in_use),
        ("a_singular_bind_matrix_out_of_use", singular_out_of_use),
        ("hundreds_of_levels", levels),
        ("a_mesh_in_a_million_places", places),
        ("skins_all_at_odds", odd_skins),
        ("keys_at_odds", odd_keys),
        ("clips_of_a_joint_among_thousands", wide_clips),
        ("transforms_that_overflow", overflow),
        ("names_with_zero_bytes", zero_bytes),
        ("tracks_that_move_nothing", lost_tracks),
    ];
    all.map(|(name, run)| Trial::test(format!("limits::{name}"), run))
        .into()
}

fn first(asset: &Asset) -> sinew_io::Result<UsdFile> {
    UsdFile::from_asset(asset, &OpenOptions::default())
}

fn refusal(asset: &Asset, words: &[&str]) -> Outcome {
    let text = match first(asset) {
        Ok(_) => return Err("not refused".into()),
        Err(e) => e.to_string(),
    };
    match words.iter().find(|w| !text.contains(**w)) {
        Some(word) => Err(format!("'{text}' does not say '{word}'").into()),
        None => Ok(()),
    }
}

/// The scene of an asset has one warning of that code, and it has these words.
fn one_warning(asset: &Asset, clips: ClipChoice, code: &str, words: &str) -> Outcome {
    let options = OpenOptions {
        clips,
        ..OpenOptions::default()
    };
    let scene = UsdFile::from_asset(asset, &options)?.scene(Default::default())?;
    let all = scene.warnings.iter().filter(|w| w.code == code);
    let all: Vec<_> = all.collect();
    let is_right = all.len() == 1 && all[0].message.contains(words);
    assert!(is_right, "{:?}", scene.warnings);
    Ok(())
}

fn unknown_clip() -> Outcome {
    let Err(e) = converted(&character(), "fly") else {
        return Err("not refused".into());
    };
    let text = e.message().unwrap_or_default().to_owned();
    assert!(
        text.contains("fly") && text.contains("walk, grow"),
        "{text}"
    );
    // Joined by a plus sign both have to be there.
    assert!(converted(&character(), "walk+fly").is_err());
    assert!(converted(&character(), "walk+grow").is_ok());
    Ok(())
}

fn singular_in_use() -> Outcome {
    let mut asset = character();
    asset.skins[0].inverse_bind[1] = DMat4::ZERO;
    refusal(
        &asset,
        &["hero 1.glb", "skins[0]", "joint 1", "mixamorig:Hips"],
    )?;
    let mut asset = character();
    asset.skins[0].inverse_bind[2].x_axis.w = 0.5;
    refusal(&asset, &["skins[0]", "joint 2", "affine"])
}

fn singular_out_of_use() -> Outcome {
    let mut asset = character();
    // Another joint at the end of the list, which no point names.
    asset.nodes.push(node("tip", Some(7), [1.0, 0.0, 0.0]));
    asset.skins[0].joints.push(asset.nodes.len() - 1);
    asset.skins[0].inverse_bind.push(DMat4::ZERO);
    let asset = finished(asset);
    one_warning(&asset, ClipChoice::First, "singular-bind", "tip")?;
    assert!(first(&asset)?.scene(Default::default())?.errors.is_empty());
    Ok(())
}

fn levels() -> Outcome {
    let mut asset = Asset::default();
    for i in 0..5000usize {
        asset.nodes.push(node("deeper", i.checked_sub(1), [0.0; 3]));
    }
    refusal(&finished(asset), &["400 levels"])
}

fn places() -> Outcome {
    let mut asset = Asset::default();
    asset.meshes.push(Mesh {
        primitives: vec![Primitive {
            points: vec![glam::Vec3::ZERO; 1000],
            ..Primitive::default()
        }],
        ..Mesh::default()
    });
    for _ in 0..100_000 {
        asset.nodes.push(Node {
            mesh: Some(0),
            ..Node::default()
        });
    }
    refusal(&finished(asset), &["repeated meshes"])
}

fn odd_skins() -> Outcome {
    let mut asset = at_odds();
    let (skin, body) = (asset.skins[1].clone(), asset.nodes[4].clone());
    for i in 0..100u32 {
        let mut skin = skin.clone();
        skin.inverse_bind[1] = DMat4::from_rotation_x(f64::from(i) * 0.05) * skin.inverse_bind[1];
        asset.nodes.push(Node {
            skin: Some(asset.skins.len()),
            ..body.clone()
        });
        asset.skins.push(skin);
    }
    refusal(
        &finished(asset),
        &["odds.glb", "skins[65]", "64 bind poses"],
    )
}

/// A thousand joints with a hundred keys each, no two at one time.
fn odd_keys() -> Outcome {
    let mut asset = Asset::default();
    let mut clip = AssetClip::default();
    for i in 0..1000usize {
        asset.nodes.push(node(
            "joint",
            i.checked_sub(1).map(|i| i / 2),
            [0.0, 1.0, 0.0],
        ));
        let times: Vec<f64> = (0..100).map(|k| f64::from(k) + i as f64 * 1e-3).collect();
        let places = times.iter().map(|t| glam::DVec3::Y * *t).collect();
        clip.tracks.push(track(
            TrackTarget::Node(i),
            &times,
            Default::default(),
            Keys::Translation(places),
        ));
    }
    asset.clips.push(clip);
    one_warning(&finished(asset), ClipChoice::First, "clip-resampled", "")
}

/// Every clip is written for all joints, of which it moves one.
fn wide_clips() -> Outcome {
    let mut asset = Asset::default();
    for i in 0..4000usize {
        asset
            .nodes
            .push(node("joint", i.checked_sub(1).map(|_| 0), [0.0; 3]));
    }
    let clip = AssetClip {
        tracks: vec![straight(1)],
        ..Default::default()
    };
    asset.clips = vec![clip; 4000];
    let options = OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    };
    let refused = UsdFile::from_asset(&finished(asset), &options);
    let text = refused.err().ok_or("not refused")?.to_string();
    assert!(
        text.contains("Animations") && text.contains("MiB at most"),
        "{text}"
    );
    Ok(())
}

/// Scales below each other, each a number of its own.
fn overflow() -> Outcome {
    for scale in [1e38, 1e-30] {
        let mut asset = Asset::default();
        for i in 0..100usize {
            let mut node = node("joint", i.checked_sub(1), [1.0; 3]);
            node.local = LocalTransform::Trs(Trs {
                scale: glam::DVec3::splat(scale),
                ..Trs::IDENTITY
            });
            asset.nodes.push(node);
        }
        refusal(&finished(asset), &["Skeleton", "overflow"])?;
    }
    Ok(())
}

/// Crate files end each token with one.
fn zero_bytes() -> Outcome {
    let mut asset = character();
    asset.nodes[1].name = "a\0b".to_owned();
    first(&finished(asset))?.scene(Default::default())?;
    Ok(())
}

fn lost_tracks() -> Outcome {
    let mut asset = character();
    // A camera, say: neither a joint nor a mesh. Its prim follows the bound clip alone.
    asset.nodes.push(node("camera", None, [0.0; 3]));
    let camera = asset.nodes.len() - 1;
    asset.clips[1].tracks.push(straight(camera));
    one_warning(
        &finished(asset),
        ClipChoice::All,
        "tracks-left-out",
        "camera",
    )?;
    // Bound second, the walk no longer moves the armature either.
    let mut asset = character();
    asset.clips.reverse();
    one_warning(&asset, ClipChoice::All, "tracks-left-out", "Armature")
}
