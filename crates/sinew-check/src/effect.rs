//! What becomes of the prims that findings are about, and so how commands end on a file.

use serde::Serialize;

use super::{Finding, Findings, code};
use sinew::scene::Scene;
use sinew::skel::binding::SWITCHED_OFF;

/// What becomes of the prims that a finding is about, in every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// All of them is used.
    Used,
    /// They are skinned, but not drawn: pictures and glTF files lack them.
    NotDrawn,
    /// They, or parts of them, are ignored or left out.
    LeftOut,
    /// Nothing is made of the file.
    Refused,
}

impl Effect {
    /// The effect in words, and the exit codes with which commands end.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::NotDrawn => "not drawn: `render` and `convert` to glTF end with 3",
            Self::LeftOut => "left out, or left out in part: exit code 3",
            Self::Refused => "nothing is made: exit code 1",
        }
    }
}

/// The exit codes of commands that are asked for everything in a file: 0 if it is all in their
/// output, 3 if a part is left out, and 1 if nothing is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ends {
    /// `bake`, into USD.
    pub bake: u8,
    /// `convert`, into USD.
    pub convert: u8,
    /// `convert`, into glTF.
    pub gltf: u8,
    /// `render`, of all times.
    pub render: u8,
    /// `retarget` onto it, of a clip that fits: 1 if no skeleton can take one, or several can. The
    /// clip takes the place of the file's own animation, so findings about that do not count.
    pub retarget: u8,
}

impl Ends {
    /// Those of a file that cannot be read.
    pub(super) const REFUSED: Self = Self {
        bake: 1,
        convert: 1,
        gltf: 1,
        render: 1,
        retarget: 1,
    };

    /// Those by these findings. `bakes` says whether there is something to bake, `draws` whether
    /// there is something to draw, `moves` whether there is a skeleton to retarget to.
    pub(super) fn of(findings: &Findings, bakes: bool, draws: bool, moves: bool) -> Self {
        let has = |effect| findings.list.iter().any(|f| f.effect() == effect);
        let end = |lacks| if lacks { 3 } else { 0 };
        let (left_out, not_drawn) = (has(Effect::LeftOut), has(Effect::NotDrawn));
        let left_out_of =
            |f: &Finding| f.effect() == Effect::LeftOut && !f.code.starts_with("animation-");
        let stays = findings.list.iter().any(left_out_of);
        Self {
            bake: if bakes { end(left_out) } else { 1 },
            convert: end(left_out),
            gltf: end(left_out || not_drawn),
            render: if draws { end(left_out || not_drawn) } else { 1 },
            retarget: if moves { end(stays) } else { 1 },
        }
    }
}

/// Whether the stage switches off everything that could be skinned, so that its bake is the stage
/// as it is. `codes` are those of all findings.
pub fn is_switched_off(scene: &Scene, codes: impl Iterator<Item = &'static str>) -> bool {
    let mut is_off = scene.bindings.is_empty() && scene.unskinned.is_empty();
    let mut has = false;
    for name in codes {
        has |= name == SWITCHED_OFF;
        is_off &= code(name).is_none_or(|row| row.effect != Effect::LeftOut);
    }
    is_off && has
}
