//! Each kind of arc, and what ends circles and bombs.

use std::fmt::Write;
use std::sync::Arc;

use sinew_layer::Files;

use super::{Composer, Options, PrimIndex};
use crate::error::Error;
use crate::resolver::FileResolver;

fn resolver(files: &[(&str, &str)]) -> FileResolver {
    let text = |text: &str| format!("#usda 1.0\n{text}\n").into_bytes();
    FileResolver::of(Files::in_memory(
        files.iter().map(|(name, t)| (name, text(t))),
    ))
}

fn composer(files: &[(&str, &str)]) -> Composer {
    let resolver = resolver(files);
    Composer::new(Arc::new(resolver), files[0].0, None, Options::default()).unwrap()
}

fn prim(composer: &Composer, path: &str) -> PrimIndex {
    let names = path.split('/').filter(|n| !n.is_empty());
    names.fold(composer.root(), |parent, name| {
        composer.child(&parent, name).unwrap()
    })
}

fn sites(prim: &PrimIndex) -> Vec<String> {
    let site = |o: super::Opinion<'_>| format!("{}{}", o.layer.identifier, o.path);
    prim.opinions().map(site).collect()
}

/// A row is a name, files, and what is expected: `/PRIM: SITES`, the contributing specs of a prim, and `codes:`, the codes
/// of all diagnostics.
#[test]
fn sites_and_diagnostics_are_those_of_the_rows() {
    for row in include_str!("stages.txt").split("\n## ").skip(1) {
        let (files, expected) = row.split_once("== expected\n").unwrap();
        let files = files.split("== ").skip(1);
        let files: Vec<_> = files.filter_map(|file| file.split_once('\n')).collect();
        let composer = composer(&files);
        let mut codes = "";
        for line in expected.lines().filter(|line| !line.is_empty()) {
            let (key, words) = line.split_once(": ").unwrap();
            match key {
                "codes" => codes = words,
                path => assert_eq!(sites(&prim(&composer, path)).join(" "), words, "{row}"),
            }
        }
        let found: Vec<_> = composer.diagnostics().iter().map(|d| d.code).collect();
        assert_eq!(found.join(" "), codes, "{row}");
    }
}

#[test]
fn relocates_and_offsets_follow_their_arcs() {
    let composer = composer(&[
        (
            "a",
            "(\n relocates = { </A/X>: </A/Y> }\n subLayers = [@s@ (offset = 2)]\n)\ndef \"A\" (references = @b@</B> (scale = 2)) {}",
        ),
        ("s", "over \"A\" {}"),
        ("b", "def \"B\" { def \"X\" {}\n }"),
    ]);
    let a = prim(&composer, "/A");
    assert_eq!(a.child_names(), ["Y"]);
    let offsets: Vec<_> = a.opinions().map(|o| a.offset(&o)).collect();
    assert_eq!(offsets[1].offset, 2.0);
    assert_eq!(offsets[2].scale, 2.0);
    assert_eq!(sites(&prim(&composer, "/A/Y")), ["b/B/X"]);
}

#[test]
fn instances_share_all_but_local_opinions() {
    let composer = composer(&[
        (
            "a",
            "def \"A\" (references = @b@</B>\n instanceable = true) { over \"X\" {}\n }
            def \"C\" (references = @b@</B>\n instanceable = true) {}",
        ),
        (
            "b",
            "def \"B\" { def \"X\" (inherits = </B/Base>) {}\n class \"Base\" {}\n }",
        ),
    ]);
    let (a, c) = (prim(&composer, "/A"), prim(&composer, "/C"));
    assert!(a.is_instanceable());
    assert_eq!(a.instance_key(), c.instance_key());
    assert_eq!(sites(&prim(&composer, "/A/X")), ["b/B/X", "b/B/Base"]);
}

#[test]
fn sublayers_of_the_session_owner_come_first() {
    let layers = [
        (
            "a",
            "(\n hasOwnedSubLayers = true\n subLayers = [@b@, @c@]\n)\ndef \"A\" {}",
        ),
        ("b", "(\n owner = \"ann\"\n)\nover \"A\" {}"),
        ("c", "(\n owner = \"bob\"\n)\nover \"A\" {}"),
    ];
    let order = |owner: &str| {
        let resolver = resolver(&layers);
        let session = format!("#usda 1.0\n(\n sessionOwner = \"{owner}\"\n)\n");
        let session = sinew_layer::usda::parse("session", session.as_bytes()).unwrap();
        let composer = Composer::new(
            Arc::new(resolver),
            "a",
            Some(Arc::new(session)),
            Options::default(),
        );
        sites(&prim(&composer.unwrap(), "/A"))
    };
    assert_eq!(order("ann"), ["a/A", "b/A", "c/A"]);
    assert_eq!(order("bob"), ["a/A", "c/A", "b/A"]);
}

#[test]
fn a_reference_bomb_is_too_large() {
    let mut text = String::new();
    for level in 0..10 {
        let targets: Vec<_> = (0..10).map(|i| format!("</M{level}_{i}>")).collect();
        let _ = writeln!(
            text,
            "def \"L{level}\" (references = [{}]) {{}}",
            targets.join(", ")
        );
        for i in 0..10 {
            let next = level + 1;
            let _ = writeln!(text, "def \"M{level}_{i}\" (references = </L{next}>) {{}}");
        }
    }
    let composer = composer(&[("a", &text)]);
    let error = composer.child(&composer.root(), "L0").unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}
