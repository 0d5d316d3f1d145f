//! Detects the instructions that the CPU mirror may use.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// Proof that this machine has AVX2 and FMA: there is no other way to get one than
/// [`Avx2Fma::detect`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2Fma(());

#[cfg(target_arch = "x86_64")]
impl Avx2Fma {
    /// Checks the machine, once per process. `SINEW_CPU=baseline` makes the result `None`, so that
    /// the loops for other machines can be tested and timed on this one.
    pub fn detect() -> Option<Self> {
        static IS_AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
            let baseline = std::env::var("SINEW_CPU").is_ok_and(|v| v == "baseline");
            !baseline && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
        });
        IS_AVAILABLE.then_some(Self(()))
    }
}

/// The instructions that the CPU mirror uses, such as `x86_64 avx2 fma`. The last bits of its
/// results depend on them.
#[must_use]
pub fn cpu_instructions() -> String {
    let arch = std::env::consts::ARCH;
    #[cfg(target_arch = "x86_64")]
    if Avx2Fma::detect().is_some() {
        return format!("{arch} avx2 fma");
    }
    arch.to_owned()
}
