//! Files that are made to take a reader down: each is an error or a coded warning, soon and in little memory.
//!
//! The limits are 1 GiB of memory and, in a release build, 5 seconds of two processors.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::command::{Bench, executable, stderr, stdout};
use common::processor;
use common::stages::Table;
use serde_json::{Value, json};

/// What a command may take of all processors, which does not depend on the tests beside it. A build without optimization is
/// slower.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 240 } else { 10 });

/// A command that waits for something takes nothing of a processor: after this time it hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// A command, and what follows the file.
type Arguments = (&'static str, &'static [&'static str]);

/// The commands that read a character.
const COMMANDS: [Arguments; 5] = [
    ("check", &[]),
    ("inspect", &[]),
    ("bake", &["-o", "out.usdc", "--backend", "cpu"]),
    ("convert", &["-o", "out.usda"]),
    ("render", &["-o", "out.png"]),
];

/// Runs the command in the folder with at most 1 GiB, and ends it if it hangs.
fn run(bench: &Bench, arguments: &[&str]) -> Output {
    let output = |name| File::create(bench.path(name)).unwrap();
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -d 1048576; exec \"$0\" \"$@\""])
        .arg(executable())
        .args(arguments)
        // Each thread has a stack: the memory does not depend on the number of processors.
        .envs([("RAYON_NUM_THREADS", "4"), ("LP_NUM_THREADS", "4")])
        .current_dir(bench.folder.path())
        .stdin(Stdio::null())
        .stdout(output("stdout.txt"))
        .stderr(output("stderr.txt"))
        .spawn()
        .unwrap();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Ok(status),
            None if start.elapsed() > PATIENCE => break Err("hangs".to_owned()),
            None if processor::so_far(child.id()).is_some_and(|spent| spent > LIMIT) => {
                break Err(format!("takes more than {LIMIT:?} of a processor"));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let status = status.unwrap_or_else(|fault| {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("{arguments:?} {fault}");
    });
    let read = |name| fs::read(bench.path(name)).unwrap();
    Output {
        status,
        stdout: read("stdout.txt"),
        stderr: read("stderr.txt"),
    }
}

/// Runs all commands on a file, as [`survives_all`].
fn survives(bench: &Bench, file: &str) -> (i32, String) {
    survives_all(&COMMANDS, bench, file)
}

/// Runs commands on a file: none panics, hangs or is killed. Gives what the first one found, with its exit code.
fn survives_all(commands: &[Arguments], bench: &Bench, file: &str) -> (i32, String) {
    let mut checked = None;
    for (command, more) in commands {
        for old in ["out.usdc", "out.usda", "out.png"] {
            let _ = fs::remove_file(bench.path(old));
        }
        let mut arguments = vec![command, file];
        arguments.extend(*more);
        let output = run(bench, &arguments);
        let text = stdout(&output) + &stderr(&output);
        let code = output.status.code();
        assert!(
            matches!(code, Some(0..=3)),
            "{command} {file}: {:?} {text}",
            output.status
        );
        assert!(!text.contains("panicked"), "{command} {file}: {text}");
        checked.get_or_insert((code.unwrap_or(-1), text));
    }
    checked.unwrap()
}

/// As [`survives`]; the file is refused or has errors, in words that name it and say this.
fn refused(bench: &Bench, file: &str, words: &[&str]) {
    refused_by(&COMMANDS, bench, file, words);
}

fn refused_by(commands: &[Arguments], bench: &Bench, file: &str, words: &[&str]) {
    let (code, text) = survives_all(commands, bench, file);
    assert!(matches!(code, 1 | 2), "{file}: {code} {text}");
    for word in words.iter().chain([&file]) {
        assert!(text.contains(word), "{file}: '{text}' should say '{word}'");
    }
}

fn usda(bench: &Bench, name: &str, body: &str) {
    bench.write(name, format!("#usda 1.0\n{body}"));
}

/// A file of 20 GiB that begins with these bytes, and takes no space.
fn sparse(bench: &Bench, name: &str, head: &[u8]) {
    let mut file = File::create(bench.path(name)).unwrap();
    file.write_all(head).unwrap();
    file.set_len(20 << 30).unwrap();
}

fn pipe(bench: &Bench, name: &str) {
    let made = Command::new("mkfifo")
        .arg(bench.path(name))
        .status()
        .unwrap();
    assert!(made.success());
}

fn glb(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let json = serde_json::to_vec(json).unwrap();
    sinew_io::gltf::write_glb(&mut out, json, Some(bin.to_vec())).unwrap();
    out
}

/// A glTF triangle.
fn triangle() -> (Value, Vec<u8>) {
    let points = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bin: Vec<u8> = points.iter().flat_map(|p| p.to_le_bytes()).collect();
    let json = json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [0, 0, 0], "max": [1, 1, 0] }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "buffers": [{ "byteLength": 36 }],
    });
    (json, bin)
}

/// Cycles of arcs, and other stages of a few lines.
#[test]
fn stages_of_a_few_lines() {
    for case in Table::read("hostile.txt").cases {
        let bench = Bench::new();
        case.write(bench.folder.path());
        match case.all("refused").next() {
            Some(words) => refused(&bench, "in.usda", &[words]),
            None => _ = survives(&bench, "in.usda"),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn files_of_20_gib_are_refused() {
    let bench = Bench::new();
    let crate_head = [
        &b"PXR-USDC\0\x08\0\0\0\0\0\0"[..],
        &(1u64 << 33).to_le_bytes(),
    ]
    .concat();
    let glb_head = [
        &b"glTF\x02\0\0\0\xff\xff\xff\xff\xf0\xff\xff\xff"[..],
        b"JSON",
    ]
    .concat();
    for (name, head) in [
        ("a.usdc", &crate_head[..]),
        ("a.usda", b"#usda 1.0\ndef \"A\" {"),
        ("b.usda", b""),
        ("a.usdz", b"PK\x03\x04"),
        ("a.glb", &glb_head),
        ("a.gltf", b"{"),
        ("a.vrm", b"glTF"),
        ("a.bvh", b"HIERARCHY\n"),
        ("a.fbx", b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0"),
    ] {
        sparse(&bench, name, head);
        refused(&bench, name, &[]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn pipes_and_devices_are_no_files() {
    let bench = Bench::new();
    for name in ["p.usda", "p.usdc", "p.usdz", "p.glb", "p.bvh", "p.fbx"] {
        pipe(&bench, name);
        refused(&bench, name, &[]);
    }
    refused(&bench, "/dev/zero", &[]);
    pipe(&bench, "p.png");
    sparse(&bench, "large.usda", b"#usda 1.0\n");
    sparse(&bench, "large.png", b"\x89PNG\r\n\x1a\n");
    for target in ["p.usda", "p.usdc", "p.usdz", "/dev/zero", "large.usda"] {
        let root = "def SkelRoot \"A\"";
        for body in [
            format!("{root} (references = @{target}@) {{}}"),
            format!("{root} (payload = @{target}@) {{}}"),
            format!("(subLayers = [@{target}@])\n{root} {{}}"),
        ] {
            usda(&bench, "arc.usda", &body);
            refused(&bench, "arc.usda", &["unreadable-layer", target]);
        }
        let clips = format!(
            "{root} (clips = {{ dictionary default = {{\n asset[] assetPaths = [@{target}@]\n asset manifestAssetPath = @{target}@\n \
             string primPath = \"/A\"\n double2[] active = [(0, 0)]\n double2[] times = [(0, 0)]\n}}\n}}\n)\n{{ double x\n}}"
        );
        usda(&bench, "clips.usda", &clips);
        survives(&bench, "clips.usda");
    }
    for target in ["p.png", "/dev/zero", "large.png"] {
        let material = Table::read("hostile.txt");
        let material = material.base("texture").replace("TARGET", target);
        bench.write("texture.usda", material);
        survives(&bench, "texture.usda");
    }
}

/// Ten levels of prims, each with ten children that lead to the next level by an arc: 10 billion prims.
fn levels(arc: &str) -> String {
    let mut text = format!("def SkelRoot \"R\" ({arc} = </L0>) {{}}\n");
    for level in 0..10 {
        let _ = writeln!(text, "def \"L{level}\" {{");
        for child in 0..10 {
            let _ = writeln!(text, "def \"K{child}\" ({arc} = </L{}>) {{}}", level + 1);
        }
        text += "}\n";
    }
    text + "def \"L10\" { int x = 1\n }\n"
}

/// Ten levels of ten prims, each with ten arcs or variants that lead to the next level.
fn lists_and_variants() -> [String; 2] {
    let mut lists = "def SkelRoot \"R\" (references = </L0_0>) {}\n".to_owned();
    let mut variants = "def SkelRoot \"R\" (references = </L0>) {}\n".to_owned();
    for level in 0..10 {
        let next = level + 1;
        let below: Vec<String> = (0..10).map(|k| format!("</L{next}_{k}>")).collect();
        let below = below.join(", ");
        let children = (0..10).map(|k| format!("def \"K{k}\" (references = </L{next}>) {{}}\n"));
        let children: String = children.collect();
        let _ = writeln!(
            variants,
            "def \"L{level}\" (variants = {{ string v = \"v0\"\n}}\nprepend variantSets = \"v\") {{\nvariantSet \"v\" = {{"
        );
        for k in 0..10 {
            let _ = writeln!(lists, "def \"L{level}_{k}\" (references = [{below}]) {{}}");
            let _ = writeln!(variants, "\"v{k}\" {{\n{children}}}");
        }
        variants += "}\n}\n";
    }
    let last = (0..10).map(|k| format!("def \"L10_{k}\" {{}}\n"));
    lists.extend(last);
    [lists, variants + "def \"L10\" {}\n"]
}

#[test]
fn bombs_of_arcs_are_too_large() {
    let bench = Bench::new();
    let [lists, variants] = lists_and_variants();
    let arcs = [
        "references",
        "payload",
        "inherits",
        "specializes",
        "instanceable = true; references",
    ];
    for text in arcs.map(levels).into_iter().chain([lists, variants]) {
        usda(&bench, "bomb.usda", &text);
        refused_by(&COMMANDS[..1], &bench, "bomb.usda", &["more than"]);
    }
}

/// Many of what a prim has one or a few of.
#[test]
fn many_keys_and_long_chains_are_read() {
    const KEYS: usize = 20_000;
    let bench = Bench::new();
    let each = |of: usize, line: &dyn Fn(usize) -> String| (0..of).map(line).collect::<String>();
    let chain = |c: usize| {
        each(200, &|i| {
            format!("def \"C{c}_{i}\" (inherits = </C{c}_{}>) {{}}\n", i + 1)
        })
    };
    for text in [
        format!(
            "(customLayerData = {{\n{}}})",
            each(KEYS, &|i| format!("int k{i} = 1\n"))
        ),
        format!(
            "def SkelRoot \"A\" (\n{}) {{}}",
            each(KEYS, &|i| format!("k{i} = \"x\"\n"))
        ),
        format!(
            "def SkelRoot \"A\" (apiSchemas = [{}]) {{}}",
            each(KEYS, &|i| format!("\"A{i}\", "))
        ),
        format!(
            "{}def SkelRoot \"A\" (inherits = [</C0_0>, </C1_0>]) {{}}",
            each(2, &chain)
        ),
    ] {
        usda(&bench, "many.usda", &text);
        survives(&bench, "many.usda");
    }
}

#[test]
fn deep_nesting_is_refused() {
    const LEVELS: usize = 100_000;
    let bench = Bench::new();
    for (begin, open, close, end, is_refused) in [
        ("", "def \"a\" {\n", "}\n", "", true),
        (
            "(customLayerData = {\n",
            "dictionary a = {\n",
            "}\n",
            "})\n",
            true,
        ),
        ("def \"a\" { int[] x = ", "[", "]", "\n}", true),
        ("def \"a\" { unknown x = ", "(", ")", "\n}", true),
        ("def \"a\" { rel x = <", "/a", "", ">\n}", false),
        ("(subLayers = [@`", "if(", "", "`@])\ndef \"a\" {}", false),
        (
            "def \"a\" { pathExpression x = \"",
            "(",
            ")",
            "\"\n}",
            false,
        ),
    ] {
        let (open, close) = (open.repeat(LEVELS), close.repeat(LEVELS));
        usda(&bench, "deep.usda", &format!("{begin}{open}{close}{end}"));
        match is_refused {
            true => refused(&bench, "deep.usda", &[]),
            false => _ = survives(&bench, "deep.usda"),
        }
    }

    let joint = "JOINT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n".repeat(LEVELS);
    let close = "}\n".repeat(LEVELS + 1);
    let root = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n";
    let end = "End Site\n{\nOFFSET 0 0 0\n}\n";
    bench.write(
        "joints.bvh",
        format!("{root}{joint}{end}{close}MOTION\nFrames: 1\nFrame Time: 1\n"),
    );
    refused(&bench, "joints.bvh", &[]);
    let json = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"x\":{}{}}}",
        "[".repeat(LEVELS),
        "]".repeat(LEVELS)
    );
    bench.write("json.gltf", json);
    refused(&bench, "json.gltf", &[]);
    let nodes: Vec<Value> = (1..=LEVELS)
        .map(|i| json!({ "children": [i % LEVELS] }))
        .collect();
    let gltf = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": nodes });
    bench.write("nodes.gltf", gltf.to_string());
    refused(&bench, "nodes.gltf", &[]);
}

/// The writer refuses to write what the reader would.
#[test]
fn a_crate_file_nests_no_deeper_than_text() {
    let bench = Bench::new();
    let mut layer = sinew_layer::Layer::new("deep");
    let path = sinew_layer::Path::parse(&"/a".repeat(20_000)).unwrap();
    layer.create(&path, sinew_layer::SpecKind::Prim);
    let file = File::create(bench.path("deep.usdc")).unwrap();
    sinew_layer::usdc::write_layer(&layer, file).unwrap();
    survives(&bench, "deep.usdc");
}

#[test]
fn counts_that_a_file_cannot_justify_are_refused() {
    let bench = Bench::new();
    let (json, bin) = triangle();
    let mut counts = json.clone();
    counts["accessors"][0]["count"] = 4_000_000_000u64.into();
    bench.write("counts.glb", glb(&counts, &bin));
    refused(&bench, "counts.glb", &["accessors[0]"]);

    let mut zeros = json.clone();
    zeros["accessors"][0] =
        json!({ "componentType": 5126, "count": 4_000_000_000u64, "type": "VEC3" });
    bench.write("zeros.glb", glb(&zeros, &bin));
    refused(&bench, "zeros.glb", &["accessors[0]"]);

    let mut repeated = json.clone();
    repeated["meshes"][0]["primitives"] =
        vec![json!({ "attributes": { "POSITION": 0 } }); 20_000].into();
    repeated["nodes"] = vec![json!({ "mesh": 0 }); 20_000].into();
    repeated["scenes"][0]["nodes"] = (0..20_000).collect();
    bench.write("repeated.glb", glb(&repeated, &bin));
    refused(&bench, "repeated.glb", &["nodes["]);

    // Many morph targets are allowed.
    let mut targets = json;
    let many = vec![json!({ "POSITION": 0 }); 20_000];
    targets["meshes"][0]["primitives"][0]["targets"] = many.into();
    bench.write("targets.glb", glb(&targets, &bin));
    survives(&bench, "targets.glb");

    bench.write(
        "frames.bvh",
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 0 0\n}\n}\nMOTION\nFrames: 4000000000\n\
         Frame Time: 0.01\n",
    );
    survives(&bench, "frames.bvh");
}

/// Files besides the character are read within limits too.
#[test]
#[cfg(target_os = "linux")]
fn maps_and_clips_are_files_of_a_sane_size() {
    let bench = Bench::new();
    let asset = |name: &str| {
        let path = common::repository().join("examples/assets").join(name);
        path.to_str().unwrap().to_owned()
    };
    let (puppet, walk) = (asset("puppet.glb"), asset("walk.bvh"));
    pipe(&bench, "p.json");
    sparse(&bench, "large.json", b"{");
    sparse(&bench, "large.vrma", b"glTF");
    for map in ["p.json", "/dev/zero", "large.json"] {
        let arguments = ["retarget", &walk, &puppet, "-o", "out.usda", "--map", map];
        fails(&run(&bench, &arguments), map);
        let arguments = ["describe", &puppet, "--map", map, "-o", "out.glb"];
        fails(&run(&bench, &arguments), map);
    }
    for clip in ["p.json", "/dev/zero", "large.vrma"] {
        fails(
            &run(&bench, &["humanoid", &puppet, clip, "-o", "out.glb"]),
            clip,
        );
    }
}

fn fails(output: &Output, file: &str) {
    let text = stderr(output);
    assert!(
        matches!(output.status.code(), Some(1 | 2)),
        "{file}: {:?} {text}",
        output.status
    );
    let name = Path::new(file).file_name().unwrap().to_str().unwrap();
    assert!(
        !text.contains("panicked") && text.contains(name),
        "{file}: {text}"
    );
}
