//! What reading takes in memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use sinew_animate::asset::Asset;
use sinew_io::{Error, gltf};

/// Counts what each thread has allocated.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // Nothing to count while a thread ends.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: everything is passed on to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Reads, and holds the memory it takes to the file's size: 16 MiB and 32 times its size for what it unpacks to, as much
/// again where a list of it grows, and the JSON itself.
pub fn read(bytes: &[u8], file: &Path) -> Result<Asset, Error> {
    let before = LIVE.get();
    PEAK.set(before);
    let result = gltf::read_bytes(bytes, file);
    let took = PEAK.get() - before;
    let most = (32 << 20) + 128 * bytes.len() as isize;
    assert!(took < most, "{took} bytes for a file of {}", bytes.len());
    result
}
