//! Files that appear under their name only when they are whole.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, Result, Source};

/// Writers write value by value, tens of thousands of them; unbuffered they cost more than the bake.
const BUFFER: usize = 1 << 20;

/// What is on disk and not yet finished, in this process.
static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished {
    files: BTreeSet::new(),
    folders: BTreeSet::new(),
});

struct Unfinished {
    /// Under temporary names.
    files: BTreeSet<PathBuf>,
    /// Made for files that have no name yet.
    folders: BTreeSet<PathBuf>,
}

fn unfinished() -> MutexGuard<'static, Unfinished> {
    // Sets of paths are whole whatever panicked beside them.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps every output of this process from being finished, as long as it lives.
#[must_use = "outputs go on once it is dropped"]
pub struct OutputsHeld(#[expect(dead_code)] MutexGuard<'static, Unfinished>);

/// Removes every file that this process is writing, and every folder that it made for them, so that nothing is left
/// half-written: for a handler of Ctrl-C, which ends the process afterwards. Files that are finished stay. While the
/// result is held, whoever wants to begin or to finish a file waits.
pub fn discard_unfinished() -> OutputsHeld {
    let mut held = unfinished();
    for file in std::mem::take(&mut held.files) {
        // It may be gone already.
        let _ = fs::remove_file(file);
    }
    // The innermost first; one that holds finished files stays.
    for folder in std::mem::take(&mut held.folders).iter().rev() {
        let _ = fs::remove_dir(folder);
    }
    OutputsHeld(held)
}

/// Lists files that are read.
type Files = Box<dyn Fn() -> Vec<PathBuf>>;

thread_local! {
    /// What [`protect`] was given, and what it listed once it was asked.
    static PROTECTED: RefCell<Option<(Files, OnceCell<Vec<PathBuf>>)>> =
        const { RefCell::new(None) };
}

/// Has [`check`], on this thread, refuse these files too, until the result is dropped: what the other files of a batch
/// are read from. `files` is asked at most once, and only if some output is there already.
pub fn protect(files: impl Fn() -> Vec<PathBuf> + 'static) -> Protection {
    PROTECTED.set(Some((Box::new(files), OnceCell::new())));
    Protection(())
}

/// The result of [`protect`].
#[must_use = "the files are protected until it is dropped"]
pub struct Protection(());

impl Drop for Protection {
    fn drop(&mut self) {
        PROTECTED.set(None);
    }
}

/// Refuses outputs that are files of the input: those that it is read from, and those that it refers
/// to. `inputs` is asked only if some output is there already.
///
/// # Errors
/// [`Error::OutputIsInput`], also for what [`protect`] protects.
pub fn check<O: AsRef<Path>, I: IntoIterator<Item: AsRef<Path>>>(
    outputs: impl IntoIterator<Item = O>,
    inputs: impl FnOnce() -> I,
) -> Result<()> {
    let there = outputs.into_iter();
    let there = there.filter_map(|output| Some((output.as_ref().canonicalize().ok()?, output)));
    let there: Vec<(PathBuf, O)> = there.collect();
    if there.is_empty() {
        return Ok(());
    }
    let inputs = inputs().into_iter();
    let mut inputs: HashSet<PathBuf> = inputs
        .filter_map(|i| i.as_ref().canonicalize().ok())
        .collect();
    PROTECTED.with_borrow(|protected| {
        if let Some((files, known)) = protected {
            let files = known.get_or_init(files).iter();
            inputs.extend(files.filter_map(|file| file.canonicalize().ok()));
        }
    });
    match there.into_iter().find(|(file, _)| inputs.contains(file)) {
        None => Ok(()),
        Some((file, output)) => Err(Error::OutputIsInput {
            output: output.as_ref().to_owned(),
            reason: format!(
                "the command reads from it: {} would be overwritten by what is made of it",
                file.display()
            ),
        }),
    }
}

/// Writes a file under a temporary name beside `output`, by `write`, and then renames it to `output`.
///
/// # Errors
/// What `write` returns; a folder that cannot be written to; a full disk.
pub fn replace(
    output: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), String>,
) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.file(output, write)?;
    outputs.finish()
}

/// Writes a text with a line feed at its end, as [`replace`] does. What is there and is no regular
/// file, such as a pipe or `/dev/stdout`, is written to as it is.
///
/// # Errors
/// Those of [`replace`].
pub fn replace_text(output: &Path, text: &str) -> Result<()> {
    if std::fs::symlink_metadata(output).is_ok_and(|there| !there.is_file()) {
        let written = std::fs::write(output, format!("{text}\n"));
        return written.map_err(|e| Error::write(output, e));
    }
    replace(output, |file| {
        writeln!(file, "{text}").map_err(|e| e.to_string())
    })
}

/// Several files, with folders for them, that appear together: each is written under a temporary name first. If it is
/// dropped without [`Outputs::finish`], none of them is left.
#[derive(Default)]
pub struct Outputs {
    files: Vec<(TempPath, PathBuf)>,
    /// Their [`folded`] names.
    names: HashSet<String>,
    /// Folders that were not there before.
    folders: Vec<PathBuf>,
}

/// A file of [`Outputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputId(usize);

impl Outputs {
    /// Makes a folder and the folders above it, if they are missing.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn folder(&mut self, folder: &Path) -> Result<()> {
        let above = folder.ancestors().filter(|f| !f.as_os_str().is_empty());
        let missing: Vec<&Path> = above.take_while(|f| !f.exists()).collect();
        for new in missing.into_iter().rev() {
            let mut unfinished = unfinished();
            match fs::create_dir(new) {
                Ok(()) => {
                    unfinished.folders.insert(new.to_owned());
                    self.folders.push(new.to_owned());
                }
                // Somebody else was faster, and it is theirs.
                Err(_) if new.is_dir() => {}
                Err(e) => return Err(failed(new, e)),
            }
        }
        Ok(())
    }

    /// Writes a file under a temporary name beside `output`, by `write`.
    ///
    /// # Errors
    /// As [`replace`].
    pub fn file(
        &mut self,
        output: &Path,
        write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), String>,
    ) -> Result<()> {
        let mut file = self.create(output)?;
        let mut sink = BufWriter::with_capacity(BUFFER, &mut file);
        write(&mut sink).map_err(|reason| failed(output, reason))?;
        sink.flush().map_err(|e| failed(output, e))
    }

    /// Begins a file that [`Outputs::append`] fills. It is not held open in between.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn begin(&mut self, output: &Path) -> Result<OutputId> {
        self.create(output)?;
        Ok(OutputId(self.files.len() - 1))
    }

    /// The temporary name of a file of [`Outputs::begin`], for another program that fills it.
    #[must_use]
    pub fn temporary(&self, file: OutputId) -> &Path {
        &self.files[file.0].0
    }

    /// Appends bytes to a file of [`Outputs::begin`].
    ///
    /// # Errors
    /// A full disk.
    pub fn append(&mut self, file: OutputId, bytes: &[u8]) -> Result<()> {
        let (temporary, output) = &self.files[file.0];
        let append = || {
            let mut file = File::options().append(true).open(temporary)?;
            file.write_all(bytes)
        };
        append().map_err(|e| failed(output, e))
    }

    /// Begins a file that the caller keeps open and writes to. Its folder is made if it is missing.
    ///
    /// # Errors
    /// A folder that cannot be made or written to; a name that another of these files has, or that differs from it only in upper
    /// and lower case: on many disks that is the same file.
    pub fn create(&mut self, output: &Path) -> Result<File> {
        if !self.names.insert(folded(output)) {
            let reason = "another output of this command has this name, or one that differs only in upper and lower case";
            return Err(failed(output, reason));
        }
        self.folder(folder_of(output))?;
        let (file, path) = {
            let mut unfinished = unfinished();
            let temporary = temporary_beside(output).map_err(|e| failed(output, e))?;
            unfinished.files.insert(temporary.path().to_owned());
            temporary.into_parts()
        };
        self.files.push((path, output.to_owned()));
        Ok(file)
    }

    /// Also takes over the files and folders of `later`, which appear after its own.
    pub fn append_all(&mut self, mut later: Self) {
        self.files.append(&mut later.files);
        self.names.extend(std::mem::take(&mut later.names));
        self.folders.append(&mut later.folders);
    }

    /// Lists the files by their final names, in the order in which they were begun.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(_, output)| output.as_path())
    }

    /// Removes the temporary files that killed processes have left of these outputs. No other process may be writing them.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn remove_leftovers(&self) -> Result<()> {
        let mut names: BTreeMap<&Path, BTreeSet<&[u8]>> = BTreeMap::new();
        for output in self.names() {
            let name = output.file_name().unwrap_or_default();
            let folder = names.entry(folder_of(output)).or_default();
            folder.insert(name.as_encoded_bytes());
        }
        for (folder, names) in names {
            remove_leftovers(folder, |name| names.contains(name))?;
        }
        Ok(())
    }

    /// Renames every file to its final name.
    ///
    /// # Errors
    /// A name that is taken by a folder. The files before it have their names by then.
    pub fn finish(mut self) -> Result<()> {
        let mut unfinished = unfinished();
        // In the order in which they were written: what refers to others comes after them.
        let mut files = std::mem::take(&mut self.files).into_iter();
        while let Some((temporary, output)) = files.next() {
            unfinished.files.remove::<Path>(&temporary);
            if let Err(e) = temporary.persist(&output) {
                self.files.extend(files);
                return Err(failed(&output, e.error));
            }
        }
        for folder in self.folders.drain(..) {
            unfinished.folders.remove(&folder);
        }
        Ok(())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        if self.files.is_empty() && self.folders.is_empty() {
            return;
        }
        let mut unfinished = unfinished();
        for (temporary, _) in self.files.drain(..) {
            unfinished.files.remove::<Path>(&temporary);
            // Removed as it is dropped.
            drop(temporary);
        }
        for folder in self.folders.drain(..).rev() {
            unfinished.folders.remove(&folder);
            let _ = fs::remove_dir(folder);
        }
    }
}

fn failed(file: &Path, source: impl Into<Source>) -> Error {
    Error::write(file, source)
}

/// No other program's.
const TEMPORARY: &str = ".sinew.tmp";
/// Letters and digits in front of it.
const RANDOM: usize = 6;

/// Hidden, and with the output's name where that leaves room for more.
fn temporary_prefix(output: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    let name = output.file_name().unwrap_or_default();
    if name.len() <= 200 {
        prefix.push(name);
        prefix.push(".");
    }
    prefix
}

/// The output that a file with a name as [`temporary_beside`] makes them was to become.
fn output_of_temporary(name: &[u8]) -> Option<&[u8]> {
    let name = name.strip_prefix(b".")?;
    let name = name.strip_suffix(TEMPORARY.as_bytes())?;
    let (output, random) = name.split_at_checked(name.len().checked_sub(RANDOM + 1)?)?;
    let random = random.strip_prefix(b".")?;
    let ours = !output.is_empty() && random.iter().all(u8::is_ascii_alphanumeric);
    ours.then_some(output)
}

/// Removes from a folder, if it exists, the temporary files that killed processes have left of certain outputs: those whose
/// file name `of` accepts. No other process may be writing them.
///
/// # Errors
/// A folder that cannot be read.
pub fn remove_leftovers(folder: &Path, of: impl Fn(&[u8]) -> bool) -> Result<()> {
    let held = unfinished();
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|e| failed(folder, e))?,
    };
    for entry in entries {
        let name = entry.map_err(|e| failed(folder, e))?.file_name();
        let is_at_work = |file: &PathBuf| file.file_name() == Some(&name);
        if output_of_temporary(name.as_encoded_bytes()).is_some_and(&of)
            && !held.files.iter().any(is_at_work)
        {
            // Somebody else may have removed it by now.
            let _ = fs::remove_file(folder.join(&name));
        }
    }
    Ok(())
}

/// A name for a new file in a folder: `own`, or with a number behind it where another file has that.
/// A file that holds the same bytes already is no other. `taken` are the names that are given away, as [`folded`] gives
/// them.
pub(crate) fn free_name(
    folder: &Path,
    own: &str,
    bytes: &[u8],
    taken: &mut HashSet<String>,
) -> String {
    let (stem, extension) = own.rsplit_once('.').unwrap_or((own, ""));
    let is_free = |name: &String| {
        !taken.contains(&folded(name))
            && fs::read(folder.join(name)).map_or(true, |there| there == bytes)
    };
    let numbered = (2..).map(|n: u64| format!("{stem}_{n}.{extension}"));
    let mut candidates = std::iter::once(own.to_owned()).chain(numbered);
    let name = candidates.find(is_free).unwrap_or_else(|| own.to_owned());
    taken.insert(folded(&name));
    name
}

/// A file's name, or path, in lower case: files whose names are equal then are the same on many disks.
#[must_use]
pub fn folded(file: impl AsRef<Path>) -> String {
    file.as_ref().to_string_lossy().to_lowercase()
}

/// Removes a file, if it exists.
///
/// # Errors
/// A file that cannot be removed.
pub fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(failed(file, e)),
        _ => Ok(()),
    }
}

fn folder_of(output: &Path) -> &Path {
    match output.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// A file in the output's folder, so that renaming it never crosses disks. It gets the permissions of the file that it
/// replaces, or those of any new file.
fn temporary_beside(output: &Path) -> std::io::Result<NamedTempFile<File>> {
    let folder = folder_of(output);
    let mut builder = tempfile::Builder::new();
    let prefix = temporary_prefix(output);
    builder.prefix(&prefix).suffix(TEMPORARY).rand_bytes(RANDOM);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(output) {
        file.as_file().set_permissions(old.permissions())?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn text(outputs: &mut Outputs, file: &Path, text: &str) {
        outputs
            .file(file, |sink| {
                sink.write_all(text.as_bytes()).map_err(|e| e.to_string())
            })
            .unwrap();
    }

    #[test]
    fn leftovers_of_an_output_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut outputs = Outputs::default();
        text(&mut outputs, &at("a.txt"), "a");
        let at_work = names(folder.path());
        // One of a process that is no more.
        let other = temporary_beside(&at("a.txt")).unwrap();
        let other = other.into_temp_path().keep().unwrap();
        let stay = [
            ".a.txt.old.sinew.tmp",
            ".a.txt.backup.tmp",
            ".b.txt.Ab12Cd.sinew.tmp",
            ".a.txt.Ab12Cd.sinew",
            "a.txt.Ab12Cd.sinew.tmp",
            ".a.txt.Ab1 Cd.sinew.tmp",
            ".Ab12Cd.sinew.tmp",
        ];
        stay.iter()
            .for_each(|name| fs::write(at(name), "").unwrap());
        outputs.remove_leftovers().unwrap();
        assert!(!other.exists());
        assert_eq!(names(folder.path()).len(), stay.len() + at_work.len());
        outputs.finish().unwrap();
        assert!(at("a.txt").exists() && stay.iter().all(|name| at(name).exists()));
        remove_leftovers(&at("nowhere"), |_| true).unwrap();
    }

    #[test]
    fn files_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("b.txt"), "old").unwrap();
        let mut outputs = Outputs::default();
        outputs.folder(&at("new/deep")).unwrap();
        text(&mut outputs, &at("new/deep/a.txt"), "a");
        text(&mut outputs, &at("b.txt"), "b");
        let twice = outputs.create(&at("B.TXT")).unwrap_err();
        assert!(twice.to_string().contains("only in upper and lower case"));
        let failed = outputs.file(&at("c.txt"), |_| Err("no more".into()));
        assert!(failed.unwrap_err().to_string().contains("no more"));
        assert_eq!(fs::read_to_string(at("b.txt")).unwrap(), "old");
        drop(outputs);
        assert_eq!(names(folder.path()), ["b.txt"]);

        let mut outputs = Outputs::default();
        outputs.folder(&at("new/deep")).unwrap();
        text(&mut outputs, &at("new/deep/a.txt"), "a");
        text(&mut outputs, &at("b.txt"), "b");
        outputs.finish().unwrap();
        assert_eq!(names(folder.path()), ["b.txt", "new"]);
        assert_eq!(names(&at("new/deep")), ["a.txt"]);
        assert_eq!(fs::read_to_string(at("b.txt")).unwrap(), "b");
        assert!(
            unfinished()
                .files
                .iter()
                .all(|f| !f.starts_with(folder.path()))
        );
        assert!(
            unfinished()
                .folders
                .iter()
                .all(|f| !f.starts_with(folder.path()))
        );
    }
}
