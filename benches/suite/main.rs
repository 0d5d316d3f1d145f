//! The measurements behind benches/RESULTS.md.

mod load;
mod peers;
mod workloads;

fn main() {
    for kind in workloads::Kind::ALL {
        let load = workloads::Workload::new(kind, 0.01);
        println!("{}: {:?}", kind.name(), load.size);
    }
}
