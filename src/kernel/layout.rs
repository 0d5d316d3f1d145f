//! The description of a kernel that a pipeline needs. `tests/engine/shaders.rs` compares it with
//! the parsed WGSL.

/// How a kernel uses a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `var<uniform>`.
    Uniform,
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

/// One `@group(0)` binding of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// `@binding` number.
    pub index: u32,
    /// Variable name in the shader.
    pub name: &'static str,
    /// How it is bound.
    pub access: Access,
    /// Size of one element in bytes. A bound buffer has at least this size.
    pub min_bytes: u64,
}

impl Binding {
    pub(super) const fn new(
        index: u32,
        name: &'static str,
        access: Access,
        min_bytes: usize,
    ) -> Self {
        Self {
            index,
            name,
            access,
            min_bytes: min_bytes as u64,
        }
    }
}

/// A `#[repr(C)]` struct that a shader reads.
#[derive(Clone, Copy, Debug)]
pub struct StructLayout {
    /// Struct name, the same in WGSL.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Its declaration in WGSL.
    pub wgsl: &'static str,
}

/// A compute kernel: its WGSL and everything that a pipeline needs to know about it. Its only entry
/// point is `main`.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Label, such as `skin`.
    pub name: &'static str,
    /// The WGSL text, with common parts and without the structs: [`Kernel::source`] has them.
    pub wgsl: &'static str,
    /// Bindings of group 0, by index.
    pub bindings: &'static [Binding],
    /// Structs behind the bindings, and their members'.
    pub structs: &'static [StructLayout],
    /// Names of its boolean overrides, in the order of the bits of a variant.
    pub overrides: &'static [&'static str],
    /// Names of its u32 overrides, in the order of a variant's numbers: which output binding a kind
    /// of result goes to, and how many influences a point has.
    pub numbers: &'static [&'static str],
}

impl Kernel {
    /// The whole WGSL source.
    #[must_use]
    pub fn source(&self) -> String {
        let structs = self.structs.iter().map(|layout| layout.wgsl);
        structs.chain([self.wgsl]).collect()
    }
}

/// The text of a kernel: the constants of [`super::registry`], then these files of the folder of
/// shaders.
macro_rules! wgsl {
    ($($file:literal),+) => {
        concat!($crate::kernel::registry::constants_wgsl!(), $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $file, ".wgsl"))),+)
    };
}
pub(crate) use wgsl;

/// Defines a `#[repr(C)]` struct of `u32` and `f32`, or of such structs, for Rust and for WGSL.
macro_rules! gpu_struct {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* }

        impl $name {
            /// The struct of the same name in WGSL.
            pub const LAYOUT: $crate::kernel::StructLayout = $crate::kernel::StructLayout {
                name: stringify!($name),
                size: size_of::<Self>(),
                wgsl: concat!(
                    "struct ", stringify!($name), " {\n",
                    $("    ", stringify!($field), ": ", stringify!($ty), ",\n",)*
                    "}\n",
                ),
            };
        }
    };
}
pub(crate) use gpu_struct;

gpu_struct! {
    /// The workgroups of an item table that one dispatch runs. Workgroups have consecutive numbers
    /// through all items of the table. A dispatch runs a rectangle of them, so that no dimension
    /// exceeds the limit of the device.
    pub struct Dispatch {
        /// Items in the table.
        item_count: u32,
        /// Number of the first workgroup of this dispatch.
        first_workgroup: u32,
        /// One past the last.
        end_workgroup: u32,
        /// Workgroups in x.
        row_width: u32,
        /// Mean number of items per unit, for a first guess at the item of a unit. A unit is a
        /// workgroup, or an invocation if items share workgroups.
        items_per_unit: f32,
        /// 0 if the frame computes every instance; otherwise their states say which.
        skips: u32,
    }
}
