//! Resolution on trees without a file.

use super::*;

/// Builds a tree from `(path, kind)`; parents by path.
fn tree(prims: &[(&str, PrimKind)]) -> PrimTree {
    let mut out = PrimTree::new();
    for (path, kind) in prims {
        let parent = path
            .rsplit_once('/')
            .filter(|(p, _)| !p.is_empty())
            .map(|(p, _)| p);
        out.push(TreePrim {
            path: (*path).to_owned(),
            parent: parent.and_then(|p| out.iter().position(|q: &TreePrim| q.path == p)),
            kind: *kind,
            has_type: true,
            has_api: true,
            skeleton: None,
            animation_source: None,
            authored: AuthoredBinding::default(),
        });
    }
    out
}

fn find(t: &PrimTree, path: &str) -> usize {
    t.iter().position(|p| p.path == path).unwrap()
}

fn influence(t: &mut PrimTree, path: &str) {
    let i = find(t, path);
    t[i].authored.joint_indices = true;
    t[i].authored.joint_weights = true;
}

fn to(t: &PrimTree, path: &str) -> Option<Target> {
    Some(Target::Prim(find(t, path)))
}

const MESH: PrimKind = PrimKind::Skinnable { has_points: true };

fn simple() -> PrimTree {
    let mut t = tree(&[
        ("/R", PrimKind::SkelRoot),
        ("/R/Skel", PrimKind::Skeleton),
        ("/R/Anim", PrimKind::SkelAnimation),
        ("/R/M", MESH),
    ]);
    t[0].skeleton = to(&t, "/R/Skel");
    t[1].animation_source = to(&t, "/R/Anim");
    influence(&mut t, "/R/M");
    t
}

#[test]
fn inherits_the_skeleton_and_finds_its_animation() {
    let r = resolve(&simple(), AnimSource::AtSkeleton);
    assert_eq!(r.bindings.len(), 1);
    assert_eq!(
        (r.bindings[0].skeleton, r.bindings[0].animation),
        (1, Some(2))
    );
    assert!(r.warnings.is_empty(), "{:?}", r.warnings);
}

#[test]
fn the_schema_texts_reading_looks_at_the_binding() {
    let r = resolve(&simple(), AnimSource::AtBinding);
    assert_eq!(r.bindings[0].animation, None);
    assert_eq!(r.warnings[0].code, "animation-source-ignored");
}

#[test]
fn nothing_counts_without_a_skel_root() {
    let mut t = simple();
    t[0].kind = PrimKind::Imageable;
    assert!(resolve(&t, AnimSource::AtSkeleton).bindings.is_empty());
}

#[test]
fn an_empty_target_blocks() {
    let mut t = simple();
    t[1].animation_source = Some(Target::Empty);
    t[0].animation_source = to(&t, "/R/Anim");
    assert_eq!(
        resolve(&t, AnimSource::AtSkeleton).bindings[0].animation,
        None
    );
    t[3].skeleton = Some(Target::Empty);
    let r = resolve(&t, AnimSource::AtSkeleton);
    assert!(r.bindings.is_empty());
}

#[test]
fn without_the_api_own_properties_are_overlooked() {
    let mut t = simple();
    t[3].has_api = false;
    let r = resolve(&t, AnimSource::AtSkeleton);
    assert!(r.bindings.is_empty());
    assert_eq!(r.warnings[0].code, "binding-api-missing");
}

#[test]
fn a_skel_root_below_what_prunes_stands_by_itself() {
    let mut t = tree(&[
        ("/O", PrimKind::SkelRoot),
        ("/O/Skel", PrimKind::Skeleton),
        ("/O/Instancer", PrimKind::Skinnable { has_points: false }),
        ("/O/Instancer/R", PrimKind::SkelRoot),
        ("/O/Instancer/R/Skel", PrimKind::Skeleton),
        ("/O/Instancer/R/M", MESH),
        ("/O/Instancer/R/Unbound", MESH),
    ]);
    t[0].skeleton = to(&t, "/O/Skel");
    t[5].skeleton = to(&t, "/O/Instancer/R/Skel");
    influence(&mut t, "/O/Instancer/R/M");
    influence(&mut t, "/O/Instancer/R/Unbound");
    let r = resolve(&t, AnimSource::AtSkeleton);
    assert_eq!(r.bindings.len(), 1, "nothing is inherited from /O");
    assert_eq!((r.bindings[0].skel_root, r.bindings[0].skeleton), (3, 4));
}

#[test]
fn non_imageable_prims_prune() {
    for kind in [PrimKind::Other, PrimKind::SkelAnimation] {
        let mut t = tree(&[
            ("/R", PrimKind::SkelRoot),
            ("/R/Skel", PrimKind::Skeleton),
            ("/R/Looks", kind),
            ("/R/Looks/M", MESH),
        ]);
        t[0].skeleton = to(&t, "/R/Skel");
        influence(&mut t, "/R/Looks/M");
        let r = resolve(&t, AnimSource::AtSkeleton);
        assert!(r.bindings.is_empty(), "{kind:?}");
    }
}
