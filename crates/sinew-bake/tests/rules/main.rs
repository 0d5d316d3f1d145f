//! The rules of `src/skel/rules.md` and what follows from them, by hand.

mod rules;
mod semantics;
mod spaces;
mod utils;
