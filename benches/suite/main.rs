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

use load::Load;
use measure::Runs;
use options::{HELP, Options, Stop};
use report::Conditions;
use results::{Counts, Results};
use row::Row;
use sinew::gpu::GpuDevice;
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
        let software = self.device.as_ref().is_some_and(|d| d.report().software);
        let share = match kind {
            Kind::Crowd if software || self.device.is_none() => SOFTWARE_SHARE,
            _ => 1.0,
        };
        Workload::new(kind, self.options.scale * share)
    }

    /// Measures one part of the table, if it is wanted and there is time for it.
    fn part(&mut self, name: &str, measure: impl FnOnce(&mut Self)) -> Result<(), String> {
        if !self.options.wants(name) {
            return Ok(());
        }
        let Some(seconds) = self.options.seconds else {
            measure(self);
            return Ok(());
        };
        if self.start.elapsed().as_secs_f64() >= seconds {
            let why = format!("{name}: not run: the {seconds:.0} seconds were over");
            self.results.missing.push(why);
            return Ok(());
        }
        measure(self);
        // Whoever gave seconds may end the process after them.
        self.write(&self.section())
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
        if self.options.write {
            let file = &self.options.results;
            report::rewrite(file, &self.results, section)
                .map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(())
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
                let rows = variants::rows(&load, self.device.as_ref(), cores, self.options.runs);
                let rows = self.results.keep(variants::NAME, rows);
                self.results.rows.extend(rows.into_iter().flatten());
            }
            self.gpu(load);
        }
        let _ = std::fs::remove_file(&file);
    }

    fn cpu(&mut self, load: &Workload, exported: Option<&Path>) {
        let (name, runs, cores) = (load.kind.name(), self.options.runs, self.results.cores);
        // Sides take turns here too.
        let rounds = match load.kind {
            Kind::Body | Kind::Face => 4,
            Kind::Crowd => 1,
            _ => 2,
        };
        let mut rows = Vec::new();
        for round in 1..=rounds {
            self.tell(&format!("{name}: CPU, round {round} of {rounds}"));
            for threads in [1, cores] {
                let measured = sinew_cpu::rows(load, threads, runs);
                let measured = self.results.keep(&format!("{name}, CPU"), measured);
                let of_peers = match load.kind {
                    Kind::Body | Kind::MixedBody => cpu_peers::rows(load, threads, runs),
                    _ => Ok(Vec::new()),
                };
                let of_peers = self.results.keep(&format!("{name}, CPU peers"), of_peers);
                let of_ozz = match (&self.ozz, load.kind, threads) {
                    (Some(folder), Kind::Body | Kind::MixedBody, 1) => {
                        ozz_original::rows(load, folder, runs)
                    }
                    _ => Ok(Vec::new()),
                };
                let of_ozz = self.results.keep(&format!("{name}, ozz-animation"), of_ozz);
                let measured = measured.into_iter().chain(of_peers).chain(of_ozz);
                measured.flatten().for_each(|r| row::merge(&mut rows, r));
                if threads == cores && matches!(load.kind, Kind::Body | Kind::Face) {
                    let scale = self.options.scale;
                    let measured = sinew_cpu::baseline_rows(load.kind, scale, threads, runs);
                    let measured = self.results.keep(&format!("{name}, baseline"), measured);
                    let measured = measured.into_iter().flatten();
                    measured.for_each(|r| row::merge(&mut rows, r));
                }
            }
            if let (Some(python), Some(file)) = (&self.python, exported) {
                let measured = python::usd_core_rows(python, file, name, runs, cores);
                let measured = self.results.keep(&format!("{name}, usd-core"), measured);
                measured
                    .into_iter()
                    .flatten()
                    .for_each(|r| row::merge(&mut rows, r));
            }
        }
        self.results.rows.extend(rows);
    }

    fn gpu(&mut self, load: Workload) {
        let Some(device) = &self.device else { return };
        let (name, runs) = (load.kind.name(), self.gpu_runs());
        self.tell(&format!("{name}: GPU"));
        let row = sinew_gpu::row(&load, device, runs);
        let row = self.results.keep(&format!("{name}, GPU"), row);
        self.results.rows.extend(row);
        if load.kind == Kind::Body {
            for packing in [Packing::Fine, Packing::Compact] {
                let row = sinew_gpu::row_packed(&load, device, runs, packing);
                let row = self.results.keep(&format!("{name}, GPU, {packing:?}"), row);
                self.results.rows.extend(row);
            }
        }
        if matches!(load.kind, Kind::Body | Kind::Crowd) {
            let rows = python::torch_rows(&load, runs);
            let rows = self.results.keep(&format!("{name}, PyTorch"), rows);
            self.results.rows.extend(rows.into_iter().flatten());
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
            let row = self.results.keep(&format!("{name}, GPU, all entries"), row);
            self.results.rows.extend(row);
        }
        if load.kind == Kind::Face {
            let cost = sinew_gpu::face_cost(&load, device, runs);
            self.results.face = self.results.keep("D, frames", cost);
            self.results.face_weights = load.size.shapes;
        }
        let load = match (load.kind, self.device.as_ref().map(|d| d.report().software)) {
            // A dispatch of its own per mesh takes lavapipe a millisecond.
            (Kind::Dust, Some(true)) => {
                Workload::new(load.kind, self.options.scale * SOFTWARE_DUST)
            }
            _ => load,
        };
        let instances = load.instances(0);
        self.peers(&load, &instances);
        if load.skins.iter().any(|s| s.normals().is_some()) {
            let bare = load.without_normals();
            let row = self.device.as_ref().map(|d| sinew_gpu::row(&bare, d, runs));
            let row = row.and_then(|r| self.results.keep(&format!("{name}, GPU, points"), r));
            self.results.rows.extend(row);
            self.peers(&bare, &instances);
        }
    }

    /// A software adapter takes seconds for what decides nothing about a GPU.
    fn gpu_runs(&self) -> Runs {
        let software = self.device.as_ref().is_some_and(|d| d.report().software);
        let runs = self.options.runs;
        Runs {
            fewest: if software { FEWEST } else { runs.fewest },
            ..runs
        }
    }

    fn peers(&mut self, load: &Workload, instances: &[(usize, sinew::skel::Pose)]) {
        let Some(device) = &self.device else { return };
        let name = load.kind.name();
        let most = if device.report().software {
            FEWEST
        } else {
            self.options.runs.most
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
                found.dispatches, found.worst_error
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
            BAKES.min(self.options.runs.most),
        );
        if let Some(baked) = self.results.keep("E", baked) {
            self.results.growth = baked.growth;
            self.results.rows.extend(baked.rows);
        }
    }

    fn crowds(&mut self, folder: &Path) {
        self.tell("crowds: whole processes");
        let rows = crowds::rows(
            folder,
            self.python.as_deref(),
            self.options.scale,
            BAKES.min(self.options.runs.most),
        );
        let rows = self.results.keep(crowds::NAME, rows);
        self.results.rows.extend(rows.into_iter().flatten());
    }

    fn visible(&mut self) {
        let Some(device) = &self.device else { return };
        for kind in [Kind::Crowd, Kind::Dust] {
            self.tell(&format!("visible: {}", kind.name()));
            let rows = visible::rows(&self.load(kind), device, self.gpu_runs());
            let rows = self.results.keep(visible::NAME, rows);
            self.results.rows.extend(rows.into_iter().flatten());
        }
    }

    fn influences(&mut self) {
        self.tell("A's mesh by number of influences");
        let (scale, runs) = (self.options.scale, self.options.runs);
        let rows = influences::rows(scale, self.ozz.as_deref(), runs);
        let rows = self.results.keep(influences::NAME, rows);
        self.results.rows.extend(rows.into_iter().flatten());
    }

    fn playing(&mut self) {
        let Some(device) = &self.device else { return };
        self.tell("G: characters that play clips");
        let rows = playing::rows(device, self.options.scale, self.options.runs);
        let rows = self.results.keep(playing::NAME, rows);
        self.results.rows.extend(rows.into_iter().flatten());
    }

    fn python(&mut self) {
        let Some(python) = &self.python else { return };
        self.tell("python: the package");
        let (scale, runs) = (self.options.scale, self.options.runs);
        let rows = python::package_rows(python, scale, runs, self.results.cores);
        let rows = self.results.keep(python::NAME, rows);
        self.results.rows.extend(rows.into_iter().flatten());
    }

    fn start_up(&mut self, folder: &Path) {
        self.tell("start: whole processes");
        let adapter = self.results.adapter.as_ref().map(|a| a.name.as_str());
        let rows = start::rows(folder, adapter, self.options.runs.most);
        let rows = self.results.keep(start::NAME, rows);
        self.results.rows.extend(rows.into_iter().flatten());
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
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(Stop::Help) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(Stop::Usage(reason)) => {
            eprintln!("{reason}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    ended(match &options.export {
        Some(folder) => export_all(&options, folder).map_err(|e| e.to_string()),
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

fn export_all(options: &Options, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    for kind in Kind::ALL.into_iter().filter(|k| options.wants(k.name())) {
        let file = folder.join(format!("{}.usdc", kind.name()));
        export::export(&Workload::new(kind, options.scale), &file)?;
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
    let device = options.gpu.then(|| GpuDevice::new(&options.adapter));
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
    suite.part(playing::NAME, Suite::playing)?;
    suite.part(influences::NAME, Suite::influences)?;
    suite.part(visible::NAME, Suite::visible)?;
    suite.part(crowds::NAME, |s| s.crowds(folder.path()))?;
    suite.part(python::NAME, Suite::python)?;
    suite.part(start::NAME, |s| s.start_up(folder.path()))?;
    let section = suite.section();
    println!("{section}");
    suite.write(&section)
}
