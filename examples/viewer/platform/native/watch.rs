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
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn a_file_written_or_replaced_is_told_and_its_neighbours_are_not() {
        let (sender, told) = channel();
        let mut watch = FileWatch::new(move |name| {
            let _ = sender.send(name.to_owned());
        })
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str| std::fs::write(path(name), "text").unwrap();
        std::fs::create_dir(path("sub")).unwrap();
        write("hero.usda");
        let mut marks = 0;
        // Whether the file is told of after a change, while these are watched.
        let mut is_told = |files: &[&str], change: &dyn Fn()| {
            // The folder's events come in order, so they are complete when that of a mark, which is written now and
            // watched too, is told.
            marks += 1;
            let mark = format!("mark{marks}");
            let files: Vec<PathBuf> = files.iter().chain([&&*mark]).map(|f| path(f)).collect();
            watch.set_files(&files).unwrap();
            change();
            write(&mark);
            // Against hangs.
            let next = || told.recv_timeout(Duration::from_secs(120)).unwrap();
            let before = std::iter::repeat_with(next).take_while(|name| *name != *mark);
            let before: Vec<OsString> = before
                .filter(|n| !n.to_string_lossy().starts_with("mark"))
                .collect();
            assert!(before.iter().all(|name| name == "hero.usda"), "{before:?}");
            !before.is_empty()
        };
        let (hero, again) = ("hero.usda", "sub/../hero.usda");
        assert!(is_told(&[hero], &|| write(hero)));
        assert!(!is_told(&[hero], &|| write("other.usda")));
        let replace = || std::fs::rename(path("other.usda"), path(hero)).unwrap();
        assert!(is_told(&[hero], &replace));
        // By two names of its folder, and then by one of them.
        assert!(is_told(&[hero, again], &|| write(hero)));
        assert!(is_told(&[again], &|| write(hero)));
        assert!(!is_told(&[], &|| write(hero)));
    }
}
