//! The shaders. The text of each begins with the parts that it shares with others.

/// A shader module and its entry points. It is public so that a test can translate it for every
/// backend.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// Label of the module.
    pub name: &'static str,
    /// The whole text.
    pub wgsl: &'static str,
    /// Names of the vertex entry points.
    pub vertex: &'static [&'static str],
    /// Names of the fragment entry points.
    pub fragment: &'static [&'static str],
}

macro_rules! wgsl {
    ($($name:literal),+) => {
        concat!($(include_str!(concat!("../shaders/", $name, ".wgsl"))),+)
    };
}

pub(super) const SURFACE: Shader = Shader {
    name: "render.surface",
    wgsl: wgsl!(
        "frame",
        "mesh",
        "occlusion",
        "material",
        "shading",
        "surface",
        "caster"
    ),
    vertex: &["vertex", "curve", "place"],
    fragment: &["fragment", "caster"],
};

pub(super) const BACKGROUND: Shader = Shader {
    name: "render.background",
    wgsl: wgsl!("frame", "background"),
    vertex: &["vertex"],
    fragment: &["fragment"],
};

pub(super) const GROUND: Shader = Shader {
    name: "render.ground",
    wgsl: wgsl!("frame", "occlusion", "ground"),
    vertex: &["vertex"],
    fragment: &["fragment"],
};

pub(super) const SHADOW_MESH: Shader = Shader {
    name: "render.shadow_mesh",
    wgsl: wgsl!("frame", "mesh", "shadow_mesh"),
    vertex: &["vertex"],
    fragment: &["fragment"],
};

pub(super) const SHADOW: Shader = Shader {
    name: "render.shadow",
    wgsl: wgsl!("shadow"),
    vertex: &["vertex"],
    fragment: &["across", "along"],
};

pub(super) const LINES: Shader = Shader {
    name: "render.lines",
    wgsl: wgsl!("frame", "lines"),
    vertex: &["free"],
    fragment: &["fragment"],
};

pub(super) const MESH_LINES: Shader = Shader {
    name: "render.mesh_lines",
    wgsl: wgsl!("frame", "mesh", "lines", "mesh_lines"),
    vertex: &["free", "edge", "normal"],
    fragment: &["fragment"],
};

pub(super) const BONES: Shader = Shader {
    name: "render.bones",
    wgsl: wgsl!("frame", "bones"),
    vertex: &["vertex"],
    fragment: &["fragment"],
};

/// All shaders of a [`super::Renderer`].
#[doc(hidden)]
pub const SHADERS: [Shader; 8] = [
    SURFACE,
    BACKGROUND,
    GROUND,
    SHADOW_MESH,
    SHADOW,
    LINES,
    MESH_LINES,
    BONES,
];
