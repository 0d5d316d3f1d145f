//! Text layers: `.usda`.
