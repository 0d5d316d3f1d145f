//! Reads what stands in parentheses after layers, prims, variants and properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::fields::{FieldType, field_type, is_reserved};
use super::lexer::{Parsed, fail_at};
use super::list_edits::{Edit, edit_field, set_list};
use super::parser::{Parser, is_keyword};
use super::read_dictionary::{dictionary, text};
use super::read_values::{array, scalar, vector};
use super::types::Scalar;
use crate::layer::{SpecKind, field};
use crate::value::{Dictionary, ListOp, Permission, Value};

impl Parser<'_> {
    /// Metadata from its opening to its closing parenthesis.
    pub fn metadata(&mut self, kind: SpecKind) -> Parsed<()> {
        self.lexer.expect(b'(')?;
        self.lexer.space();
        while !self.lexer.eat(b')') {
            self.item(kind)?;
            self.lexer.line();
            match self.lexer.peek() {
                b';' => self.lexer.pos += 1,
                b')' | b'\n' | b'\r' => {}
                _ => return self.lexer.expected("the end of the line, ';' or ')'"),
            }
            self.lexer.space();
        }
        Ok(())
    }

    fn item(&mut self, kind: SpecKind) -> Parsed<()> {
        if let Some(comment) = self.lexer.string()? {
            self.set(field::COMMENT, Value::String(comment));
            return Ok(());
        }
        let edit = self.edit()?;
        let start = self.lexer.pos;
        let Some(key) = self.lexer.type_name() else {
            return self.lexer.expected("a key of metadata or ')'");
        };
        self.lexer.assignment()?;
        let in_prim = matches!(kind, SpecKind::Prim | SpecKind::Variant);
        match key {
            "references" if in_prim => return self.references(edit),
            "payload" if in_prim => return self.payloads(edit),
            "inherits" if in_prim => return self.class_paths(field::INHERITS, edit),
            "specializes" if in_prim => return self.class_paths(field::SPECIALIZES, edit),
            "variantSets" if in_prim => return self.variant_sets(edit),
            _ => {}
        }
        if edit.is_none() {
            match key {
                "doc" => {
                    let text = self.lexer.expect_string()?;
                    self.set(field::DOCUMENTATION, Value::String(text));
                    return Ok(());
                }
                "kind" if in_prim => {
                    let kind = self.lexer.expect_string()?;
                    self.set("kind", Value::Token(kind));
                    return Ok(());
                }
                "variants" if in_prim => return self.variants(start),
                "prefixSubstitutions" | "suffixSubstitutions" if in_prim => {
                    return self.substitutions(key);
                }
                "relocates" if in_prim => return self.relocates(field::RELOCATES),
                "relocates" if kind == SpecKind::Root => {
                    return self.relocates(field::LAYER_RELOCATES);
                }
                "subLayers" if kind == SpecKind::Root => return self.sublayers(),
                "permission" if kind != SpecKind::Root => return self.permission(),
                "symmetryFunction" if kind != SpecKind::Root => {
                    let name = self.lexer.type_name().unwrap_or("");
                    self.set(key, Value::token(name));
                    return Ok(());
                }
                "displayUnit" if kind == SpecKind::Attribute => return self.display_unit(),
                _ => {}
            }
        }
        let allowed = kind != SpecKind::Root && matches!(key, "customData" | "symmetryArguments");
        if is_reserved(kind, key) || is_keyword(key) && !allowed {
            return fail_at(start, format!("'{key}' is no key of metadata"));
        }
        match field_type(kind, key) {
            Some(known) => self.known(key, known, edit, start),
            None => self.unknown(key, edit),
        }
    }

    /// A field of a known type.
    fn known(
        &mut self,
        key: &str,
        known: FieldType,
        edit: Option<Edit>,
        start: usize,
    ) -> Parsed<()> {
        let lexer = &mut self.lexer;
        let value = match known {
            FieldType::TokenListOp | FieldType::StringListOp | FieldType::Int64ListOp => {
                return self.known_list(key, known, edit);
            }
            _ if edit.is_some() => {
                return fail_at(start, format!("'{key}' is no list that can be edited"));
            }
            FieldType::Scalar(kind) => scalar(lexer, kind)?,
            FieldType::Array(kind) => array(lexer, kind)?,
            FieldType::Dictionary => Value::Dictionary(dictionary(lexer)?.into()),
        };
        self.set(key, value);
        Ok(())
    }

    fn known_list(&mut self, key: &str, known: FieldType, edit: Option<Edit>) -> Parsed<()> {
        let lexer = &mut self.lexer;
        let none = lexer.keyword("None");
        match known {
            FieldType::Int64ListOp => {
                let items: Vec<i64> = if none {
                    vec![]
                } else {
                    vector(lexer, Scalar::Int64)?
                };
                if let Some(spec) = self.layer.spec_mut(&self.path) {
                    edit_field!(spec, key, Int64ListOp, edit, unique(items));
                }
            }
            _ => {
                let items: Vec<SmolStr> = if none {
                    vec![]
                } else {
                    vector(lexer, Scalar::Token)?
                };
                let Some(spec) = self.layer.spec_mut(&self.path) else {
                    return Ok(());
                };
                match known {
                    FieldType::StringListOp => {
                        edit_field!(spec, key, StringListOp, edit, unique(items));
                    }
                    _ => edit_field!(spec, key, TokenListOp, edit, unique(items)),
                }
            }
        }
        Ok(())
    }

    /// A field that no schema knows: a dictionary, or the text of its value.
    fn unknown(&mut self, key: &str, edit: Option<Edit>) -> Parsed<()> {
        if edit.is_none() && self.lexer.peek() == b'{' {
            let dictionary = Value::Dictionary(dictionary(&mut self.lexer)?.into());
            self.set(key, Value::Unregistered(dictionary.into()));
            return Ok(());
        }
        if edit.is_some() && self.lexer.peek() != b'[' && self.lexer.peek_word() != "None" {
            return self.lexer.expected("None or '['");
        }
        let text = text(&mut self.lexer)?;
        let Some(spec) = self.layer.spec_mut(&self.path) else {
            return Ok(());
        };
        if edit.is_none() {
            let text = Value::string(text);
            spec.fields.set(key, Value::Unregistered(text.into()));
            return Ok(());
        }
        let mut op = match spec.get(key) {
            Some(Value::Unregistered(old)) => match &**old {
                Value::UnregisteredListOp(old) => (**old).clone(),
                // As in usd-core, the first statement counts if the two do not fit.
                _ => return Ok(()),
            },
            _ => ListOp::default(),
        };
        // As in usd-core, the items are one text without its brackets.
        let items = match text.as_str() {
            "None" => Vec::new(),
            text => {
                let inner = text.strip_prefix('[').unwrap_or(text);
                let inner = inner.strip_suffix(']').unwrap_or(inner);
                vec![Value::Unregistered(Value::string(inner).into())]
            }
        };
        set_list(&mut op, edit, items);
        let op = Value::UnregisteredListOp(op.into());
        spec.fields.set(key, Value::Unregistered(op.into()));
        Ok(())
    }

    fn permission(&mut self) -> Parsed<()> {
        let permission = match () {
            () if self.lexer.keyword("public") => Permission::Public,
            () if self.lexer.keyword("private") => Permission::Private,
            () => return self.lexer.expected("'public' or 'private'"),
        };
        self.set("permission", Value::Permission(permission));
        Ok(())
    }

    /// A unit of `SdfUnit`, kept as its name.
    fn display_unit(&mut self) -> Parsed<()> {
        let start = self.lexer.pos;
        let unit = self.lexer.type_name().unwrap_or("");
        if !UNITS.contains(&unit) {
            return fail_at(start, format!("expected a unit such as cm, found '{unit}'"));
        }
        self.set("displayUnit", Value::token(unit));
        Ok(())
    }

    /// The selected variant of each set.
    fn variants(&mut self, start: usize) -> Parsed<()> {
        let mut selections = BTreeMap::new();
        for (set, variant) in dictionary(&mut self.lexer)? {
            let Value::String(variant) = variant else {
                return fail_at(start, format!("the variant of '{set}' has to be a string"));
            };
            selections.insert(set, variant);
        }
        let selections = Value::VariantSelections(selections.into());
        self.set(field::VARIANT_SELECTION, selections);
        Ok(())
    }

    /// Strings with strings, as in `{"a": "b"}`.
    fn substitutions(&mut self, key: &str) -> Parsed<()> {
        let mut entries = Dictionary::new();
        self.lexer.bracketed(b'{', b'}', |lexer| {
            let from = lexer.expect_string()?;
            lexer.inline();
            lexer.expect(b':')?;
            lexer.inline();
            entries.insert(from, Value::String(lexer.expect_string()?));
            Ok(())
        })?;
        self.set(key, Value::Dictionary(Arc::new(entries)));
        Ok(())
    }
}

/// The names of usd-core's `SdfUnit`.
const UNITS: [&str; 12] = [
    "mm", "cm", "dm", "m", "km", "in", "ft", "yd", "mi", "deg", "rad", "default",
];

/// Each item once.
fn unique<T: Clone + Eq + std::hash::Hash>(mut items: Vec<T>) -> Vec<T> {
    let mut seen = std::collections::HashSet::with_capacity(items.len());
    items.retain(|item| seen.insert(item.clone()));
    items
}
