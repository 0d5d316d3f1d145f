//! What the page tells: records and answers of scripts in the browser's console, a failure over the canvas.

use log::{Level, LevelFilter, Metadata, Record};
use web_sys::console;

use crate::messages::clean;

struct Console;

impl log::Log for Console {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let text = clean(&format!("{}: {}", record.target(), record.args()));
            match record.level() {
                Level::Error => console::error_1(&text.into()),
                _ => console::warn_1(&text.into()),
            }
        }
    }

    fn flush(&self) {}
}

/// Has log records and panics told.
pub fn install() {
    if log::set_logger(&Console).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
    std::panic::set_hook(Box::new(|info| {
        let at = info.location();
        let at = at.map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
        let text = info.payload_as_str().unwrap_or("no message");
        let text = clean(&format!("a bug of the viewer{at}: {text}"));
        console::error_1(&text.as_str().into());
        tell(&format!("{text}\nReload the page to go on."));
    }));
}

/// Shows why the viewer cannot go on, in the page.
pub fn tell(text: &str) {
    match element("told") {
        Ok(element) => element.set_text_content(Some(text)),
        Err(e) => console::error_1(&format!("{e}: {text}").into()),
    }
}

/// An element of the page.
pub fn element(id: &str) -> Result<web_sys::Element, String> {
    let document = web_sys::window().and_then(|w| w.document());
    let found = document.and_then(|d| d.get_element_by_id(id));
    found.ok_or_else(|| format!("the page has no element #{id}"))
}

/// Answers a step of a script.
pub fn answer(report: &str) {
    console::log_1(&report.into());
}
