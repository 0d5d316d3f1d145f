//! The engine: kernels, crowds, posing and outputs against their mirrors and the f64 reference; and the suite's work loads
//! and peers, which its numbers rest on.

mod crowds;
mod kernels;
mod layers;
mod outputs;
mod posing;
mod shaders;
mod suite_peers;
mod suite_workloads;

#[path = "../../benches/suite/export.rs"]
mod export;
#[path = "../../benches/suite/load.rs"]
#[allow(dead_code, reason = "times mean nothing here")]
mod load;
#[path = "../../benches/suite/peers/mod.rs"]
#[allow(dead_code, reason = "the suite uses the list, this test the parts")]
mod peers;
#[path = "../../benches/suite/workloads/mod.rs"]
mod workloads;

fn main() {
    common::trials::run([
        ("crowds", crowds::trials()),
        ("kernels", kernels::trials()),
        ("layers", layers::trials()),
        ("outputs", outputs::trials()),
        ("posing", posing::trials()),
        ("shaders", shaders::trials()),
        ("peers", suite_peers::trials()),
        ("workloads", suite_workloads::trials()),
    ])
}
