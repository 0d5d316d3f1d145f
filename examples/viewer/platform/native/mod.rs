//! The desktop: a command line, threads, files on disk.

mod args;
mod dialogs;
mod stderr;
mod watch;

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use egui::FontDefinitions;
use sinew::wgpu;
use sinew_io::{Files, output};
use winit::dpi::PhysicalSize;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::WindowAttributes;

use self::args::Args;
use crate::app::App;
use crate::desk::Wake;
use crate::loader::{Place, Task};
use crate::messages::clean;
use crate::script::Script;
pub use dialogs::{ask, without_dialog};
pub use watch::FileWatch;

/// How the event loop goes on while something moves: the window's next picture is waited for when it is shown.
pub const PLAYING: ControlFlow = ControlFlow::Poll;

/// Why scripts cannot take a picture of the window, if they cannot.
pub const NO_SHOT: Option<&str> = None;

/// What to say where no adapter can draw into the window.
pub const NO_ADAPTER: &str =
    "no graphics adapter can draw into this window (a software one is enough: mesa-vulkan-drivers)";

/// Runs the viewer until its window is closed.
pub fn main() -> ExitCode {
    quiet_headless_drivers();
    let args = Args::parse();
    stderr::install();
    let script = match args.steps() {
        Ok(script) => script,
        Err(e) => {
            eprintln!("error: {e}");
            return ExitCode::from(2);
        }
    };
    match run(&args, script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {}", clean(&e));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args, script: Script) -> Result<(), String> {
    let event_loop = EventLoop::<Wake>::with_user_event()
        .build()
        .map_err(|e| format!("no window can be opened: {e}"))?;
    let mut app = App::new(event_loop.create_proxy(), args.size, script);
    if args.script.as_deref() == Some(Path::new("-")) {
        read_stdin(event_loop.create_proxy())?;
    }
    if let Some(file) = &args.file {
        app.desk
            .load(Task::open(file.clone(), args.clip.clone()), Place::Main);
    }
    if let Some(file) = &args.beside {
        app.desk.load(Task::open(file.clone(), None), Place::Beside);
    }
    event_loop.run_app(&mut app).map_err(|e| e.to_string())?;
    match (app.failed, app.script.failures) {
        (Some(e), _) => Err(e),
        (None, 0) if args.screenshot.is_empty() => Ok(()),
        // Pictures were asked for, of a file that cannot be shown.
        (None, 0) => app.desk.state.error.map_or(Ok(()), Err),
        (None, n) => Err(format!("{n} of the script's steps failed")),
    }
}

/// Lines of a script, as they come.
fn read_stdin(proxy: EventLoopProxy<Wake>) -> Result<(), String> {
    let read = move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if proxy.send_event(Wake::Line(line)).is_err() {
                return;
            }
        }
        // The window may be closed by now.
        let _ = proxy.send_event(Wake::NoMoreLines);
    };
    spawn("script", read)
}

/// On a machine without Wayland Mesa's device-select layer complains on stderr, once per instance.
fn quiet_headless_drivers() {
    let unset = |name: &str| std::env::var_os(name).is_none();
    if unset("XDG_RUNTIME_DIR") && unset("WAYLAND_DISPLAY") && unset("NODEVICE_SELECT") {
        // SAFETY: this is the first thing the only thread of the process does.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// The window as it is made, of this width and height in pixels.
pub fn window(size: (u32, u32)) -> Result<WindowAttributes, String> {
    let size = PhysicalSize::new(size.0, size.1);
    Ok(WindowAttributes::default().with_inner_size(size))
}

/// Ends the viewer, because it cannot go on if there is a reason.
pub fn close(event_loop: &ActiveEventLoop, _failed: Option<&str>) {
    event_loop.exit();
}

/// The fonts of the panels.
pub fn fonts() -> FontDefinitions {
    FontDefinitions::default()
}

/// Where files are.
pub fn files() -> Files {
    Files::on_disk()
}

/// Does some work while the window stays alive: on a thread of this name.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = std::thread::Builder::new().name(name.into());
    let started = thread.spawn(work).map(drop);
    started.map_err(|e| format!("cannot start a thread: {e}"))
}

/// Waits for a future, and for the device that it waits for, if a thread can: gives its value, or else has `later` take it.
pub fn finish<T>(
    device: Option<&wgpu::Device>,
    future: impl Future<Output = Result<T, String>>,
    _later: impl FnOnce(Result<T, String>) + 'static,
) -> Option<Result<T, String>> {
    Some(match device {
        Some(device) => match sinew::gpu::wait_for(device, future) {
            Ok(out) => out,
            Err(e) => Err(e.to_string()),
        },
        None => pollster::block_on(future),
    })
}

/// Does some work that may wait for a device, while the window stays alive.
pub fn spawn_waiting(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    spawn(name, work)
}

/// Lets the window do what it has to, where it has no thread of its own.
pub fn turn() {}

/// The system and the processor.
pub fn system() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The name of an adapter whose driver gives none.
pub fn adapter_name() -> String {
    String::new()
}

/// Writes a file.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = output::replace(path, |file| {
        file.write_all(bytes).map_err(|e| e.to_string())
    });
    written.map_err(|e| e.to_string())
}

/// Takes what egui copies: winit's clipboard has it already.
pub fn copy(_commands: &[egui::OutputCommand]) {}

/// Answers a step of a script.
pub fn answer(report: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever reads may have hung up.
    let _ = writeln!(out, "{report}").and_then(|()| out.flush());
}
