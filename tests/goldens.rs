fn main() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens");
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.to_str().unwrap().ends_with(".golden.json")).collect();
    names.sort();
    for n in names {
        let g: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&n).unwrap()).unwrap();
        let stage = format!("{dir}/{}", g["stage"].as_str().unwrap());
        let u = match sinew::io::usd::UsdFile::open(&stage) { Ok(u)=>u, Err(e)=>{println!("{stage} {e}"); continue} };
        let s = u.scene(Default::default()).unwrap();
        println!("== {}", g["stage"]);
        for (prim, b) in g["bindings"].as_object().unwrap() {
            let ours = s.resolve(prim).ok();
            let anim = ours.and_then(|o| o.skeleton().instance.animation().map(|a| a.path.clone()));
            let skel = ours.map(|o| o.skeleton().path.clone());
            if skel.as_deref() != b["skeleton"].as_str() || anim.as_deref() != b["animation"].as_str() { println!("  BIND {prim} ours {skel:?} {anim:?} pixar {b}"); }
        }
        for (prim, attrs) in g["baked"].as_object().unwrap() {
            let Ok(bound) = s.resolve(prim) else { println!("  MISSING {prim}"); continue };
            let mut worst = (0.0f64, String::new());
            let mut worstn = (0.0f64, String::new());
            let pts = if attrs.get("deformed_prim_space").is_some() { &attrs["deformed_prim_space"] } else { &attrs["points"] };
            let empty = Default::default();
            for (t, v) in pts.as_object().unwrap_or(&empty) {
                let time = t.parse().map_or(sinew::sampled::Time::Default, sinew::sampled::Time::At);
                let r = bound.skin(time).and_then(|k| bound.pose(time).map(|p| sinew::skel::reference::deform(&k, &p)));
                let r = match r { Ok(r)=>r, Err(e)=>{ println!("  ERR {prim} {e}"); break } };
                for (i,(a,b)) in r.points.iter().zip(v.as_array().unwrap()).enumerate() {
                    for k in 0..3 { let d=(a[k]-b[k].as_f64().unwrap()).abs(); if !(d <= worst.0) { worst=(d, format!("t={t} i={i} ours {a} pixar {b}")); } }
                }
                if let (Some(n), Some(g)) = (&r.normals, attrs["normals"].get(t)) {
                    for (i,(a,b)) in n.iter().zip(g.as_array().unwrap()).enumerate() {
                        for k in 0..3 { let d=(a[k]-b[k].as_f64().unwrap()).abs(); if !(d <= worstn.0) { worstn=(d, format!("t={t} i={i} ours {a} pixar {b}")); } }
                    }
                }
            }
            println!("  {prim} {:.2e} n {:.2e} {} {} {}", worst.0, worstn.0, if worst.0>2e-6 {&worst.1} else {""}, if worstn.0>1e-4 {&worstn.1} else {""}, bound.binding().unsupported.clone().unwrap_or_default());
        }
        for w in s.warnings { println!("    w {w}"); }
        for w in s.errors { println!("    e {w}"); }
    }
}
