//! An open USD file: how it is opened, and which layers it is composed of.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;
use sinew_layer::{Files, Layer};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Stage, StageOptions};

use super::clips::ChosenClip;
use super::from_asset::convert::MadeStage;
use super::variants::{self, VariantSelection};
use crate::error::{Error, Result, Source};
use sinew::scene::Purpose;
use sinew::skel::AnimSource;

/// How a file is opened and composed.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The variants to select. They are stronger than any selection in the files. If a set is named
    /// twice, the last one counts.
    pub variants: Vec<VariantSelection>,
    /// Folders where assets named without `./` are looked for, before the folders that
    /// `PXR_AR_DEFAULT_SEARCH_PATH` lists and after the folder of the layer that names them and the
    /// working directory.
    pub search_paths: Vec<PathBuf>,
    /// Which clips to take.
    pub clips: ClipChoice,
    /// The purposes of the prims in [`UsdFile::geometry`].
    pub purposes: Purposes,
    /// Where the file and all that it refers to are: on disk, if nothing else is said.
    pub files: Files,
}

/// The purposes of prims that a renderer draws. Prims of the purpose `default` are always drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purposes {
    /// Prims for final pictures.
    pub render: bool,
    /// Simple prims that stand for those of final pictures.
    pub proxy: bool,
    /// Helpers, such as a rig's controls.
    pub guide: bool,
}

impl Default for Purposes {
    /// Only `render`.
    fn default() -> Self {
        Self::from_iter([Purpose::Render])
    }
}

impl FromIterator<Purpose> for Purposes {
    fn from_iter<I: IntoIterator<Item = Purpose>>(purposes: I) -> Self {
        let mut out = Self {
            render: false,
            proxy: false,
            guide: false,
        };
        for purpose in purposes {
            match purpose {
                Purpose::Default => {}
                Purpose::Render => out.render = true,
                Purpose::Proxy => out.proxy = true,
                Purpose::Guide => out.guide = true,
            }
        }
        out
    }
}

impl Purposes {
    /// Whether prims of a purpose are drawn. `None` is a purpose that USD does not know.
    pub(crate) fn have(self, purpose: Option<Purpose>) -> bool {
        match purpose {
            None => false,
            Some(Purpose::Default) => true,
            Some(Purpose::Render) => self.render,
            Some(Purpose::Proxy) => self.proxy,
            Some(Purpose::Guide) => self.guide,
        }
    }
}

/// How an open file is read as a scene.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Which prims may name a skeleton's animation.
    pub anim_source: AnimSource,
}

/// Which clips of a file are taken. Those of a file that is not USD become SkelAnimations, and one
/// of them is bound to the Skeletons. A USD file has all of its SkelAnimations in any case, so this
/// only chooses the bound one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClipChoice {
    /// The first clip of the file, if it has any. In a USD file, what skel:animationSource says.
    #[default]
    First,
    /// The clip of this name, or the only one that it fits as the last words of a name or as a glob
    /// ([`find_clip_name`](sinew_animate::asset::find_clip_name)). In a USD file the path of a
    /// SkelAnimation is a name too. In other files, if there is no such clip, names joined by `+`
    /// are clips that play at once, as one: Blender exports a character's bones and its shape keys
    /// as two clips. If both move the same node, the earlier in the list counts.
    Named(String),
    /// All clips. The bound one is the same as with `First`.
    All,
}

/// An open, composed USD file, or a stage in memory made from another format.
///
/// | what it does | by |
/// |---|---|
/// | opens | [`open`](Self::open), [`open_with`](Self::open_with), [`from_asset`](Self::from_asset) |
/// | says what it is | [`file`](Self::file), [`layer_files`](Self::layer_files), [`is_made`](Self::is_made), [`origin`](Self::origin), [`time_line`](Self::time_line), [`authored_meters_per_unit`](Self::authored_meters_per_unit), [`fingerprint`](Self::fingerprint) |
/// | is read | [`scene`](Self::scene), [`geometry`](Self::geometry), [`animations`](Self::animations), [`authored`](Self::authored), [`variant_sets`](Self::variant_sets), [`is_left_handed`](Self::is_left_handed), [`carries`](Self::carries) |
/// | lists and finds clips | [`stage_clips`](Self::stage_clips), [`find_clip`](Self::find_clip), [`clip_fits`](Self::clip_fits), [`scene_clips`](Self::scene_clips) |
/// | becomes something else | [`to_asset`](Self::to_asset), [`bind_pose`](Self::bind_pose) |
/// | is edited in memory | [`set_animation`](Self::set_animation), [`add_blend_shape`](Self::add_blend_shape), [`add_inbetween`](Self::add_inbetween), [`set_blend_shape_weights`](Self::set_blend_shape_weights), [`author_extents`](Self::author_extents) |
/// | is written | [`save_as`](Self::save_as), [`write`](Self::write), [`write_flattened`](Self::write_flattened), [`write_layer`](Self::write_layer), [`write_fixed`](Self::write_fixed), [`write_animation`](Self::write_animation) |
/// | is written with a bake | [`begin_bake`](Self::begin_bake), [`begin_clip`](Self::begin_clip), [`clip_layout`](Self::clip_layout), [`write_clip_stage`](Self::write_clip_stage) |
pub struct UsdFile {
    pub(crate) stage: Stage,
    pub(crate) opened_with: OpenOptions,
    /// The clip that was chosen in a USD file.
    pub(crate) chosen_clip: ChosenClip,
    /// Boxes of SkelRoots that are written with the file, by path; the open stage lacks them.
    pub(crate) extents: Vec<(String, [Vec3; 2])>,
    /// What the stage in memory has besides its layer; none where the file is USD.
    pub(crate) made: Option<MadeStage>,
    pub(crate) resolver: Arc<FileResolver>,
    pub(crate) file: PathBuf,
}

impl std::fmt::Debug for UsdFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UsdFile")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl UsdFile {
    /// Opens and composes a .usda, .usdc, .usd or .usdz file with all its payloads.
    ///
    /// # Errors
    /// A file that is not there, is no USD or is cut short.
    pub fn open(file: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(file, &OpenOptions::default())
    }

    /// Opens a file as [`UsdFile::open`] does, with variants selected and search paths for assets.
    ///
    /// # Errors
    /// The errors of [`UsdFile::open`]. [`Error::NoSuchVariant`] if a selection fits no prim, set
    /// or variant. [`Error::NoSuchFolder`] if a search path is no folder. [`Error::NoSuchClip`],
    /// [`Error::AmbiguousClip`] or [`Error::ClipFitsNothing`] if no clip, or not one alone, is what
    /// was chosen.
    pub fn open_with(file: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let file = file.as_ref();
        let fail = |source: Source| Error::Open {
            file: file.to_owned(),
            source,
        };
        options.files.size(file).map_err(|e| fail(e.into()))?;
        let name = file
            .to_str()
            .ok_or_else(|| fail("its name is not UTF-8".into()))?;
        let mut search_paths = options.search_paths.iter();
        if let Some(folder) = search_paths.find(|p| !options.files.is_folder(p)) {
            return Err(Error::NoSuchFolder {
                folder: folder.clone(),
            });
        }
        let mut opened = Self::compose(file, name, options, [])?;
        if let ClipChoice::Named(asked) = &options.clips {
            opened.choose_clip(asked)?;
        }
        Ok(opened)
    }

    /// Opens the layer `root`. The layers in `in_memory` stand for the assets of these names.
    pub(crate) fn compose(
        file: &Path,
        root: &str,
        options: &OpenOptions,
        in_memory: impl IntoIterator<Item = (String, Arc<Layer>)>,
    ) -> Result<Self> {
        let mut resolver = FileResolver::new(options.search_paths.clone());
        resolver.files = options.files.clone();
        for (name, layer) in in_memory {
            resolver.add_layer(name, layer);
        }
        let resolver = Arc::new(resolver);
        let mut stage_options = StageOptions::new(resolver.clone(), root);
        stage_options.session = Some(Arc::new(variants::session_layer(&options.variants)));
        let stage = Stage::open(stage_options).map_err(|e| Error::open(file, e))?;
        variants::check(&stage, &options.variants)?;
        Ok(Self {
            stage,
            opened_with: options.clone(),
            chosen_clip: ChosenClip::default(),
            extents: Vec::new(),
            made: None,
            resolver,
            file: file.to_owned(),
        })
    }

    /// Changes the root layer in memory. The stage is composed anew.
    pub(crate) fn edit_root(
        &mut self,
        change: impl FnOnce(&mut Layer),
    ) -> std::result::Result<(), sinew_stage::Error> {
        let root = self.stage.root_identifier().to_owned();
        self.stage.edit(&root, change)
    }

    /// Whether the stage was made from a file of another format.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.made.is_some()
    }

    /// The file's name, as opened.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Lists the files that the stage is composed of, so that a viewer can read it again
    /// when one of them changes. A file of another format counts as one such file, and so does a
    /// package with all that is in it.
    #[must_use]
    pub fn layer_files(&self) -> Vec<PathBuf> {
        let mut out = vec![self.file.clone()];
        for (layer, _) in self.stage.layers() {
            // `package.usdz[layer.usdc]`
            let layer = layer.split_once('[').map_or(layer, |(package, _)| package);
            let path = PathBuf::from(layer);
            if self.resolver.files.size(&path).is_ok() && !out.contains(&path) {
                out.push(path);
            }
        }
        out
    }
}
