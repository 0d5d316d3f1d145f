//! Files in memory: those of the page's address, dropped ones, and chosen ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use js_sys::{ArrayBuffer, Uint8Array};
use sinew_io::Files;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DragEvent, Event, File, FileList, HtmlAnchorElement, HtmlInputElement, Response};
use winit::event_loop::EventLoopProxy;
use winit::keyboard::ModifiersState;
use winit::window::Window;

use crate::desk::Wake;
use crate::drops::{self, Intent};
use crate::files::{Picked, Purpose};

/// What the page opens if its address names no file.
const SAMPLE: &str = "hatchling.usda";

type Bytes = Arc<[u8]>;

thread_local! {
    /// All that was given to the page.
    static GIVEN: RefCell<BTreeMap<PathBuf, Bytes>> = const { RefCell::new(BTreeMap::new()) };
}

/// Where files are.
pub fn files() -> Files {
    GIVEN.with_borrow(|given| Files::in_memory(given.iter().map(|(p, b)| (p, Arc::clone(b)))))
}

/// Keeps files; gives the path of the one that is meant.
fn keep(files: Vec<(PathBuf, Bytes)>) -> Option<PathBuf> {
    let main = drops::meant(&files).cloned();
    GIVEN.with_borrow_mut(|given| given.extend(files));
    main
}

/// Opens what the page's address names by `?file=`, or else the sample. Of several files the first is opened.
pub fn open_first(proxy: EventLoopProxy<Wake>) {
    spawn_local(async move {
        let mut files = named("file");
        if files.is_empty() {
            files.push(SAMPLE.into());
        }
        let wake = match given_by_site(&files).await {
            Ok(files) => {
                let first = files.first().map(|(path, _)| path.clone());
                keep(files);
                Wake::Dropped(first.unwrap_or_default(), Intent::Open)
            }
            Err(reason) => Wake::NotGiven(reason),
        };
        // A viewer that has ended wants nothing.
        let _ = proxy.send_event(wake);
        let checks = named("verify");
        if !checks.is_empty() {
            // `?verify` alone means all.
            let names = checks.into_iter().filter(|name| !name.is_empty());
            let _ = proxy.send_event(Wake::Verify(names.collect()));
        }
    });
}

/// The values of a parameter in the page's address.
fn named(parameter: &str) -> Vec<String> {
    let address = web_sys::window().and_then(|w| w.location().search().ok());
    let parameters = address.and_then(|a| web_sys::UrlSearchParams::new_with_str(&a).ok());
    let named = parameters.map(|p| p.get_all(parameter)).unwrap_or_default();
    named.iter().filter_map(|v| v.as_string()).collect()
}

async fn given_by_site(named: &[String]) -> Result<Vec<(PathBuf, Bytes)>, String> {
    let mut files = Vec::new();
    for name in named {
        let bytes = fetched(name).await.map_err(|e| format!("{name}: {e}"))?;
        let path = name.split(['?', '#']).next().unwrap_or(name);
        files.push((PathBuf::from(path), bytes));
    }
    Ok(files)
}

/// The bytes at an address.
async fn fetched(address: &str) -> Result<Bytes, String> {
    let window = web_sys::window().ok_or("no window")?;
    let answer = JsFuture::from(window.fetch_with_str(address)).await;
    let answer: Response = answer.map_err(|e| text(&e))?.unchecked_into();
    if !answer.ok() {
        return Err(format!("the server answers {}", answer.status()));
    }
    let bytes = answer.array_buffer().map_err(|e| text(&e))?;
    read(JsFuture::from(bytes)).await
}

async fn read(buffer: JsFuture) -> Result<Bytes, String> {
    let buffer: ArrayBuffer = buffer.await.map_err(|e| text(&e))?.unchecked_into();
    Ok(Uint8Array::new(&buffer).to_vec().into())
}

/// What JavaScript says of an error.
fn text(error: &JsValue) -> String {
    let error = error.dyn_ref::<js_sys::Error>();
    error.map_or_else(
        || "the browser gives no reason".into(),
        |e| String::from(e.message()),
    )
}

/// The bytes of files that were dropped or chosen.
async fn given_by_hand(list: Vec<File>) -> Result<Vec<(PathBuf, Bytes)>, String> {
    let mut files = Vec::new();
    for file in list {
        let name = file.name();
        let bytes = read(JsFuture::from(file.array_buffer())).await;
        let bytes = bytes.map_err(|e| format!("{name}: {e}"))?;
        files.push((PathBuf::from(name), bytes));
    }
    Ok(files)
}

fn listed(list: Option<FileList>) -> Vec<File> {
    let all = list.iter().flat_map(|l| (0..l.length()).map(|i| l.get(i)));
    all.flatten().collect()
}

/// Tells of files that are held over the page and dropped into it.
pub fn hear_drops(proxy: &EventLoopProxy<Wake>) {
    for kind in ["dragover", "dragleave", "drop"] {
        let proxy = proxy.clone();
        let heard = move |event: DragEvent| {
            // Else the browser shows the file in place of the page.
            event.prevent_default();
            let _ = proxy.send_event(Wake::Hovering(kind == "dragover"));
            if kind == "drop" {
                let files = listed(event.data_transfer().and_then(|t| t.files()));
                let intent = Intent::of(keys(&event));
                let proxy = proxy.clone();
                spawn_local(async move {
                    let wake = match given_by_hand(files).await.map(keep) {
                        Ok(Some(path)) => Wake::Dropped(path, intent),
                        Ok(None) => return,
                        Err(reason) => Wake::NotGiven(reason),
                    };
                    let _ = proxy.send_event(wake);
                });
            }
        };
        let heard = Closure::<dyn FnMut(DragEvent)>::new(heard);
        if let Some(window) = web_sys::window() {
            let listener = heard.as_ref().unchecked_ref();
            let added = window.add_event_listener_with_callback(kind, listener);
            if added.is_err() {
                log::warn!("files cannot be dropped into this page");
            }
        }
        // It is heard as long as the page is there.
        heard.forget();
    }
}

fn keys(event: &DragEvent) -> ModifiersState {
    let mut keys = ModifiersState::empty();
    keys.set(ModifiersState::SHIFT, event.shift_key());
    keys.set(ModifiersState::CONTROL, event.ctrl_key());
    keys.set(ModifiersState::ALT, event.alt_key());
    keys
}

/// What can be done where no dialog can be shown.
pub fn without_dialog(_purpose: Purpose) -> String {
    "This browser shows no file dialog.\nDrop a file into the page.".into()
}

/// Asks for files and calls `done` later. What is saved goes to the browser's folder of downloads.
pub fn ask(
    purpose: Purpose,
    _window: &Window,
    near: Option<&Path>,
    done: impl FnOnce(Picked) + 'static,
) -> Result<(), String> {
    let document = web_sys::window().and_then(|w| w.document());
    let document = document.ok_or("no page")?;
    if purpose != Purpose::Open {
        let stem = near.and_then(Path::file_stem).unwrap_or("picture".as_ref());
        done(Picked::File(
            Path::new(stem).with_extension(purpose.extension()),
        ));
        return Ok(());
    }
    let input = document.create_element("input").map_err(|e| text(&e))?;
    let input: HtmlInputElement = input.unchecked_into();
    input.set_type("file");
    input.set_multiple(true);
    let done = std::rc::Rc::new(RefCell::new(Some(done)));
    for kind in ["change", "cancel"] {
        let (chosen, done) = (input.clone(), std::rc::Rc::clone(&done));
        let answered = move |_: Event| {
            let Some(done) = done.borrow_mut().take() else {
                return;
            };
            let files = listed(chosen.files());
            spawn_local(async move {
                match given_by_hand(files).await.map(keep) {
                    Ok(Some(path)) => done(Picked::File(path)),
                    Ok(None) => done(Picked::Nothing),
                    Err(reason) => {
                        done(Picked::Nothing);
                        super::tell(Wake::NotGiven(reason));
                    }
                }
            });
        };
        let answered = Closure::<dyn FnMut(Event)>::once_into_js(answered);
        input
            .add_event_listener_with_callback(kind, answered.unchecked_ref())
            .map_err(|e| text(&e))?;
    }
    input.click();
    Ok(())
}

/// Writes a file: to the browser's folder of downloads.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    download(&name, bytes).map_err(|e| format!("{name}: {}", text(&e)))
}

fn download(name: &str, bytes: &[u8]) -> Result<(), JsValue> {
    // A file of a known type might be opened in place of the page.
    let options = web_sys::BlobPropertyBag::new();
    options.set_type("application/octet-stream");
    let parts = js_sys::Array::of1(&Uint8Array::from(bytes));
    let blob = web_sys::Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    let address = web_sys::Url::create_object_url_with_blob(&blob)?;
    let document = web_sys::window().and_then(|w| w.document());
    let document = document.ok_or("no page")?;
    let link: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    link.set_href(&address);
    link.set_download(name);
    link.click();
    web_sys::Url::revoke_object_url(&address)
}
