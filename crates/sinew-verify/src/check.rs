//! A check, and the machine that it runs on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use sinew::gpu::{AdapterChoice, GpuError};
use web_time::Instant;

use crate::Failure;
use crate::host::Gpu;
use crate::measured::{Measured, during};

macro_rules! subjects {
    ($($(#[$doc:meta])* $name:ident: $text:literal,)*) => {
        /// What a check is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Subject {
            $($(#[$doc])* $name,)*
        }

        impl Subject {
            /// All of them, in the order of a report.
            pub const ALL: [Self; 13] = [$(Self::$name),*];

            /// Its name in a report.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

subjects! {
    /// Linear blend skinning of points and normals, any number of influences.
    Linear: "linear skinning",
    /// Skinning by dual quaternions.
    DualQuaternions: "dual quaternions",
    /// Blend shapes with in-betweens.
    BlendShapes: "blend shapes",
    /// Joint-local transforms to palettes.
    Posing: "posing",
    /// Packed animation clips.
    Clips: "clips",
    /// Normals of the deformed surface.
    SmoothNormals: "smooth normals",
    /// Render vertices and their tangents.
    Tangents: "tangents",
    /// Where results are written, and those of the frame before.
    Outputs: "outputs",
    /// Boxes around the results.
    Bounds: "bounds",
    /// Results in pieces, where a binding, a page or a dispatch ends.
    Limits: "limits",
    /// Instances that come and go, buffers that grow.
    Growth: "growth",
    /// Joint palettes, reading and repeated runs.
    Crowds: "crowds",
    /// A device that goes away.
    Loss: "loss of device",
}

/// An adapter, opened twice: with all that it gives, and with WebGPU's default limits and no feature.
pub struct Machine {
    adapter_limits: Gpu,
    default_limits: Gpu,
}

impl Machine {
    /// Opens an adapter for checks.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] and [`GpuError::NoDevice`].
    pub fn open(choice: &AdapterChoice) -> Result<Self, GpuError> {
        let adapter_limits = Gpu::new(sinew::gpu::GpuDevice::new(choice)?);
        let default_limits = adapter_limits.with_limits(wgpu::Limits::default())?;
        Ok(Self {
            adapter_limits,
            default_limits,
        })
    }

    /// With all that the adapter gives.
    #[must_use]
    pub fn adapter_limits(&self) -> &Gpu {
        &self.adapter_limits
    }

    /// With WebGPU's default limits and no feature.
    #[must_use]
    pub fn default_limits(&self) -> &Gpu {
        &self.default_limits
    }
}

/// Names of checks, and what each runs on a device.
pub(crate) type Checks = &'static [(&'static str, fn(&Gpu) -> Result<(), Failure>)];

type OnGpu = Box<dyn Fn(&Gpu) -> Result<(), Failure> + Send + Sync>;

pub(crate) enum Run {
    Cpu(Box<dyn Fn() -> Result<(), Failure> + Send + Sync>),
    AdapterLimits(OnGpu),
    DefaultLimits(OnGpu),
}

/// Something that has to hold. It can run more than once.
pub struct Check {
    name: String,
    subject: Subject,
    run: Run,
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// The error that took the largest share of what is allowed, where numbers were compared.
    pub worst: Option<Measured>,
    /// How long it took.
    pub took: Duration,
}

impl Check {
    pub(crate) fn new(subject: Subject, name: impl Into<String>, run: Run) -> Self {
        Self {
            name: name.into(),
            subject,
            run,
        }
    }

    /// Its name, the same in every version that has it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Whether it asks for a GPU; the others check the CPU mirror.
    #[must_use]
    pub fn needs_gpu(&self) -> bool {
        !matches!(self.run, Run::Cpu(_))
    }

    /// Runs it. A check that needs a GPU fails without a machine; one that panics has failed.
    #[must_use]
    pub fn run(&self, machine: Option<&Machine>) -> Outcome {
        let start = Instant::now();
        let on = |gpu: Option<&Gpu>, run: &OnGpu| -> Result<(), Failure> {
            let gpu = gpu.ok_or("no GPU to run on")?;
            run(gpu)?;
            Ok(gpu.check()?)
        };
        let run = || match &self.run {
            Run::Cpu(run) => run(),
            Run::AdapterLimits(run) => on(machine.map(Machine::adapter_limits), run),
            Run::DefaultLimits(run) => on(machine.map(Machine::default_limits), run),
        };
        let (result, worst) = during(|| catch_unwind(AssertUnwindSafe(run)));
        let result = result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            Err(format!("panicked: {}", text.unwrap_or("without a word")).into())
        });
        let beyond = worst.filter(|worst| worst.share() > 1.0);
        let beyond = beyond.map(|Measured { error, allowed }| {
            format!("passed with an error of {error}, where {allowed} is allowed").into()
        });
        Outcome {
            failure: result.err().or(beyond),
            worst,
            took: start.elapsed(),
        }
    }
}
