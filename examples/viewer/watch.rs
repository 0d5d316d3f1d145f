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
    /// `changed` is called with the name of a file, on another thread, at each of its changes.
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
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn a_file_written_or_replaced_is_told_and_its_neighbours_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hero.usda");
        std::fs::write(&file, "one").unwrap();
        let (sender, receiver) = channel();
        let mut watch = FileWatch::new(move |_| {
            let _ = sender.send(());
        })
        .unwrap();
        watch.set_files(std::slice::from_ref(&file)).unwrap();
        let told = || {
            let told = receiver.recv_timeout(Duration::from_millis(1500)).is_ok();
            // One change may be several events.
            while receiver.recv_timeout(Duration::from_millis(200)).is_ok() {}
            told
        };
        std::fs::write(&file, "two").unwrap();
        assert!(told());
        let other = folder.path().join("other.usda");
        std::fs::write(&other, "three").unwrap();
        assert!(!told());
        std::fs::rename(&other, &file).unwrap();
        assert!(told());
        // By two names of its folder, and then by one of them.
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let again = folder.path().join("sub").join("..").join("hero.usda");
        watch.set_files(&[file.clone(), again.clone()]).unwrap();
        watch.set_files(&[again]).unwrap();
        std::fs::write(&file, "five").unwrap();
        assert!(told());
        watch.set_files(&[]).unwrap();
        std::fs::write(&file, "four").unwrap();
        assert!(!told());
    }
}
