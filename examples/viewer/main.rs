//! The viewer's command line and its event loop.

use std::io::BufRead;
use std::process::ExitCode;

use clap::Parser;
use winit::event_loop::{EventLoop, EventLoopProxy};

use sinew_viewer::app::App;
use sinew_viewer::desk::Wake;
use sinew_viewer::loader::{Place, Task};
use sinew_viewer::script::Script;
use sinew_viewer::{args, messages};

fn main() -> ExitCode {
    quiet_headless_drivers();
    let args = args::Args::parse();
    messages::install();
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
            eprintln!("error: {}", messages::clean(&e));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &args::Args, script: Script) -> Result<(), String> {
    let event_loop = EventLoop::<Wake>::with_user_event()
        .build()
        .map_err(|e| format!("no window can be opened: {e}"))?;
    let mut app = App::new(event_loop.create_proxy(), args.size, script);
    if args.script.as_deref() == Some(std::path::Path::new("-")) {
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
    let thread = std::thread::Builder::new()
        .name("script".into())
        .spawn(read);
    thread
        .map(drop)
        .map_err(|e| format!("cannot start a thread: {e}"))
}

/// On a machine without Wayland Mesa's device-select layer complains on stderr, once per instance.
fn quiet_headless_drivers() {
    let unset = |name: &str| std::env::var_os(name).is_none();
    if unset("XDG_RUNTIME_DIR") && unset("WAYLAND_DISPLAY") && unset("NODEVICE_SELECT") {
        // SAFETY: this is the first thing the only thread of the process does.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
