//! Puts functions of the same name side by side: they are one generic function for several types, and gzip finds what
//! they share only within 32 KiB.

use std::collections::HashMap;
use std::convert::Infallible;

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionSectionReader, KnownCustom, Name, Parser,
    Payload, TypeRef,
};

type Result<T> = std::result::Result<T, Error<Infallible>>;

/// The functions of a module, without those that are imported and come first.
#[derive(Default)]
struct Functions {
    imported: u32,
    /// Of each function.
    types: Vec<u32>,
    sizes: Vec<usize>,
    names: HashMap<u32, String>,
    /// The functions in their new order.
    order: Vec<usize>,
    /// The place of each function in that order.
    places: Vec<u32>,
}

/// The module with its functions in the order of their names and sizes, and without the names.
pub fn by_names(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut all = Functions::read(wasm)?;
    let key = |i: usize| (all.name(i), all.sizes[i]);
    let mut order: Vec<usize> = (0..all.types.len()).collect();
    order.sort_by(|a, b| key(*a).cmp(&key(*b)));
    all.places = vec![0; order.len()];
    for (place, function) in order.iter().enumerate() {
        all.places[*function] = place as u32;
    }
    all.order = order;
    let mut module = Module::new();
    all.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

impl Functions {
    fn read(wasm: &[u8]) -> Result<Self> {
        let mut all = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        all.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => {
                    all.types = section.into_iter().collect::<std::result::Result<_, _>>()?;
                }
                Payload::CodeSectionEntry(body) => all.sizes.push(body.range().len()),
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        for part in names {
                            if let Name::Function(names) = part? {
                                for name in names {
                                    let name = name?;
                                    all.names.insert(name.index, name.name.to_owned());
                                }
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(all)
    }

    /// The name of a function, without the hash that tells those of one name apart.
    fn name(&self, function: usize) -> &str {
        let name = self.names.get(&(self.imported + function as u32));
        let name = name.map_or("", String::as_str);
        name.rsplit_once("::h").map_or(name, |(name, _)| name)
    }
}

impl Reencode for Functions {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32> {
        let own = index.checked_sub(self.imported);
        Ok(own.map_or(index, |i| self.imported + self.places[i as usize]))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        _section: FunctionSectionReader<'_>,
    ) -> Result<()> {
        for function in &self.order {
            functions.function(self.types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<()> {
        let bodies = section.into_iter();
        let bodies: Vec<_> = bodies.collect::<std::result::Result<_, _>>()?;
        for function in self.order.clone() {
            self.parse_function_body(code, bodies[function].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Result<()> {
        match section.as_known() {
            KnownCustom::Name(_) => Ok(()),
            _ => wasm_encoder::reencode::utils::parse_custom_section(self, module, section),
        }
    }
}
