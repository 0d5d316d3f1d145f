//! `sinew devices`.
use crate::report::print_result;

/// Lists adapters.
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> sinew::Result<()> {
    print_result("cpu\n")
}
