//! What USD files can repeat or nest costs in proportion: `growth.txt`.

#[path = "../../../tests/common/growth.rs"]
mod growth;

use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;

use growth::{Files, Growth};
use sinew_layer::{Layer, usda, usdc};
use sinew_stage::compose::Limits;
use sinew_stage::flatten::{Instancing, flatten};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Predicate, Stage, StageOptions};

/// Reads the texts, writes them as crates, opens the stage that these make, reads all that it has, flattens it, and writes
/// that as text and as a crate.
fn exercise(files: &Files, limits: Limits) -> Result<(), Box<dyn std::error::Error>> {
    let mut crates = Vec::new();
    for (name, text) in files {
        let text = format!("#usda 1.4\n{text}");
        let layer = usda::parse(name, text.as_bytes())?;
        let bytes = usdc::write_layer(&layer, Cursor::new(Vec::new()))?;
        crates.push((name, bytes.into_inner()));
    }
    let resolver = FileResolver::of(sinew_layer::Files::in_memory(crates));
    let mut options = StageOptions::new(Arc::new(resolver), "root");
    options.limits = limits;
    let stage = Stage::open(options)?;
    for prim in stage.traverse(Predicate::ALL_PROXIES) {
        black_box(prim.variant_sets());
        for name in prim.property_names() {
            black_box(prim.attribute(&name).get(None)?);
            black_box(prim.attribute(&name).samples()?);
            black_box(prim.attribute(&name).connections());
            black_box(prim.relationship(&name).forwarded_targets());
        }
    }
    let all = Instancing {
        homes: Vec::new(),
        home_of: &|_| None,
    };
    let flat: Layer = flatten(&stage, &all)?.layer;
    usda::write(&flat, &mut Vec::new())?;
    usdc::write_layer(&flat, Cursor::new(Vec::new()))?;
    Ok(())
}

#[test]
fn time_and_memory_grow_with_what_files_hold() {
    // To find that files need too much takes no more than 1 GiB: an eighth, if the limits are an eighth, which saves time.
    let mut eighth = Limits::default();
    let of_all = [
        &mut eighth.nodes,
        &mut eighth.memory,
        &mut eighth.properties,
    ];
    for limit in of_all {
        *limit /= 8;
    }
    eighth.flattened = 5_000;
    let growth = Growth {
        table: include_str!("growth.txt"),
        exercise: &|files, refused| match refused {
            true => exercise(files, eighth),
            false => exercise(files, Limits::default()),
        },
        most_refused: 1 << 27,
    };
    growth.check();
}
