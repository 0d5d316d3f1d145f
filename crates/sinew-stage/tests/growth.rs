//! Time and memory grow with the file: each row of `growth.txt` makes files with N things of a kind and with four times as
//! many, which may take five times as much. It is a test of its own, because it counts the memory of the whole process.
//!
//! A row begins with `## NAME, N`. `== FILE` begins a file; one whose name has `%` is there N times. A line that begins with
//! `*` is there N times, with its number for `%` and the next for `^`. `refused WORDS` says that N are an error with these
//! words.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use sinew_layer::{Layer, usda, usdc};
use sinew_stage::flatten::{Instancing, flatten};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Predicate, Stage, StageOptions};

/// What the process holds, and the most that it has held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How long all threads together have had a processor, which other processes do not add to. Where the system does not say
/// (Linux does), how long the process runs.
fn processor_time(began: Instant) -> Duration {
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse::<u64>().ok()
    };
    let threads = std::fs::read_dir("/proc/self/task").ok();
    let told = threads.and_then(|t| t.map(of_thread).sum::<Option<u64>>());
    told.map_or_else(|| began.elapsed(), Duration::from_nanos)
}

/// The files of a row with `n` things.
fn files(row: &str, n: usize) -> Vec<(String, String)> {
    let numbered = |text: &str, i: usize| {
        let text = text.replace('%', &i.to_string());
        text.replace('^', &(i + 1).to_string())
    };
    let mut files = Vec::new();
    for file in row.split("== ").skip(1) {
        let (name, lines) = file.split_once('\n').unwrap();
        let mut text = "#usda 1.4\n".to_owned();
        for line in lines.lines() {
            match line.strip_prefix('*') {
                Some(many) => (0..n).for_each(|i| text += &(numbered(many, i) + "\n")),
                None => text += &format!("{line}\n"),
            }
        }
        let count = if name.contains('%') { n } else { 1 };
        files.extend((0..count).map(|i| (numbered(name, i), text.clone())));
    }
    files
}

/// Opens the stage, reads all that it has, flattens it, and writes that as text and as a crate.
fn exercise(files: &[(String, String)], as_crate: bool) -> Result<(), Box<dyn std::error::Error>> {
    let mut resolver = FileResolver::default();
    for (name, text) in files {
        let bytes = match as_crate {
            true => {
                let layer = usda::parse(name, text.as_bytes())?;
                usdc::write_layer(&layer, Cursor::new(Vec::new()))?.into_inner()
            }
            false => text.clone().into_bytes(),
        };
        resolver.add_file(name, bytes);
    }
    let stage = Stage::open(StageOptions::new(Arc::new(resolver), "root"))?;
    for prim in stage.traverse(Predicate::ALL_PROXIES) {
        black_box(prim.variant_sets());
        for name in prim.property_names() {
            black_box(prim.attribute(&name).get(None)?);
            black_box(prim.attribute(&name).samples()?);
            black_box(prim.attribute(&name).connections());
            black_box(prim.relationship(&name).forwarded_targets());
        }
    }
    let all = Instancing {
        homes: Vec::new(),
        home_of: &|_| None,
    };
    let flat: Layer = flatten(&stage, &all)?.layer;
    usda::write(&flat, &mut Vec::new())?;
    usdc::write_layer(&flat, Cursor::new(Vec::new()))?;
    Ok(())
}

/// The least time and memory of some runs.
fn cost(files: &[(String, String)], as_crate: bool) -> (Duration, usize) {
    let runs = (0..4).map(|_| {
        let (began, before) = (Instant::now(), HELD.load(Relaxed));
        MOST.store(before, Relaxed);
        let start = processor_time(began);
        exercise(files, as_crate).unwrap();
        let spent = processor_time(began) - start;
        (spent, MOST.load(Relaxed) - before)
    });
    runs.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).unwrap()
}

#[test]
fn time_and_memory_grow_with_what_files_hold() {
    // Tables are read, and threads started.
    let first = [("root".to_owned(), "#usda 1.0\ndef \"A\" {}\n".to_owned())];
    exercise(&first, false).unwrap();
    let wanted = std::env::var("SINEW_ROW").unwrap_or_default();
    let mut wrong = Vec::new();
    let rows = include_str!("growth.txt").split("\n## ").skip(1);
    for row in rows.filter(|row| row.contains(&wanted)) {
        let (head, rest) = row.split_once('\n').unwrap();
        let (name, n) = head.split_once(", ").unwrap();
        let n: usize = n.parse().unwrap();
        if let Some(words) = rest.lines().find_map(|l| l.strip_prefix("refused ")) {
            let before = HELD.load(Relaxed);
            MOST.store(before, Relaxed);
            let said = exercise(&files(rest, n), false)
                .map_or_else(|e| e.to_string(), |()| "nothing".to_owned());
            let memory = MOST.load(Relaxed) - before;
            println!("{name}: {} MB, {said}", memory >> 20);
            if !said.contains(words) || memory > 1 << 30 {
                wrong.push(format!(
                    "{name}: expected '{words}' and 1 GiB, found {said}, {memory} bytes"
                ));
            }
            continue;
        }
        for as_crate in [false, true] {
            let [less, more] = [n, 4 * n].map(|n| cost(&files(rest, n), as_crate));
            let time = more.0.as_secs_f64() / less.0.as_secs_f64();
            let memory = more.1 as f64 / less.1 as f64;
            let file = if as_crate { "crate" } else { "text" };
            println!(
                "{name} ({file}): {time:.1} times {:?}, {memory:.1} times {} kB",
                less.0,
                less.1 >> 10
            );
            if time > 5.0 || memory > 5.0 {
                wrong.push(format!(
                    "{name} ({file}): {time:.1} times the time, {memory:.1} times the memory"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
