//! The unit tests of `examples/viewer`, which cargo builds with no tests in it.
#![allow(dead_code, reason = "what only the window uses")]

#[path = "../examples/viewer/args.rs"]
mod args;
#[path = "../examples/viewer/clock.rs"]
mod clock;
#[path = "../examples/viewer/keys.rs"]
mod keys;
#[path = "../examples/viewer/model.rs"]
mod model;
#[path = "../examples/viewer/moves.rs"]
mod moves;
#[path = "../examples/viewer/panels/mod.rs"]
mod panels;
#[path = "../examples/viewer/script.rs"]
mod script;
#[path = "../examples/viewer/state.rs"]
mod state;
#[path = "../examples/viewer/theme.rs"]
mod theme;
#[path = "../examples/viewer/watch.rs"]
mod watch;
