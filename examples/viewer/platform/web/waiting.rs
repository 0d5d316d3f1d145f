//! Work that waits for the GPU: the browser suspends it, and goes on with the page meanwhile. This is JavaScript Promise
//! Integration (JSPI), which not every browser has.

use std::cell::{Cell, RefCell};

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

thread_local! {
    /// What is to be done.
    static WORK: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// The code that runs now can be suspended.
    static CAN_WAIT: Cell<bool> = const { Cell::new(false) };
}

// wasm-bindgen calls its support of JSPI experimental.
#[allow(deprecated)]
mod glue {
    use super::*;

    #[wasm_bindgen]
    extern "C" {
        /// Suspends what runs until a promise is kept.
        #[wasm_bindgen(suspending, js_namespace = Promise, js_name = resolve)]
        pub fn wait_for(promise: &Promise);

        /// A function that gives a promise, for one of the module that can be suspended.
        #[wasm_bindgen(catch, js_namespace = WebAssembly)]
        pub fn promising(function: &JsValue) -> Result<Function, JsValue>;
    }

    #[wasm_bindgen(jspi)]
    pub fn do_waiting_work() {
        if let Some(work) = WORK.take() {
            CAN_WAIT.set(true);
            work();
            CAN_WAIT.set(false);
        }
    }
}

/// Does some work that may wait for a device, while the page stays alive.
pub fn spawn_waiting(_name: &str, work: impl FnOnce() + 'static) -> Result<(), String> {
    let without = "this browser cannot wait for the GPU in WebAssembly: it lacks JavaScript Promise Integration (JSPI)";
    let exported = Reflect::get(&wasm_bindgen::exports(), &"do_waiting_work".into());
    let work_of = |exported| glue::promising(&exported);
    let start = exported.and_then(work_of).map_err(|_| without)?;
    sinew::gpu::set_event_loop_turn(suspend);
    WORK.set(Some(Box::new(work)));
    // Its promise is kept when the work is done, which tells of that itself.
    let started = start.call0(&JsValue::UNDEFINED);
    started.map(drop).map_err(|_| without.into())
}

/// Lets the page do what it has to.
pub fn turn() {
    suspend();
}

/// Lets the event loop turn once, if what runs can be suspended.
fn suspend() -> bool {
    let Some(window) = web_sys::window().filter(|_| CAN_WAIT.get()) else {
        return false;
    };
    CAN_WAIT.set(false);
    glue::wait_for(&Promise::new(&mut |keep, _| {
        // A page that cannot set a timer is being closed.
        let _ = window.set_timeout_with_callback(keep.unchecked_ref());
    }));
    CAN_WAIT.set(true);
    true
}
