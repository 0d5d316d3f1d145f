//! Files in memory are read as those on disk are, with all that they refer to.

use std::path::{Path, PathBuf};

use common::document::Document;
use serde_json::json;
use sinew::scene::DrawnMesh;
use sinew_io::retarget::{Request, Source, SourceRequest, Target, retarget};
use sinew_io::usd::UsdFile;
use sinew_io::{Files, OpenOptions, open_with, sources};

const STAGE: &str = r#"#usda 1.0
(
    defaultPrim = "Root"
    subLayers = [@../parts/look.usda@]
)
def SkelRoot "Root" {
    def "Ball" (references = @parts/ball.usda@) {}
}
"#;

const BALL: &str = r#"#usda 1.0
(
    defaultPrim = "Ball"
)
def Mesh "Ball" {
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (
        interpolation = "vertex"
    )
}
"#;

const LOOK: &str = r#"#usda 1.0
over "Root" {
    over "Ball" (prepend apiSchemas = ["MaterialBindingAPI"]) {
        rel material:binding = </Root/Look>
    }
    def Material "Look" {
        token outputs:surface.connect = </Root/Look/Surface.outputs:surface>
        def Shader "Surface" {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Root/Look/Skin.outputs:rgb>
            token outputs:surface
        }
        def Shader "Skin" {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./skin.png@
            float3 outputs:rgb
        }
    }
}
"#;

/// A folder with files of every format, of which some refer to others.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("stage/root.usda", STAGE.as_bytes());
    // Without `./` it is found beside the root layer, and else from the root of all.
    write("parts/ball.usda", BALL.as_bytes());
    write("parts/look.usda", LOOK.as_bytes());
    write("parts/skin.png", b"\x89PNG, as far as readers ask");
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets");
    for name in ["hatchling.usda", "puppet.glb", "bow.glb", "walk.bvh"] {
        write(name, &std::fs::read(assets.join(name)).unwrap());
    }
    let hatchling = UsdFile::open(assets.join("hatchling.usda")).unwrap();
    for name in ["hatchling.usdz", "hatchling.usdc"] {
        hatchling.save_as(folder.path().join(name)).unwrap();
    }
    let mut tiny = Document::fixture("tiny.gltf");
    write("gltf/buffers/a b.bin", &tiny.bin);
    write("gltf/skin.png", b"\x89PNG\r\n\x1a\n, as far as readers ask");
    tiny.set("/buffers/0/uri", json!("buffers/a%20b.bin"));
    tiny.json["images"] = json!([{ "uri": "skin.png" }]);
    write("gltf/tiny.gltf", &serde_json::to_vec(&tiny.json).unwrap());
    folder
}

/// All files of a folder by their paths in it.
fn read_all(folder: &Path, below: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder.join(below)).unwrap() {
        let name = below.join(entry.unwrap().file_name());
        match folder.join(&name).is_dir() {
            true => read_all(folder, &name, files),
            false => files.push((name.clone(), std::fs::read(folder.join(name)).unwrap())),
        }
    }
}

fn in_memory(folder: &Path) -> OpenOptions {
    let mut files = Vec::new();
    read_all(folder, Path::new(""), &mut files);
    OpenOptions {
        files: Files::in_memory(files),
        ..OpenOptions::default()
    }
}

/// What a file holds: points of its meshes, its pictures, its layers and clips, and its messages.
fn held(file: &UsdFile) -> String {
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    let mesh = |m: &DrawnMesh| (m.path.clone(), format!("{:?} {:?}", m.points, m.uvs));
    let pictures = geometry.textures.iter().map(|t| (&t.asset, &t.bytes));
    let warnings = scene.warnings.iter().chain(&geometry.warnings);
    let codes: Vec<_> = warnings.map(|w| (w.code, w.message.clone())).collect();
    format!(
        "{:?} {:?} {:?} {} {} {codes:?} {:?}",
        geometry.meshes.iter().map(mesh).collect::<Vec<_>>(),
        pictures.collect::<Vec<_>>(),
        file.stage_clips().unwrap().len(),
        scene.instances.len(),
        file.fingerprint().unwrap(),
        file.layer_files().len(),
    )
}

#[test]
fn files_in_memory_are_read_as_those_on_disk() {
    let folder = folder();
    let memory = in_memory(folder.path());
    // From its own folder, the root layer's reference finds nothing: only the root has `parts`.
    let on_disk = OpenOptions {
        search_paths: vec![folder.path().to_owned()],
        ..OpenOptions::default()
    };
    for (name, pictures, refers) in [
        ("stage/root.usda", 1, 2),
        ("hatchling.usda", 0, 0),
        ("hatchling.usdc", 0, 0),
        ("hatchling.usdz", 0, 0),
        ("gltf/tiny.gltf", 1, 2),
        ("puppet.glb", 0, 0),
        ("bow.glb", 0, 0),
        ("walk.bvh", 0, 0),
    ] {
        let disk = open_with(folder.path().join(name), &on_disk).unwrap();
        let found = open_with(name, &memory).unwrap();
        assert_eq!(held(&found), held(&disk), "{name}");
        let scene = found.scene(Default::default()).unwrap();
        let geometry = found.geometry(&scene).unwrap();
        assert_eq!(geometry.textures.len(), pictures, "{name}");
        let mut named = sources(Path::new(name), &memory);
        named.dedup();
        assert!(named.len() > refers, "{name}: {named:?}");
    }
}

#[test]
fn what_is_not_in_memory_is_not_there() {
    let folder = folder();
    let disk = folder.path().join("hatchling.usda");
    let memory = in_memory(folder.path());
    let error = open_with(&disk, &memory).unwrap_err().to_string();
    assert!(error.contains("no file of this name was given"), "{error}");
    let alone = |name: &str| OpenOptions {
        files: Files::in_memory([(name, std::fs::read(folder.path().join(name)).unwrap())]),
        ..OpenOptions::default()
    };
    let error = open_with("gltf/tiny.gltf", &alone("gltf/tiny.gltf")).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("buffers[0].uri"), "{error}");
    let missing = OpenOptions {
        search_paths: vec!["parts".into()],
        ..alone("stage/root.usda")
    };
    assert!(open_with("stage/root.usda", &missing).is_err());
}

#[test]
fn a_clip_in_memory_moves_a_character_in_memory() {
    let folder = folder();
    let request = SourceRequest {
        files: in_memory(folder.path()).files,
        ..SourceRequest::new("walk.bvh")
    };
    let source = Source::open(&request).unwrap();
    let target = Target::open("puppet.glb", None, &source).unwrap();
    let moved = retarget(&source, &target, &Request::default()).unwrap();
    assert!(!moved.animation.joints.is_empty());
}

#[test]
fn a_package_takes_its_textures_from_memory() {
    let folder = folder();
    let memory = in_memory(folder.path());
    let packed = folder.path().join("packed.usdz");
    let stage = open_with("stage/root.usda", &memory).unwrap();
    stage.write_flattened(&packed, Default::default()).unwrap();
    let stage = UsdFile::open(packed).unwrap();
    let scene = stage.scene(Default::default()).unwrap();
    let geometry = stage.geometry(&scene).unwrap();
    assert_eq!(geometry.textures[0].bytes[..4], *b"\x89PNG");
}
