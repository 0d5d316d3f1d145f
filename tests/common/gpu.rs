//! Which trials a machine without a driver skips, and how it says so.

/// `SINEW_NO_GPU=1`: GPU trials show as ignored. Without it they fail where there is no adapter.
pub fn skipped() -> bool {
    let skip = std::env::var("SINEW_NO_GPU").is_ok_and(|v| v == "1");
    if skip {
        eprintln!("GPU tests are ignored: SINEW_NO_GPU=1");
    }
    skip
}
