//! What written stages hold: no bindings without effect.

use std::path::PathBuf;

use libtest_mimic::Failed;
use sinew_layer::Value;

use crate::bench::*;
use common::usd;

/// Bindings without effect are taken away, and usd-core's validators agree.
pub fn a_bake_needs_no_bindings(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let bake = |name: &str, words: &str| -> PathBuf {
        let out = bench.path(name);
        run(&hatchling(), &out, &format!("frames 1:4 {words}"));
        out
    };
    let mut files = Vec::new();
    for (name, words) in [
        ("a.usda", ""),
        ("a.usdc", ""),
        ("a.usdz", ""),
        ("clips.usdc", "clip-frames 2"),
    ] {
        let out = bake(name, words);
        let stage = usd::open(&out);
        for prim in ["/Hatchling", "/Hatchling/Geo/Body", "/Hatchling/Rig/Skel"] {
            let prim = usd::prim(&stage, prim);
            assert!(!prim.has_api("SkelBindingAPI"), "{name}");
            let names = prim.authored_property_names();
            let left = names.iter().find(|n| n.as_str().contains("skel:"));
            assert_eq!(left.map(|n| n.as_str()), None, "{name}");
        }
        // The rig itself stays.
        assert_eq!(usd::type_name(&stage, "/Hatchling/Rig/Skel"), "Skeleton");
        files.push(out);
    }
    let kept = usd::open(&bake("kept.usda", "keep-bindings"));
    let body = usd::prim(&kept, "/Hatchling/Geo/Body");
    assert!(body.has_api("SkelBindingAPI"));
    let indices = usd::value(
        &kept,
        "/Hatchling/Geo/Body",
        "primvars:skel:jointIndices",
        None,
    );
    assert!(matches!(indices, Some(Value::IntArray(_))));
    let found = python(with, "validate.py", files.iter().map(AsRef::as_ref))?;
    assert_eq!(found, "");
    Ok(())
}
