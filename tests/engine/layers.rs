//! Files of `src/gpu` import only files of lower layers, and no two of them import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::trials::Trial;

/// They read the engine's own files, which a packed test binary does not have (benches/on_gpu.sh).
pub fn trials() -> Vec<Trial> {
    let missing = !folder().is_dir();
    let trials = common::trials::named([
        ("imports_go_down", imports_go_down as fn(), missing),
        (
            "no_files_import_each_other",
            no_files_import_each_other,
            missing,
        ),
        (
            "the_scan_itself_sees_imports",
            the_scan_itself_sees_imports,
            missing,
        ),
    ]);
    let reason = if missing { "needs a checkout" } else { "" };
    trials.into_iter().map(|t| t.with_kind(reason)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu")
}

/// The layers, the lowest first.
const LAYERS: &[&str] = &["device", "memory", "store", "plan", "pass", "crowd"];

/// Files by module path below `gpu`, such as `store::skins`, with their text up to their tests.
fn files() -> BTreeMap<String, String> {
    let gpu = folder();
    let mut out = BTreeMap::new();
    let mut folders = vec![gpu.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(&gpu).unwrap().with_extension("");
            let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
            let parts = match parts.split_last() {
                Some((&"mod", folder)) => folder.to_vec(),
                _ => parts,
            };
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            out.insert(parts.join("::"), code.to_owned());
        }
    }
    assert!(out.len() > 30, "{} files", out.len());
    out
}

/// The paths of a `use` tree: `a::{b, c::{d, e}}` is `a::b`, `a::c::d` and `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, list)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let list = list.strip_suffix('}').unwrap_or(list);
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = list[start..at].trim();
                let nested = paths(part).into_iter().filter(|p| !p.is_empty());
                out.extend(nested.map(|path| format!("{}{path}", before.trim())));
                start = at + 1;
            }
            _ => {}
        }
    }
    out
}

/// Every path that a file imports, from the root of the crate.
fn imports(file: &str, code: &str) -> Vec<String> {
    let statements = code.split("use ").skip(1);
    let trees = statements
        .filter_map(|rest| rest.split_once(';'))
        .map(|(tree, _)| tree);
    let of_module = |path: String| {
        let mut module: Vec<&str> = ["gpu"].into_iter().chain(file.split("::")).collect();
        module.retain(|part| !part.is_empty());
        let mut rest = path.as_str();
        if let Some(path) = rest.strip_prefix("crate::") {
            return path.to_owned();
        }
        let mut is_relative = false;
        if let Some(path) = rest.strip_prefix("self::") {
            (rest, is_relative) = (path, true);
        }
        while let Some(path) = rest.strip_prefix("super::") {
            module.pop();
            (rest, is_relative) = (path, true);
        }
        match is_relative {
            true => format!("{}::{rest}", module.join("::")),
            false => rest.to_owned(),
        }
    };
    trees.flat_map(paths).map(of_module).collect()
}

/// The files that each file imports.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let files = files();
    let target = |path: &str| {
        let inside = path.strip_prefix("gpu::")?;
        let mut parts: Vec<&str> = inside.split("::").collect();
        while !parts.is_empty() {
            let module = parts.join("::");
            if files.contains_key(&module) {
                return Some(module);
            }
            parts.pop();
        }
        None
    };
    let of = |(file, code): (&String, &String)| {
        let found = imports(file, code).into_iter();
        // What is not from the root may be a module of the file's own.
        let found = found.filter_map(|path| match path.starts_with("gpu::") {
            true => target(&path),
            false => target(&format!("gpu::{file}::{path}")),
        });
        (file.clone(), found.filter(|other| other != file).collect())
    };
    files.iter().map(of).collect()
}

fn layer(file: &str) -> usize {
    let top = file.split("::").next().unwrap();
    let found = LAYERS.iter().position(|layer| *layer == top);
    found.unwrap_or_else(|| panic!("{file}: a file without a layer"))
}

fn imports_go_down() {
    for (file, imported) in graph().iter().filter(|(file, _)| !file.is_empty()) {
        for other in imported {
            assert!(
                layer(other) <= layer(file),
                "{file} imports {other}, which is above it"
            );
        }
    }
}

fn no_files_import_each_other() {
    let mut graph = graph();
    // The root only hands names on.
    graph.remove("");
    // Files that import nothing that is left go, until a circle is all that is left.
    while !graph.is_empty() {
        let free: Vec<String> = graph
            .iter()
            .filter(|(_, imported)| !imported.iter().any(|other| graph.contains_key(other)))
            .map(|(file, _)| file.clone())
            .collect();
        assert!(!free.is_empty(), "these import each other: {graph:#?}");
        graph.retain(|file, _| !free.contains(file));
    }
}

fn the_scan_itself_sees_imports() {
    let code = "use super::a::{B, c::{D, E}};\nuse crate::gpu::x::Y;\nuse crate::{kernel, math};\n\
                use run::Z;";
    let found = imports("store::skins", code);
    let expected = [
        "gpu::store::a::B",
        "gpu::store::a::c::D",
        "gpu::store::a::c::E",
        "gpu::x::Y",
        "kernel",
        "math",
        "run::Z",
    ];
    assert_eq!(found, expected);
    let graph = graph();
    assert!(graph["crowd"].contains("pass::frame"), "{graph:?}");
    assert!(graph["pass::skin"].contains("plan::groups"), "{graph:?}");
    assert!(graph["store"].contains("store::skins"), "{graph:?}");
    assert!(graph["device::error"].is_empty(), "{graph:?}");
}
