//! Where log records and panics are written: stderr.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::messages::clean;

/// Whether the desktop's file dialogs have reported a failure since [`take_dialog_failure`] was called last.
static DIALOG_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether a file dialog could not be shown since the last call. The crate of the dialogs gives the same answer when a
/// person closes one; it only logs the difference.
pub fn take_dialog_failure() -> bool {
    DIALOG_FAILED.swap(false, Ordering::SeqCst)
}

/// Writes log records to stderr, cleaned.
struct Log(env_logger::Logger);

impl log::Log for Log {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        self.0.enabled(metadata) || is_dialog_error(metadata)
    }

    fn log(&self, record: &log::Record<'_>) {
        // Zenity is the last way to show a dialog.
        if is_dialog_error(record.metadata()) && record.args().to_string().contains("zenity") {
            DIALOG_FAILED.store(true, Ordering::SeqCst);
        }
        if self.0.matches(record) {
            self.0.log(record);
        }
    }

    fn flush(&self) {
        self.0.flush();
    }
}

fn is_dialog_error(metadata: &log::Metadata<'_>) -> bool {
    metadata.level() == log::Level::Error && metadata.target().starts_with("rfd")
}

/// Has log records and panics written without paths of the machine that built the viewer.
pub fn install() {
    let filter =
        "warn,wgpu_core=error,wgpu_hal=off,naga=error,egui_winit=error,egui_wgpu=error,rfd=off";
    let logger =
        env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(filter))
            .format(|out, record| {
                use std::io::Write;
                let style = out.default_level_style(record.level());
                let text = clean(&record.args().to_string());
                let level = record.level();
                writeln!(out, "[{style}{level}{style:#} {}] {text}", record.target())
            })
            .build();
    let most = logger.filter().max(log::LevelFilter::Error);
    if log::set_boxed_logger(Box::new(Log(logger))).is_ok() {
        log::set_max_level(most);
    }
    let default = Mutex::new(std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        // Whoever asks for a backtrace wants the paths.
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|v| v != "0")
            && let Ok(default) = default.lock()
        {
            return default(info);
        }
        let at = info
            .location()
            .map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
        let text = info.payload_as_str().unwrap_or("no message");
        eprintln!(
            "{}",
            clean(&format!("error: a bug of the viewer{at}: {text}"))
        );
    }));
}
