//! Lists, strips and fans of triangles (glTF 2.0, 3.7.2.1).

use super::document::Document;
use super::element::{Component, Shape};
use super::json::Json;
use sinew::error::Invalid;

/// How indices make triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    List,
    Strip,
    Fan,
}

impl Mode {
    /// Of a primitive; `None` for points and lines.
    pub(super) fn parse(primitive: &Json<'_>) -> Result<Option<Self>, Invalid> {
        let Some(mode) = primitive.get("mode")? else {
            return Ok(Some(Self::List));
        };
        match mode.integer()? {
            0..=3 => Ok(None),
            4 => Ok(Some(Self::List)),
            5 => Ok(Some(Self::Strip)),
            6 => Ok(Some(Self::Fan)),
            _ => Err(mode.wrong("0 to 6")),
        }
    }
}

/// Three indices per triangle.
pub(super) fn read(
    document: &Document,
    primitive: &Json<'_>,
    mode: Mode,
    points: usize,
) -> Result<Vec<u32>, Invalid> {
    let listed = match primitive.get("indices")? {
        Some(reference) => {
            let accessor = document.accessor(&reference)?.expect(
                Shape::SCALAR,
                &[
                    (Component::U8, false),
                    (Component::U16, false),
                    (Component::U32, false),
                ],
                "UNSIGNED_BYTE, UNSIGNED_SHORT or UNSIGNED_INT SCALAR",
            )?;
            // Exact: whole numbers below 2^32.
            let indices = accessor.read(|[i]| i as u32)?;
            if let Some(high) = indices.iter().find(|i| **i as usize >= points) {
                return Err(reference.error(format!("points below {points}"), high.to_string()));
            }
            indices
        }
        None => {
            document.charge(points, 4, primitive.at())?;
            let points = u32::try_from(points)
                .map_err(|_| primitive.error("fewer than 2^32 points", points.to_string()))?;
            (0..points).collect()
        }
    };
    if mode == Mode::List {
        return Ok(list(document, primitive, listed));
    }
    document.charge(listed.len(), 12, primitive.at())?;
    let corners = |i: usize, [a, b, c]: [u32; 3]| match mode {
        // Every other triangle of a strip turns the other way.
        Mode::Strip if i % 2 == 1 => [a, c, b],
        Mode::Fan => [b, c, listed[0]],
        _ => [a, b, c],
    };
    let triangles = listed.windows(3).enumerate();
    Ok(triangles
        .map(|(i, w)| corners(i, [w[0], w[1], w[2]]))
        // Strips are sewn together with empty triangles.
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .flatten()
        .collect())
}

fn list(document: &Document, primitive: &Json<'_>, mut indices: Vec<u32>) -> Vec<u32> {
    let over = indices.len() % 3;
    if over > 0 {
        let message = format!("{over} indices beyond the last triangle; they are left out");
        document.warn("gltf-triangle-incomplete", primitive.at(), message);
        indices.truncate(indices.len() - over);
    }
    indices
}
