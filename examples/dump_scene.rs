use sinew::io::usd::{UsdFile, ReadOptions};
use sinew::sampled::Time;
fn main() {
    for f in std::env::args().skip(1) {
        println!("== {f}");
        let t0=std::time::Instant::now();
        match UsdFile::open(&f).and_then(|u| u.scene(ReadOptions::default())) {
            Err(e) => println!("ERR {e}"),
            Ok(s) => {
                for b in s.bound_skins() {
                    let t = s.time_line.range.map_or(Time::Default, |r| Time::At(r.1));
                    let d = b.skin(t).and_then(|k| b.pose(t).map(|p| sinew::skel::reference::deform(&k,&p)));
                    println!("{} -> {} anim {:?} unsupported {:?} {:?}", b.binding().path, b.skeleton().path, b.skeleton().instance.animation().map(|a|&a.path), b.binding().unsupported,
                       d.map(|d| d.points.first().copied()).map_err(|e|e.to_string()));
                }
                for e in &s.errors { println!("error {e}"); }
                for w in &s.warnings { println!("warn {w}"); }
            }
        }
        println!("{:?}", t0.elapsed());
    }
}
