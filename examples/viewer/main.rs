fn main() -> std::process::ExitCode {
    sinew_viewer::platform::main()
}
