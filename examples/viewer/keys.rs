//! Which key does what: one table for the window, its buttons, the list on `?`, and scripts.

use std::f64::consts::{FRAC_PI_2, PI};

use sinew::skel::SkinningMethod;
use sinew_render::DrawBackend;
use winit::keyboard::Key;

use super::files::Purpose;
use super::moves;
use super::state::{State, Wish};

/// A key, and a line of the list on `?`.
pub struct Row {
    /// As scripts and the list name it: a character or a key's name, with `Shift+` before it.
    pub key: &'static str,
    pub text: &'static str,
    act: fn(&mut State),
    /// A held key acts again and again.
    repeats: bool,
}

const fn row(key: &'static str, text: &'static str, act: fn(&mut State)) -> Row {
    let repeats = false;
    Row {
        key,
        text,
        act,
        repeats,
    }
}

const fn held(key: &'static str, text: &'static str, act: fn(&mut State)) -> Row {
    let repeats = true;
    Row {
        key,
        text,
        act,
        repeats,
    }
}

/// Parts by which a key press moves the camera.
const TURN: f64 = PI / 24.0;
const PAN: f64 = 0.05;
const ZOOM: f64 = 0.87;

fn flip(flag: &mut bool) {
    *flag = !*flag;
}

/// The list, in groups with a title.
pub const GROUPS: &[(&str, &[Row])] = &[
    (
        "Time",
        &[
            row("Space", "play or pause", |s| s.clock.toggle()),
            held("Left", "one frame back", |s| s.clock.step(-1.0)),
            held("Right", "one frame on", |s| s.clock.step(1.0)),
            held(",", "as Left", |s| s.clock.step(-1.0)),
            held(".", "as Right", |s| s.clock.step(1.0)),
            row("Home", "to the first frame", |s| {
                s.clock.scrub(s.clock.start)
            }),
            row("End", "to the last frame", |s| s.clock.scrub(s.clock.end)),
            row("[", "slower", |s| s.clock.change_speed(false)),
            row("]", "faster", |s| s.clock.change_speed(true)),
            row("\\", "backwards", |s| s.clock.speed = -s.clock.speed),
            row("l", "loop", |s| flip(&mut s.clock.looping)),
        ],
    ),
    (
        "Camera",
        &[
            row("f", "frame all", |s| s.refit = true),
            row("c", "centre on the chosen joint", State::frame_joint),
            row("a", "along with the root, or not", State::toggle_follow),
            held("4", "orbit", |s| s.moves(|c, b| c.orbit(-TURN, 0.0, b))),
            held("6", "orbit", |s| s.moves(|c, b| c.orbit(TURN, 0.0, b))),
            held("8", "orbit", |s| s.moves(|c, b| c.orbit(0.0, TURN, b))),
            held("2", "orbit", |s| s.moves(|c, b| c.orbit(0.0, -TURN, b))),
            held("Shift+Left", "pan", |s| s.moves(|c, b| c.pan(-PAN, 0.0, b))),
            held("Shift+Right", "pan", |s| s.moves(|c, b| c.pan(PAN, 0.0, b))),
            held("Shift+Up", "pan", |s| s.moves(|c, b| c.pan(0.0, PAN, b))),
            held("Shift+Down", "pan", |s| s.moves(|c, b| c.pan(0.0, -PAN, b))),
            held("+", "nearer", |s| s.moves(|c, b| c.zoom(ZOOM, b))),
            held("-", "farther", |s| s.moves(|c, b| c.zoom(1.0 / ZOOM, b))),
            held("1", "from the front", |s| {
                s.moves(|c, b| moves::turn(c, b, 0.0, 0.0))
            }),
            held("3", "from the side", |s| {
                s.moves(|c, b| moves::turn(c, b, FRAC_PI_2, 0.0))
            }),
            held("7", "from above", |s| {
                s.moves(|c, b| moves::turn(c, b, 0.0, FRAC_PI_2 - 1e-3))
            }),
        ],
    ),
    (
        "Look",
        &[
            row("j", "joints", |s| flip(&mut s.look.joints)),
            row("n", "joint names", |s| flip(&mut s.names)),
            row("h", "weights of the chosen joint", State::toggle_heat),
            row("s", "surfaces", |s| flip(&mut s.look.surface)),
            row("w", "wireframe", |s| flip(&mut s.look.wireframe)),
            row("v", "normals", |s| flip(&mut s.look.normals)),
            row("b", "bounds", |s| flip(&mut s.look.bounds)),
            row("g", "ground", |s| flip(&mut s.look.grid)),
        ],
    ),
    (
        "Skinning",
        &[
            row("m", "method: authored, linear, dual quat.", |s| {
                s.control.method = match s.control.method {
                    None => Some(SkinningMethod::ClassicLinear),
                    Some(SkinningMethod::ClassicLinear) => Some(SkinningMethod::DualQuaternion),
                    Some(SkinningMethod::DualQuaternion) => None,
                }
            }),
            row("p", "GPU or CPU", |s| {
                s.control.backend = match s.control.backend {
                    DrawBackend::Gpu => DrawBackend::Cpu,
                    DrawBackend::Cpu => DrawBackend::Gpu,
                }
            }),
            row("d", "difference between GPU and CPU", |s| {
                flip(&mut s.compare);
                s.difference = None;
            }),
        ],
    ),
    (
        "Viewer",
        &[
            row("o", "open a file (Ctrl+o)", |s| {
                s.wishes.push(Wish::Ask(Purpose::Open))
            }),
            row("Shift+s", "save the picture (Ctrl+s)", |s| {
                let save = Wish::Ask(Purpose::SavePicture);
                s.wishes.extend(s.model.as_ref().map(|_| save));
            }),
            row("r", "read the file again", |s| s.wishes.push(Wish::Reload)),
            row("i", "graph of frame times", |s| flip(&mut s.view.graph)),
            row("Tab", "show or hide the panels", |s| flip(&mut s.bare)),
            row("?", "this list", |s| flip(&mut s.help)),
            row(
                "Escape",
                "close list or message, let go of joint",
                State::close,
            ),
            row("Shift+q", "quit (Ctrl+q)", |s| s.wishes.push(Wish::Quit)),
        ],
    ),
];

/// What the mouse does, for the same list.
pub const MOUSE: &[(&str, &str)] = &[
    ("left drag", "orbit"),
    ("right or middle drag, Shift + drag", "pan"),
    ("wheel, Alt + right drag", "nearer or farther"),
    ("double click", "frame all"),
    ("click a joint", "choose it (key j)"),
    ("drop a file", "open it; a motion: retarget it"),
    ("Shift + drop, Ctrl + drop", "beside, retarget its clip"),
];

/// The key's name as the table has it.
pub fn name(key: &Key) -> Option<String> {
    let name = match key {
        Key::Character(text) => match text.to_lowercase().as_str() {
            "=" => "+".into(),
            "_" => "-".into(),
            other => other.to_owned(),
        },
        // Space, Home, End, Tab and Escape are named as in the table.
        Key::Named(named) => match format!("{named:?}") {
            name if name.len() < 7 => name,
            name => name.strip_prefix("Arrow")?.to_owned(),
        },
        _ => return None,
    };
    find(&name, false).map(|_| name)
}

/// The row of a key. Shift counts where a key means something else with it: `?` itself needs Shift
/// on many keyboards.
fn find(key: &str, shift: bool) -> Option<&'static Row> {
    let by_name = |name: &str| {
        let mut rows = GROUPS.iter().flat_map(|(_, rows)| *rows);
        rows.find(|r| r.key == name)
    };
    let shifted = shift.then(|| by_name(&format!("Shift+{key}"))).flatten();
    shifted.or_else(|| by_name(key))
}

/// Does what a key does; false if it does nothing. `again` is for one that was pressed before and
/// is held: these move the camera and step, and do not flicker switches.
pub fn press(state: &mut State, key: &str, shift: bool, again: bool) -> bool {
    let row = find(key, shift).filter(|row| row.repeats || !again);
    row.map(|row| (row.act)(state)).is_some()
}

/// The key of the table that does what this one does while Ctrl or Command is held.
pub fn command(key: &str) -> Option<&str> {
    match key {
        "s" => Some("Shift+s"),
        "q" => Some("Shift+q"),
        "o" | "r" => Some(key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use winit::keyboard::NamedKey;

    use super::*;

    #[test]
    fn keys_of_the_window_have_the_names_of_the_table() {
        for (key, expected) in [
            (Key::Named(NamedKey::Space), Some("Space")),
            (Key::Named(NamedKey::ArrowLeft), Some("Left")),
            (Key::Named(NamedKey::Home), Some("Home")),
            (Key::Named(NamedKey::End), Some("End")),
            (Key::Named(NamedKey::Tab), Some("Tab")),
            (Key::Named(NamedKey::Escape), Some("Escape")),
            (Key::Character("F".into()), Some("f")),
            (Key::Character("=".into()), Some("+")),
            (Key::Named(NamedKey::F5), None),
            (Key::Named(NamedKey::Shift), None),
        ] {
            assert_eq!(name(&key).as_deref(), expected, "{key:?}");
        }
        // Copying a text does not move the camera.
        let commands = ["o", "s", "c"].map(command);
        assert_eq!(commands, [Some("o"), Some("Shift+s"), None]);
    }

    #[test]
    fn a_key_means_one_thing_and_another_with_shift() {
        let all = || GROUPS.iter().flat_map(|(_, rows)| *rows);
        for row in all() {
            assert_eq!(all().filter(|r| r.key == row.key).count(), 1, "{}", row.key);
        }
        let text = |key, shift| find(key, shift).map(|row| row.text);
        assert_eq!(text("Left", true), Some("pan"));
        assert_eq!(text("Left", false), Some("one frame back"));
        assert_eq!(text("?", true), Some("this list"));
        assert_eq!(text("s", true), Some("save the picture (Ctrl+s)"));
        assert_eq!(text("nonsense", false), None);
        let mut state = State::default();
        let pressed = ["Left", "j"].map(|key| press(&mut state, key, false, true));
        assert_eq!(pressed, [true, false]);
    }
}
