//! FBX in the command, as it is built by default. What is said without it is a test of sinew-io.

#[cfg(feature = "fbx")]
#[test]
fn the_command_reads_fbx_as_it_is_built_by_default() {
    use common::command::{Bench, sinew, stderr, stdout};

    let bench = Bench::new();
    let tube = bench.write("tube.fbx", common::fbx::text("tube"));
    let out = bench.path("tube.usda");
    let (tube, out) = (tube.to_str().unwrap(), out.to_str().unwrap());
    let output = sinew(&["inspect", tube]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("FBX"), "{}", stdout(&output));
    for command in ["convert", "bake"] {
        let output = sinew(&[command, tube, "-o", out]);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        std::fs::remove_file(out).unwrap();
    }
}
