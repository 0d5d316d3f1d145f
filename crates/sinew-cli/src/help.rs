//! What `--help` shows. A command with many options has a few common ones, which `--help` lists;
//! `--help --all` lists all of them, in groups by what they are for.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};

/// The common options of commands that have many more, in the order of the help.
const COMMON: [(&str, &[&str]); 4] = [
    (
        "bake",
        &[
            "output", "to", "frames", "clip", "prim", "layer", "space", "backend", "json",
        ],
    ),
    (
        "convert",
        &[
            "output",
            "to",
            "clip",
            "flatten",
            "bake",
            "max_influences",
            "json",
        ],
    ),
    (
        "retarget",
        &[
            "output",
            "clip",
            "map",
            "in_place",
            "lock_feet",
            "ground",
            "scale",
            "animation_only",
            "json",
        ],
    ),
    (
        "render",
        &[
            "output",
            "to",
            "time",
            "frames",
            "clip",
            "size",
            "focus",
            "turntable",
            "sheet",
            "background",
            "json",
        ],
    ),
];

/// The other options, by what they are for.
const GROUPS: [(&str, &[&str]); 10] = [
    (
        "Motion blur and thinning",
        &["shutter", "motion_samples", "velocities", "max_error"],
    ),
    ("What is written", &["rigid", "keep_bindings"]),
    (
        "Vertex animation textures",
        &["vat_values", "vat_bits", "vat_width"],
    ),
    ("Bone textures", &["bone_values", "bone_bits", "bone_width"]),
    (
        "Long bakes",
        &[
            "clip_frames",
            "resume",
            "shard",
            "stitch",
            "ignore_free_space",
        ],
    ),
    (
        "Which joint is which",
        &[
            "write_map",
            "source_model",
            "root_bone",
            "source_skeleton",
            "target_skeleton",
        ],
    ),
    ("How bodies are measured", &["pose", "up", "arm_space"]),
    ("Camera", &["camera", "yaw", "pitch", "zoom", "fps"]),
    (
        "What is drawn",
        &[
            "no_grid",
            "wireframe",
            "joints",
            "normals",
            "bounds",
            "heat",
            "shape",
            "method",
            "purpose",
        ],
    ),
    (
        "How IN is read, and where it runs",
        &[
            "variant",
            "search_path",
            "anim_source",
            "backend",
            "adapter",
            "allow_partial",
        ],
    ),
];

/// Examples that `--help` shows of a command with many options.
const EXAMPLES: usize = 5;

/// The command line with the help that its arguments ask for: `--help` alone, or with `--all`.
pub fn shaped(command: Command, is_all: bool) -> Command {
    let action = match is_all {
        true => ArgAction::HelpLong,
        false => ArgAction::HelpShort,
    };
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .global(true)
        .action(action)
        .help("Print help; with --all, every option in more detail");
    let names = COMMON.iter().map(|(name, _)| *name);
    let shaped = command.disable_help_flag(true).arg(help);
    names.fold(shaped, |command, name| {
        command.mut_subcommand(name, |command| grouped(command, name))
    })
}

/// The arguments without `--all` beside `--help`, and whether it was there.
pub fn asked(args: &[OsString]) -> (Vec<OsString>, bool) {
    let asks = args.iter().any(|arg| arg == "--help" || arg == "-h");
    let is_all = asks && args.iter().any(|arg| arg == "--all");
    let rest = args.iter().filter(|arg| !(is_all && *arg == "--all"));
    (rest.cloned().collect(), is_all)
}

/// The error of a file too many, with the advice to name the output by `-o`. A command that takes
/// several files lacks the output then, and the last of them is not there.
pub fn with_tip(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    // Without a similar option, clap suggests to pass the unknown one as a file.
    if error.kind() == ErrorKind::UnknownArgument && error.get(ContextKind::SuggestedArg).is_none()
    {
        error.remove(ContextKind::Suggested);
    }
    // Of commands it finds some similar that nobody meant. What was meant begins as it does.
    let is_far = match (
        error.get(ContextKind::InvalidSubcommand),
        error.get(ContextKind::SuggestedSubcommand),
    ) {
        (Some(ContextValue::String(found)), Some(ContextValue::Strings(known))) => known
            .iter()
            .all(|name| name.chars().next() != found.chars().next()),
        _ => false,
    };
    if is_far {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Suggested);
    }
    let is_named = args.iter().any(|arg| arg == "-o" || arg == "--output");
    // Some commands write no file.
    let writes = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string().contains("--output"),
        _ => false,
    };
    let is_file = |found: &&str| !found.starts_with('-') && found.contains('.');
    let found = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(found))) => Some(found.as_str()),
        (ErrorKind::MissingRequiredArgument, _) => {
            let files = args.iter().skip(1).filter_map(|arg| arg.to_str());
            let files: Vec<&str> = files.filter(is_file).collect();
            match files[..] {
                [_, .., last] if !Path::new(last).exists() => Some(last),
                _ => None,
            }
        }
        _ => None,
    };
    if let Some(found) = found.filter(is_file).filter(|_| writes && !is_named) {
        let tip = format!("to write this file, name it with -o: -o {found}");
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

fn grouped(mut command: Command, name: &str) -> Command {
    let common = COMMON.iter().find(|(of, _)| *of == name);
    let common = common.map_or(&[][..], |(_, common)| common);
    command = command.mut_args(|arg| {
        if arg.is_positional() {
            return arg;
        }
        let id = arg.get_id().as_str();
        if let Some(place) = common.iter().position(|common| *common == id) {
            return arg.display_order(place);
        }
        let group = GROUPS.iter().find(|(_, ids)| ids.contains(&id));
        let heading = group.map_or("Other options", |(heading, _)| heading);
        arg.help_heading(heading).hide_short_help(true)
    });
    let Some(examples) = command.get_after_help().map(ToString::to_string) else {
        return command;
    };
    let first: Vec<&str> = examples.lines().take(1 + EXAMPLES).collect();
    let first = first.join("\n");
    command.after_long_help(examples).after_help(format!(
        "{first}\n\nsinew {name} --help --all lists all options, and more examples"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    /// Every option that the tables name exists, and none of the commands' is in no group.
    #[test]
    fn groups_name_the_options_that_exist() {
        let cli = Cli::command();
        let mut unused: Vec<&str> = GROUPS.iter().flat_map(|(_, ids)| *ids).copied().collect();
        for (name, common) in COMMON {
            let command = cli.find_subcommand(name).expect("a command");
            let ids: Vec<&str> = command
                .get_opts()
                .map(|arg| arg.get_id().as_str())
                .collect();
            for id in common {
                assert!(ids.contains(id), "{name}: {id}");
            }
            unused.retain(|id| !ids.contains(id));
            let group = |id| GROUPS.iter().any(|(_, ids)| ids.contains(id));
            let homeless = ids.iter().filter(|id| !common.contains(id) && !group(id));
            assert_eq!(homeless.count(), 0, "{name}: {ids:?}");
        }
        assert!(unused.is_empty(), "{unused:?}");
    }
}
