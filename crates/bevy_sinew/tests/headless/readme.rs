//! The example that the README shows has at most fifteen lines. Building the tests builds it.

const EXAMPLE: &str = include_str!("../../examples/character.rs");

#[test]
fn a_character_takes_fifteen_lines() {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = EXAMPLE.lines().filter(is_code);
    assert!(lines.clone().count() <= 15, "{} lines", lines.count());
    assert!(EXAMPLE.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    assert!(readme.contains(EXAMPLE.trim()));
}
