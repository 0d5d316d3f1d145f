//! The fonts of the page: those of egui, in a fifth of the bytes (`fonts/make.py`).

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};

const TEXT: &[u8] = include_bytes!("../../fonts/Ubuntu-Light.ttf");
/// Characters of ASCII.
const MONOSPACE: &[u8] = include_bytes!("../../fonts/Hack-Regular.ttf");

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
