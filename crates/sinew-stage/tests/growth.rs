//! Time and memory grow with the file: each row of `growth.txt` makes files with N things of a kind and with four times as
//! many, which may take six times as much. It is a test of its own, because it counts the memory of the whole process.
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
use sinew_stage::compose::Limits;
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

/// Reads the texts, writes them as crates, opens the stage that these make, reads all that it has, flattens it, and writes
/// that as text and as a crate.
fn exercise(files: &[(String, String)], limits: Limits) -> Result<(), Box<dyn std::error::Error>> {
    let mut resolver = FileResolver::default();
    for (name, text) in files {
        let layer = usda::parse(name, text.as_bytes())?;
        let bytes = usdc::write_layer(&layer, Cursor::new(Vec::new()))?;
        resolver.add_file(name, bytes.into_inner());
    }
    let mut options = StageOptions::new(Arc::new(resolver), "root");
    options.limits = limits;
    let stage = Stage::open(options)?;
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

/// Four times as many things may cost so many times as much. Sorting and caches need a little more than 4; what is
/// quadratic needs 16.
const MOST_TIMES: f64 = 6.0;

/// Clocks of processor time may go in steps of 4 ms: runs are repeated until this much is spent.
const MEASURABLE: Duration = Duration::from_millis(40);

/// Other processes only add to what is measured, so the least of some measurements counts: of at least two, and of more
/// while it is too much.
const MEASUREMENTS: std::ops::RangeInclusive<usize> = 2..=8;

/// What a run costs.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    memory: usize,
}

impl Cost {
    const ANY: Self = Self {
        time: Duration::MAX,
        memory: usize::MAX,
    };

    fn measure(files: &[(String, String)]) -> Self {
        let (began, before) = (Instant::now(), HELD.load(Relaxed));
        MOST.store(before, Relaxed);
        let start = processor_time(began);
        let (mut runs, mut spent) = (0, Duration::ZERO);
        while spent < MEASURABLE {
            exercise(files, Limits::default()).unwrap();
            runs += 1;
            spent = processor_time(began) - start;
        }
        Self {
            time: spent / runs,
            memory: MOST.load(Relaxed) - before,
        }
    }

    fn at_most(self, other: Self) -> Self {
        Self {
            time: self.time.min(other.time),
            memory: self.memory.min(other.memory),
        }
    }
}

/// Compares the costs of a row with `n` and with four times as many things. An error if they grow too fast.
fn compare(row: &str, n: usize) -> Result<String, String> {
    let (less, more) = (files(row, n), files(row, 4 * n));
    let (mut of_less, mut of_more) = (Cost::ANY, Cost::ANY);
    let mut found = String::new();
    for measurement in 1..=*MEASUREMENTS.end() {
        of_less = of_less.at_most(Cost::measure(&less));
        of_more = of_more.at_most(Cost::measure(&more));
        let time = of_more.time.as_secs_f64() / of_less.time.as_secs_f64();
        let memory = of_more.memory as f64 / of_less.memory as f64;
        let kilobytes = of_less.memory >> 10;
        found = format!(
            "{time:.1} times {:.1?}, {memory:.1} times {kilobytes} kB",
            of_less.time
        );
        if MEASUREMENTS.contains(&measurement) && time.max(memory) <= MOST_TIMES {
            return Ok(found);
        }
    }
    Err(found)
}

/// Runs a row with `n` things, which is an error with these words. To find that needs no more than 1 GiB: an eighth, if
/// the limits are an eighth, which saves time.
fn refuse(row: &str, n: usize, words: &str) -> Result<String, String> {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let mut limits = Limits::default();
    for limit in [&mut limits.nodes, &mut limits.memory] {
        *limit /= 8;
    }
    let result = exercise(&files(row, n), limits);
    let said = result.map_or_else(|e| e.to_string(), |()| "nothing".to_owned());
    let memory = MOST.load(Relaxed) - before;
    let found = format!("{} MB, {said}", memory >> 20);
    match said.contains(words) && memory <= 1 << 27 {
        true => Ok(found),
        false => Err(found),
    }
}

#[test]
fn time_and_memory_grow_with_what_files_hold() {
    // Tables are read, and threads started.
    exercise(&files("== root\ndef \"A\" {}\n", 1), Limits::default()).unwrap();
    let wanted = std::env::var("SINEW_ROW").unwrap_or_default();
    let mut wrong = Vec::new();
    let rows = include_str!("growth.txt").split("\n## ").skip(1);
    for row in rows.filter(|row| row.contains(&wanted)) {
        let (head, rest) = row.split_once('\n').unwrap();
        let (name, n) = head.split_once(", ").unwrap();
        let n: usize = n.parse().unwrap();
        let refused = rest.lines().find_map(|l| l.strip_prefix("refused "));
        let found = refused.map_or_else(|| compare(rest, n), |words| refuse(rest, n, words));
        println!("{name}: {found:?}");
        wrong.extend(found.err().map(|found| format!("{name}: {found}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
