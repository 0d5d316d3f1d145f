//! Tells when one of the files that are shown was written again.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

type Names = Arc<Mutex<HashSet<OsString>>>;

/// Watches the folders of some files: editors replace files rather than write into them.
pub struct FileWatch {
    watcher: RecommendedWatcher,
    folders: HashSet<PathBuf>,
    names: Names,
}

impl FileWatch {
    /// `changed` is called with the name of a file, on another thread, at each of its changes. One change may be several
    /// events, so several calls.
    pub fn new(changed: impl Fn(&OsStr) + Send + 'static) -> Result<Self, String> {
        let names = Names::default();
        let wanted = Arc::clone(&names);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let Ok(wanted) = wanted.lock() else { return };
            if is_change(event.kind) {
                let names = event.paths.iter().filter_map(|p| p.file_name());
                names.filter(|n| wanted.contains(*n)).for_each(&changed);
            }
        })
        .map_err(|e| format!("files cannot be watched: {e}"))?;
        Ok(Self {
            watcher,
            folders: HashSet::new(),
            names,
        })
    }

    /// Watches these files and no others.
    pub fn set_files(&mut self, files: &[PathBuf]) -> Result<(), String> {
        // By one name each: unwatching a folder by another would end what watches it by this one.
        let folder = |file: &PathBuf| {
            let folder = match file.parent() {
                Some(folder) if folder != Path::new("") => folder,
                _ => Path::new("."),
            };
            folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
        };
        let folders: HashSet<PathBuf> = files.iter().map(folder).collect();
        if let Ok(mut names) = self.names.lock() {
            *names = files
                .iter()
                .filter_map(|f| f.file_name())
                .map(OsString::from)
                .collect();
        }
        for gone in self.folders.difference(&folders) {
            // A folder that is gone needs no unwatching.
            let _ = self.watcher.unwatch(gone);
        }
        let mut result = Ok(());
        for new in folders.difference(&self.folders) {
            if let Err(e) = self.watcher.watch(new, RecursiveMode::NonRecursive) {
                result = Err(format!("{}: cannot be watched: {e}", new.display()));
            }
        }
        self.folders = folders;
        result
    }
}

/// Reading a file is none, and a removed one comes back when it was replaced.
fn is_change(kind: EventKind) -> bool {
    matches!(kind, EventKind::Create(_) | EventKind::Modify(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    /// A folder with files that are watched.
    struct Bench {
        folder: tempfile::TempDir,
        told: Receiver<OsString>,
        /// How many marks were written.
        marks: usize,
    }

    impl Bench {
        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn mark(&self) -> PathBuf {
            self.path(&format!("mark{}", self.marks))
        }

        /// The names that were told since the last call. The folder's events come in order, so they are complete when a file
        /// that is written now, and that is watched too, is told.
        fn told(&mut self) -> HashSet<OsString> {
            let mark = self.mark();
            self.marks += 1;
            std::fs::write(&mark, "").unwrap();
            let mut told = HashSet::new();
            loop {
                // Against hangs.
                let name = self.told.recv_timeout(Duration::from_secs(120));
                let name = name.expect("the mark is told");
                if Some(&*name) == mark.file_name() {
                    return told;
                }
                if !name.as_encoded_bytes().starts_with(b"mark") {
                    told.insert(name);
                }
            }
        }
    }

    #[test]
    fn a_file_written_or_replaced_is_told_and_its_neighbours_are_not() {
        let (sender, told) = channel();
        let mut watch = FileWatch::new(move |name| {
            let _ = sender.send(name.to_owned());
        })
        .unwrap();
        let mut bench = Bench {
            folder: tempfile::tempdir().unwrap(),
            told,
            marks: 0,
        };
        let (file, other) = (bench.path("hero.usda"), bench.path("other.usda"));
        let hero = HashSet::from([OsString::from("hero.usda")]);
        std::fs::write(&file, "one").unwrap();
        watch.set_files(&[file.clone(), bench.mark()]).unwrap();
        std::fs::write(&file, "two").unwrap();
        assert_eq!(bench.told(), hero);
        watch.set_files(&[file.clone(), bench.mark()]).unwrap();
        std::fs::write(&other, "three").unwrap();
        assert_eq!(bench.told(), HashSet::new());
        watch.set_files(&[file.clone(), bench.mark()]).unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert_eq!(bench.told(), hero);
        // By two names of its folder, and then by one of them.
        std::fs::create_dir(bench.path("sub")).unwrap();
        let again = bench.path("sub").join("..").join("hero.usda");
        watch.set_files(&[file.clone(), again.clone()]).unwrap();
        watch.set_files(&[again, bench.mark()]).unwrap();
        std::fs::write(&file, "five").unwrap();
        assert_eq!(bench.told(), hero);
        watch.set_files(&[bench.mark()]).unwrap();
        std::fs::write(&file, "four").unwrap();
        assert_eq!(bench.told(), HashSet::new());
    }
}
