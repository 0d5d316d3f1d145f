//! Makes JavaScript for a page's wasm, as the command `wasm-bindgen` does, whose other programs take minutes to build.
//!
//! `bindgen FILE.wasm FOLDER` writes `viewer.js` and `viewer_bg.wasm`.

mod order;

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let [_, wasm, folder] = &std::env::args().collect::<Vec<_>>()[..] else {
        eprintln!("expected FILE.wasm FOLDER");
        std::process::exit(2);
    };
    if let Err(e) = make(wasm, folder) {
        eprintln!("{wasm}: {e}");
        std::process::exit(1);
    }
}

fn make(wasm: &str, folder: &str) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name("viewer")
        .typescript(false)
        .remove_producers_section(true);
    // The page loads the wasm beside the JavaScript.
    bindgen.omit_default_module_path(false);
    let made = bindgen.web(true).and_then(|b| b.generate(folder));
    made.map_err(|e| format!("{e:#}"))?;
    let made = Path::new(folder).join("viewer_bg.wasm");
    let bytes = std::fs::read(&made).map_err(|e| e.to_string())?;
    let ordered = order::by_names(&bytes).map_err(|e| e.to_string())?;
    std::fs::write(made, ordered).map_err(|e| e.to_string())
}
