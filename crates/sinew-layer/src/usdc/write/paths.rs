//! The table of paths: each path is its parent's index and the token of its last element.

use super::tables::{Map, Tokens};
use crate::path::Path;

/// What the last element of a path is. In this order USD sorts the children of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Element {
    /// A property of a prim.
    Property,
    /// A prim, or the root.
    Prim,
    /// A variant, or a variant set.
    Variant,
    /// A target, in brackets.
    Target,
    /// A property of a target, with its dot.
    TargetProperty,
}

/// The parent of the root, and of the path that names nothing.
const NONE: u32 = u32::MAX;

/// All paths of a file. A parent's index is smaller than its children's.
#[derive(Default)]
pub(super) struct Paths {
    /// The parent, the token and what the element is.
    entries: Vec<(u32, u32, Element)>,
    children: Map<(u32, u32, Element), u32>,
    root: Option<u32>,
    /// The index of the path that names nothing, which is not in the tree.
    empty: Option<u32>,
    /// The path that was added last, and where its elements end with their indices: most paths share their first
    /// elements with the one before.
    last: String,
    ends: Vec<(usize, u32)>,
}

/// The three lists of the section: the path's index, the element's token (negative for properties), and how many
/// entries there are to the next sibling (0: it is the next entry, -1: there is none but a child, -2: neither).
pub(super) type Tree = [Vec<i32>; 3];

impl Paths {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The parent of a path that is in the table.
    pub fn parent(&self, index: u32) -> Option<u32> {
        let (parent, ..) = self.entries[index as usize];
        (parent != NONE).then_some(parent)
    }

    pub fn element(&self, index: u32) -> Element {
        self.entries[index as usize].2
    }

    /// Adds a path that is absolute or empty, with all paths above it. None if an element cannot be a token, or if
    /// there are too many paths.
    pub fn add(&mut self, path: &Path, tokens: &mut Tokens) -> Option<u32> {
        if path.is_empty() {
            return match self.empty {
                Some(index) => Some(index),
                None => {
                    let token = tokens.add_text("")?;
                    self.empty = Some(self.push((NONE, token, Element::Prim))?);
                    self.empty
                }
            };
        }
        let root = match self.root {
            Some(root) => root,
            None => {
                let token = tokens.add_text("")?;
                let root = self.push((NONE, token, Element::Prim))?;
                self.root = Some(root);
                root
            }
        };
        let text = path.as_str();
        let shared = self
            .last
            .bytes()
            .zip(text.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        while let Some((end, _)) = self.ends.last() {
            let bytes = text.as_bytes();
            let whole = *end <= shared
                && (bytes.get(*end).is_none_or(|next| b"/.{[".contains(next))
                    || b"}]".contains(&bytes[*end - 1]));
            if whole {
                break;
            }
            self.ends.pop();
        }
        let (mut at, mut index) = self.ends.last().copied().unwrap_or((1, root));
        self.last.clear();
        while at < text.len() {
            let (start, end, element) = next_element(text, at, self.element(index));
            let token = tokens.add_text(&text[start..end])?;
            let entry = (index, token, element);
            index = match self.children.get(&entry) {
                Some(child) => *child,
                None => {
                    let child = self.push(entry)?;
                    self.children.insert(entry, child);
                    child
                }
            };
            at = end;
            self.ends.push((end, index));
        }
        self.last.push_str(text);
        Some(index)
    }

    fn push(&mut self, entry: (u32, u32, Element)) -> Option<u32> {
        let index = i32::try_from(self.entries.len()).ok()? as u32;
        self.entries.push(entry);
        Some(index)
    }

    /// The tree of paths, parents first and siblings sorted as USD sorts them.
    pub fn tree(&self, tokens: &Tokens) -> Tree {
        let count = self.entries.len() - usize::from(self.empty.is_some());
        let mut tree: Tree = [(); 3].map(|()| Vec::with_capacity(count));
        let Some(root) = self.root else {
            return tree;
        };
        let texts = tokens.all();
        // Children by parent: where each parent's begin, and the children.
        let mut begins = vec![0u32; self.entries.len() + 1];
        for (parent, ..) in &self.entries {
            if *parent != NONE {
                begins[*parent as usize + 1] += 1;
            }
        }
        for i in 1..begins.len() {
            begins[i] += begins[i - 1];
        }
        let mut ends = begins.clone();
        let mut children = vec![0u32; self.entries.len()];
        for (i, (parent, ..)) in self.entries.iter().enumerate() {
            if *parent != NONE {
                let end = &mut ends[*parent as usize];
                children[*end as usize] = i as u32;
                *end += 1;
            }
        }
        let mut sizes = vec![1i32; self.entries.len()];
        for (i, (parent, ..)) in self.entries.iter().enumerate().rev() {
            if *parent != NONE {
                sizes[*parent as usize] += sizes[i];
            }
        }
        let key = |index: &u32| {
            let (_, token, element) = self.entries[*index as usize];
            (element, texts[token as usize])
        };
        // Entries to come, with whether a sibling follows.
        let mut stack = vec![(root, false)];
        while let Some((index, sibling)) = stack.pop() {
            let (_, token, element) = self.entries[index as usize];
            let token = token as i32;
            let range = begins[index as usize] as usize..begins[index as usize + 1] as usize;
            let below = &mut children[range];
            tree[0].push(index as i32);
            tree[1].push(if element == Element::Property {
                -token
            } else {
                token
            });
            tree[2].push(match (sibling, !below.is_empty()) {
                (true, true) => sizes[index as usize],
                (true, false) => 0,
                (false, true) => -1,
                (false, false) => -2,
            });
            below.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
            let last = below.len().wrapping_sub(1);
            let below = below.iter().enumerate().rev();
            stack.extend(below.map(|(i, child)| (*child, i != last)));
        }
        tree
    }
}

/// The element that begins at `at` or, where there is a separator, behind it: where its token begins and ends.
fn next_element(text: &str, at: usize, above: Element) -> (usize, usize, Element) {
    let rest = &text[at..];
    // Inside brackets there may be brackets.
    let closing = |open: char, close: char| {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == open) - i32::from(c == close);
            depth == 0
        });
        end.map_or(text.len(), |end| at + end + 1)
    };
    let name = |start: usize, stop: &[char]| {
        let end = text[start..].find(stop);
        end.map_or(text.len(), |end| start + end)
    };
    match rest.as_bytes()[0] {
        b'{' => (at, closing('{', '}'), Element::Variant),
        b'[' => (at, closing('[', ']'), Element::Target),
        b'.' if above == Element::Target => {
            (at, name(at + 1, &['.', '[']), Element::TargetProperty)
        }
        b'.' => (at + 1, name(at + 1, &['.', '[']), Element::Property),
        b'/' => (at + 1, name(at + 1, &['/', '.', '{', '[']), Element::Prim),
        _ => (at, name(at, &['/', '.', '{', '[']), Element::Prim),
    }
}

#[cfg(test)]
mod tests {
    use smol_str::SmolStr;

    use super::*;
    use crate::usdc::read::bytes::Cursor;
    use crate::usdc::write::ints::pack32;

    /// The paths that the reader makes of a tree.
    fn read(tree: &Tree, tokens: &Tokens, count: usize) -> Vec<Path> {
        let texts = tokens.all().into_iter();
        let texts: Vec<SmolStr> = texts
            .map(|text| SmolStr::new(str::from_utf8(text).unwrap()))
            .collect();
        let counts = [count, tree[0].len()].map(|count| (count as u64).to_le_bytes());
        let columns = tree.iter().map(|column| pack32(column).unwrap());
        let bytes = [counts.concat(), columns.collect::<Vec<_>>().concat()].concat();
        let read = crate::usdc::read::paths::read(&mut Cursor::new(&bytes, 0), &bytes, &texts);
        read.unwrap().paths
    }

    #[test]
    fn the_tree_has_every_path_with_its_parents() {
        let mut tokens = Tokens::new();
        let mut paths = Paths::default();
        let all = [
            "/A/B",
            "/AB",
            "/A",
            "",
            "/A.x:y",
            "/A/B/C",
            "/A/B.a",
            "/A/B.ab",
            "/A/B.a[/A/B.ab].w",
            "/A/B.a[/Z.r[/Y]].w",
            "/A/B/A",
            "/A{v=}",
            "/A{v=x}",
            "/A{v=x}B/C.d",
            "/A{v=x}B",
            "/A{v=x}{w=.y-1|z}B",
            "/A{v=x}.p",
            "/Ä/日本.größe",
            "/",
        ];
        let add = |text: &str, paths: &mut Paths, tokens: &mut Tokens| {
            paths.add(&Path::parse(text).unwrap(), tokens).unwrap()
        };
        let indices = all.map(|text| add(text, &mut paths, &mut tokens));
        for (text, index) in all.iter().zip(indices).rev() {
            assert_eq!(add(text, &mut paths, &mut tokens), index);
        }
        let tree = paths.tree(&tokens);
        assert_eq!(tree[0].len() + 1, paths.len());
        let back = read(&tree, &tokens, paths.len());
        for (text, index) in all.iter().zip(indices) {
            assert_eq!(back[index as usize].as_str(), *text);
            let parent = Path::parse(text).unwrap().parent();
            let stored = paths.parent(index).map(|p| back[p as usize].clone());
            assert_eq!(stored, parent);
        }
        let order: Vec<&str> = tree[0].iter().map(|i| back[*i as usize].as_str()).collect();
        assert_eq!(
            order[..6],
            ["/", "/A", "/A.x:y", "/A/B", "/A/B.a", "/A/B.a[/A/B.ab]"]
        );
        let at = |text: &str| order.iter().position(|p| *p == text).unwrap();
        assert!(at("/A/B/A") < at("/A/B/C") && at("/A/B/C") < at("/A{v=}"));
        assert!(at("/A{v=x}") < at("/AB") && at("/AB") < at("/Ä"));
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let mut tokens = Tokens::new();
        let mut paths = Paths::default();
        let text = "/A".repeat(100_000);
        paths
            .add(&Path::parse(&text).unwrap(), &mut tokens)
            .unwrap();
        let tree = paths.tree(&tokens);
        assert_eq!(tree[0].len(), 100_001);
        assert_eq!(tree[2][..2], [-1, -1]);
        assert_eq!(tree[2][100_000], -2);
    }
}
