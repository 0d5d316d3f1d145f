//! The `sinew` command.

mod bake;
mod check;
mod completions;
mod convert;
mod devices;
mod error;
mod fix;
mod humanoid;
mod inspect;
mod interrupt;
mod open;
mod progress;
mod render;
mod report;
mod retarget;

use crate::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// GPU skinning for UsdSkel characters.
#[derive(Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted (Ctrl-C or SIGTERM).
If a command fails or is interrupted, an existing OUT keeps its content (but see
bake --clip-frames), and no half-written file remains.
Warnings and progress go to stderr, results to stdout. RUST_LOG=info shows more.

Examples:
  sinew inspect hero.usdz
  sinew bake hero.usdz -o hero_baked.usdc
  sinew COMMAND --help";

#[derive(Subcommand)]
enum Command {
    /// Bake skinning and blend shapes into points and normals.
    Bake(bake::Args),
    /// Convert a glTF, VRM, BVH or FBX file to UsdSkel.
    Convert(convert::Args),
    /// Show the SkelRoots, skeletons, bindings, influences, shapes, times and warnings of a file.
    Inspect(inspect::Args),
    /// Check files for errors and doubtful data; each finding has a stable code and advice.
    Check(check::Args),
    /// Fix the findings of a check that need no guess, and write another file.
    Fix(fix::Args),
    /// Apply a humanoid clip (EXT_skeleton_humanoid, .vrma) to a humanoid model, or describe a
    /// model.
    Humanoid(humanoid::Args),
    /// Move a clip from one character to another.
    Retarget(Box<retarget::Args>),
    /// Draw a character: one picture, the frames of a clip, a turntable or a contact sheet.
    Render(Box<render::Args>),
    /// List the GPU adapters and the CPU backend, and mark the one that --backend auto takes.
    Devices(devices::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
}

/// Bytes of stack for the command's thread. Layers nest and parsers recurse, so some main threads
/// have too little.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    quiet_headless_drivers();
    keep_freed_memory();
    let cli = Cli::parse();
    // Warnings of wgpu are about drivers, not about the user's file.
    let default_filter = "warn,wgpu_core=error,wgpu_hal=off,naga=error,openusd=error";
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(default_filter))
        .format(|out, record| {
            let (level, target) = (record.level(), record.target());
            let text = record.args().to_string();
            writeln!(out, "[{level:<5} {target}] {}", report::plain(&text))
        })
        .init();
    interrupt::handle();
    let work = move || match cli.command {
        Command::Bake(args) => bake::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Convert(args) => convert::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Inspect(args) => inspect::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check::run(&args),
        Command::Fix(args) => fix::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Humanoid(args) => humanoid::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Retarget(args) => retarget::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Render(args) => render::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Devices(args) => devices::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => completions::run(&args).map(|()| ExitCode::SUCCESS),
    };
    let result = match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        Ok(thread) => match thread.join() {
            Ok(result) => result,
            // The panic hook has printed the message.
            Err(_) => return ExitCode::from(101),
        },
        Err(e) => Err(Error::Message(format!("cannot start a thread: {e}"))),
    };
    match result {
        Ok(code) => code,
        Err(e) => {
            report::print_error(&e);
            ExitCode::FAILURE
        }
    }
}

/// Tells glibc to keep freed memory for later allocations.
///
/// Files are read into many large arrays that live for a moment. By default glibc returns each to
/// the kernel, which then clears the pages for the next one. For `inspect` of a file of 1 MB that
/// takes a third of the time.
fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (option, bytes) in [
        (libc::M_MMAP_THRESHOLD, 32 << 20),
        (libc::M_TRIM_THRESHOLD, 64 << 20),
        (libc::M_TOP_PAD, 4 << 20),
    ] {
        // SAFETY: mallopt changes how later allocations are served; it does not touch existing
        // ones.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// Switches Mesa's device-select layer off on a machine without a display. There the layer selects
/// nothing, and it complains on stderr, once per instance, that there is no Wayland.
fn quiet_headless_drivers() {
    let unset = |name: &str| std::env::var_os(name).is_none();
    if unset("XDG_RUNTIME_DIR") && unset("WAYLAND_DISPLAY") && unset("NODEVICE_SELECT") {
        // SAFETY: the process has one thread, and this is the first thing that it does.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
