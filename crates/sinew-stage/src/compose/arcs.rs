//! References, payloads, inherits and specializes.

use std::sync::Arc;

use sinew_layer::Path;
use sinew_layer::layer::field;
use sinew_layer::value::LayerOffset;

use super::graph::Link;
use super::index::ArcKind;
use super::indexer::{Indexer, Options};
use super::map::Map;
use super::paths::namespace_depth;
use super::site;
use super::stack::{LayerStack, is_valid, scaled, time_codes_per_second};
use crate::error::Result;

impl Indexer<'_> {
    /// The map of an arc from a source to a node's prim, with the relocates of the node's layers.
    fn arc_map(&self, source: &Path, node: usize, offset: LayerOffset) -> Map {
        let node = &self.graph.nodes[node];
        node.stack
            .arc_map(source, node.path.strip_variants(), offset)
    }

    /// Adds the references, or the payloads, of a node.
    pub fn eval_references(&mut self, at: usize, kind: ArcKind) -> Result<()> {
        let node = &self.graph.nodes[at];
        if !node.contributes() {
            return Ok(());
        }
        let (work, library) = (self.work, self.work.library);
        let (stack, path) = (node.stack.clone(), node.path.clone());
        let name = match kind {
            ArcKind::Payload => field::PAYLOAD,
            _ => field::REFERENCES,
        };
        let resolve =
            |asset: &str, layer: usize| library.resolve(asset, &stack.layers[layer].identifier);
        let mut problem = |e| work.report("bad-expression", format!("{name} of <{path}>: {e}"));
        let targets = site::targets(&stack, &path, name, &resolve, &mut problem);
        if kind == ArcKind::Payload && !targets.is_empty() {
            self.graph.has_payloads = true;
            if !library.options.load_payloads {
                return Ok(());
            }
        }
        for (number, target) in targets.iter().enumerate() {
            if let Some((stack, prim, map)) = self.target(at, &stack, &path, target)? {
                let options = Options {
                    contributes: !prim.is_root(),
                    with_ancestors: namespace_depth(&prim) != 1,
                    ..Options::default()
                };
                let link = self.link(kind, at, map, number);
                self.add_arc(&link, &stack, &prim, options)?;
            }
        }
        Ok(())
    }

    /// Where a reference leads: a layer stack, a prim (the root if the layer has no default prim), and the arc's map.
    fn target(
        &self,
        at: usize,
        stack: &Arc<LayerStack>,
        path: &Path,
        target: &site::Target,
    ) -> Result<Option<(Arc<LayerStack>, Path, Map)>> {
        let work = self.work;
        let source = &stack.layers[target.layer];
        let place = || format!("<{path}> of {}", source.identifier);
        let mut prim = target.prim.clone();
        let is_prim = prim.is_absolute() && prim.is_prim() && !prim.has_variants();
        if !prim.is_empty() && !is_prim {
            let text = format!("{}: expected the path of a prim, found <{prim}>", place());
            work.report("bad-path", text);
            return Ok(None);
        }
        let mut offset = match is_valid(&target.offset) {
            true => source.offset.after(&target.offset),
            false => {
                let text = format!(
                    "{}: the offset of @{}@ is not finite, or its scale is 0: it is ignored",
                    place(),
                    target.asset
                );
                work.report("bad-offset", text);
                LayerOffset::IDENTITY
            }
        };
        let is_internal = target.asset.is_empty();
        if is_internal && is_valid(&target.offset) {
            // The sublayer's own offset applies to the specs at both ends.
            offset = target.offset;
        }
        let target_stack = if is_internal {
            stack.clone()
        } else {
            let Some(identifier) = &target.identifier else {
                let text = format!("{}: @{}@ is not there", place(), target.asset);
                work.report("missing-asset", text);
                return Ok(None);
            };
            let library = work.library;
            let found = match library.stack(identifier, &stack.variables, work)? {
                Ok(found) => found,
                Err(e) => {
                    let text = format!("{}: @{}@: {e}", place(), target.asset);
                    work.report("unreadable-layer", text);
                    return Ok(None);
                }
            };
            let rate = time_codes_per_second(&source.layer);
            offset = scaled(offset, rate, found.time_codes_per_second);
            found
        };
        if prim.is_empty() {
            let layer = target_stack.root_layer();
            prim = site::default_prim(&layer.layer).unwrap_or_else(|| {
                let text = format!("{}: {} has no default prim", place(), layer.identifier);
                work.report("missing-default-prim", text);
                Path::root()
            });
        }
        let mut map = self.arc_map(&prim, at, offset);
        if is_internal {
            map = map.with_root_identity();
        }
        Ok(Some((target_stack, prim, map)))
    }

    /// Reports a reference to a prim that is not there.
    pub fn check_prim(&self, at: usize) {
        let node = &self.graph.nodes[at];
        if self.graph.depth_below(at) > 0 || node.path.is_root() {
            return;
        }
        let mut any = false;
        self.graph.walk(at, |n| {
            any |= self.graph.nodes[n].has_specs;
            !any
        });
        if !any {
            let file = &node.stack.root_layer().identifier;
            let text = format!("@{file}@<{}> is not there", node.path);
            self.work.report("missing-prim", text);
        }
    }

    /// Adds the classes that a node inherits or specializes.
    pub fn eval_classes(&mut self, at: usize, kind: ArcKind) -> Result<()> {
        let node = &self.graph.nodes[at];
        if !node.contributes() {
            return Ok(());
        }
        let name = match kind {
            ArcKind::Inherit => field::INHERITS,
            _ => field::SPECIALIZES,
        };
        for (number, class) in site::classes(&node.stack, &node.path, name)
            .iter()
            .enumerate()
        {
            if !class.is_prim() || class.has_variants() {
                let place = &self.graph.nodes[at].path;
                let text = format!("<{place}>: expected the path of a prim, found <{class}>");
                self.work.report("bad-path", text);
                continue;
            }
            let map = self.arc_map(class, at, LayerOffset::IDENTITY);
            let link = self.link(kind, at, map.with_root_identity(), number);
            self.add_class(&link, class, None)?;
        }
        Ok(())
    }

    /// Adds a class. Gives the node that is at its path, also if it was there already, or none if there can be none.
    /// The specs of a class at `ignored` do not count: it is there in another way.
    pub fn add_class(
        &mut self,
        link: &Link,
        path: &Path,
        ignored: Option<(&Arc<LayerStack>, &Path)>,
    ) -> Result<Option<usize>> {
        let parent = &self.graph.nodes[link.parent];
        let (stack, at) = (parent.stack.clone(), parent.path.clone());
        let depth = self.graph.depth_below(link.origin);
        let kind = self.kind_of(link.parent);
        if let Some(child) = self.matching_child(link, kind, &stack, path, depth) {
            return Ok(Some(child));
        }
        if link.kind == ArcKind::Specialize && (link.parent != 0 || self.frame.is_some()) {
            return self.add_specialize(link, &stack, path);
        }
        let is_ignored = ignored.is_some_and(|(s, p)| Arc::ptr_eq(s, &stack) && p == path);
        let contributes = *path != at && !is_ignored;
        let options = Options {
            contributes,
            skip_duplicates: contributes,
            with_ancestors: contributes && namespace_depth(path) != 1,
        };
        self.add_arc(link, &stack, path, options)
    }

    /// The child that an arc would add, if it is there.
    pub fn matching_child(
        &self,
        link: &Link,
        parent_kind: ArcKind,
        stack: &Arc<LayerStack>,
        path: &Path,
        depth: usize,
    ) -> Option<usize> {
        self.graph.children(link.parent).find(|c| {
            let child = &self.graph.nodes[*c];
            // Below a relocate the places of classes say nothing.
            match parent_kind {
                ArcKind::Relocate => {
                    child.kind == link.kind
                        && child.to_parent == link.to_parent
                        && child.origin.map(|o| self.graph.depth_below(o)) == Some(depth)
                }
                _ => child.is_at(stack, path),
            }
        })
    }
}
