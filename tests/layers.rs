//! Who may import whom, and which crates are named where (ARCHITECTURE.md).

use std::path::{Path, PathBuf};

/// Module, and the modules of this crate that it may name.
const MAY_USE: &[(&str, &[&str])] = &[
    ("math", &[]),
    ("sampled", &[]),
    // The root error lists the GPU's own error enum.
    ("error", &["gpu"]),
    ("skel", &["error", "math", "sampled"]),
    ("retarget", &["error", "math", "sampled", "skel"]),
    ("asset", &["error", "math", "retarget", "skel"]),
    (
        "humanoid",
        &["asset", "error", "math", "retarget", "sampled", "skel"],
    ),
    ("scene", &["error", "math", "sampled", "skel"]),
    ("kernel", &["error", "math", "skel"]),
    ("gpu", &["kernel", "math", "skel"]),
    (
        "io",
        &[
            "asset", "error", "humanoid", "math", "retarget", "sampled", "scene", "skel",
        ],
    ),
    (
        "check",
        &[
            "asset", "error", "humanoid", "io", "math", "retarget", "sampled", "scene", "skel",
        ],
    ),
    (
        "render",
        &[
            "error", "gpu", "io", "kernel", "math", "sampled", "scene", "skel",
        ],
    ),
    (
        "bake",
        &[
            "error", "gpu", "io", "kernel", "math", "sampled", "scene", "skel",
        ],
    ),
];

/// Crate, and a place that may name it; nothing else may.
const NAMED_IN: &[(&str, &str)] = &[
    ("base64", "io"),
    ("earcutr", "kernel"),
    ("lz4_flex", "io"),
    ("meshoptimizer_rs", "io"),
    ("openusd", "io"),
    ("openusd_schemas", "io"),
    ("unicode_ident", "io"),
    ("percent_encoding", "io"),
    ("ufbx", "io"),
    ("wgpu", "gpu"),
    // What draws speaks wgpu too.
    ("wgpu", "render"),
    // The crate's root hands it on to hosts.
    ("wgpu", "lib"),
    ("pollster", "gpu"),
    ("clap", "bin"),
    ("indicatif", "bin"),
    ("env_logger", "bin"),
];

fn sources() -> Vec<(String, PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut out = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inside = path.strip_prefix(&src).unwrap();
                let module = inside
                    .components()
                    .next()
                    .unwrap()
                    .as_os_str()
                    .to_str()
                    .unwrap();
                let code: String = std::fs::read_to_string(&path)
                    .unwrap()
                    .lines()
                    .filter(|l| !l.trim_start().starts_with("//"))
                    .map(|l| format!("{l}\n"))
                    .collect();
                out.push((
                    module.trim_end_matches(".rs").to_owned(),
                    path.clone(),
                    code,
                ));
            }
        }
    }
    assert!(out.len() > 40, "{} files", out.len());
    out
}

/// Identifiers that follow `before`, as in `crate::NAME` and `crate::{NAME, ...}`.
fn named_after(code: &str, before: &str) -> Vec<String> {
    let identifier = |s: &str| {
        s.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    code.split(before)
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list
                .split('}')
                .next()
                .unwrap_or("")
                .split(',')
                .map(|n| identifier(n.trim()))
                .collect(),
            None => vec![identifier(rest)],
        })
        .filter(|n| !n.is_empty())
        .collect()
}

#[test]
fn modules_import_downward_only() {
    for (module, path, code) in sources() {
        let Some((_, allowed)) = MAY_USE.iter().find(|(m, _)| *m == module) else {
            assert!(
                ["lib", "bin"].contains(&module.as_str()),
                "{}: a module without a rule",
                path.display()
            );
            continue;
        };
        for used in named_after(&code, "crate::") {
            let is_module = MAY_USE.iter().any(|(m, _)| *m == used);
            assert!(
                !is_module || used == module || allowed.contains(&used.as_str()),
                "{}: {module} may not use {used}",
                path.display()
            );
        }
    }
}

#[test]
fn crates_are_named_in_one_place() {
    let may = |name: &str, module: &str| NAMED_IN.contains(&(name, module));
    for (module, path, code) in sources() {
        for (name, place) in NAMED_IN {
            let names = code
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == *name);
            // A log filter is text.
            let in_string =
                code.contains(&format!("{name}=")) || code.contains(&format!("={name}"));
            assert!(
                !names || may(name, &module) || in_string,
                "{}: only {place} may name {name}",
                path.display()
            );
        }
    }
}

#[test]
fn the_scan_itself_sees_imports() {
    let code = "use crate::gpu::X;\nuse crate::{skel, io};\nfn f(e: crate::math::Rows) {}";
    assert_eq!(named_after(code, "crate::"), ["gpu", "skel", "io", "math"]);
}
