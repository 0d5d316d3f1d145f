//! Makes JavaScript for a page's wasm, as the command `wasm-bindgen` does, whose other programs take minutes to build.
//!
//! `bindgen FILE.wasm FOLDER` writes `viewer.js` and `viewer_bg.wasm`.

use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let [_, wasm, folder] = &std::env::args().collect::<Vec<_>>()[..] else {
        eprintln!("expected FILE.wasm FOLDER");
        std::process::exit(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name("viewer")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    // The page loads the wasm beside the JavaScript.
    bindgen.omit_default_module_path(false);
    let made = bindgen.web(true).and_then(|b| b.generate(folder));
    if let Err(e) = made {
        eprintln!("{wasm}: {e:#}");
        std::process::exit(1);
    }
}
