//! The desktop's dialogs that name a file.

use std::path::Path;

use sinew_io::readable_formats;
use winit::window::Window;

use super::{spawn, stderr};
use crate::files::{Picked, Purpose, endings};

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
        purpose => format!(
            "{need}\nThe step `save FILE.{}` of a script writes the file without one: viewer --help",
            purpose.extension()
        ),
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
    stderr::take_dialog_failure();
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
            purpose => {
                let stem = near
                    .and_then(Path::file_stem)
                    .map(|s| s.to_string_lossy().into_owned());
                let extension = purpose.extension();
                let name = format!("{}.{extension}", stem.as_deref().unwrap_or("picture"));
                let title = match purpose {
                    Purpose::SavePicture => "Save the picture",
                    _ => "Save the character",
                };
                let dialog = dialog.set_title(title).set_file_name(name);
                Box::pin(dialog.add_filter(extension, &[extension]).save_file())
            }
        };
    let wait = move || {
        let picked = pollster::block_on(answer);
        let failed = stderr::take_dialog_failure();
        done(match picked {
            Some(file) => Picked::File(file.path().to_owned()),
            None if failed => Picked::NoDialog,
            None => Picked::Nothing,
        });
    };
    spawn("dialog", wait)
}
