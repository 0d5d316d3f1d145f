//! Time and memory grow with the file: each row of a table makes files with N things of a kind and with four times as
//! many, which may take five times as much. A test of its own includes this file by its path, because it counts the
//! memory of the whole process.
//!
//! A row begins with `## NAME, N`. `== FILE` begins a file; one whose name has `%` is there N times. A line that begins with
//! `*` is there N times, with its number for `%`, the next for `^`, and a line break for `\n`; with `*,` there are commas
//! between. A line that ends in `\` has no line break, and `& NAME` stands for the lines of the block `#### NAME` above
//! the rows. `times TIMES` says that four times as many may cost more than five times as much, and after it why.
//! `refused WORDS` says that N are an error with these words.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

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
    // Linux adds up the time of a thread when it stops or when the clock ticks, every 4 ms: this thread stops, so that the
    // time is exact.
    std::thread::sleep(Duration::from_nanos(1));
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse::<u64>().ok()
    };
    let threads = std::fs::read_dir("/proc/self/task").ok();
    let told = threads.and_then(|t| t.map(of_thread).sum::<Option<u64>>());
    told.map_or_else(|| began.elapsed(), Duration::from_nanos)
}

/// Four times as many things may cost so many times as much, if a row says nothing else. Sorting and caches need a little
/// more than 4; what is quadratic needs 16.
const MOST_TIMES: f64 = 5.0;

/// How long refusing files may take, in a build that is not optimised: a third of that otherwise.
const MOST_TIME: Duration = Duration::from_secs(20);

/// The files of a row: their names and what they hold.
pub type Files = [(String, String)];

/// How reading and writing files ended.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A table, and what is done with the files of its rows.
pub struct Growth<'a> {
    pub table: &'a str,
    /// Reads files and writes them again. With `true` they are to be refused.
    pub exercise: &'a dyn Fn(&Files, bool) -> Outcome,
    /// Bytes that refusing files may take.
    pub most_refused: usize,
}

/// Runs are repeated until this much time of a processor is spent, and the cheapest counts.
const MEASURABLE: Duration = Duration::from_millis(24);

/// Other processes only add to what a run costs (they empty its caches, or share its core), and do so for seconds: this many
/// times are both measured, while the cheapest runs are too much.
const MEASUREMENTS: usize = 32;

/// A run with some things is done four times in a row: so it takes as long as one with four times as many, and is disturbed
/// as often.
const IN_A_ROW: u32 = 4;

/// What the cheapest run costs.
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

    /// What one run costs: of several measurements of `times` runs in a row, the cheapest counts.
    fn measure(times: u32, exercise: impl Fn() -> Result<(), String>) -> Result<Self, String> {
        let (mut least, mut spent) = (Self::ANY, Duration::ZERO);
        while spent < MEASURABLE {
            let (began, before) = (Instant::now(), HELD.load(Relaxed));
            MOST.store(before, Relaxed);
            let start = processor_time(began);
            for _ in 0..times {
                exercise()?;
            }
            let time = processor_time(began) - start;
            let memory = MOST.load(Relaxed) - before;
            least = least.at_most(Self {
                time: time / times,
                memory,
            });
            spent += time;
        }
        Ok(least)
    }

    fn at_most(self, other: Self) -> Self {
        Self {
            time: self.time.min(other.time),
            memory: self.memory.min(other.memory),
        }
    }
}

impl Growth<'_> {
    /// Runs the rows whose names have the words of SINEW_ROW, or every fourth row, or with SINEW_ALL all.
    pub fn check(&self) {
        let wanted = std::env::var("SINEW_ROW").unwrap_or_default();
        let mut wrong = Vec::new();
        let mut rows = self.table.split("\n## ");
        let blocks = rows.next().unwrap_or_default();
        let blocks = blocks.split("#### ").skip(1);
        let blocks: HashMap<&str, &str> = blocks.map(|b| b.split_once('\n').unwrap()).collect();
        let is_all = std::env::var_os("SINEW_ALL").is_some() || !wanted.is_empty();
        let step = if is_all { 1 } else { 4 };
        for row in rows.step_by(step).filter(|row| row.contains(&wanted)) {
            let (head, rest) = row.split_once('\n').unwrap();
            let (name, n) = head.rsplit_once(", ").unwrap();
            let n: usize = n.parse().unwrap();
            let said = |word: &str| rest.lines().find_map(|l| l.strip_prefix(word));
            let times = said("times ").and_then(|times| times.split(' ').next()?.parse().ok());
            let files = |n| files(rest, &blocks, n);
            let found = match said("refused ") {
                None => self.compare(&files(n), &files(4 * n), times.unwrap_or(MOST_TIMES)),
                Some(words) => self.refuse(&files(n), words),
            };
            println!("{name}: {found:?}");
            wrong.extend(found.err().map(|found| format!("{name}: {found}")));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Compares the costs of a row with some and with four times as many things. An error if they grow too fast.
    fn compare(&self, less: &Files, more: &Files, most: f64) -> Result<String, String> {
        let run = |files| (self.exercise)(files, false).map_err(|e| e.to_string());
        // Tables are read, and threads started.
        run(less)?;
        let (mut of_less, mut of_more) = (Cost::ANY, Cost::ANY);
        let mut found = String::new();
        for _ in 0..MEASUREMENTS {
            of_less = of_less.at_most(Cost::measure(IN_A_ROW, || run(less))?);
            of_more = of_more.at_most(Cost::measure(1, || run(more))?);
            let time = of_more.time.as_secs_f64() / of_less.time.as_secs_f64();
            let memory = of_more.memory as f64 / of_less.memory as f64;
            let kilobytes = of_less.memory >> 10;
            found = format!(
                "{time:.1} times {:.1?}, {memory:.1} times {kilobytes} kB",
                of_less.time
            );
            if time.max(memory) <= most {
                return Ok(found);
            }
        }
        Err(found)
    }

    /// Runs a row that is an error with these words.
    fn refuse(&self, files: &Files, words: &str) -> Result<String, String> {
        let (began, before) = (Instant::now(), HELD.load(Relaxed));
        MOST.store(before, Relaxed);
        let start = processor_time(began);
        let result = (self.exercise)(files, true);
        let said = result.map_or_else(|e| e.to_string(), |()| "nothing".to_owned());
        let memory = MOST.load(Relaxed) - before;
        let time = processor_time(began) - start;
        let found = format!("{time:.1?}, {} MB, {said}", memory >> 20);
        match said.contains(words) && memory <= self.most_refused && time <= MOST_TIME {
            true => Ok(found),
            false => Err(found),
        }
    }
}

/// The files of a row with `n` things.
fn files(row: &str, blocks: &HashMap<&str, &str>, n: usize) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for file in row.split("== ").skip(1) {
        let (name, lines) = file.split_once('\n').unwrap();
        let mut text = String::new();
        add_lines(&mut text, lines, blocks, n);
        let count = if name.contains('%') { n } else { 1 };
        files.extend((0..count).map(|i| (numbered(name, i), text.clone())));
    }
    files
}

fn add_lines(text: &mut String, lines: &str, blocks: &HashMap<&str, &str>, n: usize) {
    for line in lines.lines() {
        if let Some(block) = line.strip_prefix("& ") {
            add_lines(text, blocks[block], blocks, n);
            continue;
        }
        let (line, end) = match line.strip_suffix('\\') {
            Some(joined) => (joined, ""),
            None => (line, "\n"),
        };
        let (many, between) = match line.strip_prefix("*, ") {
            Some(many) => (Some(many), ","),
            None => (line.strip_prefix("* "), ""),
        };
        let Some(many) = many else {
            text.extend([line, end]);
            continue;
        };
        for i in 0..n {
            let comma = if i + 1 < n { between } else { "" };
            text.extend([&*numbered(many, i), comma, end]);
        }
    }
}

fn numbered(text: &str, i: usize) -> String {
    let text = text.replace('%', &i.to_string()).replace("\\n", "\n");
    text.replace('^', &(i + 1).to_string())
}
