//! The measurements behind benches/RESULTS.md: sinew and its peers on the work loads A to G, in one run.
//!
//! `cargo bench --bench suite -- --help`.

mod cpu;
mod crowds;
mod edits;
mod export;
mod floor;
mod goals;
mod influences;
mod measure;
mod on_gpu;
mod options;
mod ozz_original;
mod peers;
mod playing;
mod processes;
mod python;
mod report;
mod results;
mod start;
mod variants;
mod visible;
mod whole;
mod workloads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use measure::Runs;
use options::{Export, Loads, Options};
use peers::Result;
use results::{Results, Row};
use sinew::gpu::GpuDevice;
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
    runs: Runs,
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
            Kind::Crowd if !self.results.is_hardware() => SOFTWARE_SHARE,
            _ => 1.0,
        };
        Workload::new(kind, self.options.scale() * share)
    }

    /// Measures one part of the table, if it is wanted and there is time for it.
    fn part(&mut self, name: &str, measure: impl FnOnce(&mut Self)) -> Result<()> {
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
        report::section(&self.results, self.start.elapsed())
    }

    /// Writes the files that were asked for.
    fn write(&self, section: &str) -> Result<()> {
        let told = |file: &Path, e| format!("{}: {e}", file.display());
        if let Some(file) = &self.options.json {
            let text = serde_json::to_string_pretty(&self.results.rows)?;
            std::fs::write(file, text).map_err(|e| told(file, e))?;
        }
        if let Some(file) = self.options.results() {
            let written = report::rewrite(&file, &self.results, section);
            written.map_err(|e| told(&file, e))?;
        }
        Ok(())
    }

    /// One work load, on every side.
    fn measure(&mut self, kind: Kind, folder: &Path, device: Option<&GpuDevice>) {
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
            self.tell("E: whole bakes");
            let (rounds, python) = (BAKES.min(self.runs.most), self.python.as_deref());
            let baked = whole::bake(&mut self.results, &load, &file, folder, python, rounds);
            self.results.keep("E", baked);
        } else {
            self.cpu(&load, is_shared_with_python.then_some(file.as_path()));
            if kind == Kind::Body {
                self.tell("A: other kernels");
                let rows = variants::rows(&load, device, self.results.cores, self.runs);
                self.results.add(variants::NAME, rows);
            }
            if let Some(device) = device {
                self.gpu(load, device);
            }
        }
        let _ = std::fs::remove_file(&file);
    }

    fn cpu(&mut self, load: &Workload, exported: Option<&Path>) {
        let (name, runs, cores) = (load.kind.name(), self.runs, self.results.cores);
        // Sides take turns here too.
        let rounds = match load.kind {
            Kind::Body | Kind::Face => 4,
            Kind::Crowd => 1,
            _ => 2,
        };
        let is_body = matches!(load.kind, Kind::Body | Kind::MixedBody);
        for round in 1..=rounds {
            self.tell(&format!("{name}: CPU, round {round} of {rounds}"));
            let results = &mut self.results;
            let mut take = |who: &str, rows| results.merge(&format!("{name}, {who}"), rows);
            for threads in [1, cores] {
                take("CPU", cpu::rows(load, threads, runs));
                if is_body {
                    take("CPU peers", cpu::ozz_rows(load, threads, runs));
                }
                if let (Some(folder), true, 1) = (&self.ozz, is_body, threads) {
                    take("ozz-animation", ozz_original::rows(load, folder, runs));
                }
                if threads == cores && matches!(load.kind, Kind::Body | Kind::Face) {
                    let scale = self.options.scale();
                    take(
                        "baseline",
                        cpu::baseline_rows(load.kind, scale, threads, runs),
                    );
                }
            }
            if let (Some(python), Some(file)) = (&self.python, exported) {
                take(
                    "usd-core",
                    python::usd_core_rows(python, file, name, runs, cores),
                );
            }
        }
    }

    fn gpu(&mut self, mut load: Workload, device: &GpuDevice) {
        let (kind, runs) = (load.kind, self.gpu_runs());
        let name = kind.name();
        self.tell(&format!("{name}: GPU"));
        for way in on_gpu::WAYS {
            let (more, all_entries) = way;
            if !all_entries || load.rig.is_none() {
                let row = on_gpu::row(&load, device, runs, way);
                self.results
                    .add(&format!("{name}, GPU{more}"), row.map(|row| [row]));
            }
        }
        if matches!(kind, Kind::Body | Kind::Crowd) {
            let rows = python::torch_rows(&load, runs);
            self.results.add(&format!("{name}, PyTorch"), rows);
        }
        let mut facts = Vec::new();
        if matches!(kind, Kind::Crowd | Kind::Dust) {
            self.tell(&format!("{name}: CPU cost of its frames"));
            let cost = on_gpu::frame_cost(&load, device, runs);
            facts.extend(self.results.keep(&format!("{name}, frames"), cost));
        }
        if kind == Kind::Crowd {
            let counted = on_gpu::dispatches(&load, device);
            let counted = self.results.keep("C, dispatches", counted);
            facts.extend(counted.map(|found| (goals::DISPATCHES, found)));
        }
        if kind == Kind::Face {
            let cost = on_gpu::face_cost(&load, device, runs);
            facts.extend(self.results.keep("D, frames", cost).into_iter().flatten());
        }
        self.results.facts.extend(facts);
        if kind == Kind::Dust && device.report().software {
            // A dispatch of its own per mesh takes lavapipe a millisecond.
            load = Workload::new(kind, self.options.scale() * SOFTWARE_DUST);
        }
        let instances = load.instances(0);
        self.peers(&load, &instances, device);
        if load.has_normals() {
            let bare = load.without_normals();
            let row = on_gpu::row(&bare, device, runs, on_gpu::WAYS[0]);
            self.results
                .add(&format!("{name}, GPU, points"), row.map(|row| [row]));
            self.peers(&bare, &instances, device);
        }
    }

    /// A software adapter takes seconds for what decides nothing about a GPU.
    fn gpu_runs(&self) -> Runs {
        let fewest = match self.results.is_hardware() {
            true => self.runs.fewest,
            false => FEWEST,
        };
        Runs {
            fewest,
            ..self.runs
        }
    }

    fn peers(
        &mut self,
        load: &Workload,
        instances: &[(usize, sinew::skel::Pose)],
        device: &GpuDevice,
    ) {
        let name = load.kind.name();
        let most = if device.report().software {
            FEWEST
        } else {
            self.runs.most
        };
        let of_peers = load.at(instances);
        for (run, loads) in peers::ALL {
            if !loads.contains(&name) {
                continue;
            }
            let measured = run(device, &of_peers, Runs::exactly(most));
            let Some(found) = self.results.keep(&format!("{name}, a peer"), measured) else {
                continue;
            };
            let about = found.about;
            self.tell(&format!("{name}: {}", about.name));
            let mut row = Row::of(load, load.has_normals(), about.name, found.times);
            (row.points, row.bytes_per_point) = (found.points, Some(found.bytes_per_point));
            let (dispatches, error) = (found.dispatches, found.worst.points);
            row.note = format!("{dispatches} dispatches, error {error:.0e}");
            if found.points < of_peers.points() {
                row.note += &format!("; the first {} points, which fit", found.points);
            }
            let layouts = &mut self.results.layouts;
            let layout = || format!("{} ({})", about.bytes, about.upstream);
            layouts.entry(about.name).or_insert_with(layout);
            self.results.rows.push(row);
        }
    }

    /// The parts that are no work load A to F.
    fn others(&mut self, folder: &Path, device: Option<&GpuDevice>) -> Result<()> {
        let (scale, runs, cores) = (self.options.scale(), self.runs, self.results.cores);
        self.part(playing::NAME, |s| {
            let Some(device) = device else { return };
            s.tell("G: characters that play clips");
            let rows = playing::rows(device, scale, runs);
            s.results.add(playing::NAME, rows);
        })?;
        self.part(edits::NAME, |s| {
            let Some(device) = device else { return };
            s.tell("edits: characters that play, and change");
            let rows = edits::rows(device, scale, runs);
            s.results.add(edits::NAME, rows);
        })?;
        self.part(influences::NAME, |s| {
            s.tell("A's mesh by number of influences");
            let rows = influences::rows(scale, s.ozz.as_deref(), runs);
            s.results.add(influences::NAME, rows);
        })?;
        self.part(visible::NAME, |s| {
            let Some(device) = device else { return };
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [first, command @ ..] if first == processes::CHILD => processes::time_process(command),
        [first, order] if first == cpu::CHILD => cpu::measure_baseline(order),
        _ => {
            let options = Options::parse();
            match &options.export {
                Some(Export::Export { folder, loads }) => export_all(loads, folder),
                None => run(options),
            }
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn export_all(loads: &Loads, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for kind in Kind::ALL.into_iter().filter(|k| loads.wants(k.name())) {
        let file = folder.join(format!("{}.usdc", kind.name()));
        export::export(&Workload::new(kind, loads.scale()), &file)?;
        println!("{}", file.display());
    }
    Ok(())
}

fn run(options: Options) -> Result<()> {
    let mut results = Results {
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        ..Results::default()
    };
    let device = (!options.no_gpu).then(|| GpuDevice::new(&options.adapter()));
    let device = device.and_then(|d| results.keep("GPU", d));
    let device = device.as_ref();
    results.adapter = device.map(|d| d.report().clone());
    let python = python::with_usd_core();
    if python.is_none() {
        let why = "usd-core 26.11: not run: SINEW_PYTHON names no Python that has it";
        results.missing.push(why.into());
    }
    let ozz = ozz_original::folder();
    if ozz.is_none() {
        let why = "not run: SINEW_OZZ names no folder of it; benches/ozz/build.sh makes one";
        let why = format!("{}): {why}", ozz_original::NAME);
        results.missing.push(why);
    }
    let mut suite = Suite {
        runs: options.runs(),
        options,
        python,
        ozz,
        start: Instant::now(),
        results,
    };
    // On the disk that the suite was built on, else where this machine keeps such.
    let built_on = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = match built_on.is_dir() {
        true => tempfile::tempdir_in(built_on),
        false => tempfile::tempdir(),
    }?;
    // The bakes, which no GPU takes part in, come after the other loads.
    let (bakes, others): (Vec<Kind>, Vec<Kind>) =
        Kind::ALL.into_iter().partition(|k| *k == Kind::Hero);
    for kind in others.into_iter().chain(bakes) {
        suite.part(kind.name(), |s| s.measure(kind, folder.path(), device))?;
    }
    suite.others(folder.path(), device)?;
    let section = suite.section();
    println!("{section}");
    suite.write(&section)
}
