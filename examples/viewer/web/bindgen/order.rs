//! Makes a module smaller as gzip sends it: functions that share bytes lie side by side, because gzip finds repetitions
//! only within 32 KiB, and of equal functions one stays.

use std::collections::HashMap;
use std::convert::Infallible;

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, MemArg, Module};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

type Result<T> = std::result::Result<T, Error<Infallible>>;

/// Functions share runs of so many bytes.
const RUN: usize = 6;
/// A run that is in more functions than this is found near every function.
const MOST: usize = 200;
/// The bytes before a function with which it should share runs.
const WINDOW: usize = 30_000;

/// The functions of a module, without those that are imported and come first.
#[derive(Default)]
struct Functions<'a> {
    imported: u32,
    types: Vec<u32>,
    bodies: Vec<&'a [u8]>,
    /// The functions that stay, in their new order.
    order: Vec<usize>,
    /// The place in that order of each function, or of the one that equals it.
    places: Vec<u32>,
}

/// The module with its functions in a new order.
pub fn smaller(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut all = Functions::read(wasm)?;
    let count = all.types.len();
    let mut found = HashMap::new();
    let first: Vec<usize> = (0..count)
        .map(|i| *found.entry((all.types[i], all.bodies[i])).or_insert(i))
        .collect();
    let kept: Vec<usize> = (0..count).filter(|i| first[*i] == *i).collect();
    let bodies: Vec<&[u8]> = kept.iter().map(|i| all.bodies[*i]).collect();
    all.order = side_by_side(&bodies).iter().map(|i| kept[*i]).collect();
    all.places = vec![0; count];
    for (place, function) in all.order.iter().enumerate() {
        all.places[*function] = place as u32;
    }
    for i in 0..count {
        all.places[i] = all.places[first[i]];
    }
    let mut module = Module::new();
    all.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// The order in which each function shares the most runs with those just before it, for its size.
fn side_by_side(bodies: &[&[u8]]) -> Vec<usize> {
    let runs = |i: usize| bodies[i].windows(RUN).map(move |run| (run, i));
    let mut runs: Vec<(&[u8], usize)> = (0..bodies.len()).flat_map(runs).collect();
    runs.sort_unstable();
    runs.dedup();
    // Of each run the functions that hold it.
    let holders: Vec<_> = runs
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|holders| (2..=MOST).contains(&holders.len()))
        .collect();
    let mut held = vec![Vec::new(); bodies.len()];
    for (run, holders) in holders.iter().enumerate() {
        for (_, function) in *holders {
            held[*function].push(run);
        }
    }
    let mut weights: Vec<f32> = bodies.iter().map(|b| (b.len() as f32).powf(-0.7)).collect();
    // Of each function how many of its runs are in the window; of each run how often it is there.
    let mut shared = vec![0.0; bodies.len()];
    let mut near = vec![0; holders.len()];
    let mut order = Vec::new();
    let mut window = 0..0;
    let mut bytes = 0;
    while order.len() < bodies.len() {
        let value = |i: &usize| shared[*i] * weights[*i];
        let best = (0..bodies.len()).max_by(|a, b| value(a).total_cmp(&value(b)));
        let best = best.expect("a function that has no place");
        // A function that has a place is worth less than any other.
        weights[best] = -1.0;
        order.push(best);
        for run in &held[best] {
            near[*run] += 1;
            if near[*run] == 1 {
                holders[*run].iter().for_each(|(_, i)| shared[*i] += 1.0);
            }
        }
        window.end += 1;
        bytes += bodies[best].len();
        while bytes > WINDOW && window.len() > 1 {
            let last = order[window.start];
            for run in &held[last] {
                near[*run] -= 1;
                if near[*run] == 0 {
                    holders[*run].iter().for_each(|(_, i)| shared[*i] -= 1.0);
                }
            }
            window.start += 1;
            bytes -= bodies[last].len();
        }
    }
    order
}

impl<'a> Functions<'a> {
    fn read(wasm: &'a [u8]) -> Result<Self> {
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
                Payload::CodeSectionEntry(body) => all.bodies.push(&wasm[body.range()]),
                _ => {}
            }
        }
        Ok(all)
    }
}

impl Reencode for Functions<'_> {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32> {
        let own = index.checked_sub(self.imported);
        Ok(own.map_or(index, |i| self.imported + self.places[i as usize]))
    }

    /// The alignment is a hint that browsers do not use.
    fn mem_arg(&mut self, arg: wasmparser::MemArg) -> Result<MemArg> {
        let arg = utils::mem_arg(self, arg)?;
        Ok(MemArg { align: 0, ..arg })
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
}
