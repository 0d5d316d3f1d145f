//! Files that break a rule, each an error with its location.

use serde_json::{Value, json};

use crate::vrm::made::{read_as, vrm0, vrm1, vrma};
use common::gltf_maker::GltfMaker;
use common::mannequin::Mannequin;
use common::rng::Rng;

/// What is broken in a document, and where the error has to point.
type Breakage = (&'static str, &'static str, fn(&mut GltfMaker));

fn ext<'a>(gltf: &'a mut GltfMaker, pointer: &str) -> &'a mut Value {
    let value = gltf.json["extensions"].pointer_mut(pointer);
    value.unwrap_or_else(|| panic!("{pointer}"))
}

fn remove(gltf: &mut GltfMaker, pointer: &str, key: &str) {
    ext(gltf, pointer)
        .as_object_mut()
        .expect("an object")
        .remove(key);
}

const BROKEN_1: &[Breakage] = &[
    ("", "VRMC_vrm", |g| *ext(g, "/VRMC_vrm") = json!(1)),
    ("vrm-spec-version", "VRMC_vrm.specVersion", |g| {
        *ext(g, "/VRMC_vrm/specVersion") = json!("2.0")
    }),
    ("", "VRMC_vrm.specVersion", |g| {
        *ext(g, "/VRMC_vrm/specVersion") = json!(1)
    }),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm.humanoid.humanBones",
        |g| remove(g, "/VRMC_vrm", "humanoid"),
    ),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm.humanoid.humanBones",
        |g| remove(g, "/VRMC_vrm/humanoid", "humanBones"),
    ),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm.humanoid.humanBones",
        |g| *ext(g, "/VRMC_vrm/humanoid/humanBones") = json!({}),
    ),
    ("", "VRMC_vrm.humanoid.humanBones", |g| {
        *ext(g, "/VRMC_vrm/humanoid/humanBones") = json!([])
    }),
    ("", "VRMC_vrm.humanoid.humanBones.hips", |g| {
        *ext(g, "/VRMC_vrm/humanoid/humanBones/hips") = json!(3)
    }),
    ("", "VRMC_vrm.humanoid.humanBones.hips.node", |g| {
        remove(g, "/VRMC_vrm/humanoid/humanBones/hips", "node")
    }),
    (
        "vrm-node-range",
        "VRMC_vrm.humanoid.humanBones.head.node",
        |g| *ext(g, "/VRMC_vrm/humanoid/humanBones/head/node") = json!(4000),
    ),
    (
        "vrm-node-range",
        "VRMC_vrm.humanoid.humanBones.head.node",
        |g| *ext(g, "/VRMC_vrm/humanoid/humanBones/head/node") = json!(-1),
    ),
    (
        "vrm-node-reused",
        "VRMC_vrm.humanoid.humanBones.rightToes.node",
        |g| {
            *ext(g, "/VRMC_vrm/humanoid/humanBones/rightToes/node") =
                ext(g, "/VRMC_vrm/humanoid/humanBones/rightFoot/node").clone();
        },
    ),
    ("", "VRMC_vrm.expressions", |g| {
        *ext(g, "/VRMC_vrm/expressions") = json!([])
    }),
    ("", "VRMC_vrm.expressions.preset", |g| {
        *ext(g, "/VRMC_vrm/expressions/preset") = json!("happy")
    }),
    ("", "VRMC_vrm.expressions.custom.puff", |g| {
        *ext(g, "/VRMC_vrm/expressions/custom/puff") = json!(true)
    }),
    ("", "VRMC_vrm.expressions.preset.happy.isBinary", |g| {
        ext(g, "/VRMC_vrm/expressions/preset/happy")["isBinary"] = json!(1)
    }),
    (
        "",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds",
        |g| *ext(g, "/VRMC_vrm/expressions/preset/happy/morphTargetBinds") = json!({}),
    ),
    (
        "expression-target-range",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds[1].node",
        |g| {
            *ext(
                g,
                "/VRMC_vrm/expressions/preset/happy/morphTargetBinds/1/node",
            ) = json!(999);
        },
    ),
    (
        "expression-target-range",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds[0].index",
        |g| {
            *ext(
                g,
                "/VRMC_vrm/expressions/preset/happy/morphTargetBinds/0/index",
            ) = json!(2);
        },
    ),
    (
        "",
        "VRMC_vrm.expressions.preset.happy.morphTargetBinds[0].weight",
        |g| {
            *ext(
                g,
                "/VRMC_vrm/expressions/preset/happy/morphTargetBinds/0/weight",
            ) = json!("all");
        },
    ),
    (
        "",
        "VRMC_vrm.expressions.custom[\"puff it\"].morphTargetBinds[0].node",
        |g| {
            ext(g, "/VRMC_vrm/expressions/custom")["puff it"] = json!({ "morphTargetBinds": [{}] });
        },
    ),
];

const BROKEN_0: &[Breakage] = &[
    ("", "VRM", |g| *ext(g, "/VRM") = json!([])),
    ("vrm-humanoid-missing", "VRM.humanoid.humanBones", |g| {
        remove(g, "/VRM/humanoid", "humanBones")
    }),
    ("vrm-humanoid-missing", "VRM.humanoid.humanBones", |g| {
        *ext(g, "/VRM/humanoid/humanBones") = json!([])
    }),
    ("", "VRM.humanoid.humanBones", |g| {
        *ext(g, "/VRM/humanoid/humanBones") = json!({ "hips": 1 })
    }),
    ("", "VRM.humanoid.humanBones[4].bone", |g| {
        remove(g, "/VRM/humanoid/humanBones/4", "bone")
    }),
    ("vrm-node-range", "VRM.humanoid.humanBones[4].node", |g| {
        *ext(g, "/VRM/humanoid/humanBones/4/node") = json!(-1)
    }),
    ("vrm-bone-twice", "VRM.humanoid.humanBones[1]", |g| {
        *ext(g, "/VRM/humanoid/humanBones/1/bone") = json!("hips")
    }),
    ("vrm-node-reused", "VRM.humanoid.humanBones[1].node", |g| {
        *ext(g, "/VRM/humanoid/humanBones/1/node") =
            ext(g, "/VRM/humanoid/humanBones/0/node").clone();
    }),
    ("", "VRM.blendShapeMaster.blendShapeGroups", |g| {
        *ext(g, "/VRM/blendShapeMaster/blendShapeGroups") = json!({})
    }),
    ("", "VRM.blendShapeMaster.blendShapeGroups[7].name", |g| {
        *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/7/name") = json!("")
    }),
    (
        "expression-target-range",
        "VRM.blendShapeMaster.blendShapeGroups[1].binds[0].mesh",
        |g| {
            *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/1/binds/0/mesh") = json!(7);
        },
    ),
    (
        "expression-target-range",
        "VRM.blendShapeMaster.blendShapeGroups[1].binds[0].index",
        |g| {
            *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/1/binds/0/index") = json!(2);
        },
    ),
    (
        "",
        "VRM.blendShapeMaster.blendShapeGroups[1].binds[0].weight",
        |g| {
            *ext(g, "/VRM/blendShapeMaster/blendShapeGroups/1/binds/0/weight") = json!([]);
        },
    ),
];

const BROKEN_ANIMATION: &[Breakage] = &[
    ("vrm-spec-version", "VRMC_vrm_animation.specVersion", |g| {
        *ext(g, "/VRMC_vrm_animation/specVersion") = json!("0.9")
    }),
    (
        "vrm-humanoid-missing",
        "VRMC_vrm_animation.humanoid.humanBones",
        |g| remove(g, "/VRMC_vrm_animation/humanoid", "humanBones"),
    ),
    (
        "vrm-node-range",
        "VRMC_vrm_animation.humanoid.humanBones.jaw.node",
        |g| *ext(g, "/VRMC_vrm_animation/humanoid/humanBones/jaw/node") = json!(700),
    ),
    (
        "expression-target-range",
        "VRMC_vrm_animation.expressions.preset.happy.node",
        |g| {
            *ext(g, "/VRMC_vrm_animation/expressions/preset/happy/node") = json!(700);
        },
    ),
    ("", "VRMC_vrm_animation.expressions.custom.puff.node", |g| {
        remove(g, "/VRMC_vrm_animation/expressions/custom/puff", "node")
    }),
    (
        "vrm-node-reused",
        "VRMC_vrm_animation.expressions.custom.puff.node",
        |g| {
            *ext(g, "/VRMC_vrm_animation/expressions/custom/puff/node") =
                ext(g, "/VRMC_vrm_animation/expressions/preset/happy/node").clone();
        },
    ),
    (
        "vrm-node-reused",
        "VRMC_vrm_animation.expressions.preset.happy.node",
        |g| {
            *ext(g, "/VRMC_vrm_animation/expressions/preset/happy/node") =
                ext(g, "/VRMC_vrm_animation/humanoid/humanBones/hips/node").clone();
        },
    ),
    ("vrm-node-range", "VRMC_vrm_animation.lookAt.node", |g| {
        *ext(g, "/VRMC_vrm_animation/lookAt/node") = json!(1e9)
    }),
];

pub fn malformed_files_are_errors_with_their_location() {
    let made: [(&str, &[Breakage], GltfMaker); 3] = [
        ("made.vrm", BROKEN_1, vrm1().gltf),
        ("made.vrm", BROKEN_0, vrm0().gltf),
        ("made.vrma", BROKEN_ANIMATION, vrma().gltf),
    ];
    let mut count = 0;
    for (name, breakages, good) in made {
        assert!(read_as(&good, name).is_ok());
        for (code, location, breaking) in breakages {
            let mut gltf = good.clone();
            breaking(&mut gltf);
            let error = match read_as(&gltf, name) {
                Err(sinew_io::Error::Invalid(invalid)) => invalid,
                other => panic!("{location}: {:?}", other.map(|a| a.warnings)),
            };
            assert_eq!(error.prim, format!("extensions.{location}"), "{error}");
            assert_eq!(error.code.unwrap_or(""), *code, "{error}");
            assert!(error.file.is_some() && !error.expected.is_empty() && !error.found.is_empty());
            count += 1;
        }
    }
    assert!(count >= 40, "{count}");
}

/// Every value of a document, by JSON pointer.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                pointers(value, format!("{at}/{key}"), out);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                pointers(value, format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

pub fn scrambled_files_are_told_not_followed() {
    let mut rng = Rng::new(20_261_121);
    let (mut refused, mut read) = (0, 0);
    for (name, good) in [
        ("made.vrm", vrm1().gltf),
        ("made.vrm", vrm0().gltf),
        ("made.vrma", vrma().gltf),
        ("made.glb", Mannequin::new().with_humanoid().gltf),
    ] {
        let mut all = Vec::new();
        pointers(&good.json, String::new(), &mut all);
        // What these extensions say, and what they point to.
        let binary = ["/accessors", "/bufferViews"];
        all.retain(|p| !p.is_empty() && !binary.iter().any(|b| p.starts_with(b)));
        for _ in 0..400 {
            let mut gltf = good.clone();
            for _ in 0..=rng.below(2) {
                let value = match rng.below(8) {
                    0 => json!(null),
                    1 => json!(-1),
                    2 => json!(rng.below(60)),
                    3 => json!(1e300),
                    4 => json!("leftHand"),
                    5 => json!([]),
                    6 => json!({}),
                    _ => json!([{ "node": rng.below(60) }]),
                };
                let pointer = &all[rng.below(all.len())];
                if let Some(place) = gltf.json.pointer_mut(pointer) {
                    *place = value;
                }
            }
            match read_as(&gltf, name) {
                Ok(_) => read += 1,
                Err(sinew_io::Error::Invalid(invalid)) => {
                    assert!(
                        !invalid.prim.is_empty() && invalid.file.is_some(),
                        "{invalid}"
                    );
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(
        refused > 400 && read > 100,
        "{refused} refused, {read} read"
    );
}
