//! A browser: one thread, files in memory, a canvas in place of a window.

mod files;
mod told;
mod waiting;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};
use sinew::wgpu;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, wasm_bindgen};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::platform::web::{EventLoopExtWebSys, WindowAttributesExtWebSys};
use winit::window::WindowAttributes;

use crate::app::App;
use crate::desk::Wake;
use crate::script::Script;
pub use files::{ask, files, save, without_dialog};
pub use told::{adapter_name, answer, copy, system};
pub use waiting::{spawn_waiting, turn};

/// How the event loop goes on while something moves: the browser calls when it shows the page's next picture.
pub const PLAYING: ControlFlow = ControlFlow::Wait;

/// Why scripts cannot take a picture of the window, if they cannot.
pub const NO_SHOT: Option<&str> =
    Some("the picture of a page is taken by its browser; `save` takes that of the character");

/// The fonts of egui, in a fifth of the bytes (`fonts/make.py`).
const TEXT: &[u8] = include_bytes!("../../fonts/Ubuntu-Light.ttf");
/// Characters of ASCII.
const MONOSPACE: &[u8] = include_bytes!("../../fonts/Hack-Regular.ttf");

/// What to say where no adapter can draw into the window.
pub const NO_ADAPTER: &str = "this browser has no adapter for WebGPU that can draw into the page";

/// What the page may be asked for by scripts of its own.
type Proxy = RefCell<Option<EventLoopProxy<Wake>>>;

thread_local! {
    static PROXY: Proxy = const { RefCell::new(None) };
}

/// Starts the viewer in the page's canvas, and returns to the page.
pub fn main() -> ExitCode {
    told::install();
    let event_loop = match EventLoop::<Wake>::with_user_event().build() {
        Ok(event_loop) => event_loop,
        Err(e) => {
            told::tell(&format!("the page's events cannot be heard: {e}"));
            return ExitCode::FAILURE;
        }
    };
    let proxy = event_loop.create_proxy();
    PROXY.set(Some(proxy.clone()));
    files::hear_drops(&proxy);
    files::open_first(proxy.clone());
    let mut script = Script::default();
    script.answers = true;
    event_loop.spawn_app(App::new(proxy, (0, 0), script));
    ExitCode::SUCCESS
}

/// The fonts of the panels.
pub fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    for (name, bytes) in [("text", TEXT), ("monospace", MONOSPACE)] {
        let data = Arc::new(FontData::from_static(bytes));
        fonts.font_data.insert(name.into(), data);
    }
    let families = [
        (FontFamily::Proportional, &["text"][..]),
        (FontFamily::Monospace, &["monospace", "text"]),
    ];
    for (family, names) in families {
        let names = names.iter().map(|name| (*name).into()).collect();
        fonts.families.insert(family, names);
    }
    fonts
}

/// Takes a step of a script. Its answer is written to the console.
#[wasm_bindgen]
pub fn step(line: String) {
    tell(Wake::Line(line));
}

/// Tells the viewer something, if it runs.
fn tell(wake: Wake) {
    PROXY.with_borrow(|proxy| {
        if let Some(proxy) = proxy {
            // A viewer that has ended wants nothing.
            let _ = proxy.send_event(wake);
        }
    });
}

/// The page's canvas. Its size is the page's choice.
pub fn window(_size: (u32, u32)) -> Result<WindowAttributes, String> {
    let canvas = told::element("viewer")?;
    let canvas = canvas.dyn_into::<web_sys::HtmlCanvasElement>();
    let canvas = canvas.map_err(|_| "the page's element #viewer: expected a canvas")?;
    Ok(WindowAttributes::default().with_canvas(Some(canvas)))
}

/// Says why the viewer cannot go on; nothing closes a page but its reader.
pub fn close(event_loop: &ActiveEventLoop, failed: Option<&str>) {
    if let Some(failed) = failed {
        told::tell(failed);
        event_loop.exit();
    }
}

/// Does some work after the page has been drawn once more: there are no threads.
pub fn spawn(_name: &str, work: impl FnOnce() + 'static) -> Result<(), String> {
    let failed = "the page cannot be asked to go on later";
    let window = web_sys::window().ok_or(failed)?;
    let work = Closure::once_into_js(work);
    let later = window
        .set_timeout_with_callback_and_timeout_and_arguments_0(work.unchecked_ref(), ONE_FRAME);
    later.map(drop).map_err(|_| failed.into())
}

/// Milliseconds in which the page is drawn once.
const ONE_FRAME: i32 = 40;

/// Waits for a future, and for the device that it waits for, if a thread can: gives its value, or else has `later` take it.
pub fn finish<T: 'static>(
    _device: Option<&wgpu::Device>,
    future: impl Future<Output = Result<T, String>> + 'static,
    later: impl FnOnce(Result<T, String>) + 'static,
) -> Option<Result<T, String>> {
    wasm_bindgen_futures::spawn_local(async move { later(future.await) });
    None
}

/// Files of a page do not change.
pub struct FileWatch;

impl FileWatch {
    pub fn new(_changed: impl Fn(&OsStr) + Send + 'static) -> Result<Self, String> {
        Ok(Self)
    }

    pub fn set_files(&mut self, _files: &[PathBuf]) -> Result<(), String> {
        Ok(())
    }
}
