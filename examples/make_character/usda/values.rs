//! USD's values as text, as short as their digits allow.

use glam::{Mat4, Quat, Vec3};

use crate::bounds::Bounds;

pub fn number(x: f32, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" { "0" } else { text }.into()
}

pub fn list<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    let items: Vec<String> = items.into_iter().map(text).collect();
    format!("[{}]", items.join(", "))
}

pub fn strings<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    list(items, |item| format!("\"{item}\""))
}

fn tuple(items: &[f32], digits: usize) -> String {
    let items: Vec<String> = items.iter().map(|x| number(*x, digits)).collect();
    format!("({})", items.join(", "))
}

pub fn vector(v: Vec3, digits: usize) -> String {
    tuple(&v.to_array(), digits)
}

pub fn vectors(items: &[Vec3], digits: usize) -> String {
    list(items, |v| vector(*v, digits))
}

/// The real part first, and not negative: both signs are the same rotation.
pub fn rotation(q: Quat) -> String {
    let q = q.normalize();
    let q = if q.w < 0.0 { -q } else { q };
    tuple(&[q.w, q.x, q.y, q.z], 5)
}

/// Row by row as USD writes it: its rows are glam's columns.
pub fn matrix(m: Mat4) -> String {
    let rows = m.to_cols_array_2d().map(|row| tuple(&row, 6));
    format!("( {} )", rows.join(", "))
}

pub fn extent(b: Bounds) -> String {
    vectors(&[b.min, b.max], 4)
}
