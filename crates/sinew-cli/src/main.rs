//! The program `sinew`: [`sinew_cli::main`] does everything.

fn main() -> std::process::ExitCode {
    sinew_cli::main()
}
