//! One GPU machine for a whole test binary, software adapters included.

use std::sync::OnceLock;

use sinew::gpu::{AdapterChoice, GpuDevice, GpuError};
use sinew_verify::Machine;

/// Set to 1 where a machine is known to have no Vulkan driver at all.
const NO_GPU: &str = "SINEW_NO_GPU";

/// Whether GPU trials are to be shown as ignored; prints why.
pub fn ignored() -> bool {
    let ignored = std::env::var(NO_GPU).is_ok_and(|v| v == "1");
    if ignored {
        eprintln!("GPU trials are ignored because {NO_GPU}=1");
    }
    ignored
}

/// The shared machine. Without an adapter every GPU trial fails, so that none passes in silence.
pub fn machine() -> Result<&'static Machine, String> {
    static MACHINE: OnceLock<Result<Machine, GpuError>> = OnceLock::new();
    MACHINE
        .get_or_init(|| Machine::open(&AdapterChoice::Any))
        .as_ref()
        .map_err(|e| format!("{e}; set {NO_GPU}=1 to leave GPU trials out"))
}

/// Its device with all that the adapter gives.
pub fn device() -> Result<&'static GpuDevice, String> {
    Ok(machine()?.adapter_limits().opened())
}
