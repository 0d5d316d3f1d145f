//! The joints of many tools' rigs, as the tools name them.
//!
//! A line is a joint, indented below its parent. `#` in a name makes two joints, one for each side;
//! what is indented below is made twice too. After `=` stands the human bone that the joint has to
//! be found as, without its side; joints without one have to stay unmatched.

mod capture;
mod engines;
mod figures;
mod tools;

/// The rig of a tool.
pub struct Table {
    /// What the report calls the names.
    pub name: Option<&'static str>,
    /// A short name of the rig.
    pub rig: &'static str,
    pub sides: [&'static str; 2],
    pub joints: &'static str,
}

const LEFT: [&str; 2] = ["Left", "Right"];
const SMALL: [&str; 2] = ["left", "right"];
const L: [&str; 2] = ["L", "R"];
const LOWER: [&str; 2] = ["l", "r"];

/// All of them, Mixamo's first.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    let groups = [
        engines::TABLES,
        tools::TABLES,
        figures::TABLES,
        capture::TABLES,
    ];
    groups.into_iter().flatten()
}
