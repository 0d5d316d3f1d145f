//! The `sinew` command.

mod bake;
mod check;
mod completions;
mod convert;
mod devices;
mod fix;
mod humanoid;
mod inspect;
mod interrupt;
mod open;
mod progress;
mod render;
mod report;
mod retarget;

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
Exit codes: 0 done, 1 failed (an old OUT is left as it was, but see bake --clip-frames),
2 wrong usage, 130 interrupted (Ctrl-C or SIGTERM: likewise, and nothing half-written is left).
Warnings and progress go to stderr, results to stdout. RUST_LOG=info shows more.

Examples:
  sinew inspect hero.usdz
  sinew bake hero.usdz -o hero_baked.usdc
  sinew COMMAND --help";

#[derive(Subcommand)]
enum Command {
    /// Bake skinning into points and normals, as Pixar's bake does.
    Bake(bake::Args),
    /// Write a glTF, VRM, BVH or FBX file as UsdSkel.
    Convert(convert::Args),
    /// Show what a file holds: SkelRoots, skeletons, bindings, influences, shapes, times, warnings.
    Inspect(inspect::Args),
    /// Tell everything that is wrong or doubtful in files, with stable codes.
    Check(check::Args),
    /// Mend what can be mended without guessing, into another file.
    Fix(fix::Args),
    /// Put a humanoid clip (EXT_skeleton_humanoid, .vrma) onto a humanoid model, or describe a model.
    Humanoid(humanoid::Args),
    /// Move a clip from one character to another.
    Retarget(Box<retarget::Args>),
    /// Draw pictures of a character: one, the frames of a clip, a turntable, a contact sheet.
    Render(Box<render::Args>),
    /// List adapters and the CPU backend, with what --backend auto would take.
    Devices(devices::Args),
    /// Print completions for a shell.
    Completions(completions::Args),
}

/// Layers nest and parsers recurse: more stack than a main thread is given everywhere.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    quiet_headless_drivers();
    keep_freed_memory();
    let cli = Cli::parse();
    // wgpu's own warnings are about drivers, not about the user's file.
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
            // The panic has printed itself.
            Err(_) => return ExitCode::from(101),
        },
        Err(e) => Err(sinew::Error::Request(format!("cannot start a thread: {e}"))),
    };
    match result {
        Ok(code) => code,
        Err(e) => {
            report::print_error(&e);
            ExitCode::FAILURE
        }
    }
}

/// Files are read into many large arrays that live for a moment. glibc hands each back to the kernel, which clears the pages for
/// the next one; for `inspect` of 1 MB that is a third of the time.
fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (option, bytes) in [
        (libc::M_MMAP_THRESHOLD, 32 << 20),
        (libc::M_TRIM_THRESHOLD, 64 << 20),
        (libc::M_TOP_PAD, 4 << 20),
    ] {
        // SAFETY: it changes how later allocations are served, and nothing that is allocated.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// On a machine without a display Mesa's device-select layer complains on stderr, once per
/// instance, that there is no Wayland. Nothing is selected there anyway, so switch the layer off.
fn quiet_headless_drivers() {
    let unset = |name: &str| std::env::var_os(name).is_none();
    if unset("XDG_RUNTIME_DIR") && unset("WAYLAND_DISPLAY") && unset("NODEVICE_SELECT") {
        // SAFETY: this is the first thing the only thread of the process does.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
