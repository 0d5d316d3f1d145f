//! Reads prims, variants and properties.

use smol_str::SmolStr;

use super::lexer::{Lexer, Parsed, fail_at, unsupported};
use super::list_edits::{Edit, edit_field};
use super::read_dictionary::{brackets, text};
use super::read_spline::spline;
use super::read_values::{array, scalar};
use super::types::TypeName;
use super::{MAX_NESTING, array_edit, path_expression};
use crate::layer::{Fields, Layer, SpecKind, field};
use crate::path::{Path, is_identifier, is_variant_name};
use crate::value::{PathExpression, Specifier, TimeSamples, Value, Variability};

/// Bytes of paths for each byte of text, and what every file may have. Deep prims with long names
/// would need far more memory than the file.
const PATH_BYTES: usize = 32;
const PATH_BYTES_AT_LEAST: usize = 1 << 26;

/// A layer that is being read.
pub(super) struct Parser<'a> {
    pub lexer: Lexer<'a>,
    pub layer: Layer,
    /// The spec that is being read.
    pub path: Path,
    /// How many bytes of paths may still be made.
    path_bytes: usize,
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Block {
    Prim,
    VariantSet,
    Variant,
}

impl<'a> Parser<'a> {
    pub fn new(name: &str, text: &'a str) -> Self {
        Self {
            lexer: Lexer::new(text),
            layer: Layer::new(name),
            path: Path::root(),
            path_bytes: text
                .len()
                .saturating_mul(PATH_BYTES)
                .saturating_add(PATH_BYTES_AT_LEAST),
        }
    }

    /// Everything after the header.
    pub fn layer(&mut self) -> Parsed<()> {
        self.lexer.space();
        if self.lexer.peek() == b'(' {
            self.metadata(SpecKind::Root)?;
        }
        // Open braces with the path outside of each; the stack is this function's own.
        let mut open: Vec<(Block, Path)> = Vec::new();
        loop {
            self.lexer.space();
            let block = open.last().map(|(block, _)| *block);
            if let Some(block) = block
                && self.lexer.eat(b'}')
            {
                let (_, outer) = open.pop().expect("there is one");
                self.path = outer;
                if block != Block::Variant {
                    self.lexer.end_of_statement(false)?;
                }
                continue;
            }
            let begun = match block {
                None if self.lexer.at_end() => return Ok(()),
                _ if open.len() > MAX_NESTING => {
                    return self
                        .lexer
                        .fail(format!("prims are nested deeper than {MAX_NESTING}"));
                }
                None => self.root_item()?,
                Some(Block::VariantSet) => Some(self.variant()?),
                Some(_) => self.prim_item()?,
            };
            open.extend(begun);
        }
    }

    fn root_item(&mut self) -> Parsed<Option<(Block, Path)>> {
        if let Some(specifier) = self.specifier()? {
            return self.prim(specifier).map(Some);
        }
        if self.lexer.keyword("reorder") {
            self.lexer.gap()?;
            if !self.lexer.keyword("rootPrims") {
                return self.lexer.expected("'rootPrims'");
            }
            self.order(field::PRIM_ORDER)?;
            return Ok(None);
        }
        self.lexer
            .expected("'def', 'over', 'class' or the end of the file")
    }

    fn prim_item(&mut self) -> Parsed<Option<(Block, Path)>> {
        if let Some(specifier) = self.specifier()? {
            return self.prim(specifier).map(Some);
        }
        if self.lexer.keyword("variantSet") {
            return self.variant_set().map(Some);
        }
        let start = self.lexer.pos;
        if self.lexer.keyword("reorder") {
            self.lexer.gap()?;
            if self.lexer.keyword("nameChildren") {
                self.order(field::PRIM_ORDER)?;
                return Ok(None);
            }
            if self.lexer.keyword("properties") {
                self.order(field::PROPERTY_ORDER)?;
                return Ok(None);
            }
            self.lexer.pos = start;
        }
        let prim = self.path.clone();
        self.property(&prim)?;
        self.lexer.end_of_statement(true)?;
        self.path = prim;
        Ok(None)
    }

    /// The names after `reorder nameChildren` and the like.
    fn order(&mut self, name: &str) -> Parsed<()> {
        self.lexer.assignment()?;
        let names = self.names()?;
        self.set(name, Value::TokenVector(names.into()));
        self.lexer.end_of_statement(true)
    }

    /// A string, or several in brackets.
    pub fn names(&mut self) -> Parsed<Vec<SmolStr>> {
        if let Some(name) = self.lexer.string()? {
            return Ok(vec![name]);
        }
        if self.lexer.peek() != b'[' {
            return self.lexer.expected("a string or strings in brackets");
        }
        let mut names = Vec::new();
        self.lexer.bracketed(b'[', b']', |lexer| {
            names.push(lexer.expect_string()?);
            Ok(())
        })?;
        match names.is_empty() {
            true => self.lexer.fail("expected one name at least"),
            false => Ok(names),
        }
    }

    /// Sets a field of the spec that is being read.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some(spec) = self.layer.spec_mut(&self.path) {
            spec.fields.set(name, value);
        }
    }

    fn specifier(&mut self) -> Parsed<Option<Specifier>> {
        let specifier = match () {
            () if self.lexer.keyword("def") => Specifier::Def,
            () if self.lexer.keyword("over") => Specifier::Over,
            () if self.lexer.keyword("class") => Specifier::Class,
            () => return Ok(None),
        };
        self.lexer.gap()?;
        Ok(Some(specifier))
    }

    /// Makes a path the one that is being read.
    pub fn enter(&mut self, path: Path) -> Parsed<()> {
        match self.path_bytes.checked_sub(path.as_str().len()) {
            Some(left) => {
                self.path_bytes = left;
                self.path = path;
                Ok(())
            }
            None => self
                .lexer
                .fail("the names of prims are too long for a file of this size"),
        }
    }

    /// A prim from its type's name to its opening brace.
    fn prim(&mut self, specifier: Specifier) -> Parsed<(Block, Path)> {
        let type_name = match self.lexer.peek() {
            b'"' | b'\'' => None,
            _ => {
                let start = self.lexer.pos;
                loop {
                    if self.lexer.type_name().is_none_or(is_keyword) {
                        return self.lexer.expected("a prim's type, or its name in quotes");
                    }
                    if !self.lexer.eat(b'.') {
                        break;
                    }
                }
                let name = self.lexer.since(start);
                self.lexer.gap()?;
                Some(name)
            }
        };
        let at = self.lexer.pos;
        let name = self.lexer.expect_string()?;
        if !is_identifier(&name) {
            return fail_at(at, format!("'{name}' is no name of a prim"));
        }
        let outer = self.path.clone();
        let path = outer.child(&name);
        if self.layer.spec(&path).is_some() {
            return fail_at(at, format!("there is a prim '{name}' here already"));
        }
        self.enter(path)?;
        let type_name = type_name.map(|t| (field::TYPE_NAME.into(), Value::token(t)));
        let fields = [(field::SPECIFIER.into(), Value::Specifier(specifier))];
        self.layer.create(&self.path, SpecKind::Prim).fields =
            Fields::from_iter(fields.into_iter().chain(type_name));
        self.block(SpecKind::Prim)?;
        Ok((Block::Prim, outer))
    }

    /// Metadata, if there is any, and the opening brace.
    fn block(&mut self, kind: SpecKind) -> Parsed<()> {
        self.lexer.space();
        if self.lexer.peek() == b'(' {
            self.metadata(kind)?;
            self.lexer.space();
        }
        self.lexer.expect(b'{')
    }

    fn variant_set(&mut self) -> Parsed<(Block, Path)> {
        self.lexer.gap()?;
        let at = self.lexer.pos;
        let name = self.lexer.expect_string()?;
        if !is_identifier(&name) {
            return fail_at(at, format!("'{name}' is no name of a variant set"));
        }
        self.lexer.inline();
        self.lexer.expect(b'=')?;
        self.lexer.space();
        self.lexer.expect(b'{')?;
        let outer = self.path.clone();
        self.enter(outer.with_variant(&name, ""))?;
        self.layer.create(&self.path, SpecKind::VariantSet);
        Ok((Block::VariantSet, outer))
    }

    fn variant(&mut self) -> Parsed<(Block, Path)> {
        let at = self.lexer.pos;
        let Some(name) = self.lexer.string()? else {
            return self.lexer.expected("a variant's name in quotes or '}'");
        };
        if name.is_empty() || !is_variant_name(&name) {
            return fail_at(at, format!("'{name}' is no name of a variant"));
        }
        let outer = self.path.clone();
        let set = outer.variant().map_or("", |(set, _)| set);
        let prim = outer.parent().unwrap_or_default();
        self.enter(prim.with_variant(set, &name))?;
        self.layer.create(&self.path, SpecKind::Variant);
        self.block(SpecKind::Variant)?;
        Ok((Block::Variant, outer))
    }

    fn property(&mut self, prim: &Path) -> Parsed<()> {
        let edit = self.edit()?;
        let custom = self.word("custom")?;
        let varying = self.word("varying")?;
        if self.word("rel")? {
            return self.relationship(prim, edit, custom, varying);
        }
        if varying {
            return self.lexer.expected("'rel'");
        }
        let uniform = self.word("uniform")? || self.word("config")?;
        let start = self.lexer.pos;
        let Some(name) = self.lexer.type_name().filter(|name| !is_keyword(name)) else {
            self.lexer.pos = start;
            return self.lexer.expected("a prim, a property or '}'");
        };
        let kind = TypeName::new(name, brackets(&mut self.lexer)?);
        let type_name = match self.lexer.since(start) {
            whole if whole.len() == name.len() => SmolStr::new(name),
            _ => smol_str::format_smolstr!("{name}[]"),
        };
        self.lexer.gap()?;
        let at = self.lexer.pos;
        let name = self.lexer.property_name()?;
        let variability = match uniform {
            true => Variability::Uniform,
            false => Variability::Varying,
        };
        self.attribute_spec(prim, at, name, custom, &type_name, variability)?;
        self.lexer.inline();
        if self.lexer.eat(b'.') {
            self.lexer.inline();
            return self.attribute_part(prim, edit, kind, &type_name);
        }
        if edit.is_some() {
            return self.lexer.expected("'.connect'");
        }
        if self.lexer.eat(b'=') {
            self.lexer.inline();
            let value = match () {
                () if self.lexer.keyword("None") => Value::Block,
                () if self.lexer.keyword("AnimationBlock") => Value::AnimationBlock,
                () => self.value(prim, kind, &type_name)?,
            };
            self.set(field::DEFAULT, value);
            self.lexer.inline();
        }
        if self.lexer.peek() == b'(' {
            self.metadata(SpecKind::Attribute)?;
        }
        Ok(())
    }

    /// A keyword that has to be followed by a space; it is no keyword if it is followed by
    /// something else.
    fn word(&mut self, word: &str) -> Parsed<bool> {
        let found = self.lexer.keyword(word);
        if found {
            self.lexer.gap()?;
        }
        Ok(found)
    }

    /// The kind of a list edit before a name.
    pub fn edit(&mut self) -> Parsed<Option<Edit>> {
        for (word, edit) in Edit::WORDS {
            if self.word(word)? {
                return Ok(Some(edit));
            }
        }
        Ok(None)
    }

    /// Makes the spec of an attribute; if it is there already, it has to be of the same type.
    fn attribute_spec(
        &mut self,
        prim: &Path,
        at: usize,
        name: &str,
        custom: bool,
        type_name: &SmolStr,
        variability: Variability,
    ) -> Parsed<()> {
        self.enter(prim.property(name))?;
        let Some(spec) = self.layer.spec_mut(&self.path) else {
            self.layer.create(&self.path, SpecKind::Attribute).fields = Fields::from_iter([
                (field::CUSTOM.into(), Value::Bool(custom)),
                (field::TYPE_NAME.into(), Value::Token(type_name.clone())),
                (field::VARIABILITY.into(), Value::Variability(variability)),
            ]);
            return Ok(());
        };
        if spec.kind != SpecKind::Attribute {
            return fail_at(at, "there is a relationship of this name already");
        }
        if let Some(Value::Token(old)) = spec.get(field::TYPE_NAME)
            && old != type_name
        {
            let reason = format!("the attribute is of type {old} already, not {type_name}");
            return fail_at(at, reason);
        }
        if spec.get(field::VARIABILITY) != Some(&Value::Variability(variability)) {
            return fail_at(
                at,
                "the attribute is already there with another variability",
            );
        }
        if custom {
            spec.fields.set(field::CUSTOM, Value::Bool(true));
        }
        Ok(())
    }

    /// What comes after the dot of an attribute: time samples, connections or a spline.
    fn attribute_part(
        &mut self,
        prim: &Path,
        edit: Option<Edit>,
        kind: TypeName,
        type_name: &SmolStr,
    ) -> Parsed<()> {
        if self.lexer.keyword("connect") {
            self.lexer.assignment()?;
            let at = self.lexer.pos;
            let paths = self.targets(prim, edit)?;
            return self.edit_paths(field::CONNECTION_PATHS, at, edit, paths);
        }
        if edit.is_some() {
            return self.lexer.expected("'connect'");
        }
        if self.lexer.keyword("timeSamples") {
            self.lexer.assignment()?;
            let samples = self.time_samples(prim, kind, type_name)?;
            self.set(field::TIME_SAMPLES, Value::TimeSamples(samples));
            return Ok(());
        }
        if self.lexer.keyword("spline") {
            self.lexer.assignment()?;
            let spline = spline(&mut self.lexer, type_name)?;
            self.set(field::SPLINE, Value::Spline(spline.into()));
            return Ok(());
        }
        self.lexer.expected("'timeSamples', 'connect' or 'spline'")
    }

    fn time_samples(
        &mut self,
        prim: &Path,
        kind: TypeName,
        type_name: &str,
    ) -> Parsed<TimeSamples> {
        let mut samples = Vec::new();
        self.lexer.expect(b'{')?;
        self.lexer.space();
        while !self.lexer.eat(b'}') {
            let Some(time) = self.lexer.number()? else {
                return self.lexer.expected("a time or '}'");
            };
            self.lexer.inline();
            self.lexer.expect(b':')?;
            self.lexer.inline();
            let value = match self.lexer.keyword("None") {
                true => Value::Block,
                false => self.value(prim, kind, type_name)?,
            };
            samples.push((time.to_f64(), value));
            self.lexer.space();
            if !self.lexer.eat(b',') && self.lexer.peek() != b'}' {
                return self.lexer.expected("',' or '}'");
            }
            self.lexer.space();
        }
        Ok(TimeSamples::new(samples))
    }

    /// A value of an attribute.
    pub fn value(&mut self, prim: &Path, kind: TypeName, type_name: &str) -> Parsed<Value> {
        let value = match kind {
            _ if self.lexer.peek_word() == "edit" => {
                return array_edit::read(&mut self.lexer, kind, type_name);
            }
            TypeName::Scalar(kind) => scalar(&mut self.lexer, kind)?,
            TypeName::Array(kind) => array(&mut self.lexer, kind)?,
            TypeName::Unknown => {
                let text = text(&mut self.lexer)?;
                return Ok(Value::Unregistered(Value::string(text).into()));
            }
            TypeName::Opaque => {
                return self
                    .lexer
                    .fail(format!("an attribute of type {type_name} has no value"));
            }
        };
        let absolute = |e: &PathExpression| path_expression::absolute(&e.0, prim);
        match value {
            Value::PathExpression(e) => Ok(Value::PathExpression(absolute(&e))),
            Value::PathExpressionArray(all) => Ok(Value::PathExpressionArray(
                all.iter().map(absolute).collect(),
            )),
            value => Ok(value),
        }
    }

    fn relationship(
        &mut self,
        prim: &Path,
        edit: Option<Edit>,
        custom: bool,
        varying: bool,
    ) -> Parsed<()> {
        let at = self.lexer.pos;
        let name = self.lexer.property_name()?;
        self.enter(prim.property(name))?;
        let spec = self.layer.create(&self.path, SpecKind::Relationship);
        if spec.kind != SpecKind::Relationship {
            return fail_at(at, "there is an attribute of this name already");
        }
        let variability = match varying {
            true => Variability::Varying,
            false => Variability::Uniform,
        };
        spec.fields
            .set(field::VARIABILITY, Value::Variability(variability));
        if custom {
            spec.fields.set(field::CUSTOM, Value::Bool(true));
        }
        self.lexer.inline();
        let at = self.lexer.pos;
        match self.lexer.peek() {
            b'.' => return unsupported(at, "defaults of relationships"),
            b'[' if edit.is_none() => {
                // A target without an opinion, from files of old: usd-core keeps nothing of it.
                self.lexer.pos += 1;
                self.lexer.inline();
                self.lexer.expect_path()?;
                self.lexer.inline();
                return self.lexer.expect(b']');
            }
            b'=' => {
                self.lexer.assignment()?;
                let paths = self.targets(prim, edit)?;
                self.edit_paths(field::TARGET_PATHS, at, edit, paths)?;
                self.lexer.inline();
            }
            _ => {}
        }
        if edit.is_none() && self.lexer.peek() == b'(' {
            self.metadata(SpecKind::Relationship)?;
        }
        Ok(())
    }

    /// Targets of a relationship or connections of an attribute: `None`, a path, or paths in
    /// brackets. They become absolute.
    fn targets(&mut self, prim: &Path, edit: Option<Edit>) -> Parsed<Vec<Path>> {
        let anchor = prim.strip_variants();
        let start = self.lexer.pos;
        let paths = self.paths(|path| {
            let path = path.absolute(&anchor);
            match () {
                () if path.is_empty() || path.is_root() => {
                    Err("a target has to be a prim or a property")
                }
                () if path.has_variants() => Err("a target must not have variants"),
                () => Ok(path),
            }
        })?;
        if paths.is_empty() && edit.is_some() {
            return fail_at(
                start,
                "only a whole list may be None or empty, not an edit of one",
            );
        }
        Ok(paths)
    }

    /// Sets one list of a field that edits paths.
    pub fn edit_paths(
        &mut self,
        name: &str,
        at: usize,
        edit: Option<Edit>,
        paths: Vec<Path>,
    ) -> Parsed<()> {
        let mut seen = std::collections::HashSet::with_capacity(paths.len());
        if let Some(twice) = paths.iter().find(|path| !seen.insert(*path)) {
            return fail_at(at, format!("{twice} is in this list twice"));
        }
        if let Some(spec) = self.layer.spec_mut(&self.path) {
            edit_field!(spec, name, PathListOp, edit, paths);
        }
        Ok(())
    }
}

/// Words that cannot be the name of a type.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "add"
            | "AnimationBlock"
            | "append"
            | "bezier"
            | "class"
            | "config"
            | "connect"
            | "curve"
            | "custom"
            | "customData"
            | "default"
            | "def"
            | "delete"
            | "dictionary"
            | "displayUnit"
            | "doc"
            | "held"
            | "hermite"
            | "inherits"
            | "kind"
            | "linear"
            | "loop"
            | "nameChildren"
            | "None"
            | "none"
            | "offset"
            | "oscillate"
            | "over"
            | "payload"
            | "permission"
            | "post"
            | "pre"
            | "prefixSubstitutions"
            | "prepend"
            | "properties"
            | "references"
            | "relocates"
            | "rel"
            | "reorder"
            | "rootPrims"
            | "repeat"
            | "reset"
            | "scale"
            | "sloped"
            | "subLayers"
            | "suffixSubstitutions"
            | "specializes"
            | "spline"
            | "symmetryArguments"
            | "symmetryFunction"
            | "timeSamples"
            | "uniform"
            | "variantSet"
            | "variantSets"
            | "variants"
            | "varying"
    )
}
