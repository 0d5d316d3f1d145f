//! Several files as the input of one command: files, folders and globs, and one report of all.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_io::output::{folded, protect};
use sinew_io::{OpenOptions, sources};

use crate::error::{Error, Result};
use crate::exit::{Exit, PartialArgs};
use crate::finding::Finding;
use crate::host::{self, Step};
use crate::report::{
    Verbosity, about, count, print_error, print_message, print_report, print_result,
};

/// Extensions of all files that hold characters or clips: USD first, clips alone at the end.
pub const CHARACTERS: [&str; 10] = [
    "usd", "usda", "usdc", "usdz", "gltf", "glb", "vrm", "fbx", "vrma", "bvh",
];

/// The files that the arguments of a command name.
pub struct Inputs {
    pub files: Vec<PathBuf>,
    /// For each file its folder below the argument that is a folder; empty for others.
    below: Vec<PathBuf>,
    /// Whether there is a folder, a glob, or more than one argument.
    pub is_batch: bool,
}

/// Finds the files: a folder stands for the files in it and in the folders below it that have one of
/// the extensions, but for those in `output` and in folders whose names begin with a dot; a glob
/// stands for what it matches. Both are in the order of their names. A file that is found twice
/// counts once.
///
/// # Errors
/// A folder has no characters, or a glob matches nothing.
pub fn inputs(arguments: &[PathBuf], extensions: &[&str], output: Option<&Path>) -> Result<Inputs> {
    let output = output.and_then(|output| output.canonicalize().ok());
    let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
    let mut is_batch = arguments.len() > 1;
    for argument in arguments {
        let name = argument.display();
        if argument.is_dir() {
            is_batch = true;
            let before = files.len();
            add_folder(
                argument,
                Path::new(""),
                extensions,
                output.as_deref(),
                &mut files,
            )?;
            if files.len() == before {
                let extensions = extensions.join(", .");
                let text = format!("{name}: no .{extensions} in this folder and those below it");
                return Err(Error::Message(text));
            }
            continue;
        }
        let pattern = argument
            .to_str()
            .filter(|text| text.contains(['*', '?', '[']));
        match pattern.filter(|_| !argument.exists()) {
            None => files.push((argument.clone(), PathBuf::new())),
            Some(pattern) => {
                is_batch = true;
                let paths = glob::glob(pattern)
                    .map_err(|e| Error::Usage(format!("{name}: not a glob: {e}")))?;
                let found: Vec<PathBuf> = paths.flatten().filter(|p| p.is_file()).collect();
                if found.is_empty() {
                    return Err(Error::Message(format!("{name}: no such file")));
                }
                files.extend(found.into_iter().map(|file| (file, PathBuf::new())));
            }
        }
    }
    let mut seen = HashSet::new();
    files.retain(|(file, _)| seen.insert(file.clone()));
    let (files, below) = files.into_iter().unzip();
    Ok(Inputs {
        files,
        below,
        is_batch,
    })
}

/// Adds the files of a folder, and then those of the folders in it, each with `below`: the way from
/// the folder that was named. Links to folders are not followed.
fn add_folder(
    folder: &Path,
    below: &Path,
    extensions: &[&str],
    output: Option<&Path>,
    files: &mut Vec<(PathBuf, PathBuf)>,
) -> Result<()> {
    let failed = |e: std::io::Error| {
        let text = format!("{}: cannot read this folder: {e}", folder.display());
        Error::Message(text)
    };
    if output.is_some() && folder.canonicalize().ok().as_deref() == output {
        return Ok(());
    }
    let (mut found, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().is_ok_and(|of| of.is_dir()) {
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            folders.extend((!is_hidden).then_some((path, below.join(name))));
        } else if path.is_file() && extensions.contains(&sinew_io::extension(&path).as_str()) {
            found.push((path, below.to_owned()));
        }
    }
    found.sort();
    folders.sort();
    files.append(&mut found);
    for (folder, below) in folders {
        add_folder(&folder, &below, extensions, output, files)?;
    }
    Ok(())
}

/// What one run of a command leaves: how it ended, and what it prints.
pub struct Done<T> {
    pub exit: Exit,
    pub report: T,
    /// The whole report as text.
    pub text: String,
    /// What was done, in a few words: one of many files has them on its line.
    pub brief: String,
}

/// The end of one file of a batch, as JSON.
#[derive(Serialize)]
struct Entry<T> {
    input: String,
    exit_code: u8,
    #[serde(flatten)]
    end: End<T>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum End<T> {
    Done(T),
    Failed { error: Finding },
}

/// The report of a batch, as JSON.
#[derive(Serialize)]
struct Report<T> {
    /// One entry for each file, in the order of the arguments.
    files: Vec<Entry<T>>,
    counts: Counts,
}

/// How many files ended how.
#[derive(Default, Serialize)]
struct Counts {
    done: usize,
    partial: usize,
    failed: usize,
}

/// What a command runs over.
pub struct Batch<'a> {
    pub command: &'static str,
    pub inputs: &'a [PathBuf],
    /// Extensions of the files that a folder is searched for.
    pub extensions: &'a [&'a str],
    /// `None` if nothing is written.
    pub output: Option<&'a Path>,
    /// The value of --to.
    pub to: Option<&'a str>,
    /// How the inputs are opened.
    pub open: OpenOptions,
    pub json: bool,
    pub partial: PartialArgs,
    pub verbosity: Verbosity,
}

impl Batch<'_> {
    /// Runs `one` with each input and its output, and goes on after errors. One file and an output
    /// that is no folder are no batch: the report is then that of `one`.
    ///
    /// In a folder an output is named as its input, with the extension that `extension` gives. An
    /// error of the arguments ends the batch if the first file shows it.
    ///
    /// # Errors
    /// Inputs that cannot be found, outputs that are no folder or have the same name, --to without a
    /// folder, and the error of `one` if there is no batch.
    pub fn run<T: Serialize>(
        &self,
        extension: impl Fn(&Path) -> String,
        one: impl Fn(&Path, Option<&Path>) -> Result<Done<T>>,
    ) -> Result<Exit> {
        let inputs = inputs(self.inputs, self.extensions, self.output)?;
        // A folder with the name of a file is a mistake, which `one` reports.
        let is_folder = |out: &Path| {
            let names_file = CHARACTERS.contains(&sinew_io::extension(out).as_str());
            ends_in_separator(out) || (out.is_dir() && !names_file)
        };
        let is_batch = inputs.is_batch || self.output.is_some_and(is_folder);
        if let ([input], false) = (&inputs.files[..], is_batch) {
            if let Some(to) = self.to {
                let text = format!("--to {to}: expected a folder as OUT, such as out/");
                return Err(Error::Usage(text));
            }
            let done = one(input, self.output)?;
            return self.print(done.exit, &done.report, done.text);
        }
        let named = self
            .output
            .filter(|out| !is_folder(out) && out.extension().is_some());
        if let Some(out) = named {
            return Err(Error::Usage(format!(
                "{}: {} need a folder as OUT, such as out/",
                out.display(),
                count(inputs.files.len(), "file")
            )));
        }
        let outputs: Vec<Option<PathBuf>> = match self.output {
            Some(folder) => outputs(&inputs, folder, extension)?,
            None => vec![None; inputs.files.len()],
        };
        let new = self.output.map_or_else(Vec::new, missing_folders);
        if let Some(folder) = new.first() {
            let made = std::fs::create_dir_all(folder);
            made.inspect_err(|_| remove_new(&new))
                .map_err(|e| Error::write(folder, e))?;
        }
        let mut report = Report {
            files: Vec::with_capacity(outputs.len()),
            counts: Counts::default(),
        };
        let total = outputs.len();
        // What one file becomes replaces nothing that another one is read from.
        let (files, options) = (inputs.files.clone(), self.open.clone());
        let of_all = move || {
            let all = files.iter().flat_map(|file| sources(file, &options));
            all.collect()
        };
        let _protection = protect(of_all);
        for (input, output) in inputs.files.iter().zip(&outputs) {
            let output = output.as_deref();
            let finished = report.files.len();
            let asked = host::go_on(Step::Files {
                done: finished,
                total,
            });
            let done = asked.and_then(|()| about(input, || one(input, output)));
            let entry = match done {
                Err(error) if finished == 0 && error.exit() == Exit::Usage => Err(error),
                done => self.entry(input, output, done),
            };
            let entry = entry.inspect_err(|_| remove_new(&new))?;
            *match entry.exit_code {
                0 => &mut report.counts.done,
                3 => &mut report.counts.partial,
                _ => &mut report.counts.failed,
            } += 1;
            report.files.push(entry);
        }
        // The host has nothing left to stop.
        let _ = host::tell(Step::Files { done: total, total });
        remove_new(&new);
        let Counts {
            done,
            partial,
            failed,
        } = report.counts;
        let exit = match failed == outputs.len() {
            true => Exit::Failed,
            false => self.partial.exit(failed + partial > 0),
        };
        let files = count(outputs.len(), "file");
        let text = format!("{files}: {done} done, {partial} partial, {failed} failed\n");
        self.print(exit, &report, text)
    }

    /// Prints how one file ended, on one line, or with --verbose its whole report.
    fn entry<T>(
        &self,
        input: &Path,
        output: Option<&Path>,
        done: Result<Done<T>>,
    ) -> Result<Entry<T>> {
        let (exit, end) = match done {
            Ok(done) => {
                let arrow = output.map_or(String::new(), |o| format!(" -> {}", o.display()));
                match (self.json, self.verbosity) {
                    (true, _) | (_, Verbosity::Quiet) => {}
                    (_, Verbosity::Verbose) => print_result(&done.text)?,
                    (_, Verbosity::Normal) => {
                        let line = format!("{}{arrow}: {}\n", input.display(), done.brief);
                        print_result(&line)?;
                    }
                }
                (done.exit, End::Done(done.report))
            }
            Err(error) if error.is_cancelled() => return Err(error),
            Err(error) => {
                about(input, || print_error(&error));
                let finding = Finding::error(&error);
                (error.exit(), End::Failed { error: finding })
            }
        };
        if exit == Exit::Partial {
            print_message("partial", input.display());
        }
        Ok(Entry {
            input: input.display().to_string(),
            exit_code: exit.code(),
            end,
        })
    }

    fn print(&self, exit: Exit, report: &impl Serialize, text: String) -> Result<Exit> {
        let how = (self.json, self.verbosity);
        print_report(self.command, exit, how, report, |_| text)
    }
}

/// The folders that have to be made for this one, the innermost, which is this one, first.
fn missing_folders(folder: &Path) -> Vec<&Path> {
    let all = folder.ancestors().filter(|f| *f != Path::new(""));
    all.take_while(|f| !f.exists()).collect()
}

/// Removes the folders that this command made, as far as nothing came into them.
fn remove_new(folders: &[&Path]) {
    for folder in folders {
        // Only an empty folder is removed.
        let _ = std::fs::remove_dir(folder);
    }
}

/// The file in `folder` that each input becomes, in the folders that it had. A `#` of its name
/// becomes `_`, because in names of outputs it stands for the number of a frame.
fn outputs(
    inputs: &Inputs,
    folder: &Path,
    extension: impl Fn(&Path) -> String,
) -> Result<Vec<Option<PathBuf>>> {
    let mut of: HashMap<String, &Path> = HashMap::new();
    let mut outputs = Vec::with_capacity(inputs.files.len());
    for (input, below) in inputs.files.iter().zip(&inputs.below) {
        let stem = input.file_stem().unwrap_or_default();
        let plain = stem.to_str().map(|stem| stem.replace('#', "_"));
        let mut name = plain.map_or_else(|| stem.to_owned(), OsString::from);
        name.push(".");
        name.push(extension(input));
        let output = folder.join(below).join(name);
        if let Some(other) = of.insert(folded(&output), input) {
            return Err(Error::Usage(format!(
                "{} and {} would both become {}",
                other.display(),
                input.display(),
                output.display()
            )));
        }
        outputs.push(Some(output));
    }
    Ok(outputs)
}

/// Whether a path is written as a folder.
fn ends_in_separator(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.last()
        .is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}
