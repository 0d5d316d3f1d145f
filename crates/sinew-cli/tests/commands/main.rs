//! The command as people and scripts meet it.

mod arrays;
mod codes;
mod ends;
mod fbx;
mod hints;
// What a process takes of the processors is read as Linux tells it.
#[cfg(target_os = "linux")]
mod hostile;
mod manners;
mod types;

/// Whole conversations: tests/cmd has what the command says, word for word.
#[test]
fn what_is_said() {
    let cases = trycmd::TestCases::new();
    let command = std::path::Path::new(env!("CARGO_BIN_EXE_sinew"));
    cases.register_bin("sinew", command);
    cases.case("tests/cmd/*.trycmd");
}
