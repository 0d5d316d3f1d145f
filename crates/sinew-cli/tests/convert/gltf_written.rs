//! `sinew convert` to glTF as a command: its report, its exit codes, and what it refuses. What it writes is judged by the test
//! `gltf` of sinew-io.

use common::command::{Bench, misused, refused, sinew, stderr};
use common::repository;
use common::trials::{Trial, named};
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    named([
        ("what_is_left_out_is_reported", left_out as fn(), false),
        ("wrong_use_writes_nothing", wrong_use, false),
    ])
}

/// A mesh that is not drawn, and one that cannot be.
const STAGE: &str = r#"#usda 1.0
def Mesh "Proxy"
{
    uniform token purpose = "proxy"
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
}
def Mesh "Broken"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 7]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
}
"#;

fn left_out() {
    let bench = Bench::new();
    let (source, out) = (bench.write("some.usda", STAGE), bench.path("some.glb"));
    let [source, out] = [&source, &out].map(|p| p.to_str().unwrap());
    let result = sinew(&["convert", source, "-o", out, "--json"]);
    assert_eq!(result.status.code(), Some(3), "{}", stderr(&result));
    let report: Value = serde_json::from_slice(&result.stdout).unwrap();
    let told = |list: &str, what: &str| report[list][0][what].as_str().unwrap().to_owned();
    assert_eq!(told("warnings", "path"), "/Proxy", "{report}");
    assert_eq!(told("warnings", "code"), "mesh-left-out", "{report}");
    assert_eq!(told("failed", "path"), "/Broken", "{report}");
    assert!(told("failed", "message").contains("left out"), "{report}");
    assert_eq!(report["files"], serde_json::json!([out]), "{report}");
}

fn wrong_use() {
    let bench = Bench::new();
    let source = repository().join("examples/assets/hatchling.usda");
    let input = source.to_str().unwrap();
    for (out, more, words) in [
        ("x.glb", &["--flatten"][..], &["--flatten"][..]),
        ("x.usda", &["--bake"], &["--bake", ".glb"]),
        ("x.usda", &["--max-influences", "4"], &["--max-influences"]),
        ("x.glb", &["--clip", "Walk"], &["Walk", "Dance"]),
    ] {
        let out = bench.path(out);
        let mut args = vec!["convert", input, "-o", out.to_str().unwrap()];
        args.extend(more);
        let output = sinew(&args);
        // Which clips there are, only the file says.
        match more[0] {
            "--clip" => refused(&output, &out, words),
            _ => misused(&output, &out, words),
        }
    }
    let puppet = repository().join("examples/assets/puppet.glb");
    let same = bench.write("same.glb", std::fs::read(&puppet).unwrap());
    let before = std::fs::read(&same).unwrap();
    let same_name = same.to_str().unwrap();
    let result = sinew(&["convert", same_name, "-o", same_name]);
    assert_eq!(result.status.code(), Some(1), "{}", stderr(&result));
    assert!(std::fs::read(&same).unwrap() == before, "it is not touched");
}
