//! The table of codes, of stages and of other files.

use std::collections::BTreeSet;

use common::command::{sinew, stdout};
use sinew_check::{CODES, FILE_CODES, Severity, all_codes};

/// The codes of EXT_skeleton_humanoid, word for word, and the one for the schema's layout.
const ERRORS: &str = "BONE_NAME_MISSING BONE_NAME_UNKNOWN PATH DUPLICATE_TARGET SAMPLER_SHARED \
    NOT_IN_EXTENSIONS_USED SKELETONS_EMPTY ROOT_MISSING ROOT_RANGE ROOT_NOT_ANCESTOR \
    BONES_MISSING NODE_RANGE NODE_REUSED NOT_A_JOINT HIERARCHY";
const WARNINGS: &str = "PATH_NOT_ROTATION NODE_AND_EXT REF_AXES REF_Y_TO_CHILD REF_TPOSE_ARM \
    REF_TPOSE_LEG REF_FOOT REF_HAND REF_FINGER REF_THUMB REF_UP REF_FACING ONE_SKELETON_LAYOUT";

#[test]
fn codes_are_unique_listed_and_explained() {
    let codes: BTreeSet<&str> = all_codes().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len() + FILE_CODES.len());
    let listed = stdout(&sinew(&["check", "--codes"]));
    for c in all_codes() {
        let is_there = listed.contains(c.code) && listed.contains(c.meaning);
        assert!(is_there && !c.advice.is_empty(), "{}", c.code);
    }
    let mut capitals = BTreeSet::new();
    for c in FILE_CODES {
        assert!(!c.fixable, "{}: sinew fix mends stages", c.code);
        let is = |plain: fn(&char) -> bool, mark| c.code.chars().all(|ch| plain(&ch) || ch == mark);
        if is(char::is_ascii_uppercase, '_') {
            capitals.insert((c.code, c.severity));
        } else {
            assert!(is(char::is_ascii_lowercase, '-'), "{}", c.code);
        }
    }
    let of = |codes: &'static str, severity: Severity| {
        codes.split_whitespace().map(move |code| (code, severity))
    };
    let expected = of(ERRORS, Severity::Error).chain(of(WARNINGS, Severity::Warning));
    assert_eq!(capitals, expected.collect());
}
