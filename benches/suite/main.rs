//! The measurements behind benches/RESULTS.md: sinew and its peers on the work loads A to G, in one run.
//!
//! `cargo bench --bench suite -- --help`.

mod cpu_peers;
mod crowds;
mod export;
mod floor;
mod goals;
mod influences;
mod load;
mod measure;
mod options;
mod ozz_original;
mod peers;
mod playing;
mod python;
mod report;
mod results;
mod row;
mod sinew_cpu;
mod sinew_gpu;
mod start;
mod variants;
mod visible;
mod whole;
mod workloads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use load::Load;
use measure::Runs;
use options::{Export, Loads, Options};
use report::Conditions;
use results::{Counts, Results};
use row::Row;
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::Packing;
use workloads::{Kind, Workload};

/// Rounds in which whole bakes take turns, so that whatever else the machine does meets both sides alike.
const BAKES: usize = options::ENOUGH;
/// The least runs of what takes a software adapter long.
const FEWEST: usize = 3;
/// What of C's characters a software adapter skins.
const SOFTWARE_SHARE: f64 = 0.2;
/// What of F's meshes a software adapter skins by the peers' kernels.
const SOFTWARE_DUST: f64 = 0.02;

struct Suite {
    options: Options,
    device: Option<GpuDevice>,
    python: Option<String>,
    /// The programs of ozz-animation's own job.
    ozz: Option<PathBuf>,
    start: Instant,
    results: Results,
}

impl Suite {
    fn tell(&self, what: &str) {
        eprintln!("{:>5.0} s  {what}", self.start.elapsed().as_secs_f64());
    }

    fn load(&self, kind: Kind) -> Workload {
        let share = match kind {
            Kind::Crowd if self.is_software() || self.device.is_none() => SOFTWARE_SHARE,
            _ => 1.0,
        };
        Workload::new(kind, self.options.scale() * share)
    }

    /// Measures one part of the table, if it is wanted and there is time for it.
    fn part(&mut self, name: &str, measure: impl FnOnce(&mut Self)) -> Result<(), String> {
        if !self.options.loads.wants(name) {
            return Ok(());
        }
        let end = self.options.seconds;
        if let Some(end) = end.filter(|end| self.start.elapsed().as_secs_f64() >= *end) {
            let why = format!("{name}: not run: the {end:.0} seconds were over");
            self.results.missing.push(why);
            return Ok(());
        }
        measure(self);
        match end {
            // Whoever gave seconds may end the process after them.
            Some(_) => self.write(&self.section()),
            None => Ok(()),
        }
    }

    fn section(&self) -> String {
        let conditions = Conditions::of_this_machine(self.start.elapsed().as_secs_f64());
        report::section(&self.results, &conditions)
    }

    /// Writes the files that were asked for.
    fn write(&self, section: &str) -> Result<(), String> {
        if let Some(file) = &self.options.json {
            let rows = serde_json::to_string_pretty(&self.results.rows);
            let text = rows.map_err(|e| e.to_string())?;
            std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        if let Some(file) = self.options.results() {
            report::rewrite(&file, &self.results, section)
                .map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(())
    }

    fn is_software(&self) -> bool {
        self.device.as_ref().is_some_and(|d| d.report().software)
    }

    /// One work load, on every side.
    fn measure(&mut self, kind: Kind, folder: &Path) {
        let name = kind.name();
        self.tell(&format!("{name}: making it"));
        let load = self.load(kind);
        let file = folder.join(format!("{name}.usdc"));
        let is_shared_with_python = self.python.is_some() && kind != Kind::Dust;
        if is_shared_with_python || kind == Kind::Hero {
            let exported = export::export(&load, &file);
            self.results.keep(&format!("{name}, export"), exported);
        }
        if kind == Kind::Hero {
            self.bake(&load, &file, folder);
        } else {
            self.cpu(&load, is_shared_with_python.then_some(file.as_path()));
            if kind == Kind::Body {
                self.tell("A: other kernels");
                let cores = self.results.cores;
                let rows = variants::rows(&load, self.device.as_ref(), cores, self.options.runs());
                self.results.add(variants::NAME, rows);
            }
            self.gpu(load);
        }
        let _ = std::fs::remove_file(&file);
    }

    fn cpu(&mut self, load: &Workload, exported: Option<&Path>) {
        let (name, runs, cores) = (load.kind.name(), self.options.runs(), self.results.cores);
        // Sides take turns here too.
        let rounds = match load.kind {
            Kind::Body | Kind::Face => 4,
            Kind::Crowd => 1,
            _ => 2,
        };
        let is_body = matches!(load.kind, Kind::Body | Kind::MixedBody);
        let ozz = self.ozz.clone().filter(|_| is_body);
        let mut rows = Vec::new();
        let mut take = |results: &mut Results, who: &str, measured: Result<Vec<Row>, String>| {
            let measured = results.keep(&format!("{name}, {who}"), measured);
            for row in measured.into_iter().flatten() {
                row::merge(&mut rows, row);
            }
        };
        for round in 1..=rounds {
            self.tell(&format!("{name}: CPU, round {round} of {rounds}"));
            let results = &mut self.results;
            for threads in [1, cores] {
                take(results, "CPU", sinew_cpu::rows(load, threads, runs));
                if is_body {
                    let peers = cpu_peers::rows(load, threads, runs);
                    take(results, "CPU peers", peers);
                }
                if let Some(folder) = ozz.as_deref().filter(|_| threads == 1) {
                    let original = ozz_original::rows(load, folder, runs);
                    take(results, "ozz-animation", original);
                }
                if threads == cores && matches!(load.kind, Kind::Body | Kind::Face) {
                    let scale = self.options.scale();
                    let baseline = sinew_cpu::baseline_rows(load.kind, scale, threads, runs);
                    take(results, "baseline", baseline);
                }
            }
            if let (Some(python), Some(file)) = (&self.python, exported) {
                let theirs = python::usd_core_rows(python, file, name, runs, cores);
                take(results, "usd-core", theirs);
            }
        }
        self.results.rows.extend(rows);
    }

    fn gpu(&mut self, load: Workload) {
        let Some(device) = &self.device else { return };
        let (name, runs) = (load.kind.name(), self.gpu_runs());
        self.tell(&format!("{name}: GPU"));
        let add = |results: &mut Results, what: &str, row: Result<Row, GpuError>| {
            results.add(&format!("{name}, GPU{what}"), row.map(|row| [row]));
        };
        add(&mut self.results, "", sinew_gpu::row(&load, device, runs));
        if load.kind == Kind::Body {
            for packing in [Packing::Fine, Packing::Compact] {
                let row = sinew_gpu::row_packed(&load, device, runs, packing);
                add(&mut self.results, &format!(", {packing:?}"), row);
            }
        }
        if matches!(load.kind, Kind::Body | Kind::Crowd) {
            let rows = python::torch_rows(&load, runs);
            self.results.add(&format!("{name}, PyTorch"), rows);
        }
        if matches!(load.kind, Kind::Crowd | Kind::Dust) {
            self.tell(&format!("{name}: CPU cost of its frames"));
            let counts = Counts {
                joints: load.size.joints * load.size.characters,
                meshes: load.size.characters,
            };
            let cost = sinew_gpu::frame_cost(&load, device, runs);
            if let Some(cost) = self.results.keep(&format!("{name}, frames"), cost) {
                self.results.frames.push((name.to_owned(), cost, counts));
            }
        }
        if load.kind == Kind::Crowd {
            let mut size = load.size;
            size.characters = size.characters.div_ceil(2);
            let counted = sinew_gpu::dispatches(&load, &Workload::sized(load.kind, size), device);
            self.results.dispatches = self.results.keep("C, dispatches", counted);
        }
        if load.rig.is_none() {
            let row = sinew_gpu::row_of_all_entries(&load, device, runs);
            add(&mut self.results, ", all entries", row);
        }
        if load.kind == Kind::Face {
            let cost = sinew_gpu::face_cost(&load, device, runs);
            self.results.face = self.results.keep("D, frames", cost);
            self.results.face_weights = load.size.shapes;
        }
        let load = match load.kind {
            // A dispatch of its own per mesh takes lavapipe a millisecond.
            Kind::Dust if self.is_software() => {
                Workload::new(load.kind, self.options.scale() * SOFTWARE_DUST)
            }
            _ => load,
        };
        let instances = load.instances(0);
        self.peers(&load, &instances);
        if load.skins.iter().any(|s| s.normals().is_some()) {
            let bare = load.without_normals();
            if let Some(device) = &self.device {
                let row = sinew_gpu::row(&bare, device, runs);
                add(&mut self.results, ", points", row);
            }
            self.peers(&bare, &instances);
        }
    }

    /// A software adapter takes seconds for what decides nothing about a GPU.
    fn gpu_runs(&self) -> Runs {
        let mut runs = self.options.runs();
        if self.is_software() {
            runs.fewest = FEWEST;
        }
        runs
    }

    fn peers(&mut self, load: &Workload, instances: &[(usize, sinew::skel::Pose)]) {
        let Some(device) = &self.device else { return };
        let name = load.kind.name();
        let most = if device.report().software {
            FEWEST
        } else {
            self.options.runs().most
        };
        let with_normals = load.skins.iter().any(|s| s.normals().is_some());
        let of_peers = Load {
            name,
            skins: &load.skins,
            instances,
        };
        let walk = peers::Entry {
            loads: &["D", "D-scattered"],
            run: peers::csr::run,
        };
        let all = peers::all().into_iter().chain([walk]);
        for peer in all.filter(|p| p.loads.contains(&name)) {
            let measured = (peer.run)(device, &of_peers, most);
            let Some(found) = self.results.keep(&format!("{name}, a peer"), measured) else {
                continue;
            };
            self.tell(&format!("{name}: {}", found.name));
            let times = measure::Times::of(found.seconds);
            let case = sinew_cpu::case(load, with_normals);
            let mut row = Row::new(name, case, found.name, found.points, times);
            row.bytes_per_point = Some(found.bytes_per_point);
            let mut note = format!(
                "{} dispatches, error {:.0e}",
                found.dispatches, found.worst.points
            );
            if found.points < of_peers.points() {
                note += &format!("; the first {} points, which fit", found.points);
            }
            let layout = format!("{} ({})", found.bytes_note, found.upstream);
            self.results
                .layouts
                .entry(found.name.to_owned())
                .or_insert(layout);
            self.results.rows.push(row.noted(note));
        }
    }

    fn bake(&mut self, load: &Workload, file: &Path, folder: &Path) {
        self.tell("E: whole bakes");
        let baked = whole::bake(
            load,
            file,
            folder,
            self.python.as_deref(),
            BAKES.min(self.options.runs().most),
        );
        if let Some(baked) = self.results.keep("E", baked) {
            self.results.growth = baked.growth;
            self.results.rows.extend(baked.rows);
        }
    }

    /// The parts that are no work load A to F.
    fn others(&mut self, folder: &Path) -> Result<(), String> {
        let (scale, runs, cores) = (
            self.options.scale(),
            self.options.runs(),
            self.results.cores,
        );
        self.part(playing::NAME, |s| {
            let Some(device) = &s.device else { return };
            s.tell("G: characters that play clips");
            s.results
                .add(playing::NAME, playing::rows(device, scale, runs));
        })?;
        self.part(influences::NAME, |s| {
            s.tell("A's mesh by number of influences");
            let rows = influences::rows(scale, s.ozz.as_deref(), runs);
            s.results.add(influences::NAME, rows);
        })?;
        self.part(visible::NAME, |s| {
            let Some(device) = &s.device else { return };
            for kind in [Kind::Crowd, Kind::Dust] {
                s.tell(&format!("visible: {}", kind.name()));
                let rows = visible::rows(&s.load(kind), device, s.gpu_runs());
                s.results.add(visible::NAME, rows);
            }
        })?;
        self.part(crowds::NAME, |s| {
            s.tell("crowds: whole processes");
            let rows = crowds::rows(folder, s.python.as_deref(), scale, BAKES.min(runs.most));
            s.results.add(crowds::NAME, rows);
        })?;
        self.part(python::NAME, |s| {
            let Some(python) = &s.python else { return };
            s.tell("python: the package");
            let rows = python::package_rows(python, scale, runs, cores);
            s.results.add(python::NAME, rows);
        })?;
        self.part(start::NAME, |s| {
            s.tell("start: whole processes");
            let adapter = s.results.adapter.as_ref().map(|a| a.name.as_str());
            let rows = start::rows(folder, adapter, runs.most);
            s.results.add(start::NAME, rows);
        })
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    if args.peek().is_some_and(|a| a == measure::CHILD) {
        let command: Vec<String> = args.skip(1).collect();
        return ended(measure::time_process(&command));
    }
    if args.peek().is_some_and(|a| a == sinew_cpu::CHILD) {
        let arguments: Vec<String> = args.skip(1).collect();
        return ended(sinew_cpu::measure_baseline(&arguments));
    }
    let options = Options::parse();
    ended(match &options.export {
        Some(Export::Export { folder, loads }) => {
            export_all(loads, folder).map_err(|e| e.to_string())
        }
        None => run(options),
    })
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn export_all(loads: &Loads, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    for kind in Kind::ALL.into_iter().filter(|k| loads.wants(k.name())) {
        let file = folder.join(format!("{}.usdc", kind.name()));
        export::export(&Workload::new(kind, loads.scale()), &file)?;
        println!("{}", file.display());
    }
    Ok(())
}

/// A folder for files: on the disk that the suite was built on, else where this machine keeps such.
fn folder() -> std::io::Result<tempfile::TempDir> {
    let built_on = Path::new(env!("CARGO_TARGET_TMPDIR"));
    match built_on.is_dir() {
        true => tempfile::tempdir_in(built_on),
        false => tempfile::tempdir(),
    }
}

fn run(options: Options) -> Result<(), String> {
    let mut results = Results {
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        ..Results::default()
    };
    let device = (!options.no_gpu).then(|| GpuDevice::new(&options.adapter()));
    let device = device.and_then(|d| results.keep("GPU", d));
    results.adapter = device.as_ref().map(|d| d.report().clone());
    let python = python::with_usd_core();
    if python.is_none() {
        let why = "not run: SINEW_PYTHON names no Python that has it";
        results.missing.push(format!("usd-core 26.11: {why}"));
    }
    let ozz = ozz_original::folder();
    if ozz.is_none() {
        let why = "not run: SINEW_OZZ names no folder of it; benches/ozz/build.sh makes one";
        results
            .missing
            .push(format!("{}): {why}", ozz_original::NAME));
    }
    let mut suite = Suite {
        options,
        device,
        python,
        ozz,
        start: Instant::now(),
        results,
    };
    let folder = folder().map_err(|e| e.to_string())?;
    // The bakes, which no GPU takes part in, come after the other loads.
    let (bakes, others): (Vec<Kind>, Vec<Kind>) =
        Kind::ALL.into_iter().partition(|k| *k == Kind::Hero);
    for kind in others.into_iter().chain(bakes) {
        suite.part(kind.name(), |s| s.measure(kind, folder.path()))?;
    }
    suite.others(folder.path())?;
    let section = suite.section();
    println!("{section}");
    suite.write(&section)
}
