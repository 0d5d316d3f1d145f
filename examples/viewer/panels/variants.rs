//! The variants that are selected in a USD file, and the purposes that are drawn.

use egui::{ComboBox, Grid, Ui};
use sinew_io::usd::{Purposes, VariantSelection, VariantSet};

use super::{choice, row, weak};
use crate::state::State;

/// Most variant sets that are listed.
const MOST_SETS: usize = 50;

/// What the list has for a set in which nothing is selected.
const NONE: &str = "none";

type Switch = fn(&mut Purposes) -> &mut bool;

const PURPOSES: [(&str, Switch, &str); 3] = [
    ("Render", |p| &mut p.render, "prims for final pictures"),
    (
        "Proxy",
        |p| &mut p.proxy,
        "simple prims that stand for them",
    ),
    (
        "Guide",
        |p| &mut p.guide,
        "helpers, such as a rig's controls",
    ),
];

pub fn show(ui: &mut Ui, state: &mut State) {
    let Some(model) = &state.model else { return };
    let mut purposes = model.selected.purposes;
    let sets = model.variant_sets.clone().unwrap_or_default();
    let grid = Grid::new("variants").num_columns(2).spacing([10.0, 5.0]);
    grid.show(ui, |ui| {
        for (number, set) in sets.iter().take(MOST_SETS).enumerate() {
            ui.add(egui::Label::new(&set.name).truncate())
                .on_hover_text(format!("a variant set of {}", set.prim));
            variants(ui, state, number, set);
            ui.end_row();
        }
        row(ui, "Draw", |ui| {
            for (name, of, hint) in PURPOSES {
                let is_on = *of(&mut purposes);
                let switch = choice(ui, state, name, is_on).on_hover_text(hint);
                if switch.clicked() {
                    state.select(|selected| *of(&mut selected.purposes) = !is_on);
                }
            }
        });
    });
    if let Some(more) = sets.len().checked_sub(MOST_SETS).filter(|n| *n > 0) {
        ui.label(
            weak(format!(
                "{more} more: `sinew render --variant` selects them"
            ))
            .small(),
        );
    }
}

/// The variants of a set, as a list that unfolds.
fn variants(ui: &mut Ui, state: &mut State, number: usize, set: &VariantSet) {
    let selected = set.selected.as_deref().unwrap_or_default();
    let title = |name: &str| if name.is_empty() { NONE } else { name }.to_owned();
    let list = ComboBox::from_id_salt(("variants", number))
        .selected_text(title(selected))
        .width(ui.available_width() - 8.0);
    let list = list.show_ui(ui, |ui| {
        let names = std::iter::once("").chain(set.variants.iter().map(String::as_str));
        for name in names {
            let variant = choice(ui, state, &title(name), name == selected);
            if variant.clicked() && name != selected {
                let variant = VariantSelection {
                    prim: set.prim.clone(),
                    variants: vec![(set.name.clone(), name.to_owned())],
                };
                state.select(|selected| selected.select(variant));
            }
        }
    });
    state.view.places.note(ui, &set.name, list.response.rect);
}
