//! Linker arguments of an extension module: on macOS, Python's symbols are found when it is loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    pyo3_build_config::add_extension_module_link_args();
}
