//! What can go wrong on the GPU side.

/// A failure of the GPU side. None of these panics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter answers the wish.
    #[error("no GPU adapter for '{wanted}' (available: {})", list(available))]
    NoAdapter {
        /// The wish, in words.
        wanted: String,
        /// Names of the adapters that are there.
        available: Vec<String>,
    },
    /// The adapter gave no device.
    #[error("the adapter gives no device: {0}")]
    NoDevice(String),
    /// Something is larger than this device (or the options) allow.
    #[error("{what}: {asked} asked for, the limit is {limit}")]
    Limit {
        /// What is too large.
        what: String,
        /// Its size.
        asked: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A pose or an id that does not belong to what it is given to.
    #[error("{0}")]
    Mismatch(String),
    /// The device is lost: driver reset, unplugged, or out of memory.
    #[error("the GPU device is lost: {0}")]
    Lost(String),
    /// wgpu refused a command. A bug of sinew's.
    #[error("GPU validation: {0}")]
    Validation(String),
    /// Results could not be mapped for reading.
    #[error("GPU readback: {0}")]
    Readback(String),
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
