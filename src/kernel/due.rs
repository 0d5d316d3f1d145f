//! Which instances a frame computes: `shaders/due.wgsl` and its mirror.

use super::layout::{gpu_struct, wgsl};
use super::registry::{COMPUTED, FRAME_MASK, FRESH, HELD, due_bits};
use super::{Access, Binding, Dispatch, Kernel, NONE};

gpu_struct! {
    /// What the host says about the instance at one index.
    pub struct DueItem {
        /// The instance index.
        index: u32,
        /// It is computed in every frame of which this number divides the frame's number plus
        /// `phase`; 0 if it has no part in the frame.
        every: u32,
        /// Spreads instances with the same rate over frames.
        phase: u32,
        /// [`super::SkinItem::FRESH`] if the frame has to compute it, as if there was no frame
        /// before.
        flags: u32,
        /// Index of the action of the rig that it moves with, or [`NONE`].
        rig: u32,
    }
}

/// The kernel that decides which instances a frame computes. [`due_on_cpu`] is its mirror.
pub const DUE: Kernel = Kernel {
    name: "due",
    wgsl: wgsl!["common/dispatch", "due"],
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<DueItem>() as u64),
        Binding::new(2, "mask", Access::Read, 4),
        Binding::new(3, "state", Access::ReadWrite, 4),
        Binding::new(4, "actions", Access::ReadWrite, 4),
        Binding::new(5, "keys", Access::ReadWrite, 4),
    ],
    structs: &[Dispatch::LAYOUT, DueItem::LAYOUT],
    overrides: due_bits::NAMES,
    numbers: &[],
};

/// Decides what a frame does with each instance and each rig, to the same bits as on the GPU.
///
/// `state` is the number of frames so far, then a word per instance index; zeros before the first
/// frame. `actions` gets a word per instance index and per rig: 0 for nothing,
/// [`COMPUTED`] with or without [`FRESH`], or [`HELD`].
///
/// # Panics
/// If `state` or `actions` is too short for the items.
pub fn due_on_cpu(
    items: &[DueItem],
    is_visible: impl Fn(u32) -> bool,
    state: &mut [u32],
    actions: &mut [u32],
) {
    actions.fill(0);
    if items.iter().any(|item| item.index == 0) {
        state[0] = state[0].wrapping_add(1) & FRAME_MASK;
    }
    let frame = state[0].wrapping_add(1) & FRAME_MASK;
    for item in items.iter().filter(|item| item.every > 0) {
        if !is_visible(item.index) {
            continue;
        }
        let word = &mut state[1 + item.index as usize];
        let fresh = item.flags & FRESH != 0 || (*word >> 1) + 1 != frame;
        let mut settled = *word & 1;
        let action = &mut actions[item.index as usize];
        if fresh || frame.wrapping_add(item.phase).is_multiple_of(item.every) {
            settled = u32::from(fresh);
            *action = COMPUTED | if fresh { FRESH } else { 0 };
            if item.rig != NONE {
                actions[item.rig as usize] |= COMPUTED;
            }
        } else if settled == 0 {
            settled = 1;
            *action = HELD;
        }
        *word = frame << 1 | settled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(index: u32, every: u32, phase: u32) -> DueItem {
        DueItem {
            index,
            every,
            phase,
            flags: 0,
            rig: NONE,
        }
    }

    #[test]
    fn rates_are_staggered_and_a_return_is_computed_at_once() {
        let items: Vec<DueItem> = (0..8).map(|i| item(i, 4, i)).collect();
        let (mut state, mut actions) = (vec![0; 9], vec![0; 8]);
        let mut run = |visible: fn(u32) -> bool| {
            due_on_cpu(&items, visible, &mut state, &mut actions);
            actions.clone()
        };
        // Nothing was visible before the first frame.
        assert_eq!(run(|_| true), [COMPUTED | FRESH; 8]);
        // Results of a fresh frame have nothing to settle.
        let counts: Vec<usize> = (0..8)
            .map(|_| run(|_| true).iter().filter(|a| **a == COMPUTED).count())
            .collect();
        assert_eq!(counts, [2; 8]);
        // In the frame after it was computed, each settles, and then nothing happens to it.
        let before = run(|_| true);
        let after = run(|_| true);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(*before == COMPUTED, *after == HELD);
        }
        assert_eq!(run(|i| i != 3)[3], 0);
        assert_eq!(run(|_| true)[3], COMPUTED | FRESH);
    }

    #[test]
    fn a_rig_is_posed_if_any_of_its_instances_is_computed() {
        let mut items = vec![item(0, 1, 0), item(1, 1, 0), item(2, 0, 0)];
        (items[0].rig, items[1].rig, items[2].rig) = (3, 4, 4);
        let (mut state, mut actions) = (vec![0; 4], vec![9; 5]);
        due_on_cpu(&items, |i| i != 1, &mut state, &mut actions);
        assert_eq!(actions, [COMPUTED | FRESH, 0, 0, COMPUTED, 0]);
    }
}
