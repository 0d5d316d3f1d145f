//! Retargeting: directions, positions, what is left alone, what is recognised, what is refused.

mod anatomy;
mod conventions;
mod facing;
mod feet;
mod invariance;
mod made_files;
mod maps;
mod matrix;
mod poses;
mod root;
mod tables;

/// Counts the allocations of each thread.
mod counting {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    pub struct Counting;

    // SAFETY: passes everything on to the system's allocator.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            COUNT.with(|c| c.set(c.get() + 1));
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            unsafe { System.dealloc(pointer, layout) }
        }

        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            COUNT.with(|c| c.set(c.get() + 1));
            unsafe { System.realloc(pointer, layout, size) }
        }
    }

    pub fn allocations(work: impl FnOnce()) -> usize {
        let before = COUNT.with(Cell::get);
        work();
        COUNT.with(Cell::get) - before
    }
}

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
