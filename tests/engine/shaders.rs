//! Every shader parses, validates and translates, and agrees with its Rust side.

use std::collections::BTreeMap;

use common::node;
use common::trials::Trial;
use common::worker::Worker;
use libtest_mimic::Failed;
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Expression, Literal, Module, ScalarKind, StorageAccess, TypeInner};
use sinew::kernel::registry::{CONSTANTS, Constant, KERNELS, WORKGROUP_SIZE};
use sinew::kernel::{Access, Kernel};
use sinew_render::Shader;

type Check = fn(&Kernel) -> Result<(), String>;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kernel in KERNELS {
        let checks: [(&str, Check); 9] = [
            ("validates", |k| validated(&k.source()).map(drop)),
            ("to_spirv", |k| variants(k)?.iter().try_for_each(spirv)),
            ("to_msl", |k| variants(k)?.iter().try_for_each(msl)),
            ("to_hlsl", |k| variants(k)?.iter().try_for_each(hlsl)),
            ("to_glsl", |k| variants(k)?.iter().try_for_each(glsl)),
            ("structs_agree", structs),
            ("bindings_agree", bindings),
            ("entry_and_overrides_agree", entry),
            ("constants_agree", constants),
        ];
        for (name, check) in checks {
            let name = format!("{}::{name}", kernel.name);
            trials.push(Trial::test(name, move || {
                check(kernel).map_err(Failed::from)
            }));
        }
    }
    for shader in sinew_render::SHADERS {
        type Check = fn(&Shader) -> Result<(), String>;
        let checks: [(&str, Check); 4] = [
            ("to_spirv", |s| drawn(s)?.iter().try_for_each(spirv)),
            ("to_msl", |s| drawn(s)?.iter().try_for_each(msl)),
            ("to_hlsl", |s| drawn(s)?.iter().try_for_each(hlsl)),
            ("entries_agree", drawn_entries),
        ];
        for (name, check) in checks {
            let name = format!("{}::{name}", shader.name);
            trials.push(Trial::test(name, move || {
                check(&shader).map_err(Failed::from)
            }));
        }
    }
    trials.push(Trial::test(
        "negative::a_changed_struct_is_seen",
        changed_struct,
    ));
    trials.push(node::trial("in_dawn", in_dawn));
    trials
}

/// Browsers translate WGSL by Tint, which may refuse what naga accepts. Dawn, without a GPU, compiles every module, and every
/// variant of every kernel.
fn in_dawn() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut dawn = Worker::new("node", "tests/node/dawn.mjs", folder.path(), 0)?;
    let mut refused = Vec::new();
    let mut ask = |name: &str, request: serde_json::Value| -> Result<u64, Failed> {
        let answer = dawn.ask(&request)?;
        for message in answer["messages"].as_array().ok_or("no messages")? {
            refused.push(format!("{name}: {}", message.as_str().unwrap_or_default()));
        }
        Ok(answer["pipelines"].as_u64().ok_or("no pipelines")?)
    };
    for kernel in KERNELS {
        let constants = variant_constants(kernel);
        let constants: Vec<BTreeMap<String, f64>> = constants
            .into_iter()
            .map(|c| c.into_iter().collect())
            .collect();
        let request = serde_json::json!({
            "wgsl": kernel.source(), "entry": "main", "constants": constants,
        });
        if ask(kernel.name, request)? != constants.len() as u64 {
            return Err(format!("{}: not every variant became a pipeline", kernel.name).into());
        }
    }
    for shader in sinew_render::SHADERS {
        ask(shader.name, serde_json::json!({ "wgsl": shader.wgsl }))?;
    }
    let broken = serde_json::json!({ "wgsl": "fn f() -> u32 { return 1.5; }" });
    if dawn.ask(&broken)?["messages"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        return Err("what is no WGSL passed".into());
    }
    match refused.is_empty() {
        true => Ok(()),
        false => Err(refused.join("\n").into()),
    }
}

/// A module, and what the validator found out about it.
type Variant = (Module, ModuleInfo);

fn parse(wgsl: &str) -> Result<Module, String> {
    naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))
}

fn validate(module: Module) -> Result<Variant, String> {
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|e| format!("{e:?}"))?;
    Ok((module, info))
}

fn validated(wgsl: &str) -> Result<Variant, String> {
    validate(parse(wgsl)?)
}

/// The same with its overrides settled, as the writers want it.
fn settled(
    (module, info): &Variant,
    stage: Option<(naga::ShaderStage, &str)>,
    constants: &PipelineConstants,
) -> Result<Variant, String> {
    let (module, _) =
        process_overrides(module, info, stage, constants).map_err(|e| e.to_string())?;
    validate(module.into_owned())
}

/// The override constants of every variant of a kernel.
fn variant_constants(kernel: &Kernel) -> Vec<PipelineConstants> {
    // Kinds of results apart from the positions, in their buffer, and one there; and numbers of influences.
    let bindings: &[[u8; 4]] = match kernel.numbers {
        [] => &[[0; 4]],
        _ => &[[1, 1, 1, 0], [0, 0, 0, 4], [0, 1, 1, 4]],
    };
    let all = (0..1u32 << kernel.overrides.len())
        .flat_map(|bits| bindings.iter().map(move |s| (bits, s)));
    all.map(|(bits, bindings)| {
        let mut constants = PipelineConstants::default();
        for (i, name) in kernel.overrides.iter().enumerate() {
            constants.insert((*name).to_owned(), f64::from(bits >> i & 1));
        }
        for (name, binding) in kernel.numbers.iter().zip(bindings) {
            constants.insert((*name).to_owned(), f64::from(*binding));
        }
        constants
    })
    .collect()
}

/// Every variant of a kernel.
fn variants(kernel: &Kernel) -> Result<Vec<Variant>, String> {
    let whole = validated(&kernel.source())?;
    let stage = Some((naga::ShaderStage::Compute, "main"));
    let all = variant_constants(kernel).into_iter();
    all.map(|constants| settled(&whole, stage, &constants))
        .collect()
}

fn not_empty(text: &str) -> Result<(), String> {
    match text.is_empty() {
        true => Err("nothing was written".into()),
        false => Ok(()),
    }
}

fn spirv((module, info): &Variant) -> Result<(), String> {
    let options = naga::back::spv::Options::default();
    let words = naga::back::spv::write_vec(module, info, &options, None);
    match words.map_err(|e| e.to_string())?.first() {
        Some(0x0723_0203) => Ok(()),
        _ => Err("no SPIR-V magic number".into()),
    }
}

fn msl((module, info): &Variant) -> Result<(), String> {
    let options = naga::back::msl::Options {
        fake_missing_bindings: true,
        ..Default::default()
    };
    let written = naga::back::msl::write_string(module, info, &options, &Default::default());
    not_empty(&written.map_err(|e| e.to_string())?.0)
}

fn hlsl((module, info): &Variant) -> Result<(), String> {
    let mut text = String::new();
    let options = naga::back::hlsl::Options {
        fake_missing_bindings: true,
        ..Default::default()
    };
    let pipeline = naga::back::hlsl::PipelineOptions::default();
    naga::back::hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .map_err(|e| e.to_string())?;
    not_empty(&text)
}

/// Of a kernel.
fn glsl((module, info): &Variant) -> Result<(), String> {
    use naga::back::glsl::{Options, PipelineOptions, Version, Writer};
    let mut text = String::new();
    let options = Options {
        version: Version::new_gles(310),
        ..Default::default()
    };
    let pipeline = PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: module.entry_points[0].name.clone(),
        multiview: None,
    };
    let policies = Default::default();
    Writer::new(&mut text, module, info, &options, &pipeline, policies)
        .and_then(|mut writer| writer.write())
        .map_err(|e| e.to_string())?;
    not_empty(&text)
}

/// Members have 4 bytes, or are structs of such, so that sizes agree where offsets do.
fn structs(kernel: &Kernel) -> Result<(), String> {
    let module = parse(&kernel.source())?;
    for layout in kernel.structs {
        let found = module
            .types
            .iter()
            .find(|(_, ty)| ty.name.as_deref() == Some(layout.name));
        let Some((
            _,
            naga::Type {
                inner: TypeInner::Struct { span, .. },
                ..
            },
        )) = found
        else {
            return Err(format!("no struct {} in the shader", layout.name));
        };
        if *span as usize != layout.size {
            return Err(format!(
                "{}: {span} bytes in WGSL, {} in Rust",
                layout.name, layout.size
            ));
        }
    }
    // No bound struct without a twin.
    for (_, variable) in module
        .global_variables
        .iter()
        .filter(|(_, v)| v.binding.is_some())
    {
        let ty = &module.types[variable.ty];
        let element = match ty.inner {
            TypeInner::Array { base, .. } => &module.types[base],
            _ => ty,
        };
        if matches!(element.inner, TypeInner::Struct { .. }) {
            let name = element.name.as_deref().unwrap_or_default();
            if !kernel.structs.iter().any(|s| s.name == name) {
                return Err(format!("{name} is bound but has no twin"));
            }
        }
    }
    Ok(())
}

fn bindings(kernel: &Kernel) -> Result<(), String> {
    let module = parse(&kernel.source())?;
    let mut wgsl: Vec<_> = module
        .global_variables
        .iter()
        .filter_map(|(_, v)| {
            let binding = v.binding.as_ref()?;
            let access = match v.space {
                AddressSpace::Uniform => Access::Uniform,
                AddressSpace::Storage { access } if access == StorageAccess::LOAD => Access::Read,
                _ => Access::ReadWrite,
            };
            Some((
                binding.group,
                binding.binding,
                v.name.clone().unwrap_or_default(),
                access,
            ))
        })
        .collect();
    wgsl.sort_by_key(|b| b.1);
    let rust: Vec<_> = kernel
        .bindings
        .iter()
        .map(|b| (0, b.index, b.name.to_owned(), b.access))
        .collect();
    if wgsl != rust {
        return Err(format!("WGSL has {wgsl:?}, Rust has {rust:?}"));
    }
    let storage = rust.iter().filter(|b| b.3 != Access::Uniform).count();
    if storage > 8 {
        return Err(format!("{storage} storage buffers; WebGPU promises 8"));
    }
    Ok(())
}

fn entry(kernel: &Kernel) -> Result<(), String> {
    let module = parse(&kernel.source())?;
    let [point] = &module.entry_points[..] else {
        return Err(format!("{} entry points", module.entry_points.len()));
    };
    if point.name != "main" || point.workgroup_size != [WORKGROUP_SIZE, 1, 1] {
        return Err(format!("{} with {:?}", point.name, point.workgroup_size));
    }
    let declared = |kind: ScalarKind| -> Vec<&str> {
        let of_kind = module.overrides.iter().filter(
            |(_, o)| matches!(module.types[o.ty].inner, TypeInner::Scalar(s) if s.kind == kind),
        );
        of_kind.filter_map(|(_, o)| o.name.as_deref()).collect()
    };
    let (switches, numbers) = (declared(ScalarKind::Bool), declared(ScalarKind::Uint));
    if switches.len() + numbers.len() != module.overrides.len() {
        return Err("overrides of another type".into());
    }
    // In order, for bits of a variant count by it.
    if switches == kernel.overrides && numbers == kernel.numbers {
        return Ok(());
    }
    Err(format!(
        "overrides {switches:?} and {numbers:?}, in Rust {:?} and {:?}",
        kernel.overrides, kernel.numbers
    ))
}

/// Every shared constant has the value in WGSL that it has in Rust, to the bit.
fn constants(kernel: &Kernel) -> Result<(), String> {
    let module = parse(&kernel.source())?;
    for (name, value) in CONSTANTS {
        let found = module
            .constants
            .iter()
            .find(|(_, c)| c.name.as_deref() == Some(*name));
        let Some((_, constant)) = found else {
            return Err(format!("no constant {name}"));
        };
        let agrees = match (&module.global_expressions[constant.init], value) {
            (Expression::Literal(Literal::I32(a)), Constant::I32(b)) => a == b,
            (Expression::Literal(Literal::U32(a)), Constant::U32(b)) => a == b,
            (Expression::Literal(Literal::F32(a)), Constant::F32(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        };
        if !agrees {
            let wgsl = &module.global_expressions[constant.init];
            return Err(format!("{name} is {wgsl:?} in WGSL, {value:?} in Rust"));
        }
    }
    Ok(())
}

/// A shader that draws, for either value of each override.
fn drawn(shader: &Shader) -> Result<Vec<Variant>, String> {
    let whole = validated(shader.wgsl)?;
    let with = |value: f64| {
        let names = whole.0.overrides.iter().filter_map(|(_, o)| o.name.clone());
        settled(&whole, None, &names.map(|name| (name, value)).collect())
    };
    [0.0, 1.0].into_iter().map(with).collect()
}

/// The entry points that pipelines name are those that there are, and storage buffers are few and read only.
fn drawn_entries(shader: &Shader) -> Result<(), String> {
    let module = parse(shader.wgsl)?;
    let of_stage = |stage| -> Vec<&str> {
        let points = module.entry_points.iter().filter(|p| p.stage == stage);
        points.map(|p| p.name.as_str()).collect()
    };
    let (vertex, fragment) = (
        of_stage(naga::ShaderStage::Vertex),
        of_stage(naga::ShaderStage::Fragment),
    );
    if vertex != shader.vertex || fragment != shader.fragment {
        return Err(format!("{vertex:?} and {fragment:?}"));
    }
    let mut storage = 0;
    for (_, variable) in module.global_variables.iter() {
        if let AddressSpace::Storage { access } = variable.space {
            storage += 1;
            if access != StorageAccess::LOAD {
                return Err(format!("{:?} is written to", variable.name));
            }
        }
    }
    match storage {
        0..=8 => Ok(()),
        more => Err(format!("{more} storage buffers; WebGPU promises 8")),
    }
}

/// The comparisons themselves notice a difference.
fn changed_struct() -> Result<(), Failed> {
    let changes: [(Check, &str, &str); 4] = [
        (constants, "const FRESH: u32 = 1;", "const FRESH: u32 = 2;"),
        (
            constants,
            "const CANCELLED: f32 = 1e-6;",
            "const CANCELLED: f32 = 1.0001e-6;",
        ),
        // A name that is used but not declared does not even parse.
        (constants, "const NONE: u32", "const NOTHING: i32"),
        (
            entry,
            "override WITH_NORMALS: bool = true;\noverride WITH_BLEND: bool = true;",
            "override WITH_BLEND: bool = true;\noverride WITH_NORMALS: bool = true;",
        ),
    ];
    let mut kernels = KERNELS.into_iter();
    let skin = kernels
        .find(|kernel| kernel.name == "skin")
        .expect("a kernel for skins");
    for (check, from, to) in changes {
        let text = skin.wgsl.replace(from, to);
        assert_ne!(text, skin.wgsl, "{from} is there");
        let changed = Kernel {
            wgsl: Box::leak(text.into_boxed_str()),
            ..*skin
        };
        if check(&changed).is_ok() {
            return Err(format!("{to} passed").into());
        }
    }
    let mut larger = skin.structs.to_vec();
    larger[0].size += 4;
    let changed = Kernel {
        structs: Box::leak(larger.into_boxed_slice()),
        ..*skin
    };
    if structs(&changed).is_ok() {
        return Err("a struct of another size passed".into());
    }
    let unlisted = Kernel {
        bindings: &skin.bindings[1..],
        ..*skin
    };
    match bindings(&unlisted) {
        Err(_) => Ok(()),
        Ok(()) => Err("a missing binding passed".into()),
    }
}
