//! Paths of prims, properties and variants.

use std::fmt;

use smol_str::{SmolStr, format_smolstr};

use crate::error::{Error, Result};

/// The path of a spec, in the text form that USD uses.
///
/// | path | what it names |
/// |---|---|
/// | `/` | the layer itself |
/// | `/Char/Mesh` | a prim |
/// | `/Char/Mesh.primvars:st` | a property |
/// | `/Char{look=red}` | a variant |
/// | `/Char{look=red}Mesh` | a prim inside a variant |
/// | `/Char{look=}` | a variant set |
/// | `../Mesh.points`, `Mesh`, `.points`, `.` | paths relative to a prim |
/// | `/A.rel[/B].weight` | a property of a target |
///
/// A path is checked when it is parsed, so its methods cannot fail. The empty path names nothing.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Path(SmolStr);

impl Path {
    /// Parses a path. The empty text is the empty path.
    ///
    /// # Errors
    /// [`Error::Path`] if the text does not follow the grammar.
    pub fn parse(text: &str) -> Result<Self> {
        match check(text) {
            Ok(()) => Ok(Self(SmolStr::new(text))),
            Err(reason) => Err(Error::Path {
                text: text.chars().take(200).collect(),
                reason,
            }),
        }
    }

    /// A text that is known to be a path: of a crate file's paths, the elements are checked.
    pub(crate) fn from_checked(text: &str) -> Self {
        debug_assert!(check(text).is_ok(), "{text}");
        Self(SmolStr::new(text))
    }

    /// The path of the layer itself, `/`.
    #[must_use]
    pub const fn root() -> Self {
        Self(SmolStr::new_static("/"))
    }

    /// The path that names nothing.
    #[must_use]
    pub const fn empty() -> Self {
        Self(SmolStr::new_static(""))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Whether this is a prim or a variant: neither the root nor a property.
    #[must_use]
    pub fn is_prim(&self) -> bool {
        !self.is_empty() && !self.is_root() && self.property_start().is_none()
    }

    /// Whether the last element is a variant, as in `/Char{look=red}`.
    #[must_use]
    pub fn is_variant(&self) -> bool {
        self.0.ends_with('}')
    }

    /// Whether any element is a variant.
    #[must_use]
    pub fn has_variants(&self) -> bool {
        self.0.contains('{')
    }

    /// Where the first `.` of a property stands; none for prims.
    fn property_start(&self) -> Option<usize> {
        let text = self.0.as_str();
        let mut from = 0;
        // The dots of `../..`, and `.` alone, are not of properties.
        if text == "." || text.is_empty() {
            return None;
        }
        while text[from..].starts_with("..") {
            from = (from + 3).min(text.len());
        }
        // Names of variants may have dots.
        let mut in_variant = false;
        for (i, c) in text.as_bytes()[from..].iter().enumerate() {
            match c {
                b'{' => in_variant = true,
                b'}' => in_variant = false,
                b'.' if !in_variant => return Some(from + i),
                _ => {}
            }
        }
        None
    }

    /// The prim's path of a property; a prim's path itself.
    #[must_use]
    pub fn prim_path(&self) -> Self {
        match self.property_start() {
            Some(0) => Self(SmolStr::new_static(".")),
            Some(at) => {
                let prim = &self.0[..at];
                Self(SmolStr::new(
                    prim.strip_suffix('/')
                        .filter(|p| !p.is_empty())
                        .unwrap_or(prim),
                ))
            }
            None => self.clone(),
        }
    }

    /// The prim and the property's name (with all that follows it); none for prims.
    #[must_use]
    pub fn split_property(&self) -> Option<(Self, &str)> {
        let at = self.property_start()?;
        Some((self.prim_path(), &self.0[at + 1..]))
    }

    /// The last element: a prim's or a property's name. For a variant the text between its braces, for
    /// the root and the empty path nothing.
    #[must_use]
    pub fn name(&self) -> &str {
        if let Some(at) = self.property_start() {
            let last = self.0.rfind('.').filter(|_| !self.0.ends_with(']'));
            return &self.0[last.unwrap_or(at) + 1..];
        }
        let text = self.0.as_str();
        if let Some(open) = self.variant_start() {
            return &text[open + 1..text.len() - 1];
        }
        let start = text.rfind(['/', '}']).map_or(0, |i| i + 1);
        &text[start..]
    }

    /// Where the `{` of the last element stands, if that is a variant.
    fn variant_start(&self) -> Option<usize> {
        self.0.ends_with('}').then(|| self.0.rfind('{')).flatten()
    }

    /// The set and the variant, if the last element is one. A variant set is a variant without a name.
    #[must_use]
    pub fn variant(&self) -> Option<(&str, &str)> {
        let open = self.variant_start()?;
        self.0[open + 1..self.0.len() - 1].split_once('=')
    }

    /// The path without its last element. The parent of `/A` is `/`; a variant's is its prim; a
    /// property's its prim. None for the root, the empty path and `.`; the parent of a relative path
    /// of one name is `.`.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let text = self.0.as_str();
        if self.is_empty() || self.is_root() || text == "." || text.ends_with("..") {
            return None;
        }
        if text.ends_with(']') {
            // A target: what comes before its bracket.
            let mut depth = 0;
            for (i, c) in text.bytes().enumerate().rev() {
                match c {
                    b']' => depth += 1,
                    b'[' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(Self(SmolStr::new(&text[..i])));
                        }
                    }
                    _ => {}
                }
            }
            return None;
        }
        if let Some(at) = self.property_start() {
            let last = text.rfind('.').unwrap_or(at);
            if last != at && text[..last].ends_with(']') {
                return Some(Self(SmolStr::new(&text[..last])));
            }
            return Some(self.prim_path());
        }
        if let Some(open) = self.variant_start() {
            return Some(Self(SmolStr::new(&text[..open])));
        }
        Some(match text.rfind(['/', '}']) {
            Some(i) if text.as_bytes()[i] == b'}' => Self(SmolStr::new(&text[..=i])),
            Some(0) => Self::root(),
            Some(i) => Self(SmolStr::new(&text[..i])),
            None => Self(SmolStr::new_static(".")),
        })
    }

    /// A child prim. `name` has to be an identifier ([`is_identifier`]).
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        debug_assert!(is_identifier(name), "{name}");
        Self(match self.as_str() {
            "/" => format_smolstr!("/{name}"),
            "." | "" => SmolStr::new(name),
            text if text.ends_with('}') => format_smolstr!("{text}{name}"),
            text => format_smolstr!("{text}/{name}"),
        })
    }

    /// A property of this prim. `name` has to be identifiers with colons between them
    /// ([`is_property_name`]).
    #[must_use]
    pub fn property(&self, name: &str) -> Self {
        debug_assert!(is_property_name(name), "{name}");
        Self(match self.as_str() {
            "." | "" => format_smolstr!(".{name}"),
            text if text.ends_with("..") => format_smolstr!("{text}/.{name}"),
            text => format_smolstr!("{text}.{name}"),
        })
    }

    /// A variant of this prim, or with an empty `variant` the variant set.
    #[must_use]
    pub fn with_variant(&self, set: &str, variant: &str) -> Self {
        Self(format_smolstr!("{}{{{set}={variant}}}", self.0))
    }

    /// Whether this path is `prefix`, or below it.
    #[must_use]
    pub fn has_prefix(&self, prefix: &Self) -> bool {
        if prefix.is_root() {
            return self.is_absolute();
        }
        match self.0.strip_prefix(prefix.as_str()) {
            Some("") => true,
            Some(rest) => {
                !prefix.is_empty()
                    && (prefix.0.ends_with('}') || rest.starts_with(['/', '.', '{', '[']))
            }
            None => false,
        }
    }

    /// This path with `old`, which it has to begin with, replaced by `new`; none if it does not
    /// begin with `old`. Target paths inside brackets stay.
    #[must_use]
    pub fn replace_prefix(&self, old: &Self, new: &Self) -> Option<Self> {
        if !self.has_prefix(old) {
            return None;
        }
        if old == new {
            return Some(self.clone());
        }
        let rest = match old.is_root() {
            true => &self.0[1..],
            false => &self.0[old.0.len()..],
        };
        Some(Self(match (rest, new.as_str()) {
            ("", _) => new.0.clone(),
            // Below the root there is no separator to keep.
            (rest, "/") => format_smolstr!("/{}", rest.trim_start_matches('/')),
            (rest, new) => {
                let rest = rest.strip_prefix('/').unwrap_or(rest);
                match rest.starts_with(['.', '{', '[']) || new.ends_with('}') {
                    true => format_smolstr!("{new}{rest}"),
                    false => format_smolstr!("{new}/{rest}"),
                }
            }
        }))
    }

    /// This path without its variants: `/A{v=x}B` becomes `/A/B`.
    #[must_use]
    pub fn strip_variants(&self) -> Self {
        if !self.has_variants() {
            return self.clone();
        }
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            let close = rest[open..].find('}').map_or(rest.len(), |i| open + i + 1);
            rest = &rest[close..];
            let separate = rest.chars().next().is_some_and(|c| !"/.{[".contains(c));
            if separate {
                out.push('/');
            }
        }
        out.push_str(rest);
        Self(SmolStr::new(out))
    }

    /// A relative path made absolute, `anchor` being the prim that it is relative to; absolute paths
    /// stay. Gives the empty path if `..` leads above the root.
    #[must_use]
    pub fn absolute(&self, anchor: &Self) -> Self {
        if self.is_absolute() || self.is_empty() {
            return self.clone();
        }
        let mut base = anchor.prim_path();
        let mut rest = self.0.as_str();
        if rest == "." {
            return base;
        }
        while let Some(after) = rest.strip_prefix("..") {
            // A variant is no level of its own.
            while base.is_variant() {
                base = base.parent().unwrap_or_default();
            }
            let Some(up) = base.parent() else {
                return Self::empty();
            };
            base = up;
            rest = after.strip_prefix('/').unwrap_or(after);
        }
        match rest {
            "" => base,
            rest if rest.starts_with('.') => Self(format_smolstr!("{}{rest}", base.0)),
            rest if base.is_root() || base.is_variant() => {
                Self(format_smolstr!("{}{rest}", base.0))
            }
            rest => Self(format_smolstr!("{}/{rest}", base.0)),
        }
    }

    /// How many prims and variants lead from the root to this path.
    #[must_use]
    pub fn depth(&self) -> usize {
        let prim = self.prim_path();
        let text = prim.as_str();
        if text == "/" {
            return 0;
        }
        let mut depth = text.bytes().filter(|b| *b == b'/').count();
        let bytes = text.as_bytes();
        for (i, b) in bytes.iter().enumerate() {
            if *b == b'{' {
                depth += 1;
            }
            let follows = bytes.get(i + 1).is_some_and(|n| !b"/{".contains(n));
            if *b == b'}' && follows {
                depth += 1;
            }
        }
        depth
    }

    /// The target between the last brackets: `/B` of `/A.rel[/B]` and `/A.rel[/B].weight`.
    #[must_use]
    pub fn target(&self) -> Option<Self> {
        let open = self.0.find('[')?;
        let close = self.0.rfind(']')?;
        Some(Self(SmolStr::new(self.0.get(open + 1..close)?)))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0)
    }
}

impl AsRef<str> for Path {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl std::str::FromStr for Path {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// Whether a text can name a prim: letters, digits and `_` of any script, no digit first.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c))
        && chars.all(unicode_ident::is_xid_continue)
}

/// Whether a text can name a property: identifiers with colons between them.
#[must_use]
pub fn is_property_name(text: &str) -> bool {
    text.split(':').all(is_identifier)
}

/// Whether a text can name a variant: letters, digits, `_`, `|` and `-`, with a dot in front if need be.
#[must_use]
pub fn is_variant_name(text: &str) -> bool {
    let text = text.strip_prefix('.').unwrap_or(text);
    text.chars()
        .all(|c| unicode_ident::is_xid_continue(c) || "|-".contains(c))
}

/// Brackets in brackets; real files have one level.
const MAX_BRACKETS: usize = 8;

fn check(text: &str) -> Result<(), &'static str> {
    check_inside(text, 0)
}

fn check_inside(text: &str, brackets: usize) -> Result<(), &'static str> {
    if text.is_empty() || text == "/" || text == "." {
        return Ok(());
    }
    let mut rest = text;
    let mut bare = false;
    if let Some(absolute) = rest.strip_prefix('/') {
        rest = absolute;
    } else {
        while let Some(after) = rest.strip_prefix("..") {
            match after.strip_prefix('/') {
                Some(next) if !next.is_empty() => rest = next,
                Some(_) => return Err("it ends in '/'"),
                None if after.is_empty() => return Ok(()),
                None if after.starts_with('.') => {
                    rest = after;
                    bare = true;
                    break;
                }
                None => return Err("'..' has to be followed by '/'"),
            }
        }
        bare |= rest.starts_with('.');
    }
    if !bare {
        loop {
            let end = rest.find(['/', '.', '{', '[']).unwrap_or(rest.len());
            if !is_identifier(&rest[..end]) {
                return Err("a prim's name has to be an identifier");
            }
            rest = &rest[end..];
            let mut variant = false;
            while let Some(inner) = rest.strip_prefix('{') {
                let close = inner.find('}').ok_or("'{' without '}'")?;
                let (set, name) = inner[..close]
                    .split_once('=')
                    .ok_or("a variant needs '='")?;
                if !is_property_name(set) || !is_variant_name(name) {
                    return Err("a variant's name has characters that are not allowed");
                }
                rest = &inner[close + 1..];
                variant = true;
            }
            if let Some(next) = rest.strip_prefix('/') {
                rest = next;
            } else if rest.is_empty() {
                return Ok(());
            } else if rest.starts_with(['.', '[']) {
                break;
            } else if !variant {
                return Err("a name has to be followed by '/', '.' or '{'");
            }
        }
    }
    let mut rest = rest.strip_prefix('.').ok_or("a property needs '.'")?;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if !is_property_name(&rest[..end]) {
            return Err("a property's name has to be identifiers with ':' between them");
        }
        rest = &rest[end..];
        if rest.starts_with('.') {
            // Mappers and expressions, of which nothing has been written for years.
            return Err("a property's name has no '.'");
        }
        if let Some(inner) = rest.strip_prefix('[') {
            if brackets >= MAX_BRACKETS {
                return Err("brackets are nested too deep");
            }
            let mut depth = 1;
            let close = inner.bytes().position(|b| {
                match b {
                    b'[' => depth += 1,
                    b']' => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            let close = close.ok_or("'[' without ']'")?;
            check_inside(&inner[..close], brackets + 1)?;
            rest = &inner[close + 1..];
        }
        match rest.strip_prefix('.') {
            Some(next) => rest = next,
            None if rest.is_empty() => return Ok(()),
            None => return Err("a property has to be followed by '.' or '['"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn the_grammar_is_usds() {
        let good = "/ . .. ../.. /A /A/B_1 A/B ../A.b ../.b .b:c /A.b:c /A{v=x} /A{v=} \
                    /A{v=x}B/C.d /A{v=x}{w=y}B /A{v=.x-1|y}.b /A.r[/B] /A.r[/B.c].d /Ä/日本.größe \
                    /A.r[../B].d";
        for good in good.split(' ').chain([""]) {
            assert_eq!(path(good).as_str(), good);
        }
        let bad = "// /A/ /1 /A. /A{v} /A{v=x /A.b[ /A.b[/C /A-B /A..b ../ /A.b/C /A.1 /A:b \
                    /A.b.c /A.r[/B].w.x";
        for bad in bad.split(' ').chain(["A B"]) {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parts_and_parents() {
        for (text, parent, name) in [
            ("/A", "/", "A"),
            ("/A/B", "/A", "B"),
            ("/A/B.c:d", "/A/B", "c:d"),
            ("/A{v=x}", "/A", "v=x"),
            ("/A{v=x}B", "/A{v=x}", "B"),
            ("/A{v=x}.b", "/A{v=x}", "b"),
            ("/A.r[/B]", "/A.r", "r[/B]"),
            ("/A.r[/B].w", "/A.r[/B]", "w"),
            ("A", ".", "A"),
        ] {
            assert_eq!(path(text).parent(), Some(path(parent)), "{text}");
            assert_eq!(path(text).name(), name);
        }
        assert_eq!(path("/").parent(), None);
        assert_eq!(path("/A{v=x}B.c").prim_path(), path("/A{v=x}B"));
        assert_eq!(path("/A{v=x}").variant(), Some(("v", "x")));
        assert_eq!(path("/A{v=x}B{w=y}C.d").strip_variants(), path("/A/B/C.d"));
        assert_eq!(path("/A{v=x}.b").strip_variants(), path("/A.b"));
        assert_eq!(path("/A/B{v=x}C").depth(), 4);
        assert_eq!(path("/A.r[/B].w").target(), Some(path("/B")));
    }

    #[test]
    fn prefixes_are_whole_elements() {
        assert!(path("/A/B").has_prefix(&path("/A")));
        assert!(!path("/AB").has_prefix(&path("/A")));
        assert!(path("/A{v=x}B").has_prefix(&path("/A{v=x}")));
        for (text, old, new, out) in [
            ("/A/B.c", "/A", "/X/Y", "/X/Y/B.c"),
            ("/A", "/A", "/X", "/X"),
            ("/A/B", "/", "/X", "/X/A/B"),
            ("/A/B", "/A", "/", "/B"),
            ("/A/B", "/A", "/X{v=y}", "/X{v=y}B"),
            ("/A{v=y}B", "/A{v=y}", "/X", "/X/B"),
            ("/A.b", "/A", "/X", "/X.b"),
        ] {
            let replaced = path(text).replace_prefix(&path(old), &path(new));
            assert_eq!(replaced, Some(path(out)));
        }
    }

    #[test]
    fn relative_paths_start_at_a_prim() {
        let anchor = path("/A/B");
        for (text, out) in [
            ("../C.d", "/A/C.d"),
            ("C", "/A/B/C"),
            (".", "/A/B"),
            (".d", "/A/B.d"),
            ("../.d", "/A.d"),
            ("../..", "/"),
            ("../../../X", ""),
            ("/X", "/X"),
        ] {
            assert_eq!(path(text).absolute(&anchor), path(out), "{text}");
        }
    }
}
