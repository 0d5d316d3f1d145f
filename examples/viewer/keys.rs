//! Which key does what: one table for the window, the list on `?`, and scripts.

use winit::keyboard::{Key, NamedKey};

/// What a key press does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    PlayPause,
    StepBack,
    StepOn,
    First,
    Last,
    Slower,
    Faster,
    Reverse,
    Loop,
    FrameAll,
    FrameJoint,
    Follow,
    OrbitLeft,
    OrbitRight,
    OrbitUp,
    OrbitDown,
    PanLeft,
    PanRight,
    PanUp,
    PanDown,
    ZoomIn,
    ZoomOut,
    ViewFront,
    ViewSide,
    ViewTop,
    Joints,
    Names,
    Heat,
    Surface,
    Wireframe,
    Normals,
    Bounds,
    Grid,
    Method,
    Backend,
    Difference,
    Open,
    Save,
    Reload,
    Graph,
    Panels,
    Help,
    Close,
    Quit,
}

/// A line of the list on `?`.
pub struct Row {
    pub action: Action,
    /// As scripts and the list name it: a character, or a key's name.
    pub key: &'static str,
    pub shift: bool,
    pub text: &'static str,
}

const fn row(action: Action, key: &'static str, text: &'static str) -> Row {
    let shift = false;
    Row {
        action,
        key,
        shift,
        text,
    }
}

const fn shifted(action: Action, key: &'static str, text: &'static str) -> Row {
    let shift = true;
    Row {
        action,
        key,
        shift,
        text,
    }
}

/// The list, in groups with a title.
pub const GROUPS: &[(&str, &[Row])] = &[
    (
        "Time",
        &[
            row(Action::PlayPause, "Space", "play or pause"),
            row(Action::StepBack, ",", "one frame back"),
            row(Action::StepOn, ".", "one frame on"),
            row(Action::First, "Home", "to the first frame"),
            row(Action::Last, "End", "to the last frame"),
            row(Action::Slower, "[", "slower"),
            row(Action::Faster, "]", "faster"),
            row(Action::Reverse, "\\", "backwards"),
            row(Action::Loop, "l", "loop"),
        ],
    ),
    (
        "Camera",
        &[
            row(Action::FrameAll, "f", "frame all"),
            row(Action::FrameJoint, "c", "centre on the chosen joint"),
            row(Action::Follow, "a", "along with the root, or not"),
            row(Action::OrbitLeft, "Left", "orbit"),
            row(Action::OrbitRight, "Right", "orbit"),
            row(Action::OrbitUp, "Up", "orbit"),
            row(Action::OrbitDown, "Down", "orbit"),
            shifted(Action::PanLeft, "Left", "pan"),
            shifted(Action::PanRight, "Right", "pan"),
            shifted(Action::PanUp, "Up", "pan"),
            shifted(Action::PanDown, "Down", "pan"),
            row(Action::ZoomIn, "+", "nearer"),
            row(Action::ZoomOut, "-", "farther"),
            row(Action::ViewFront, "1", "from the front"),
            row(Action::ViewSide, "3", "from the side"),
            row(Action::ViewTop, "7", "from above"),
        ],
    ),
    (
        "Look",
        &[
            row(Action::Joints, "j", "joints"),
            row(Action::Names, "n", "joint names"),
            row(Action::Heat, "h", "weights of the chosen joint"),
            row(Action::Surface, "s", "surfaces"),
            row(Action::Wireframe, "w", "wireframe"),
            row(Action::Normals, "v", "normals"),
            row(Action::Bounds, "b", "bounds"),
            row(Action::Grid, "g", "ground"),
        ],
    ),
    (
        "Skinning",
        &[
            row(Action::Method, "m", "method: authored, linear, dual quat."),
            row(Action::Backend, "p", "GPU or CPU"),
            row(Action::Difference, "d", "difference between GPU and CPU"),
        ],
    ),
    (
        "Viewer",
        &[
            row(Action::Open, "o", "open a file (Ctrl+o)"),
            shifted(Action::Save, "s", "save the picture (Ctrl+s)"),
            row(Action::Reload, "r", "read the file again"),
            row(Action::Graph, "i", "graph of frame times"),
            row(Action::Panels, "Tab", "show or hide the panels"),
            row(Action::Help, "?", "this list"),
            row(
                Action::Close,
                "Escape",
                "close list or message, let go of joint",
            ),
            row(Action::Quit, "q", "quit"),
        ],
    ),
];

/// What the mouse does, for the same list.
pub const MOUSE: &[(&str, &str)] = &[
    ("left drag", "orbit"),
    ("right or middle drag, Shift + drag", "pan"),
    ("wheel", "nearer or farther"),
    ("double click", "frame all"),
    ("click a joint", "choose it (key j)"),
    ("drop a file", "open it; a motion: retarget it"),
    ("Shift + drop, Ctrl + drop", "beside, retarget its clip"),
];

/// The key's name as the table has it.
pub fn name(key: &Key) -> Option<String> {
    Some(match key {
        Key::Character(text) => match text.to_lowercase().as_str() {
            "=" => "+".into(),
            "_" => "-".into(),
            other => other.to_owned(),
        },
        Key::Named(NamedKey::Space) => "Space".into(),
        Key::Named(NamedKey::ArrowLeft) => "Left".into(),
        Key::Named(NamedKey::ArrowRight) => "Right".into(),
        Key::Named(NamedKey::ArrowUp) => "Up".into(),
        Key::Named(NamedKey::ArrowDown) => "Down".into(),
        Key::Named(NamedKey::Home) => "Home".into(),
        Key::Named(NamedKey::End) => "End".into(),
        Key::Named(NamedKey::Tab) => "Tab".into(),
        Key::Named(NamedKey::Escape) => "Escape".into(),
        _ => return None,
    })
}

/// What a key does. Shift counts where a key means something else with it: `?` itself needs Shift on many
/// keyboards.
pub fn action(key: &str, shift: bool) -> Option<Action> {
    let rows = || GROUPS.iter().flat_map(|(_, rows)| rows.iter());
    let exact = rows().find(|r| r.key == key && r.shift == shift);
    let row = exact.or_else(|| rows().find(|r| r.key == key && !r.shift))?;
    Some(row.action)
}

/// What a key does while Ctrl or Command is held.
pub fn command(key: &str) -> Option<Action> {
    match key {
        "o" => Some(Action::Open),
        "s" => Some(Action::Save),
        "r" => Some(Action::Reload),
        "q" => Some(Action::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_ctrl_are_those_of_other_programs() {
        assert_eq!(command("o"), Some(Action::Open));
        assert_eq!(command("s"), Some(Action::Save));
        // Copying a text does not move the camera.
        assert_eq!(command("c"), None);
        assert_eq!(action("s", true), Some(Action::Save));
        assert_eq!(action("s", false), Some(Action::Surface));
    }

    #[test]
    fn no_key_means_two_things() {
        let mut seen = std::collections::HashSet::new();
        for (_, rows) in GROUPS {
            for row in *rows {
                assert!(seen.insert((row.key, row.shift)), "{}", row.key);
                assert_eq!(action(row.key, row.shift), Some(row.action));
            }
        }
    }

    #[test]
    fn keys_of_the_window_have_the_names_of_the_table() {
        let named = |key: Key| name(&key).and_then(|n| action(&n, false));
        assert_eq!(named(Key::Named(NamedKey::Space)), Some(Action::PlayPause));
        assert_eq!(named(Key::Character("F".into())), Some(Action::FrameAll));
        assert_eq!(named(Key::Character("=".into())), Some(Action::ZoomIn));
        assert_eq!(named(Key::Named(NamedKey::F5)), None);
    }

    #[test]
    fn shift_counts_where_it_makes_a_difference() {
        assert_eq!(action("Left", true), Some(Action::PanLeft));
        assert_eq!(action("Left", false), Some(Action::OrbitLeft));
        assert_eq!(action("?", true), Some(Action::Help));
        assert_eq!(action("nonsense", false), None);
    }
}
