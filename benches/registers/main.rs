//! What a GPU's own compiler makes of the kernels: registers, spills, code size. Mesa's RADV compiles for AMD GPUs without
//! one (`RADV_FORCE_FAMILY`), so every machine with Mesa's Vulkan drivers can ask:
//!
//!     VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/radeon_icd.x86_64.json RADV_FORCE_FAMILY=navi21 \
//!         cargo bench -p sinew-cli --bench registers
//!
//! SPIR-V is made by naga as wgpu makes it. The columns "latency" and "waves" of Mesa's statistics are left out: its latency
//! counts 8 trips of every loop and no memory.

#![expect(unsafe_code, reason = "Vulkan")]

use std::collections::HashMap;
use std::error::Error;
use std::ffi::CStr;

use ash::{khr, vk};
use naga::back::pipeline_constants::process_overrides;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use sinew::kernel::Kernel;
use sinew::kernel::registry::KERNELS;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The variants of a kernel that are asked about: the overrides that are 1 (or `NAME=N`). Kernels that are not here are asked
/// about without overrides.
const VARIANTS: &[(&str, &[&str])] = &[
    (
        "skin",
        &[
            "",
            "INFLUENCES=4",
            "WITH_NORMALS",
            "WITH_NORMALS INFLUENCES=4",
            "WITH_NORMALS WITH_PREVIOUS INFLUENCES=4",
            "WITH_NORMALS WITH_SOURCES",
            "WITH_NORMALS WITH_SOURCES WITH_TANGENTS",
            "WITH_NORMALS WITH_SOURCES WITH_TANGENTS INFLUENCES=4",
            "WITH_BLEND",
            "WITH_NORMALS WITH_BLEND",
            "WITH_NORMALS WITH_BLEND WITH_SOURCES",
            "WITH_NORMALS WITH_DUAL_QUATERNIONS",
            "WITH_NORMALS WITH_BLEND WITH_SOURCES WITH_TANGENTS WITH_PREVIOUS WITH_DUAL_QUATERNIONS",
            "WITH_NORMALS WITH_BLEND WITH_SOURCES WITH_TANGENTS WITH_PREVIOUS SHARED_WORKGROUPS",
        ],
    ),
    ("pose_rig", &["", "WITH_DUAL_QUATERNIONS"]),
    ("play", &[""]),
];

fn main() -> Result<()> {
    // SAFETY: objects are used on this thread, while what made them lives, and are freed by the end of the process.
    let compiler = unsafe { Compiler::new()? };
    println!("{}\n", compiler.name);
    println!(
        "| kernel | variant | vector registers | spilled | scalar | code, bytes | instructions |"
    );
    println!("|---|---|---|---|---|---|---|");
    for kernel in KERNELS {
        let variants = VARIANTS.iter().find(|(name, _)| *name == kernel.name);
        for variant in variants.map_or(&[""][..], |(_, variants)| variants) {
            let words = spirv(kernel, variant)?;
            // SAFETY: as above; naga made the SPIR-V.
            let found = unsafe { compiler.statistics(kernel, &words)? };
            let of = |name: &str| found.get(name).copied().unwrap_or_default();
            println!(
                "| {} | {} | {} | {} | {} | {} | {} |",
                kernel.name,
                variant.to_lowercase().replace("with_", ""),
                of("VGPRs"),
                of("Spilled VGPRs") + of("Spilled SGPRs"),
                of("SGPRs"),
                of("Code size"),
                of("Instructions"),
            );
        }
    }
    Ok(())
}

/// A kernel's SPIR-V as wgpu makes it for a device with robustBufferAccess2.
fn spirv(kernel: &Kernel, variant: &str) -> Result<Vec<u32>> {
    let module = naga::front::wgsl::parse_str(&kernel.source())?;
    let capabilities = naga::valid::Capabilities::default();
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
    let info = validator.validate(&module)?;
    let mut constants: HashMap<String, f64> = kernel
        .overrides
        .iter()
        .map(|name| ((*name).into(), 0.0))
        .collect();
    for word in variant.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, "1"));
        constants.insert(name.into(), value.parse()?);
    }
    let stage = naga::ShaderStage::Compute;
    let constants = constants.into_iter().collect();
    let (module, info) = process_overrides(&module, &info, Some((stage, "main")), &constants)?;
    let options = spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            ..Default::default()
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Native,
        ..Default::default()
    };
    let entry = spv::PipelineOptions {
        shader_stage: stage,
        entry_point: "main".into(),
    };
    Ok(spv::write_vec(&module, &info, &options, Some(&entry))?)
}

/// The driver's compiler.
struct Compiler {
    name: String,
    device: ash::Device,
    properties: khr::pipeline_executable_properties::Device,
    _instance: ash::Instance,
    _entry: ash::Entry,
}

impl Compiler {
    unsafe fn new() -> Result<Self> {
        // SAFETY: the caller's.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let instance = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&instance, None)?;
            let devices = instance.enumerate_physical_devices()?;
            let first = devices
                .first()
                .ok_or("no Vulkan driver: see the first lines of this file")?;
            let name = instance.get_physical_device_properties(*first);
            let name = CStr::from_ptr(name.device_name.as_ptr())
                .to_string_lossy()
                .into_owned();
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let extensions = [
                khr::pipeline_executable_properties::NAME.as_ptr(),
                ash::ext::robustness2::NAME.as_ptr(),
            ];
            let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
            let mut robust =
                vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
            let mut told = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
                .pipeline_executable_info(true);
            let mut newer = vk::PhysicalDeviceVulkan13Features::default()
                .shader_zero_initialize_workgroup_memory(true);
            let device = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .enabled_features(&features)
                .push_next(&mut robust)
                .push_next(&mut told)
                .push_next(&mut newer);
            let device = instance.create_device(*first, &device, None)?;
            let properties = khr::pipeline_executable_properties::Device::new(&instance, &device);
            Ok(Self {
                name,
                device,
                properties,
                _instance: instance,
                _entry: entry,
            })
        }
    }

    unsafe fn statistics(&self, kernel: &Kernel, spirv: &[u32]) -> Result<HashMap<String, u64>> {
        use sinew::kernel::Access;
        // SAFETY: the caller's.
        unsafe {
            let of = |b: &sinew::kernel::Binding| {
                let kind = match b.access {
                    Access::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
                    _ => vk::DescriptorType::STORAGE_BUFFER,
                };
                let binding = vk::DescriptorSetLayoutBinding::default()
                    .binding(b.index)
                    .descriptor_type(kind);
                binding
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            };
            let bindings: Vec<_> = kernel.bindings.iter().map(of).collect();
            let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [self.device.create_descriptor_set_layout(&set, None)?];
            let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = self.device.create_pipeline_layout(&layout, None)?;
            let module = vk::ShaderModuleCreateInfo::default().code(spirv);
            let module = self.device.create_shader_module(&module, None)?;
            let entry = std::ffi::CString::new("main")?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&entry);
            let pipeline = vk::ComputePipelineCreateInfo::default()
                .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR)
                .stage(stage)
                .layout(layout);
            let made =
                self.device
                    .create_compute_pipelines(vk::PipelineCache::null(), &[pipeline], None);
            let pipeline = made.map_err(|(_, error)| error)?[0];
            let executable = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
            let found = self
                .properties
                .get_pipeline_executable_statistics(&executable)?;
            let named = |s: &vk::PipelineExecutableStatisticKHR<'_>| {
                let name = CStr::from_ptr(s.name.as_ptr())
                    .to_string_lossy()
                    .into_owned();
                (name, s.value.u64)
            };
            Ok(found.iter().map(named).collect())
        }
    }
}
