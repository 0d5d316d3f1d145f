//! What is refused, and what is warned of.

use common::trials::Trial;
use glam::DMat4;
use libtest_mimic::Failed;
use sinew_animate::asset::{Asset, Keys, Mesh, Node, Primitive, TrackTarget};
use sinew_io::usd::{ClipChoice, OpenOptions, UsdFile};

use crate::from_asset::assets::{character, finished, node};
use crate::from_asset::converted;

type Outcome = Result<(), Failed>;
type Case = (&'static str, fn() -> Outcome);

pub fn trials() -> Vec<Trial> {
    let all: [Case; 11] = [
        (
            "an_unknown_clip_is_refused_with_those_there_are",
            unknown_clip,
        ),
        ("a_singular_bind_matrix_in_use_is_refused", singular_in_use),
        (
            "a_singular_bind_matrix_out_of_use_is_warned_of",
            singular_out_of_use,
        ),
        ("hundreds_of_levels_are_refused", levels),
        ("a_mesh_in_a_million_places_is_refused", places),
        ("skins_all_at_odds_are_refused", odd_skins),
        ("keys_at_odds_are_sampled_at_whole_codes", odd_keys),
        ("clips_of_a_joint_among_thousands_are_refused", wide_clips),
        ("transforms_that_overflow_are_refused", overflow),
        ("names_may_hold_zero_bytes", zero_bytes),
        ("tracks_that_move_nothing_are_warned_of", lost_tracks),
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

fn warnings(asset: &Asset, clips: ClipChoice) -> Result<Vec<(String, String)>, Failed> {
    let options = OpenOptions {
        clips,
        ..OpenOptions::default()
    };
    let scene = UsdFile::from_asset(asset, &options)?.scene(Default::default())?;
    let all = scene
        .warnings
        .into_iter()
        .map(|w| (w.code.to_owned(), w.message));
    Ok(all.collect())
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
    let found = warnings(&asset, ClipChoice::First)?;
    assert!(
        found
            .iter()
            .any(|(code, text)| code == "singular-bind" && text.contains("tip")),
        "{found:?}"
    );
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
    let mut asset = crate::from_asset::assets::at_odds();
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
    let mut clip = sinew_animate::asset::AssetClip::default();
    for i in 0..1000usize {
        asset.nodes.push(node(
            "joint",
            i.checked_sub(1).map(|i| i / 2),
            [0.0, 1.0, 0.0],
        ));
        let times: Vec<f64> = (0..100).map(|k| f64::from(k) + i as f64 * 1e-3).collect();
        let places = times.iter().map(|t| glam::DVec3::Y * *t).collect();
        clip.tracks.push(crate::from_asset::assets::track(
            TrackTarget::Node(i),
            &times,
            Default::default(),
            Keys::Translation(places),
        ));
    }
    asset.clips.push(clip);
    let found = warnings(&finished(asset), ClipChoice::First)?;
    assert!(
        found.iter().any(|(code, _)| code == "clip-resampled"),
        "{found:?}"
    );
    Ok(())
}

/// Every clip is written for all joints, of which it moves one.
fn wide_clips() -> Outcome {
    let mut asset = Asset::default();
    for i in 0..4000usize {
        asset
            .nodes
            .push(node("joint", i.checked_sub(1).map(|_| 0), [0.0; 3]));
    }
    let places = Keys::Translation(vec![glam::DVec3::X, glam::DVec3::Y]);
    let moves = crate::from_asset::assets::track(
        TrackTarget::Node(1),
        &[0.0, 1.0],
        Default::default(),
        places,
    );
    let clip = sinew_animate::asset::AssetClip {
        tracks: vec![moves],
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
            node.local = sinew_animate::asset::LocalTransform::Trs(sinew_animate::asset::Trs {
                scale: glam::DVec3::splat(scale),
                ..sinew_animate::asset::Trs::IDENTITY
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
    let places = Keys::Translation(vec![glam::DVec3::X, glam::DVec3::Y]);
    let moves = crate::from_asset::assets::track(
        TrackTarget::Node(camera),
        &[0.0, 1.0],
        Default::default(),
        places,
    );
    asset.clips[1].tracks.push(moves);
    let asset = finished(asset);
    let found = warnings(&asset, ClipChoice::All)?;
    let lost: Vec<_> = found
        .iter()
        .filter(|(code, _)| code == "tracks-left-out")
        .collect();
    assert!(lost.len() == 1 && lost[0].1.contains("camera"), "{found:?}");
    // Bound second, the walk no longer moves the armature either.
    let mut asset = character();
    asset.clips.reverse();
    let found = warnings(&asset, ClipChoice::All)?;
    let lost: Vec<_> = found
        .iter()
        .filter(|(code, _)| code == "tracks-left-out")
        .collect();
    assert!(
        lost.len() == 1 && lost[0].1.contains("Armature"),
        "{found:?}"
    );
    Ok(())
}
