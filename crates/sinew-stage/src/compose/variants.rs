//! Variants: which one is selected in each set.

use sinew_layer::layer::field;
use sinew_layer::path::is_variant_name;
use sinew_layer::{Path, Token};

use super::index::ArcKind;
use super::indexer::{Indexer, Options, Task, VariantTask};
use super::map::Map;
use super::paths::{elements, namespace_depth, replace, without_last_variants};
use super::site;
use crate::error::Result;

impl Indexer<'_> {
    /// The ancestors of a node's prim that can have opinions, the nearest first.
    fn ancestors_with_opinions(&self, at: usize) -> impl Iterator<Item = Path> + '_ {
        let node = &self.graph.nodes[at];
        std::iter::successors(node.path.parent(), Path::parent)
            .take_while(|p| !p.is_root())
            .filter(|p| node.contributes_at(p))
    }

    /// Whether any ancestor of a node's prim has variant sets.
    pub fn has_ancestral_variants(&self, at: usize) -> bool {
        let stack = &self.graph.nodes[at].stack;
        self.ancestors_with_opinions(at).any(|path| {
            let mut specs = stack.layers.iter().filter_map(|l| l.layer.spec(&path));
            specs.any(|s| s.get(field::VARIANT_SET_NAMES).is_some())
        })
    }

    /// Adds tasks for the variant sets of a node.
    pub fn find_variant_sets(&mut self, at: usize) {
        if self.graph.nodes[at].contributes() {
            let path = self.graph.nodes[at].path.clone();
            self.add_variant_tasks(at, &path, Task::Authored);
        }
    }

    /// Adds tasks for the variant sets of the ancestors of a node's prim.
    pub fn find_ancestral_variant_sets(&mut self, at: usize) {
        let paths: Vec<Path> = self.ancestors_with_opinions(at).collect();
        for path in paths {
            self.add_variant_tasks(at, &path, Task::AncestralAuthored);
            if path.is_variant() {
                break;
            }
        }
    }

    fn add_variant_tasks(&mut self, node: usize, path: &Path, task: Task) {
        let sets = site::variant_sets(&self.graph.nodes[node].stack, path);
        for (number, set) in sets.into_iter().enumerate() {
            self.variants.push(VariantTask {
                task,
                node,
                path: path.clone(),
                set,
                number,
            });
        }
    }

    /// Runs the variant task at the strongest node of those of one kind.
    pub fn run_variant(&mut self, kind: Task) -> Result<()> {
        let mut best: Option<usize> = None;
        for (i, task) in self.variants.iter().enumerate() {
            if task.task != kind {
                continue;
            }
            let is_better = best.is_none_or(|b| {
                let other = &self.variants[b];
                let by_strength = self.graph.compare(task.node, other.node);
                let by_path = || (&task.path, task.number).cmp(&(&other.path, other.number));
                by_strength.then_with(by_path).is_lt()
            });
            if is_better {
                best = Some(i);
            }
        }
        let Some(best) = best else {
            return Ok(());
        };
        let task = self.variants.swap_remove(best);
        if !self.graph.nodes[task.node].contributes_at(&task.path) {
            return Ok(());
        }
        let (is_ancestral, is_authored) = match kind {
            Task::AncestralAuthored => (true, true),
            Task::AncestralFallback => (true, false),
            Task::Authored => (false, true),
            Task::Fallback => (false, false),
            // Nothing was selected, and nothing has been added since.
            _ => return Ok(()),
        };
        let fallback = self.fallback(&task);
        let selected = match is_authored {
            true => self.selection(&task)?.filter(|s| !s.is_empty()),
            false => fallback.clone(),
        };
        let (fall_back, none) = match is_ancestral {
            true => (Task::AncestralFallback, Task::AncestralNone),
            false => (Task::Fallback, Task::None),
        };
        match selected.filter(|s| is_variant_name(s)) {
            Some(variant) => self.add_variant(&task, &variant, is_ancestral),
            None => {
                let again = match is_authored && fallback.is_some() {
                    true => fall_back,
                    false => none,
                };
                self.variants.push(VariantTask {
                    task: again,
                    ..task
                });
                Ok(())
            }
        }
    }

    /// The first fallback that is a variant of a set.
    fn fallback(&self, task: &VariantTask) -> Option<Token> {
        let fallbacks = self.work.library.options.variant_fallbacks.get(&task.set)?;
        let stack = &self.graph.nodes[task.node].stack;
        let variants = site::variants(stack, &task.path, &task.set);
        fallbacks.iter().find(|f| variants.contains(f)).cloned()
    }

    fn add_variant(&mut self, task: &VariantTask, variant: &str, is_ancestral: bool) -> Result<()> {
        let node = &self.graph.nodes[task.node];
        let stack = node.stack.clone();
        let branch = task.path.with_variant(&task.set, variant);
        let path = replace(&node.path, &task.path, &branch);
        let mut link = self.link(ArcKind::Variant, task.node, Map::IDENTITY, task.number);
        let mut options = Options::default();
        if is_ancestral {
            link.depth = namespace_depth(&task.path);
            options.with_ancestors = true;
            // The class arc that brought the node in has left out duplicates as well.
            options.skip_duplicates = self.graph.ancestors(task.node).any(|n| {
                let node = &self.graph.nodes[n];
                node.is_class() && node.contributes() && self.graph.depth_below(n) == 0
            });
        }
        if self.add_arc(&link, &stack, &path, options)?.is_some() {
            self.retry();
        }
        Ok(())
    }

    /// Looks again for selections of sets that had none: there are new opinions.
    fn retry(&mut self) {
        for task in &mut self.variants {
            task.task = match task.task {
                Task::Fallback | Task::None => Task::Authored,
                Task::AncestralFallback | Task::AncestralNone => Task::AncestralAuthored,
                other => other,
            };
        }
    }

    /// The variant that the strongest opinion in the whole graph selects.
    fn selection(&mut self, task: &VariantTask) -> Result<Option<Token>> {
        let (start, path) = self.strongest_place(task.node, &task.path.strip_variants());
        let prior = match self.knows_set(&task.set) {
            true => self.prior_selection(start, &path, &task.set)?,
            false => None,
        };
        if prior.is_some() {
            return Ok(prior);
        }
        self.first_mapped(start, &path, |at, path| {
            let node = &self.graph.nodes[at];
            if !node.contributes_at(path) {
                return None;
            }
            let site = match node.kind {
                // The map of a variant is the identity, but its specs are in its branch.
                ArcKind::Variant => {
                    let variant = self.graph.path_at_introduction(at);
                    replace(path, &variant.strip_variants(), &variant)
                }
                _ => path.clone(),
            };
            if !site::has_selections(&node.stack, &site) {
                return None;
            }
            let mut problem = |e| {
                self.work
                    .report("bad-expression", format!("variant of <{site}>: {e}"))
            };
            site::selection(&node.stack, &site, &task.set, &mut problem)
        })
    }

    /// Whether a variant of some set with this name is selected already.
    fn knows_set(&mut self, set: &Token) -> bool {
        for at in self.sets_known_to..self.graph.nodes.len() {
            if self.graph.nodes[at].kind == ArcKind::Variant
                && let Some((set, _)) = self.graph.path_at_introduction(at).variant()
            {
                self.known_sets.insert(Token::from(set));
            }
        }
        self.sets_known_to = self.graph.nodes.len();
        self.known_sets.contains(set)
    }

    /// The variant that was selected for a set already.
    fn prior_selection(&self, start: usize, path: &Path, set: &str) -> Result<Option<Token>> {
        self.first_mapped(start, path, |at, path| {
            if self.graph.nodes[at].kind != ArcKind::Variant {
                return None;
            }
            let here = self.graph.path_at_introduction(at);
            let (s, variant) = here.variant()?;
            let is_it = s == set && without_last_variants(&here) == *path;
            is_it.then(|| Token::from(variant))
        })
    }

    /// The first that is found at the nodes below and including one, the strongest first, with a path mapped to each. Nodes
    /// that it does not reach are left out with all below them.
    fn first_mapped<T>(
        &self,
        start: usize,
        path: &Path,
        find: impl Fn(usize, &Path) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut open = vec![(start, path.clone())];
        while let Some((at, path)) = open.pop() {
            self.work.steps(1)?;
            let found = find(at, &path);
            if found.is_some() {
                return Ok(found);
            }
            let below = open.len();
            for child in self.graph.children(at) {
                if let Some(path) = self.graph.nodes[child].to_parent.to_source(&path) {
                    open.push((child, path));
                }
            }
            open[below..].reverse();
        }
        Ok(None)
    }

    /// The root, or the highest node that a node's path can be mapped to, and the path there.
    fn strongest_place(&self, node: usize, path: &Path) -> (usize, Path) {
        let (mut at, mut path) = (node, path.clone());
        if let Some(mapped) = self.graph.nodes[node].map.to_target(&path) {
            (at, path) = (0, mapped);
        } else {
            while let Some(parent) = self.graph.nodes[at].parent
                && let Some(mapped) = self.graph.nodes[at].to_parent.to_target(&path)
            {
                (at, path) = (parent, mapped);
            }
        }
        let here = self.graph.path_at_introduction(at);
        if node != 0 && here.has_variants() {
            path = replace(&path, &here.strip_variants(), &here);
        }
        debug_assert!(elements(&path) > 0);
        (at, path)
    }
}
