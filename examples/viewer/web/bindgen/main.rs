//! Makes JavaScript for a page's wasm, as the command `wasm-bindgen` does, whose other programs take minutes to build.
//!
//! `bindgen FILE.wasm FOLDER` writes `viewer.js` and `viewer_bg.wasm`.

mod order;

use std::error::Error;
use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let [_, wasm, folder] = &std::env::args().collect::<Vec<_>>()[..] else {
        eprintln!("expected FILE.wasm FOLDER");
        std::process::exit(2);
    };
    if let Err(e) = make(wasm, Path::new(folder)) {
        eprintln!("{wasm}: {e:#}");
        std::process::exit(1);
    }
}

fn make(wasm: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name("viewer")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    // The page loads the wasm beside the JavaScript.
    bindgen.omit_default_module_path(false);
    let mut made = bindgen.web(true)?.generate_output()?;
    // The names of imports have hashes of 16 digits, which do not compress.
    let mut names = Vec::new();
    for (i, import) in made.wasm_mut().imports.iter_mut().enumerate() {
        let name = std::mem::replace(&mut import.name, format!("i{i}"));
        names.push((format!("{name}:"), format!("i{i}:")));
    }
    made.emit(folder)?;
    let js = folder.join("viewer.js");
    let mut text = std::fs::read_to_string(&js)?;
    for (name, short) in names {
        text = text.replace(&name, &short);
    }
    std::fs::write(js, text)?;
    let wasm = folder.join("viewer_bg.wasm");
    // Functions that call two equal ones become equal.
    let once = order::smaller(&std::fs::read(&wasm)?)?;
    std::fs::write(wasm, order::smaller(&once)?)?;
    Ok(())
}
