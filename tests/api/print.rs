//! Prints the public items of a crate, one a line, from the JSON that rustdoc writes of it: `api
//! target/doc/sinew.json`. Traits that every type has, and derived ones, are left out.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args()
        .nth(1)
        .ok_or("expected a file, found none")?;
    let api = public_api::Builder::from_rustdoc_json(file)
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .build()?;
    for item in api.items() {
        println!("{item}");
    }
    Ok(())
}
