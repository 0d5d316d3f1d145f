//! Flattened stages, as rows of `flatten.txt`. crates/sinew-cli/tests/survive compares the flattening of
//! everything that USD has with usd-core's Flatten.
//!
//! A row begins with `## NAME`. `== NAME` begins the text of a layer; the layer `root` is opened. EXT
//! stands for the extension of the files. The text below `== flattened` is expected of text and of crate
//! files. With `share HOME PRIM PRIM` before the layers, these instances share the prim HOME for what is
//! below them.

use std::io::Cursor;
use std::sync::Arc;

use libtest_mimic::Trial;
use sinew_layer::{Path, usda, usdc};
use sinew_stage::flatten::{Home, Instancing, flatten};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Stage, StageOptions};

use super::Done;

pub fn trials() -> impl Iterator<Item = Trial> {
    let rows = include_str!("flatten.txt").split("\n## ").skip(1);
    rows.map(|row| {
        let (name, rest) = row.split_once('\n').unwrap();
        Trial::test(format!("flatten::{name}"), move || {
            check(rest, "usda")?;
            check(rest, "usdc")
        })
    })
}

fn check(row: &'static str, extension: &str) -> Done {
    let mut parts = row.split("== ");
    let sharing = parts
        .next()
        .and_then(|head| head.trim().strip_prefix("share "));
    let shared: Vec<Path> = sharing
        .map_or("", |paths| paths)
        .split_whitespace()
        .map(Path::parse)
        .collect::<Result<_, _>>()?;
    let homes = match &shared[..] {
        [home, first, ..] => vec![Home {
            path: home.clone(),
            instance: first.clone(),
        }],
        _ => Vec::new(),
    };
    let instancing = Instancing {
        homes,
        home_of: &|prim| {
            shared[1.min(shared.len())..]
                .contains(prim)
                .then(|| shared[0].clone())
        },
    };
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    for part in parts {
        let (name, text) = part.split_once('\n').ok_or("a name and a text")?;
        if name == "flattened" {
            let root = folder.join(format!("root.{extension}"));
            let resolver = Arc::new(FileResolver::new(Vec::new()));
            let stage = Stage::open(StageOptions::new(resolver, root.to_string_lossy()))?;
            let mut found = Vec::new();
            usda::write(&flatten(&stage, &instancing)?.layer, &mut found)?;
            let found = String::from_utf8(found)?;
            let found = found.replace(folder.to_str().ok_or("a path")?, "FOLDER");
            if found.trim() != text.trim() {
                return Err(format!("{extension}: expected\n{text}\nfound\n{found}").into());
            }
            return Ok(());
        }
        let text = format!("#usda 1.4\n{}", text.replace("EXT", extension));
        let bytes = match extension {
            "usda" => text.into_bytes(),
            _ => {
                let layer = usda::parse(name, text.as_bytes())?;
                usdc::write_layer(&layer, Cursor::new(Vec::new()))?.into_inner()
            }
        };
        std::fs::write(folder.join(format!("{name}.{extension}")), bytes)?;
    }
    Err("nothing is expected".into())
}
