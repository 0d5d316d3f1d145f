//! The tree of paths.
//!
//! Source: pxr/usd/sdf/crateFile.cpp of OpenUSD (`_BuildDecompressedPathsImpl`). Paths are in the order of a walk
//! through the tree. Each has the token of its last element, negative for properties of prims, and a jump:
//! the distance to its next sibling if it has children too, 0 for a sibling but no children, -1 for children
//! but no sibling, -2 for neither.

use smol_str::SmolStr;

use super::bytes::{Bad, Checked, Cursor};
use super::sections::{below, indices, most_paths, plausible};
use crate::path::{Path, is_identifier, is_property_name};

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::usdc) enum Names {
    /// The table has no such path.
    Nothing,
    Root,
    Prim,
    VariantSet,
    Variant,
    Property,
    Target,
    /// What USD knows no longer: mappers, their arguments, expressions.
    Other,
}

/// Paths by their index, and what each names.
pub(in crate::usdc) struct Paths {
    pub paths: Vec<Path>,
    pub names: Vec<Names>,
    /// The indices in the order of the tree, which is how the paths lie in memory.
    pub order: Vec<u32>,
}

pub(in crate::usdc) fn read(
    cursor: &mut Cursor<'_>,
    file: &[u8],
    tokens: &[SmolStr],
) -> Checked<Paths> {
    let at = cursor.at;
    let total = plausible(cursor, most_paths(file))?;
    let count = plausible(cursor, most_paths(file))?;
    if count > total {
        let reason = format!("{count} paths are in the tree, {total} are claimed");
        return Err(Bad::new(at, reason));
    }
    let order = indices(cursor, count)?;
    below(&order, total, "path", at)?;
    let elements = indices(cursor, count)?;
    let jumps = indices(cursor, count)?;
    let mut tree = Tree {
        paths: vec![Path::empty(); total],
        names: vec![Names::Nothing; total],
        tokens,
        checks: vec![0; tokens.len()],
        // Deep trees of few tokens would fill all memory with text.
        room: file.len().saturating_mul(32).saturating_add(1 << 26),
        buffer: String::new(),
        at,
    };
    if count == 0 {
        return Ok(tree.finish(order));
    }

    // Siblings that are still to come, each with the path above it.
    let mut later: Vec<(usize, u32)> = Vec::new();
    let mut next = Some((0, None));
    while let Some((this, parent)) = next {
        let Some(index) = order.get(this).copied() else {
            let reason = format!("path {this} of the tree is named, there are {count}");
            return Err(Bad::new(at, reason));
        };
        tree.add(index, parent, elements[this] as i32)?;
        let jump = jumps[this] as i32;
        if jump < -2 {
            return Err(Bad::new(
                at,
                format!("path {this} of the tree jumps by {jump}"),
            ));
        }
        let parent = parent.unwrap_or(index);
        if jump > 0 {
            later.push((this + jump as usize, parent));
        }
        next = match jump {
            -2 => later.pop().map(|(this, parent)| (this, Some(parent))),
            0 => Some((this + 1, Some(parent))),
            _ => Some((this + 1, Some(index))),
        };
    }
    Ok(tree.finish(order))
}

struct Tree<'a> {
    paths: Vec<Path>,
    names: Vec<Names>,
    tokens: &'a [SmolStr],
    /// For each token [`Self::CHECKED`] and what it can name.
    checks: Vec<u8>,
    /// How many bytes of text the paths may still have.
    room: usize,
    /// The text of a path while it is put together.
    buffer: String,
    at: usize,
}

impl Tree<'_> {
    const CHECKED: u8 = 1;
    const PRIM: u8 = 2;
    const PROPERTY: u8 = 4;

    /// Adds the path below `parent`, or the root if there is none.
    fn add(&mut self, index: u32, parent: Option<u32>, element: i32) -> Checked<()> {
        let index = index as usize;
        if self.names[index] != Names::Nothing {
            return Err(Bad::new(self.at, format!("path {index} is there twice")));
        }
        let Some(parent) = parent else {
            self.paths[index] = Path::root();
            self.names[index] = Names::Root;
            return Ok(());
        };
        let token = element.unsigned_abs() as usize;
        let Some(text) = self.tokens.get(token) else {
            let reason = format!("token {token} is named, there are {}", self.tokens.len());
            return Err(Bad::new(self.at, reason));
        };
        let (above, above_names) = (&self.paths[parent as usize], self.names[parent as usize]);
        let longer = above.as_str().len() + text.len() + 1;
        self.room = self.room.checked_sub(longer).ok_or_else(|| {
            let reason = "the paths have more text than a file of this size can justify";
            Bad::new(self.at, reason)
        })?;
        let check = &mut self.checks[token];
        if *check == 0 {
            *check = Self::CHECKED;
            if is_identifier(text) {
                *check |= Self::PRIM;
            }
            if is_property_name(text) {
                *check |= Self::PROPERTY;
            }
        }
        let (prim, property) = (*check & Self::PRIM != 0, *check & Self::PROPERTY != 0);
        let above_prim = matches!(above_names, Names::Prim | Names::Variant);
        let buffer = &mut self.buffer;
        let mut separated = |separator| {
            buffer.clear();
            buffer.extend([above.as_str(), separator, text]);
            Path::from_checked(buffer)
        };
        let (path, names) = match above_names {
            Names::Root if element >= 0 && prim => (separated(""), Names::Prim),
            Names::Prim if element >= 0 && prim => (separated("/"), Names::Prim),
            Names::Variant if element >= 0 && prim => (separated(""), Names::Prim),
            _ if element < 0 && above_prim && property => (separated("."), Names::Property),
            Names::Nothing | Names::Root => return Err(self.no_element(text, above)),
            _ => {
                // Variants, targets and what is below them are few: the text as a whole says what it is.
                let path = Path::parse(&format!("{above}{text}"))
                    .map_err(|_| self.no_element(text, above))?;
                let names = match path.variant() {
                    Some((_, "")) => Names::VariantSet,
                    Some(_) => Names::Variant,
                    None if path.as_str().ends_with(']') => Names::Target,
                    None if above_names == Names::Target => Names::Property,
                    None => Names::Other,
                };
                (path, names)
            }
        };
        self.paths[index] = path;
        self.names[index] = names;
        Ok(())
    }

    fn no_element(&self, text: &str, above: &Path) -> Bad {
        Bad::new(self.at, format!("'{text}' cannot stand below '{above}'"))
    }

    fn finish(self, order: Vec<u32>) -> Paths {
        Paths {
            order,
            paths: self.paths,
            names: self.names,
        }
    }
}
