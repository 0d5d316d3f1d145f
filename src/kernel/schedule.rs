//! Which instances a frame computes: `shaders/schedule.wgsl` and its mirror.

use super::layout::{gpu_struct, wgsl};
use super::registry::{
    COMPUTED, FRESH, PREVIOUS_IS_CURRENT, UPDATES_PREVIOUS, VISIBLE, schedule_bits,
};
use super::{Access, Binding, Dispatch, Kernel};

gpu_struct! {
    /// What the host says about the instance at one index.
    pub struct ScheduleItem {
        /// The instance index.
        index: u32,
        /// It is computed in every frame of which this number divides the frame's number plus
        /// `phase`; 0 if it has no part in the frame.
        every: u32,
        /// Spreads instances with the same rate over frames.
        phase: u32,
        /// [`FRESH`] if the frame has to compute it, as if there was no frame
        /// before.
        flags: u32,
    }
}

/// The kernel that decides which instances a frame computes. [`schedule_on_cpu`] is its mirror.
pub const SCHEDULE: Kernel = Kernel {
    name: "schedule",
    wgsl: wgsl!["common/dispatch", "schedule"],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<ScheduleItem>()),
        Binding::new(2, "mask", Access::Read, 4),
        Binding::new(3, "state", Access::ReadWrite, 4),
        Binding::new(4, "keys", Access::ReadWrite, 4),
    ],
    structs: &[Dispatch::LAYOUT, ScheduleItem::LAYOUT],
    overrides: schedule_bits::NAMES,
    numbers: &[],
};

/// Decides what a frame does with each instance, to the same bits as on the GPU.
///
/// `state` is the number of frames so far, then a word per instance index; zeros before the first
/// frame. A word has [`COMPUTED`] with or without [`FRESH`], or [`UPDATES_PREVIOUS`], or nothing of these;
/// [`VISIBLE`] and [`PREVIOUS_IS_CURRENT`] are for the next frame.
///
/// # Panics
/// If `state` is too short for the items.
pub fn schedule_on_cpu(
    items: &[ScheduleItem],
    is_visible: impl Fn(u32) -> bool,
    state: &mut [u32],
) {
    let (frame, words) = state.split_first_mut().expect("the number of frames");
    *frame = frame.wrapping_add(1);
    for item in items {
        let word = &mut words[item.index as usize];
        let before = *word;
        let has_part = item.every > 0 && is_visible(item.index);
        *word = if !has_part {
            0
        } else if item.flags & FRESH != 0 || before & VISIBLE == 0 {
            VISIBLE | PREVIOUS_IS_CURRENT | COMPUTED | FRESH
        } else if frame.wrapping_add(item.phase).is_multiple_of(item.every) {
            VISIBLE | COMPUTED
        } else if before & PREVIOUS_IS_CURRENT == 0 {
            VISIBLE | PREVIOUS_IS_CURRENT | UPDATES_PREVIOUS
        } else {
            VISIBLE | PREVIOUS_IS_CURRENT
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The actions of a frame.
    fn run(items: &[ScheduleItem], state: &mut [u32], visible: fn(u32) -> bool) -> Vec<u32> {
        schedule_on_cpu(items, visible, state);
        let actions = COMPUTED | FRESH | UPDATES_PREVIOUS;
        state[1..].iter().map(|word| word & actions).collect()
    }

    #[test]
    fn rates_are_staggered_and_a_return_is_computed_at_once() {
        let item = |index| ScheduleItem {
            index,
            every: 4,
            phase: index,
            flags: 0,
        };
        let items: Vec<ScheduleItem> = (0..8).map(item).collect();
        let state = &mut [0; 9];
        // Nothing was visible before the first frame.
        assert_eq!(run(&items, state, |_| true), [COMPUTED | FRESH; 8]);
        // Results of a fresh frame have nothing to settle.
        let counts: Vec<usize> = (0..8)
            .map(|_| run(&items, state, |_| true))
            .map(|actions| actions.iter().filter(|a| **a == COMPUTED).count())
            .collect();
        assert_eq!(counts, [2; 8]);
        // In the frame after it was computed, each settles, and then nothing happens to it.
        let before = run(&items, state, |_| true);
        let after = run(&items, state, |_| true);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(*before == COMPUTED, *after == UPDATES_PREVIOUS);
        }
        assert_eq!(run(&items, state, |i| i != 3)[3], 0);
        assert_eq!(run(&items, state, |_| true)[3], COMPUTED | FRESH);
    }

    #[test]
    fn what_the_host_hides_or_renews_is_fresh() {
        let of = |every, flags| {
            move |index| ScheduleItem {
                index,
                every,
                phase: 0,
                flags,
            }
        };
        let (shown, hidden, renewed) = (of(1, 0), of(0, 0), of(1, FRESH));
        let state = &mut [0; 3];
        let fresh = COMPUTED | FRESH;
        assert_eq!(run(&[shown(0), hidden(1)], state, |_| true), [fresh, 0]);
        assert_eq!(
            run(&[renewed(0), shown(1)], state, |_| true),
            [fresh, fresh]
        );
        assert_eq!(run(&[hidden(0), shown(1)], state, |_| true), [0, COMPUTED]);
        assert_eq!(
            run(&[shown(0), shown(1)], state, |_| true),
            [fresh, COMPUTED]
        );
    }
}
