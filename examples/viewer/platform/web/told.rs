//! What the page tells: records and answers of scripts in the browser's console, a failure over the canvas.

use log::{Level, LevelFilter, Metadata, Record};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
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
        tell(&text);
    }));
}

/// Shows why the viewer cannot go on, in the page. The first reason stays: what fails after it follows from it.
pub fn tell(text: &str) {
    match element("told") {
        Ok(element) if element.has_child_nodes() => {}
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

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_namespace = navigator, js_name = userAgent)]
    static BROWSER: String;

    #[wasm_bindgen(catch, js_namespace = ["navigator", "clipboard"], js_name = writeText)]
    fn write_text(text: &str) -> Result<js_sys::Promise, JsValue>;
}

/// The browser, as it describes itself.
pub fn system() -> String {
    BROWSER.with(String::clone)
}

/// The name of the adapter: its vendor, architecture and the like, which wgpu leaves out
/// (<https://github.com/gfx-rs/wgpu/issues/8819>). The page's HTML asks for them.
pub fn adapter_name() -> String {
    let name = js_sys::Reflect::get(&js_sys::global(), &"adapterName".into());
    name.ok().and_then(|n| n.as_string()).unwrap_or_default()
}

/// Puts what egui copies into the browser's clipboard: egui's own is the page's alone.
pub fn copy(commands: &[egui::OutputCommand]) {
    for command in commands {
        if let egui::OutputCommand::CopyText(text) = command
            && let Ok(copied) = write_text(text)
        {
            wasm_bindgen_futures::spawn_local(async move {
                if JsFuture::from(copied).await.is_err() {
                    log::warn!("this browser does not let the page copy");
                }
            });
        }
    }
}

/// Answers a step of a script.
pub fn answer(report: &str) {
    console::log_1(&report.into());
}
