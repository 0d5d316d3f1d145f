//! How the influences of a prim are laid out: the number of values in a row, and whether there is one
//! row per point or one for the prim.

use super::context::{INDICES, WEIGHTS};
use sinew_io::usd::{AuthoredAttribute, AuthoredPrim, AuthoredValue};

/// The largest difference of a row's sum from 1 that speaks for its layout.
const LIKELY: f64 = 1e-2;

/// Rows of influences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// `vertex` or `constant`.
    pub interpolation: &'static str,
    /// Influences of a row (elementSize).
    pub size: usize,
    /// Points of the prim; 0 if they are not known.
    points: usize,
}

impl Layout {
    /// What the layout is, for messages about `len` values.
    pub fn describe(&self, len: usize) -> String {
        match self.interpolation {
            "constant" => format!("{len} values for the prim"),
            _ => format!(
                "{len} values for {} points, {} for each",
                self.points, self.size
            ),
        }
    }

    /// The number of values in a row, for who changes rows.
    ///
    /// # Errors
    /// Influences for points that only the prims have that inherit them, and whose weights do not
    /// add up to 1 in these rows; indexed weights that add up to 1 in other rows.
    pub fn sure_size(&self, prim: &AuthoredPrim) -> Result<usize, String> {
        if is_likely(prim, self.size) {
            return Ok(self.size);
        }
        // Any number of rows may be stored for indices.
        let stored = match indices(prim, WEIGHTS) {
            Some(_) => prim.attributes[WEIGHTS].first(),
            None => None,
        };
        let stored = stored.map_or(0, AuthoredValue::len);
        let mut sizes = (1..=stored).filter(|size| stored.is_multiple_of(*size));
        if let Some(other) = sizes.find(|size| is_likely(prim, *size)) {
            return Err(format!(
                "elementSize is {}, but the weights add up to 1 in rows of {other}: author the elementSize that is meant",
                self.size
            ));
        }
        match self.interpolation == "constant" || self.points > 0 {
            true => Ok(self.size),
            false => Err("the points belong to prims below this one, so the rows are not known: author the influences on the prims that have the points".into()),
        }
    }

    /// Whether the attribute's metadata state this layout.
    pub fn is_authored(&self, attribute: &AuthoredAttribute) -> bool {
        interpolation(attribute) == self.interpolation && size(attribute) == Some(self.size)
    }
}

fn interpolation(attribute: &AuthoredAttribute) -> &str {
    attribute.interpolation.as_deref().unwrap_or("constant")
}

fn size(attribute: &AuthoredAttribute) -> Option<usize> {
    usize::try_from(attribute.element_size.unwrap_or(1)).ok()
}

/// The layout that readers use, if the number of values fits it; otherwise the only layout that
/// fits. It is found from the number of values and points and, where several fit, from the sums of
/// the weights.
///
/// # Errors
/// What has to be authored, because none or several layouts fit.
pub(super) fn of(prim: &AuthoredPrim) -> Result<Layout, String> {
    let authored: Vec<&AuthoredAttribute> = [INDICES, WEIGHTS]
        .iter()
        .filter_map(|name| prim.attributes.get(*name))
        .collect();
    let points = prim.attributes.get("points").and_then(|p| p.first());
    let points = points.map_or(0, AuthoredValue::len);
    let lengths: Vec<usize> = [INDICES, WEIGHTS]
        .iter()
        .filter_map(|name| expanded(prim, name))
        .collect();
    let Some(&len) = lengths.first().filter(|len| **len > 0) else {
        return Err(
            "no influences are authored on this prim: author both jointIndices and jointWeights"
                .into(),
        );
    };
    let of_rows = |interpolation, size| Layout {
        interpolation,
        size,
        points,
    };
    let used = |attribute: &AuthoredAttribute| {
        let size = size(attribute).filter(|size| *size > 0)?;
        let fits = match interpolation(attribute) {
            "constant" => len == size,
            "vertex" if points > 0 => points.checked_mul(size) == Some(len),
            "vertex" => len.is_multiple_of(size),
            _ => false,
        };
        let name = if interpolation(attribute) == "vertex" {
            "vertex"
        } else {
            "constant"
        };
        fits.then(|| of_rows(name, size))
    };
    let all: Vec<Option<Layout>> = authored.iter().map(|a| used(a)).collect();
    if let Some(Some(layout)) = all.first()
        && all.iter().all(|other| *other == Some(*layout))
    {
        return Ok(*layout);
    }
    if lengths.iter().any(|other| *other != len) {
        return Err(
            "jointIndices and jointWeights differ in number: author the same number of both".into(),
        );
    }
    let mut fitting = Vec::new();
    if points > 0 && len.is_multiple_of(points) {
        fitting.push(of_rows("vertex", len / points));
    }
    fitting.push(of_rows("constant", len));
    let possible = fitting.clone();
    let names: Vec<&str> = authored
        .iter()
        .filter_map(|a| a.interpolation.as_deref())
        .collect();
    fitting.retain(|layout| names.iter().all(|name| *name == layout.interpolation));
    let sizes: Vec<usize> = authored
        .iter()
        .filter_map(|a| a.element_size.and_then(|size| usize::try_from(size).ok()))
        .collect();
    let as_authored = |layout: &&Layout| sizes.contains(&layout.size);
    if let Some(layout) = fitting.iter().find(as_authored) {
        fitting = vec![*layout];
    }
    // Points in rows are the only vertex layout. A constant one, or one against an elementSize that
    // is authored, needs weights that fit only this layout.
    let is_sure = |layout: &Layout| {
        let vertex = layout.interpolation == "vertex" && names.contains(&"vertex");
        sizes.contains(&layout.size) || (vertex && sizes.is_empty())
    };
    if let [layout] = fitting[..]
        && is_sure(&layout)
    {
        return Ok(layout);
    }
    let likely = |layout: &&Layout| is_likely(prim, layout.size);
    let found: Vec<&Layout> = possible.iter().filter(likely).collect();
    match found[..] {
        [layout] if fitting.contains(layout) => Ok(*layout),
        _ => Err(format!(
            "{len} values for {points} points: author the interpolation and the elementSize that are meant"
        )),
    }
}

/// How many values readers see: of an indexed primvar as many rows as it has indices.
fn expanded(prim: &AuthoredPrim, name: &str) -> Option<usize> {
    let attribute = prim.attributes.get(name)?;
    let len = attribute.first().map_or(0, AuthoredValue::len);
    match indices(prim, name) {
        Some(indices) => Some(indices.len() * size(attribute)?),
        None => Some(len),
    }
}

/// The rows that an indexed primvar names, point by point; `None` if it is not indexed.
pub(super) fn indices<'a>(prim: &'a AuthoredPrim, name: &str) -> Option<&'a [i64]> {
    match prim.attributes.get(&format!("{name}:indices"))?.first()? {
        AuthoredValue::Ints(indices) => Some(indices),
        _ => None,
    }
}

/// Whether most rows of weights of this size sum to 1.
fn is_likely(prim: &AuthoredPrim, size: usize) -> bool {
    let weights = prim.attributes.get(WEIGHTS).and_then(|w| w.first());
    let Some(AuthoredValue::Floats(weights)) = weights else {
        return false;
    };
    let rows = weights.chunks_exact(size.max(1));
    let sum = |row: &[f32]| row.iter().map(|w| f64::from(*w)).sum::<f64>();
    let likely = rows.filter(|row| (sum(row) - 1.0).abs() <= LIKELY).count();
    likely * size * 2 > weights.len()
}
