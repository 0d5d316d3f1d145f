//! Grows the graph of a prim, task by task.
//!
//! The order of the tasks decides which opinions are known when an arc is looked at: variants come last, when everything that
//! may select one is there.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use sinew_layer::{Path, Token};

use super::graph::{Graph, Link, is_instanceable, walk_instanceable};
use super::implied::arcs_above;
use super::index::{ArcKind, Node};
use super::map::Map;
use super::paths::{elements, namespace_depth, replace};
use super::site;
use super::stack::LayerStack;
use super::work::Work;
use crate::error::Result;

/// What is to be done at a node, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Task {
    Relocates,
    ImpliedRelocates,
    References,
    Payloads,
    Inherits,
    Specializes,
    MovedSpecializes,
    ImpliedClasses,
    AncestralVariantSets,
    AncestralAuthored,
    AncestralFallback,
    AncestralNone,
    VariantSets,
    Authored,
    Fallback,
    /// A set without a selection, which is looked at again when opinions are added.
    None,
    MissingPrim,
}

/// A variant set whose variant is to be selected.
#[derive(Clone, Debug)]
pub(super) struct VariantTask {
    pub task: Task,
    pub node: usize,
    /// The prim that has the set: the node's, or an ancestor.
    pub path: Path,
    pub set: Token,
    /// The set's number in the list of sets.
    pub number: usize,
}

/// The indexer that waits for another: it adds an arc to a prim whose ancestors have opinions, too.
pub(super) struct Frame<'a> {
    pub previous: Option<&'a Frame<'a>>,
    /// The path of the prim that is asked for; the indexer begins with its ancestors.
    pub requested: &'a Path,
    pub graph: &'a Graph,
    pub link: &'a Link,
    pub skip_duplicates: bool,
    pub depth: usize,
}

/// How an arc is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Whether the specs of the new node itself count.
    pub contributes: bool,
    /// Whether arcs of the ancestors of the new node's prim are added, too.
    pub with_ancestors: bool,
    /// Whether nothing is added if the place is there already.
    pub skip_duplicates: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            contributes: true,
            with_ancestors: false,
            skip_duplicates: false,
        }
    }
}

/// Grows one graph.
pub(super) struct Indexer<'a> {
    pub work: &'a Work<'a>,
    pub frame: Option<&'a Frame<'a>>,
    pub graph: Graph,
    /// The order of tasks of one kind is the nodes'.
    tasks: BinaryHeap<Reverse<(Task, u32)>>,
    /// The nodes whose classes are to be transferred; the next is the last.
    transfers: Vec<usize>,
    /// For classes that were added, where the transfer of their implied classes starts.
    pub starts: HashMap<usize, usize, foldhash::fast::RandomState>,
    pub variants: Vec<VariantTask>,
    /// Names of the sets of which the first `sets_known_to` nodes are variants.
    pub known_sets: HashSet<Token, foldhash::fast::RandomState>,
    pub sets_known_to: usize,
}

/// The nodes from one up to the root of the outermost graph.
struct Ancestry<'f> {
    graph: &'f Graph,
    frame: Option<&'f Frame<'f>>,
    node: usize,
}

impl<'f> Ancestry<'f> {
    fn kind(&self) -> ArcKind {
        match (self.graph.nodes[self.node].kind, self.frame) {
            (ArcKind::Root, Some(frame)) => frame.link.kind,
            (kind, _) => kind,
        }
    }

    /// Goes to the node above; false if there is none.
    fn up(&mut self) -> bool {
        let mut above = arcs_above(&self.graph.nodes, self.node);
        match above.nth(1) {
            Some(parent) => self.node = parent,
            None => return self.up_frame(),
        }
        true
    }

    /// Goes to the node that waits for this graph; false if there is none.
    fn up_frame(&mut self) -> bool {
        let Some(frame) = self.frame else {
            return false;
        };
        *self = Self {
            graph: frame.graph,
            frame: frame.previous,
            node: frame.link.parent,
        };
        true
    }

    fn node(&self) -> &'f Node {
        &self.graph.nodes[self.node]
    }
}

/// Builds the graph of a prim that an arc leads to, with the arcs of its ancestors.
fn build<'a>(
    work: &'a Work<'a>,
    frame: &'a Frame<'a>,
    stack: &Arc<LayerStack>,
    path: &Path,
    contributes: bool,
) -> Result<Graph> {
    let text = path.as_str();
    // A variant is a branch of its prim, whose index has what its ancestors give.
    let base = text.rfind('}').map_or(1, |i| i + 1).min(text.len());
    let base_path = Path::parse(&text[..base]).unwrap_or_default();
    let is_variant = base_path.is_variant();
    let mut graph = Graph::new(Node::site(stack.clone(), base_path));
    if is_variant {
        if !contributes && base == text.len() {
            graph.nodes[0].set_inert();
        }
        let mut indexer = Indexer::new(work, Some(frame), graph);
        indexer.add_tasks_below(0, false);
        indexer.run()?;
        graph = indexer.graph;
    }
    let mut names = text[base..].split('/').filter(|n| !n.is_empty()).peekable();
    while let Some(name) = names.next() {
        let contributes = contributes || names.peek().is_some();
        graph = child(work, Some(frame), graph, name, contributes)?;
    }
    Ok(graph)
}

/// The graph of a child prim, from its parent's.
pub(super) fn child<'a>(
    work: &'a Work<'a>,
    frame: Option<&'a Frame<'a>>,
    mut graph: Graph,
    name: &str,
    contributes: bool,
) -> Result<Graph> {
    // Each layer is asked for its spec, and the paths are written anew.
    let cost = |n: &Node| n.stack.layers.len() + n.path.as_str().len();
    work.nodes(graph.nodes.len())?;
    work.steps(graph.nodes.iter().map(cost).sum())?;
    let limit = work.library.options.limits.prim_depth;
    if namespace_depth(&graph.nodes[0].path) >= limit {
        return Err(work.too_large(format!("prims nest deeper than {limit}")));
    }
    if is_instanceable(&graph, frame.is_some()) || is_instance_of_stage(frame, &graph.nodes[0]) {
        disable_local_opinions(&mut graph, frame.is_some());
    }
    graph.enter_child(name);
    if !contributes {
        graph.nodes[0].set_inert();
    }
    let mut indexer = Indexer::new(work, frame, graph);
    if indexer.elide_if_moved_away() {
        return Ok(indexer.graph);
    }
    indexer.add_tasks_below(0, false);
    indexer.run()?;
    Ok(indexer.graph)
}

/// Whether an arc leads back to the instance that the prim of the stage is in, whose opinions of its own do not count.
/// What makes it an instance can be left out there, since it is in the prim's graph already.
fn is_instance_of_stage(frame: Option<&Frame<'_>>, node: &Node) -> bool {
    let frames = std::iter::successors(frame, |f| f.previous);
    frames.last().is_some_and(|f| {
        let root = &f.graph.nodes[0];
        root.inert
            && root.restricted == elements(&node.path)
            && root.path.has_prefix(&node.path)
            && Arc::ptr_eq(&root.stack, &node.stack)
    })
}

/// Lets no opinions count on the children of an instance but those that its prototype has.
fn disable_local_opinions(graph: &mut Graph, is_part: bool) {
    let mut local = Vec::new();
    walk_instanceable(&graph.nodes, is_part, |at, is_shared| {
        if !is_shared {
            local.push(at);
        }
        !is_shared
    });
    for at in local {
        graph.nodes[at].set_inert();
    }
}

impl<'a> Indexer<'a> {
    fn new(work: &'a Work<'a>, frame: Option<&'a Frame<'a>>, graph: Graph) -> Self {
        Self {
            work,
            frame,
            graph,
            tasks: BinaryHeap::new(),
            transfers: Vec::new(),
            starts: HashMap::default(),
            variants: Vec::new(),
            known_sets: HashSet::default(),
            sets_known_to: 0,
        }
    }

    fn node(&self, at: usize) -> &Node {
        &self.graph.nodes[at]
    }

    pub fn add_task(&mut self, task: Task, node: usize) {
        self.tasks.push(Reverse((task, node as u32)));
    }

    /// Adds the task to transfer the classes of a node, once. The root has no node to transfer them to.
    pub fn add_transfer(&mut self, node: usize) {
        if node == 0 {
            return;
        }
        let order = |other: &usize| self.graph.compare_transfers(node, *other);
        if let Err(at) = self.transfers.binary_search_by(order) {
            self.transfers.insert(at, node);
        }
    }

    /// The kind of the most urgent task.
    fn next_task(&self) -> Option<Task> {
        let task = self.tasks.peek().map(|Reverse((task, _))| *task);
        let transfer = self.transfers.last().map(|_| Task::ImpliedClasses);
        let variant = self.variants.iter().map(|v| v.task).min();
        [task, transfer, variant].into_iter().flatten().min()
    }

    fn run(&mut self) -> Result<()> {
        while let Some(task) = self.next_task() {
            let compared = self.graph.compared.take();
            self.work.steps(1 + self.variants.len() + compared)?;
            match task {
                Task::ImpliedClasses => {
                    if let Some(node) = self.transfers.pop() {
                        self.eval_implied_classes(node)?;
                    }
                }
                Task::AncestralAuthored
                | Task::AncestralFallback
                | Task::AncestralNone
                | Task::Authored
                | Task::Fallback
                | Task::None => self.run_variant(task)?,
                _ => {
                    if let Some(Reverse((task, at))) = self.tasks.pop() {
                        self.run_task(task, at as usize)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn run_task(&mut self, task: Task, node: usize) -> Result<()> {
        match task {
            Task::Relocates => self.eval_relocates(node),
            Task::ImpliedRelocates => self.eval_implied_relocates(node),
            Task::References => self.eval_references(node, ArcKind::Reference),
            Task::Payloads => self.eval_references(node, ArcKind::Payload),
            Task::Inherits => self.eval_classes(node, ArcKind::Inherit),
            Task::Specializes => self.eval_classes(node, ArcKind::Specialize),
            Task::MovedSpecializes => self.move_specializes(node),
            Task::AncestralVariantSets => {
                self.find_ancestral_variant_sets(node);
                Ok(())
            }
            Task::VariantSets => {
                self.find_variant_sets(node);
                Ok(())
            }
            Task::MissingPrim => {
                self.check_prim(node);
                Ok(())
            }
            // These have their own lists.
            Task::ImpliedClasses
            | Task::AncestralAuthored
            | Task::AncestralFallback
            | Task::AncestralNone
            | Task::Authored
            | Task::Fallback
            | Task::None => Ok(()),
        }
    }

    /// Adds the tasks for the arcs that a node and those below it have. Of a subtree that has the arcs of its ancestors
    /// already, only the variants are open.
    fn add_tasks_below(&mut self, node: usize, is_complete: bool) {
        let is_last = self.frame.is_none();
        for at in self.graph.subtree(node) {
            let node = &self.graph.nodes[at];
            let kind = node.kind;
            let counts = node.contributes();
            let relocates = counts && node.stack.has_relocates();
            let fields = match counts && node.has_specs {
                true => site::arc_fields(&node.stack, &node.path),
                false => site::ArcFields::default(),
            };
            let ancestral = is_last && is_complete && self.has_ancestral_variants(at);
            for (is_there, task) in [
                (is_last && fields.variants, Task::VariantSets),
                (ancestral, Task::AncestralVariantSets),
                (!is_complete && fields.specializes, Task::Specializes),
                (!is_complete && fields.inherits, Task::Inherits),
                (!is_complete && fields.payloads, Task::Payloads),
                (!is_complete && fields.references, Task::References),
                (!is_complete && relocates, Task::Relocates),
                (kind == ArcKind::Relocate, Task::ImpliedRelocates),
            ] {
                if is_there {
                    self.add_task(task, at);
                }
            }
        }
    }

    /// Adds the tasks for a new node. `is_complete`: it has the arcs of its ancestors and its own.
    fn add_tasks(&mut self, node: usize, is_complete: bool) {
        if self.node(node).is_class() {
            let start = self.start_of_implied_classes(node);
            self.add_transfer(start);
        } else if self.graph.has_classes(node) {
            self.add_transfer(node);
        }
        if self.frame.is_none() {
            if is_complete && self.graph.has_specializes(node) {
                self.add_task(Task::MovedSpecializes, node);
            }
            for at in self.graph.subtree(node) {
                if matches!(self.node(at).kind, ArcKind::Reference | ArcKind::Payload) {
                    self.add_task(Task::MissingPrim, at);
                }
            }
        }
        self.add_tasks_below(node, is_complete);
    }

    /// The kind of the arc to a node, in the graph that this one will be a part of.
    pub fn kind_of(&self, node: usize) -> ArcKind {
        self.ancestry(node).kind()
    }

    fn ancestry(&self, node: usize) -> Ancestry<'_> {
        Ancestry {
            graph: &self.graph,
            frame: self.frame,
            node,
        }
    }

    /// The path that a site of a frame's graph will have when the prim that is asked for is reached.
    fn path_in_request(at: &Ancestry<'_>, path: &Path) -> Path {
        match at.frame {
            Some(frame) => replace(frame.requested, &at.graph.nodes[0].path, path),
            None => path.clone(),
        }
    }

    /// Whether an arc to a site would lead to itself, or to what is above or below it.
    fn is_cycle(&self, link: &Link, stack: &Arc<LayerStack>, path: &Path) -> bool {
        if link.kind == ArcKind::Variant {
            return false;
        }
        let is_class = matches!(link.kind, ArcKind::Inherit | ArcKind::Specialize);
        if is_class && link.origin != link.parent && self.kind_of(link.parent) == ArcKind::Relocate
        {
            return false;
        }
        self.any_graph(link.parent, path, |at, path| {
            let mut ancestors = at.graph.ancestors(at.node).map(|n| &at.graph.nodes[n]);
            ancestors.any(|node| {
                Arc::ptr_eq(&node.stack, stack)
                    && (node.path.has_prefix(path) || path.has_prefix(&node.path))
            })
        })
    }

    /// Whether a site is in the graph, or in one that waits for it.
    fn is_duplicate(&self, parent: usize, stack: &Arc<LayerStack>, path: &Path) -> bool {
        self.any_graph(parent, path, |at, path| {
            let is_there = |n: &Node| n.contributes() && n.is_at(stack, path);
            at.graph.nodes.iter().any(is_there)
        })
    }

    /// Whether `is_it` holds for the graph, or for one that waits for it, with the path that a site has there.
    fn any_graph(
        &self,
        node: usize,
        path: &Path,
        is_it: impl Fn(&Ancestry<'_>, &Path) -> bool,
    ) -> bool {
        let mut path = path.clone();
        let mut at = self.ancestry(node);
        loop {
            if is_it(&at, &path) {
                return true;
            }
            path = Self::path_in_request(&at, &path);
            if !at.up_frame() {
                return false;
            }
        }
    }

    /// What leads to a node, for messages.
    fn chain(&self, node: usize) -> String {
        let mut sites = Vec::new();
        let mut at = self.ancestry(node);
        loop {
            let file = &at.node().stack.root_layer().identifier;
            sites.push(format!("@{file}@<{}>", at.node().path));
            if !at.up() {
                break;
            }
        }
        sites.reverse();
        sites.join(" -> ")
    }

    /// Adds an arc to a site, and the tasks that follow. None if there is none to add.
    pub fn add_arc(
        &mut self,
        link: &Link,
        stack: &Arc<LayerStack>,
        path: &Path,
        mut options: Options,
    ) -> Result<Option<usize>> {
        let work = self.work;
        let limits = &work.library.options.limits;
        let above = usize::from(self.graph.nodes[link.above(&self.graph)].arcs);
        if above >= limits.arcs {
            return Err(work.too_large(format!(
                "more than {} arcs one after the other",
                limits.arcs
            )));
        }
        let is_near = self.any_graph(link.parent, path, |at, path| at.graph.is_near(stack, path));
        if is_near {
            work.steps(self.graph.nodes.len())?;
        }
        if is_near && self.is_cycle(link, stack, path) {
            let file = &stack.root_layer().identifier;
            let text = format!(
                "the last arc leads back and is left out: {} -> @{file}@<{path}>",
                self.chain(link.above(&self.graph))
            );
            work.report("arc-cycle", text);
            return Ok(None);
        }
        options.skip_duplicates |= self.frame.is_some_and(|f| f.skip_duplicates);
        if is_near && options.skip_duplicates && self.is_duplicate(link.parent, stack, path) {
            return Ok(None);
        }
        work.nodes(1)?;
        work.steps(stack.layers.len())?;
        let node = if options.with_ancestors {
            let depth = self.frame.map_or(0, |f| f.depth) + 1;
            if depth > limits.depth {
                return Err(work.too_large(format!(
                    "arcs to prims that are no root prims nest deeper than {}",
                    limits.depth
                )));
            }
            let frame = Frame {
                previous: self.frame,
                requested: path,
                graph: &self.graph,
                link,
                skip_duplicates: options.skip_duplicates,
                depth,
            };
            let graph = build(work, &frame, stack, path, options.contributes)?;
            self.graph.insert_graph(graph, link)
        } else {
            let mut node = Node::site(stack.clone(), path.clone());
            if !options.contributes {
                node.inert = true;
                node.restricted = 1;
            }
            self.graph.insert(node, link)
        };
        if self.graph.nodes.len() > limits.nodes_per_prim {
            return Err(work.too_large(format!("more than {} arcs", limits.nodes_per_prim)));
        }
        self.add_tasks(node, options.with_ancestors);
        if path.is_root() {
            self.graph.set_subtree_inert(node);
        }
        Ok(Some(node))
    }

    /// A link to a parent, whose own arc it is, at the depth of the parent's prim.
    pub fn link(&self, kind: ArcKind, parent: usize, to_parent: Map, sibling: usize) -> Link {
        Link {
            kind,
            parent,
            origin: parent,
            to_parent,
            sibling,
            depth: namespace_depth(&self.node(parent).path),
            is_copy: false,
        }
    }
}
