//! Reads composition arcs: references, payloads, inherits, specializes, relocates, variant sets and
//! sublayers.

use std::collections::HashSet;

use super::lexer::{Lexer, Parsed, fail_at};
use super::list_edits::{Edit, edit_field};
use super::parser::Parser;
use super::read_dictionary::dictionary;
use crate::layer::{SpecKind, field};
use crate::path::{Path, is_identifier};
use crate::value::{Dictionary, LayerOffset, Payload, Reference, Value};

/// What both references and payloads have, and the dictionary that references may have.
#[derive(Default)]
struct Arc {
    asset: smol_str::SmolStr,
    prim: Path,
    offset: LayerOffset,
    custom_data: Dictionary,
}

impl Parser<'_> {
    pub fn references(&mut self, edit: Option<Edit>) -> Parsed<()> {
        let start = self.lexer.pos;
        let items: Vec<Reference> = self
            .arcs(edit, true)?
            .into_iter()
            .map(|arc| Reference {
                asset: arc.asset,
                prim: arc.prim,
                offset: arc.offset,
                custom_data: arc.custom_data,
            })
            .collect();
        let keys = items.iter().map(|r| (&r.asset, &r.prim, bits(&r.offset)));
        // Two references may differ in their dictionaries alone.
        if items.iter().all(|r| r.custom_data.is_empty()) {
            check_unique(start, keys)?;
        }
        if let Some(spec) = self.layer.spec_mut(&self.path) {
            edit_field!(spec, field::REFERENCES, ReferenceListOp, edit, items);
        }
        Ok(())
    }

    pub fn payloads(&mut self, edit: Option<Edit>) -> Parsed<()> {
        let start = self.lexer.pos;
        let items: Vec<Payload> = self
            .arcs(edit, false)?
            .into_iter()
            .map(|arc| Payload {
                asset: arc.asset,
                prim: arc.prim,
                offset: arc.offset,
            })
            .collect();
        check_unique(
            start,
            items.iter().map(|p| (&p.asset, &p.prim, bits(&p.offset))),
        )?;
        if let Some(spec) = self.layer.spec_mut(&self.path) {
            edit_field!(spec, field::PAYLOAD, PayloadListOp, edit, items);
        }
        Ok(())
    }

    /// `None`, one arc, or arcs in brackets.
    fn arcs(&mut self, edit: Option<Edit>, with_data: bool) -> Parsed<Vec<Arc>> {
        let start = self.lexer.pos;
        let mut items = Vec::new();
        if self.lexer.peek() == b'[' {
            self.lexer.bracketed(b'[', b']', |lexer| {
                items.push(arc(lexer, with_data)?);
                Ok(())
            })?;
        } else if !self.lexer.keyword("None") {
            items.push(arc(&mut self.lexer, with_data)?);
        }
        if items.is_empty() && edit.is_some() {
            return fail_at(
                start,
                "only a whole list may be None or empty, not an edit of one",
            );
        }
        Ok(items)
    }

    /// The paths of `inherits` and `specializes`. They become absolute.
    pub fn class_paths(&mut self, name: &str, edit: Option<Edit>) -> Parsed<()> {
        let start = self.lexer.pos;
        let anchor = self.path.strip_variants();
        let paths = self.paths(|path| {
            let path = path.absolute(&anchor);
            match () {
                () if path.has_variants() => Err("the path must not have variants"),
                () if !path.is_prim() => Err("the path has to be a prim's"),
                () => Ok(path),
            }
        })?;
        if paths.is_empty() && edit.is_some() {
            return fail_at(
                start,
                "only a whole list may be None or empty, not an edit of one",
            );
        }
        self.edit_paths(name, start, edit, paths)
    }

    /// `None`, a path, or paths in brackets.
    pub fn paths(
        &mut self,
        check: impl Fn(&Path) -> Result<Path, &'static str>,
    ) -> Parsed<Vec<Path>> {
        let mut paths = Vec::new();
        if self.lexer.keyword("None") {
            return Ok(paths);
        }
        let mut read = |lexer: &mut Lexer| {
            let start = lexer.pos;
            let Some(path) = lexer.path()? else {
                return lexer.expected("None, a path between '<' and '>', or paths in brackets");
            };
            match check(&path) {
                Ok(path) => {
                    paths.push(path);
                    Ok(())
                }
                Err(reason) => fail_at(start, format!("<{path}>: {reason}")),
            }
        };
        match self.lexer.peek() {
            b'[' => self.lexer.bracketed(b'[', b']', read)?,
            _ => read(&mut self.lexer)?,
        }
        Ok(paths)
    }

    pub fn variant_sets(&mut self, edit: Option<Edit>) -> Parsed<()> {
        let start = self.lexer.pos;
        let names = self.names()?;
        check_unique(start, names.iter())?;
        if let Some(spec) = self.layer.spec_mut(&self.path) {
            edit_field!(
                spec,
                field::VARIANT_SET_NAMES,
                StringListOp,
                edit,
                names.clone()
            );
        }
        // In usd-core these make the sets too.
        if matches!(edit, None | Some(Edit::Add)) {
            let outer = self.path.clone();
            for name in names.iter().filter(|n| is_identifier(n)) {
                self.enter(outer.with_variant(name, ""))?;
                self.layer.create(&self.path, SpecKind::VariantSet);
            }
            self.path = outer;
        }
        Ok(())
    }

    /// Paths with where they are moved to. They become absolute.
    pub fn relocates(&mut self, name: &str) -> Parsed<()> {
        let anchor = self.path.strip_variants();
        let mut relocates = Vec::new();
        self.lexer.bracketed(b'{', b'}', |lexer| {
            let from = lexer.expect_path()?;
            lexer.inline();
            lexer.expect(b':')?;
            lexer.inline();
            let to = lexer.expect_path()?;
            relocates.push((from.absolute(&anchor), to.absolute(&anchor)));
            Ok(())
        })?;
        self.set(name, Value::Relocates(relocates.into()));
        Ok(())
    }

    pub fn sublayers(&mut self) -> Parsed<()> {
        let (mut assets, mut offsets) = (Vec::new(), Vec::new());
        self.lexer.bracketed(b'[', b']', |lexer| {
            assets.push(lexer.expect_asset()?);
            lexer.inline();
            let mut offset = LayerOffset::IDENTITY;
            if lexer.peek() == b'(' {
                parameters(lexer, |lexer| layer_offset(lexer, &mut offset))?;
            }
            offsets.push(offset);
            Ok(())
        })?;
        if !assets.is_empty() {
            self.set(field::SUBLAYERS, Value::StringVector(assets.into()));
            self.set(
                field::SUBLAYER_OFFSETS,
                Value::LayerOffsetVector(offsets.into()),
            );
        }
        Ok(())
    }
}

/// An asset with maybe a prim, or a prim alone; then maybe an offset and a dictionary.
fn arc(lexer: &mut Lexer, with_data: bool) -> Parsed<Arc> {
    let start = lexer.pos;
    let mut arc = Arc::default();
    match lexer.asset()? {
        Some(asset) if asset.is_empty() => {
            let reason = "an asset path must not be empty; a path in this layer has no '@'";
            return fail_at(start, reason);
        }
        Some(asset) => {
            arc.asset = asset;
            lexer.inline();
            arc.prim = lexer.path()?.unwrap_or_default();
        }
        None => match lexer.path()? {
            Some(path) => arc.prim = path,
            None => return lexer.expected("None, an asset path between '@', or a path"),
        },
    }
    let path = &arc.prim;
    let prim = path.is_absolute() && path.is_prim() && !path.has_variants();
    if !prim && !path.is_empty() {
        return fail_at(
            start,
            format!("<{path}> has to be empty or an absolute path of a prim"),
        );
    }
    lexer.inline();
    if lexer.peek() == b'(' {
        parameters(lexer, |lexer| {
            if with_data && lexer.keyword("customData") {
                lexer.assignment()?;
                arc.custom_data = dictionary(lexer)?;
                return Ok(());
            }
            layer_offset(lexer, &mut arc.offset)
        })?;
    }
    Ok(arc)
}

/// Statements in parentheses.
fn parameters(lexer: &mut Lexer, mut one: impl FnMut(&mut Lexer) -> Parsed<()>) -> Parsed<()> {
    lexer.expect(b'(')?;
    lexer.space();
    while !lexer.eat(b')') {
        one(lexer)?;
        lexer.line();
        match lexer.peek() {
            b';' => lexer.pos += 1,
            b')' | b'\n' | b'\r' => {}
            _ => return lexer.expected("the end of the line, ';' or ')'"),
        }
        lexer.space();
    }
    Ok(())
}

/// `offset = 1` or `scale = 2`.
fn layer_offset(lexer: &mut Lexer, out: &mut LayerOffset) -> Parsed<()> {
    let part = match () {
        () if lexer.keyword("offset") => &mut out.offset,
        () if lexer.keyword("scale") => &mut out.scale,
        () => return lexer.expected("'offset' or 'scale'"),
    };
    lexer.assignment()?;
    match lexer.number()? {
        Some(number) => *part = number.to_f64(),
        None => return lexer.expected("a number"),
    }
    Ok(())
}

fn bits(offset: &LayerOffset) -> (u64, u64) {
    (offset.offset.to_bits(), offset.scale.to_bits())
}

fn check_unique<T: std::hash::Hash + Eq>(
    at: usize,
    mut items: impl Iterator<Item = T>,
) -> Parsed<()> {
    let mut seen = HashSet::new();
    match items.all(|item| seen.insert(item)) {
        true => Ok(()),
        false => fail_at(at, "an item is in this list twice"),
    }
}
