//! Layers as files: the edited root layer under another name, and packages (.usdz) of a layer and its textures.

use std::path::{Path, PathBuf};

use sinew_layer::{Layer, assets, usda, usdc};
use sinew_stage::resolver::Resolver;

use super::edits::BakeEdits;
use super::flatten::{has_extension, outermost_file, relative_to};
use crate::error::{Error, Result, explain};
pub(crate) use crate::output::{Outputs, replace};
use crate::usd::file::UsdFile;
use crate::usd::variants;
use sinew::error::Warning;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// The files: the output, then what it names and what was only in memory, such as the textures
    /// of a glTF file.
    pub files: Vec<PathBuf>,
    pub warnings: Vec<Warning>,
}

impl Written {
    /// One file.
    pub(crate) fn file(output: &Path, warnings: Vec<Warning>) -> Self {
        Self {
            files: vec![output.to_owned()],
            warnings,
        }
    }

    /// Finishes `outputs`, of which `output` is one.
    pub(crate) fn finish(outputs: Outputs, output: &Path) -> Result<Self> {
        let mut written = Self::file(output, Vec::new());
        let others = outputs.names().filter(|name| *name != output);
        written.files.extend(others.map(Path::to_owned));
        outputs.finish()?;
        Ok(written)
    }

    /// Puts these warnings before its own.
    pub(crate) fn after(mut self, mut warnings: Vec<Warning>) -> Self {
        warnings.append(&mut self.warnings);
        self.warnings = warnings;
        self
    }
}

impl UsdFile {
    /// Writes the root layer, as edited, to another file, in the format of its extension. It stays a layer: its references,
    /// sublayers and variants are not flattened, and it selects the variants and binds the clip that the file was opened
    /// with. In another folder the paths to them are written anew, relative to it; a
    /// .usdz gets copies of all layers and textures.
    ///
    /// What was made from another format is written whole: beside other files than .usdz the textures go to a
    /// folder of the file's name with `_textures`.
    ///
    /// # Errors
    /// A file that is read from; a file that cannot be written.
    pub fn save_as(&self, out: impl AsRef<Path>) -> Result<Written> {
        let out = out.as_ref();
        self.check_output(out)?;
        let mut layer = self.root_layer();
        if self.made.is_none() && has_extension(out, "usdz") {
            let anchor = Some(self.stage.root_identifier());
            let warnings = self.write_package(layer, anchor, out)?;
            return Ok(Written::file(out, warnings));
        }
        self.move_paths(&mut layer, out)?;
        if self.made.is_some() {
            return self.write_whole(layer, out);
        }
        export(&layer, out)?;
        Ok(Written::file(out, Vec::new()))
    }

    /// Writes the whole file, as edited, in the format of the extension. If the file or the output
    /// is a package, the stage is flattened into one layer; else this is [`UsdFile::save_as`].
    ///
    /// # Errors
    /// An output that is one of the files that are read; a file that cannot be written.
    pub fn write(&self, out: impl AsRef<Path>) -> Result<Written> {
        let out = out.as_ref();
        if self.made.is_none() && self.fixes_are_flattened(out) {
            self.check_output(out)?;
            let extents = |layer: &mut Layer| self.write_extents(layer, true);
            return self.write_flattened_with(out, BakeEdits::default(), &[], extents);
        }
        self.save_as(out)
    }

    /// The root layer as edited, with what it needs to show alone what the open stage shows.
    pub(crate) fn root_layer(&self) -> Layer {
        let mut layer = Layer::clone(self.stage.root_layer());
        variants::author(&mut layer, &self.opened_with.variants);
        self.chosen_clip.author(&mut layer);
        self.write_extents(&mut layer, false);
        layer
    }

    /// Makes paths that are relative to the root layer lead to the same files from `out`.
    pub(crate) fn move_paths(&self, layer: &mut Layer, out: &Path) -> Result<()> {
        let identifier = self.stage.root_identifier();
        let folder = |file: &Path| {
            let folder = file.parent().filter(|p| !p.as_os_str().is_empty());
            folder.unwrap_or(Path::new(".")).canonicalize().ok()
        };
        let stays = !identifier.contains('[')
            && !has_extension(Path::new(identifier), "usdz")
            && folder(&outermost_file(identifier)) == folder(out);
        if !stays {
            assets::map(layer, |path| {
                // A broken expression stays.
                let evaluated = self.stage.evaluated(path)?;
                let found = self.resolver.anchored(&evaluated, identifier)?;
                let (file, inside) = match found.find('[') {
                    Some(at) => found.split_at(at),
                    None => (found.as_str(), ""),
                };
                let moved = relative_to(Path::new(file), out) + inside;
                let expression = moved_expression(path, &evaluated, &moved);
                Some(expression.unwrap_or(moved).into())
            })
            .map_err(|e| Error::open(self.file(), e))?;
        }
        Ok(())
    }
}

/// An expression that gives `moved` where this one gives `evaluated`, and that takes other variables as this one does. None if it
/// is more than a string that begins with a folder or a name.
fn moved_expression(expression: &str, evaluated: &str, moved: &str) -> Option<String> {
    let inner = expression.strip_prefix('`')?.strip_suffix('`')?.trim();
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    let [text, evaluated] = [text, evaluated].map(|t| t.strip_prefix("./").unwrap_or(t));
    let folder = moved.strip_suffix(evaluated)?;
    let is_special = |c| matches!(c, '"' | '\'' | '\\' | '$' | '`');
    match text.starts_with('$') || folder.contains(is_special) {
        true => None,
        false => Some(format!("`{quote}{folder}{text}{quote}`")),
    }
}

/// Writes a layer beside `output` in the format of its extension, and renames it there.
///
/// # Errors
/// A folder that cannot be written to, a full disk, a value that the format cannot hold.
pub(crate) fn export(layer: &Layer, output: &Path) -> Result<()> {
    let mut outputs = Outputs::default();
    export_with(layer, output, &mut outputs)?;
    outputs.finish()
}

/// As [`export`], appearing with what else is in `outputs`.
pub(crate) fn export_with(layer: &Layer, output: &Path, outputs: &mut Outputs) -> Result<()> {
    let extension = crate::extension(output);
    match extension.as_str() {
        "usda" => outputs.file(output, |file| {
            usda::write(layer, file).map_err(|e| explain(&e))
        }),
        "usdc" | "usd" => outputs.file(output, |file| {
            let written = usdc::write_layer(layer, file);
            written.map(drop).map_err(|e| explain(&e))
        }),
        _ => Err(Error::write(
            output,
            format!("no USD format has the extension .{extension}"),
        )),
    }
    .map(drop)
}

/// The part of a path that stands for the number of a UDIM tile.
const UDIM: &str = "<UDIM>";

/// The path of each tile that may be there, 1001 to 1100; none for a path without `<UDIM>`.
pub(crate) fn tiles(path: &str) -> impl Iterator<Item = String> + '_ {
    (1001..=1100)
        .filter(|_| path.contains(UDIM))
        .map(move |tile| path.replace(UDIM, &tile.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_keep_their_variables_elsewhere() {
        let moved = |expression: &str, evaluated: &str, to: &str| {
            moved_expression(expression, evaluated, to).unwrap_or_default()
        };
        let to = "../shots/hero_red.usd";
        assert_eq!(
            moved("`'./hero_${LOOK}.usd'`", "./hero_red.usd", to),
            "`'../shots/hero_${LOOK}.usd'`"
        );
        assert_eq!(
            moved("`\"hero_${LOOK}.usd\"`", "hero_red.usd", to),
            "`\"../shots/hero_${LOOK}.usd\"`"
        );
        // The variable may be a whole path.
        assert_eq!(moved("`\"${FILE}\"`", "./hero_red.usd", to), "");
        assert_eq!(
            moved("`if(${RED}, 'a.usd', 'b.usd')`", "a.usd", "../a.usd"),
            ""
        );
        assert_eq!(moved("hero_red.usd", "hero_red.usd", to), "");
        let odd = "../a'b/hero_red.usd";
        assert_eq!(moved("`'./hero_${LOOK}.usd'`", "./hero_red.usd", odd), "");
    }
}
