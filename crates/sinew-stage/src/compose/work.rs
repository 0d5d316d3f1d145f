//! What the composition of one prim costs and finds wrong.

use std::cell::{Cell, RefCell};

use sinew_layer::Path;

use super::composer::Diagnostic;
use super::library::Library;
use crate::error::{Error, Result};

/// How many comparisons cost as much as one node.
const STEPS_PER_NODE: usize = 64;

/// The account of one prim: its costs are counted against the limits of the stage.
pub(super) struct Work<'a> {
    pub library: &'a Library,
    /// The prim of the stage that is composed.
    pub prim: &'a Path,
    /// Steps that this prim has cost so far, and may cost.
    steps: Cell<usize>,
    allowed: usize,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'a> Work<'a> {
    pub fn new(library: &'a Library, prim: &'a Path) -> Self {
        Self {
            library,
            prim,
            steps: Cell::new(0),
            allowed: library.nodes_left().saturating_mul(STEPS_PER_NODE),
            diagnostics: RefCell::new(Vec::new()),
        }
    }

    /// Counts nodes that are made or copied.
    pub fn nodes(&self, count: usize) -> Result<()> {
        self.steps(count.saturating_mul(STEPS_PER_NODE))
    }

    /// Counts comparisons.
    pub fn steps(&self, count: usize) -> Result<()> {
        let steps = self.steps.get().saturating_add(count);
        self.steps.set(steps);
        match steps <= self.allowed {
            true => Ok(()),
            false => Err(self.too_large(format!(
                "composing the stage takes more than {} nodes, the limit for the files it was read from",
                self.library.nodes_limit()
            ))),
        }
    }

    /// The error of a limit.
    pub fn too_large(&self, reason: String) -> Error {
        Error::TooLarge {
            prim: self.prim.to_string(),
            reason,
        }
    }

    /// Notes something wrong that composition passes over.
    pub fn report(&self, code: &'static str, message: String) {
        self.diagnostics.borrow_mut().push(Diagnostic {
            code,
            prim: self.prim.clone(),
            message,
        });
    }

    /// Enters costs and diagnostics into the stage's.
    pub fn finish(self) {
        let nodes = self.steps.get() / STEPS_PER_NODE;
        self.library.add_nodes(nodes);
        self.library.add_diagnostics(self.diagnostics.into_inner());
    }
}
