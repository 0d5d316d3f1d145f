//! Comparison with usd-core.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;

use glam::DMat4;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::scene::{DrawnMesh, ExtentRule, Geometry, Input, Primvar, StageCamera};
use sinew::skel::PrimvarInterpolation;

use super::EVERY_FORMAT;
use common::files::files_of;
use common::tolerance;

const SCRIPT: &str = include_str!("as_usd_core.py");

type Same = Result<(), Failed>;

/// Every file of a folder, those of other formats as the stages that they become.
pub fn compare_folder(python: &str, folder: &Path, least: usize) -> Result<(), Failed> {
    let files = files_of(folder, EVERY_FORMAT);
    assert!(files.len() >= least, "{} files", files.len());
    compare(python, &files)
}

pub fn compare(python: &str, files: &[PathBuf]) -> Result<(), Failed> {
    let converted = tempfile::tempdir()?;
    let mut opened = Vec::new();
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]);
    for (i, path) in files.iter().enumerate() {
        let Ok(file) = sinew_io::open(path) else {
            continue; // Broken on purpose; others test that.
        };
        let mut stage = path.clone();
        if file.origin().is_some() {
            stage = converted.path().join(format!("{i}.usdc"));
            file.save_as(&stage)?;
        }
        command.arg(&stage);
        opened.push((file, path, stage));
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let theirs: Value = serde_json::from_slice(&output.stdout)?;
    let (mut meshes, mut cameras) = (0, 0);
    for (file, path, stage) in opened {
        let theirs = &theirs[stage.to_str().ok_or("UTF-8")?];
        assert!(theirs.is_object(), "usd-core opens {}", path.display());
        let scene = file.scene(Default::default())?;
        let mut ours = file.geometry(&scene)?;
        // commands::farm compares instances of PointInstancers.
        ours.meshes.retain(|m| m.instances.is_empty());
        let (m, c) = stage_is_same(&path.display().to_string(), &ours, theirs)?;
        meshes += m;
        cameras += c;
    }
    println!("{meshes} meshes and {cameras} cameras are the same");
    assert!(meshes >= files.len() / 2, "{meshes} meshes");
    Ok(())
}

/// One change of ours after another, each of which has to be seen.
pub fn notices(python: &str, path: &Path) -> Result<(), Failed> {
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(path)
        .output()?;
    let theirs: Value = serde_json::from_slice(&output.stdout)?;
    let theirs = &theirs[path.to_str().ok_or("UTF-8")?];
    let file = sinew_io::open(path)?;
    let mut ours = file.geometry(&file.scene(Default::default())?)?;
    ours.meshes.retain(|m| m.instances.is_empty());
    stage_is_same("unchanged", &ours, theirs)?;
    let other_uvs = |g: &mut Geometry| {
        let uvs = g.meshes[0].uvs.as_mut().unwrap();
        uvs.values = uvs.values.map(|v| v.iter().map(|uv| *uv + 1e-3).collect());
    };
    type Change<'a> = &'a dyn Fn(&mut Geometry);
    let changes: [(&str, Change<'_>); 11] = [
        ("a mesh less", &|g| drop(g.meshes.pop())),
        ("a camera less", &|g| drop(g.cameras.pop())),
        ("another place", &|g| {
            g.meshes[0].place = g.meshes[1].place.clone()
        }),
        ("another sight", &|g| {
            g.meshes[2].place = g.meshes[3].place.clone()
        }),
        ("other faces", &|g| {
            g.meshes[0].topology = g.meshes[1].topology.clone()
        }),
        ("one side", &|g| g.meshes[0].double_sided ^= true),
        ("other uvs", &other_uvs),
        ("other colours", &|g| {
            g.meshes[0].display_color = g.meshes[1].display_color.clone()
        }),
        ("another material", &|g| {
            g.meshes[0].material = g.meshes[1].material
        }),
        ("another roughness", &|g| {
            g.materials[0].roughness.value += 1e-3
        }),
        ("another lens", &|g| {
            let (a, b) = (
                g.cameras[1].vertical_offset.clone(),
                g.cameras[1].horizontal_offset.clone(),
            );
            (g.cameras[1].horizontal_offset, g.cameras[1].vertical_offset) = (a, b);
        }),
    ];
    for (what, change) in changes {
        let mut changed = ours.clone();
        change(&mut changed);
        let compared = stage_is_same(what, &changed, theirs);
        assert!(compared.is_err(), "{what} is not noticed");
    }
    Ok(())
}

fn stage_is_same(file: &str, ours: &Geometry, theirs: &Value) -> Result<(usize, usize), Failed> {
    let times: Vec<Time> = list(&theirs["times"])
        .iter()
        .map(|t| t.as_f64().map_or(Time::Default, Time::At))
        .collect();
    let meshes = theirs["meshes"].as_object().unwrap();
    let broken: Vec<&str> = ours.errors.iter().map(|e| e.prim.as_str()).collect();
    let mut paths: Vec<&str> = ours.meshes.iter().map(|m| m.path.as_str()).collect();
    paths.extend(&broken);
    paths.sort_unstable();
    let mut expected: Vec<&str> = meshes.keys().map(String::as_str).collect();
    expected.sort_unstable();
    same(paths, expected, file)?;
    for mesh in &ours.meshes {
        let what = format!("{file}: {}", mesh.path);
        mesh_is_same(&what, ours, mesh, &meshes[&mesh.path], &times)?;
    }
    let cameras = theirs["cameras"].as_object().unwrap();
    same(ours.cameras.len(), cameras.len(), file)?;
    for camera in &ours.cameras {
        let what = format!("{file}: {}", camera.path);
        camera_is_same(&what, camera, list(&cameras[&camera.path]), &times)?;
    }
    Ok((ours.meshes.len(), cameras.len()))
}

fn mesh_is_same(
    what: &str,
    all: &Geometry,
    ours: &DrawnMesh,
    theirs: &Value,
    times: &[Time],
) -> Same {
    let count = |name: &str| theirs[name].as_u64().unwrap() as usize;
    if let Some(boxes) = theirs["boxes"].as_array() {
        for (time, corners) in times.iter().zip(boxes) {
            let points = ours.points.at(*time).ok_or("no points")?;
            let found = ExtentRule::Points.corners(&points, &[]);
            let found = found.ok_or("points that are not finite")?;
            for (found, corner) in found.iter().zip(list(corners)) {
                let expected = list(corner).iter().filter_map(Value::as_f64);
                for (a, b) in found.to_array().into_iter().zip(expected) {
                    let is_near = (f64::from(a) - b).abs() < 1e-6;
                    check(is_near, || {
                        format!("{what}: {found} at {time}, box {corners}")
                    })?;
                }
            }
        }
    } else {
        same(ours.point_count(), count("points"), what)?;
        same(ours.topology.face_count(), count("faces"), what)?;
        same(ours.topology.corner_count(), count("corners"), what)?;
        same(ours.topology.holes().len(), count("holes"), what)?;
    }
    let is = |name: &str| theirs[name].as_bool().unwrap();
    same(ours.topology.is_left_handed(), is("leftHanded"), what)?;
    same(ours.double_sided, is("doubleSided"), what)?;
    same(ours.subdivided, is("subdivided"), what)?;
    for (i, time) in times.iter().enumerate() {
        let world = matrix(&theirs["worlds"][i]);
        same_matrix(what, ours.world_from_prim(*time), world)?;
        let visible = theirs["visible"][i].as_bool().unwrap();
        same(ours.visible(*time), visible, &format!("{what} at {time}"))?;
    }
    if let Some(uvs) = &ours.uvs {
        let name = uvs.name.strip_prefix("primvars:").unwrap();
        same_values(what, ours, uvs, &theirs["uvs"][name], |v| {
            v.to_array().map(f64::from).iter().sum()
        })?;
    } else {
        let sets = theirs["uvs"].as_object().unwrap();
        check(sets.is_empty(), || format!("{what}: {sets:?}"))?;
    }
    match &ours.display_color {
        Some(colors) => same_values(what, ours, colors, &theirs["displayColor"], |v| {
            v.to_array().map(f64::from).iter().sum()
        })?,
        None => check(theirs["displayColor"].is_null(), || what.to_owned())?,
    }
    let subsets = theirs["subsets"].as_object().unwrap();
    same(ours.subsets.len(), subsets.len(), what)?;
    for subset in &ours.subsets {
        let faces = subsets[&subset.path].as_u64().unwrap() as usize;
        same(subset.faces.len(), faces, &subset.path)?;
    }
    material_is_same(what, all, ours, &theirs["material"], is("isProxy"))
}

fn material_is_same(
    what: &str,
    all: &Geometry,
    ours: &DrawnMesh,
    theirs: &Value,
    is_proxy: bool,
) -> Same {
    let known = theirs["known"].as_bool() == Some(true);
    same(ours.material.is_some(), known, what)?;
    let Some(material) = ours.material.map(|m| &all.materials[m]) else {
        return Ok(());
    };
    if !is_proxy {
        same(
            material.path.as_str(),
            theirs["path"].as_str().unwrap(),
            what,
        )?;
    }
    same_input(
        what,
        all,
        &material.diffuse_color,
        theirs,
        "diffuseColor",
        |v| v.to_array().map(f64::from).to_vec(),
    )?;
    let numbers = [
        (&material.opacity, "opacity"),
        (&material.roughness, "roughness"),
        (&material.metallic, "metallic"),
    ];
    for (ours, name) in numbers {
        same_input(what, all, ours, theirs, name, |v| vec![f64::from(*v)])?;
    }
    Ok(())
}

fn same_input<T>(
    what: &str,
    all: &Geometry,
    ours: &Input<T>,
    theirs: &Value,
    name: &str,
    parts: impl Fn(&T) -> Vec<f64>,
) -> Same {
    let texture = ours.texture.as_ref();
    let bytes = texture.map(|t| all.textures[t.texture].bytes.len() as u64);
    let expected = theirs[format!("{name}Texture")].as_u64();
    same(
        bytes,
        expected,
        &format!("{what}: bytes of {name}'s picture"),
    )?;
    if let Some(expected) = theirs[name].as_array() {
        let expected: Vec<f64> = expected.iter().map(|v| v.as_f64().unwrap()).collect();
        same(parts(&ours.value), expected, &format!("{what}: {name}"))?;
    }
    Ok(())
}

/// The same number of flattened values, with the same sum.
fn same_values<T: Copy>(
    what: &str,
    mesh: &DrawnMesh,
    ours: &Primvar<T>,
    theirs: &Value,
    sum: impl Fn(T) -> f64,
) -> Same {
    let what = &format!("{what}: {}", ours.name);
    let slice = ours.first().unwrap();
    let values: Vec<T> = match slice.indices {
        Some(indices) => indices.iter().map(|i| slice.values[*i as usize]).collect(),
        None => slice.values.to_vec(),
    };
    let per_mesh = ours.interpolation == PrimvarInterpolation::Constant;
    let needed = ours.interpolation.count(&mesh.topology, mesh.point_count());
    check(per_mesh || values.len() == needed, || what.clone())?;
    same(Some(values.len() as u64), theirs[0].as_u64(), what)?;
    let total: f64 = values.iter().map(|v| sum(*v)).sum();
    let expected = theirs[1].as_f64().unwrap();
    let most = tolerance::SUMS_OF_VALUES * values.len() as f64;
    check((total - expected).abs() <= most, || {
        format!("{what}: {total} is not {expected}")
    })
}

fn camera_is_same(what: &str, ours: &StageCamera, theirs: &[Value], times: &[Time]) -> Same {
    for (time, theirs) in times.iter().zip(theirs) {
        let frustum = ours.frustum(*time);
        let perspective = theirs["perspective"].as_bool().unwrap();
        same(frustum.perspective, perspective, what)?;
        let [low, high] = frustum.window;
        let window = [low.x, low.y, high.x, high.y];
        let near_far = frustum.near_far.to_array();
        let close = |ours: &[f64], theirs: &Value| {
            let pairs = ours.iter().zip(list(theirs));
            pairs.fold(true, |all, (a, b)| {
                let b = b.as_f64().unwrap();
                all && (a - b).abs() <= tolerance::FRUSTUMS * b.abs().max(1.0)
            })
        };
        check(close(&window, &theirs["window"]), || {
            format!("{what} at {time}: {window:?}, {theirs}")
        })?;
        check(close(&near_far, &theirs["nearFar"]), || {
            format!("{what} at {time}: {near_far:?}, {theirs}")
        })?;
        let world = ours.world_from_camera(*time);
        same_matrix(what, world, matrix(&theirs["world"]))?;
    }
    Ok(())
}

fn same<T: PartialEq + Debug>(ours: T, theirs: T, what: &str) -> Same {
    check(ours == theirs, || {
        format!("{what}: {ours:?} is not {theirs:?}")
    })
}

fn check(condition: bool, message: impl FnOnce() -> String) -> Same {
    if condition {
        Ok(())
    } else {
        Err(message().into())
    }
}

fn same_matrix(what: &str, ours: DMat4, theirs: DMat4) -> Same {
    let size = theirs
        .to_cols_array()
        .iter()
        .fold(1.0f64, |s, v| s.max(v.abs()));
    let same = ours.abs_diff_eq(theirs, tolerance::TRANSFORMS * size);
    check(same, || format!("{what}: {ours} is not {theirs}"))
}

fn matrix(json: &Value) -> DMat4 {
    let numbers: Vec<f64> = list(json).iter().map(|v| v.as_f64().unwrap()).collect();
    DMat4::from_cols_slice(&numbers)
}

fn list(json: &Value) -> &[Value] {
    json.as_array().unwrap()
}
