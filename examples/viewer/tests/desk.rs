//! The viewer without a window: its panels, keys, messages and drops, and the pictures that it draws, which are where
//! the f64 reference says. The trials are scripts in `desk/*.txt`; `desk/play.rs` says what there is to write in them.

mod judge;
#[path = "desk/play.rs"]
mod play;
mod truth;
#[path = "desk/viewer.rs"]
mod viewer;

use libtest_mimic::{Arguments, Failed, Trial};

const SCRIPTS: [(&str, &str); 4] = [
    ("files", include_str!("desk/files.txt")),
    ("live", include_str!("desk/live.txt")),
    ("panels", include_str!("desk/panels.txt")),
    ("picture", include_str!("desk/picture.txt")),
];

fn main() {
    let args = Arguments::from_args();
    let ignored = common::gpu::ignored();
    std::env::set_current_dir(common::repository()).expect("the repository");
    let mut trials = Vec::new();
    for (file, text) in SCRIPTS {
        for (name, script) in text
            .split("\n## ")
            .skip(1)
            .filter_map(|s| s.split_once('\n'))
        {
            let run = move || play::play(script).map_err(Failed::from);
            let trial = Trial::test(format!("{file}::{name}"), run);
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}
