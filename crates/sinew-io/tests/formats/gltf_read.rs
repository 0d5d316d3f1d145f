//! What glTF files say is what the reader gives.

use common::document::Document;
use common::{fixture, rows};
use serde_json::json;
use sinew_io::gltf;

/// Accessors of every kind, extensions, and what files have beside characters.
#[test]
fn the_table() {
    let table = fixture("gltf_read.txt");
    rows::check(&table, |row| gltf::read_bytes(&row.bytes, &row.name));
}

#[test]
fn images_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let jpeg = [0xFF, 0xD8, 0xFF, 0xE0];
    std::fs::create_dir_all(folder.path().join("in")).unwrap();
    std::fs::write(folder.path().join("my skin.jpg"), jpeg).unwrap();
    let mut file = Document::empty();
    file.json["images"] = json!([
        { "uri": "../my%20skin.jpg" },
        { "uri": "../my%20skin.jpg", "name": "My skin.png" },
        { "uri": "data:image/png;base64,/9j/4A==" },
        { "uri": "gone.jpg" },
        { "uri": "https://example.org/a.png" },
        { "uri": "data:text/plain,hello", "name": "../../etc/passwd" },
    ]);
    let path = folder.path().join("in/a.gltf");
    file.json["buffers"] = json!([]);
    std::fs::write(&path, serde_json::to_vec(&file.json).unwrap()).unwrap();
    let asset = gltf::read(&path).unwrap();
    let images = asset.images.iter();
    let names: Vec<_> = images.map(|i| (&*i.file_name, i.bytes.len())).collect();
    let expected = [
        ("my_20skin.jpg", 4),
        ("My_skin.jpg", 4),
        ("image2.jpg", 4),
        ("gone.jpg", 0),
        ("a.png", 0),
        ("passwd.png", 0),
    ];
    assert_eq!(names, expected);
    let unreadable = "gltf-image-unreadable";
    let codes: Vec<_> = asset.warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, [unreadable, unreadable, "gltf-image-format"]);
    assert!(asset.warnings[0].message.contains("gone.jpg"));
}

#[test]
fn buffers_outside_and_inside() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = Document::fixture("tiny.gltf");
    let inside = gltf::read_bytes(&file.glb(), "tiny.glb".as_ref()).unwrap();
    std::fs::write(folder.path().join("a b.bin"), &file.bin).unwrap();
    file.set("/buffers/0/uri", json!("a%20b.bin"));
    let path = folder.path().join("a.gltf");
    let mut text = b"\xEF\xBB\xBF".to_vec();
    text.extend(serde_json::to_vec_pretty(&file.json).unwrap());
    std::fs::write(&path, text).unwrap();
    let outside = gltf::read(&path).unwrap();
    assert_eq!(outside.meshes, inside.meshes);
    assert_eq!(outside.clips, inside.clips);
    let missing = gltf::read(&folder.path().join("none.gltf")).unwrap_err();
    let missing = missing.to_string();
    assert!(missing.contains("none.gltf: cannot open"), "{missing}");
}
