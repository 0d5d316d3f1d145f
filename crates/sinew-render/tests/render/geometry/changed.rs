//! Stages with words and numbers changed at random, and all that is drawn of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::made;
use super::sound::holds_together;
use common::processor;
use common::rng::Rng;

const NUMBERS: &str =
    "-1 0 1 2 3 7 1000000 2147483647 -2147483648 4294967296 nan inf -inf 1e-40 1e30";

/// Stretches of letters, or of digits, and what stands between.
fn words(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        '0'..='9' | '.' | '-' => 1,
        c if c.is_alphabetic() || c == '_' => 2,
        _ => 0,
    };
    let mut out: Vec<String> = Vec::new();
    let mut last = 0;
    for c in text.chars() {
        if kind(c) == 0 || kind(c) != last || out.is_empty() {
            out.push(String::new());
        }
        last = kind(c);
        if let Some(word) = out.last_mut() {
            word.push(c);
        }
    }
    out
}

/// Whatever comes of it, nothing panics, nothing takes long, and what is drawn holds together.
pub fn nothing_panics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changed.usda");
    let text = std::fs::read_to_string(made()).unwrap();
    let original = words(&text);
    let is_number = |w: &String| w.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let is_word = |w: &String| w.starts_with(char::is_alphabetic);
    let numbers: Vec<usize> = (0..original.len())
        .filter(|i| *i > 8 && is_number(&original[*i]))
        .collect();
    let names: Vec<usize> = (0..original.len())
        .filter(|i| *i > 8 && is_word(&original[*i]))
        .collect();
    let others: Vec<&str> = NUMBERS.split(' ').collect();
    let (mut read, mut drawn, mut broken) = (0, 0, 0);
    for seed in 0..600 {
        let rng = &mut Rng::new(seed);
        let mut changed = original.clone();
        for _ in 0..1 + rng.below(5) {
            let number = rng.chance(0.7);
            let at = match number {
                true => numbers[rng.below(numbers.len())],
                false => names[rng.below(names.len())],
            };
            changed[at] = match number {
                true => others[rng.below(others.len())].to_owned(),
                false => original[names[rng.below(names.len())]].clone(),
            };
        }
        std::fs::write(&file, changed.concat()).unwrap();
        let work = AssertUnwindSafe(|| {
            let opened = sinew_io::open(&file).ok()?;
            let scene = opened.scene(Default::default()).ok()?;
            let geometry = opened.geometry(&scene).ok()?;
            holds_together(&format!("seed {seed}"), &scene, &geometry);
            Some((geometry.meshes.len(), geometry.errors.len()))
        });
        let (result, took) = processor::spent(|| catch_unwind(work));
        let result = result.unwrap_or_else(|_| panic!("seed {seed} panics"));
        assert!(took < Duration::from_secs(15), "seed {seed}: {took:?}");
        if let Some((meshes, errors)) = result {
            read += 1;
            drawn += meshes;
            broken += errors;
        }
    }
    println!("{read} stages are read, with {drawn} meshes and {broken} that are broken");
    assert!(
        read > 200 && drawn > 1000 && broken > 250,
        "{read} {drawn} {broken}"
    );
}
