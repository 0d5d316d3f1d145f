//! What `check` finds and `fix` mends, by the library; `sinew check` and `sinew fix` are tested with the command.

mod checks;
mod damages;
mod fixes;
mod table;

fn main() {
    common::trials::run([
        ("check", checks::trials()),
        ("check_fix", fixes::trials()),
        ("damages", damages::trials()),
        ("stages", table::trials()),
    ])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
