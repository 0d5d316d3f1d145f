//! Files changed at random, and read whatever comes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use sinew_io::Error;

use super::memory::read;
use common::processor;
use common::rng::Rng;

/// Reads it, whatever comes of it, without a panic and in time: whether it was read, and what that took of a processor.
#[track_caller]
pub fn survives(
    bytes: &[u8],
    file: &Path,
    longest: Duration,
    what: &dyn Fn() -> String,
) -> (bool, Duration) {
    let (result, took) = processor::spent(|| catch_unwind(AssertUnwindSafe(|| read(bytes, file))));
    let Ok(result) = result else {
        panic!("{}: a panic", what());
    };
    assert!(took < longest, "{}: {took:?}", what());
    match &result {
        Ok(_) => {}
        Err(Error::Invalid(at)) => assert!(!at.prim.is_empty() && at.file.is_some(), "{at}"),
        Err(error) => panic!("{}: {error}", what()),
    }
    (result.is_ok(), took)
}

/// Some bytes changed, cut or repeated.
pub fn scrambled(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(out.len());
        match rng.below(8) {
            0 => out.truncate(at.max(1)),
            1 => {
                let end = (at + 1 + rng.below(16)).min(out.len());
                out.drain(at..end);
            }
            2 => out.insert(at, rng.bits() as u8),
            3 => out[at] = b"0129-e\"[]{},:"[rng.below(13)],
            _ => out[at] ^= 1 << rng.below(8),
        }
        if out.is_empty() {
            return vec![b'{'];
        }
    }
    out
}
