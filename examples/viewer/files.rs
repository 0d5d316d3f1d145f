//! The desktop's dialogs that name a file, and the formats that they offer.

use std::path::{Path, PathBuf};

use sinew_io::readable_formats;
use winit::window::Window;

use super::messages;

/// The reason why a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Open,
    SavePicture,
}

/// The answer of a dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum Picked {
    File(PathBuf),
    /// It was closed.
    Nothing,
    /// There is none on this desktop.
    NoDialog,
}

/// The extensions that this build reads, in groups by format: `usd usda usdc usdz · gltf glb`.
pub fn formats() -> String {
    let format = |f: sinew_io::FileFormat| f.extensions.join(" ");
    readable_formats()
        .map(format)
        .collect::<Vec<_>>()
        .join(" · ")
}

/// All extensions that this build reads.
fn endings() -> Vec<&'static str> {
    let of_formats = readable_formats().flat_map(|f| f.extensions);
    of_formats.copied().collect()
}

/// The names of the formats that this build reads, as a sentence lists them.
pub fn format_names() -> String {
    let mut names: Vec<&str> = readable_formats().map(|f| f.name).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} and {last}", names.join(", "))
}

/// What the window says of a file that could not be opened because it is no 3D file; `None` if its
/// ending is one that this build reads, or it is no file.
pub fn not_readable(file: &Path) -> Option<String> {
    let ending = file.extension().map(|e| e.to_string_lossy().to_lowercase());
    let mut known = endings();
    // A build without FBX says so.
    known.extend(["fbx"].iter().filter(|_| ending.as_deref() == Some("fbx")));
    if !file.is_file() || known.iter().any(|k| Some(*k) == ending.as_deref()) {
        return None;
    }
    let last = known.pop().unwrap_or_default();
    let name = file.display();
    Some(format!(
        "{name} is no 3D file that the viewer can open. It opens files that end in .{} or .{last}.",
        known.join(", .")
    ))
}

/// What can be done where no dialog can be shown.
pub fn without_dialog(purpose: Purpose) -> String {
    let need = match cfg!(target_os = "linux") {
        true => "This desktop shows no file dialog: that needs xdg-desktop-portal or zenity.",
        false => "This desktop shows no file dialog.",
    };
    match purpose {
        Purpose::Open => format!(
            "{need}\nDrop a file into the window, or start the viewer with one: viewer FILE"
        ),
        Purpose::SavePicture => {
            format!(
                "{need}\nThe step `save FILE.png` of a script writes the picture without one: viewer --help"
            )
        }
    }
}

/// Asks for a file on another thread and calls `done` there. `near` is the file that is shown.
pub fn ask(
    purpose: Purpose,
    window: &Window,
    near: Option<&Path>,
    done: impl FnOnce(Picked) + Send + 'static,
) -> Result<(), String> {
    let mut dialog = rfd::AsyncFileDialog::new().set_parent(window);
    if let Some(folder) = near.and_then(|f| std::path::absolute(f).ok()) {
        dialog = dialog.set_directory(folder.parent().unwrap_or(&folder));
    }
    messages::take_dialog_failure();
    // The dialog is made on the window's thread, which some desktops want, and waited for on another.
    let answer: std::pin::Pin<Box<dyn Future<Output = Option<rfd::FileHandle>> + Send>> =
        match purpose {
            Purpose::Open => {
                dialog = dialog
                    .set_title("Open a character")
                    .add_filter("All that the viewer reads", &endings());
                for format in readable_formats() {
                    dialog = dialog.add_filter(format.name, format.extensions);
                }
                Box::pin(dialog.pick_file())
            }
            Purpose::SavePicture => {
                let stem = near
                    .and_then(Path::file_stem)
                    .map(|s| s.to_string_lossy().into_owned());
                let name = format!("{}.png", stem.as_deref().unwrap_or("picture"));
                let dialog = dialog.set_title("Save the picture").set_file_name(name);
                Box::pin(dialog.add_filter("PNG", &["png"]).save_file())
            }
        };
    let wait = move || {
        let picked = pollster::block_on(answer);
        let failed = messages::take_dialog_failure();
        done(match picked {
            Some(file) => Picked::File(file.path().to_owned()),
            None if failed => Picked::NoDialog,
            None => Picked::Nothing,
        });
    };
    let thread = std::thread::Builder::new().name("dialog".into());
    let started = thread.spawn(wait).map(drop);
    started.map_err(|e| format!("cannot start a thread: {e}"))
}

/// The path with the extension of a picture, if it has none.
pub fn with_png(path: PathBuf) -> PathBuf {
    match path.extension() {
        Some(_) => path,
        None => path.with_extension("png"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fbx_is_offered_where_it_is_built_in() {
        assert_eq!(formats().contains("fbx"), cfg!(feature = "fbx"));
        assert_eq!(format_names().contains("FBX"), cfg!(feature = "fbx"));
        assert!(formats().starts_with("usd usda usdc usdz · gltf glb · vrm vrma · bvh"));
        assert!(format_names().starts_with("USD, glTF, VRM"));
    }

    #[test]
    fn pictures_have_an_extension() {
        assert_eq!(with_png("a/hero".into()), PathBuf::from("a/hero.png"));
        assert_eq!(with_png("a/hero.PNG".into()), PathBuf::from("a/hero.PNG"));
    }
}
