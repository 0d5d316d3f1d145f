//! `sinew view`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::exit::Exit;

/// Name of the viewer's program, a package of its own, because its libraries of windows are large.
const PROGRAM: &str = "sinew-viewer";

/// Show characters in a window; needs the program sinew-viewer.
///
/// sinew-viewer is a package of its own. It is searched in the folder that sinew is in, and then in
/// the folders of PATH. In a clone, cargo install --path examples/viewer --locked installs it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files to show, and after them options of the viewer. sinew view FILE --help lists these
    /// options.
    #[arg(value_name = "FILE", trailing_var_arg = true)]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "Examples:
  sinew view hero.usda
  sinew view hero.glb walk.bvh
  sinew view hero.glb --clip Walk --screenshot window.png";

pub fn run(args: &Args) -> Result<Exit> {
    let beside = std::env::current_exe().ok();
    let beside = beside.as_deref().and_then(Path::parent);
    let viewer = found(beside, &std::env::var_os("PATH").unwrap_or_default())?;
    let failed = |e| Error::Message(format!("{}: cannot start: {e}", viewer.display()));
    let ended = Command::new(&viewer).args(&args.arguments).status();
    Ok(match ended.map_err(failed)?.code() {
        Some(0) => Exit::Done,
        Some(2) => Exit::Usage,
        _ => Exit::Failed,
    })
}

/// The viewer's program: in the folder `beside`, or in one of `path`, the value of PATH.
///
/// # Errors
/// It is in none of them.
fn found(beside: Option<&Path>, path: &OsStr) -> Result<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let folders = beside.map(Path::to_owned).into_iter();
    let folders = folders.chain(std::env::split_paths(path));
    let mut files = folders.map(|folder| folder.join(&name));
    files.find(|file| file.is_file()).ok_or_else(|| {
        let beside = beside.map_or_else(String::new, |folder| {
            format!("in {}, beside sinew, or ", folder.display())
        });
        Error::Message(format!(
            "expected the program {name} {beside}in a folder of PATH, found none: in a clone of sinew, \
             `cargo install --path examples/viewer --locked` installs it"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_beside_goes_before_that_of_path_and_its_absence_is_told() {
        let [beside, path] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let look = || found(Some(beside.path()), path.path().as_os_str());
        let told = look().unwrap_err().to_string();
        let place = format!("in {}, beside sinew", beside.path().display());
        assert!(
            told.contains(&place) && told.contains("--path examples/viewer"),
            "{told}"
        );
        for folder in [&path, &beside] {
            let file = folder
                .path()
                .join(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
            std::fs::write(&file, "").unwrap();
            assert_eq!(look().unwrap(), file);
        }
    }
}
