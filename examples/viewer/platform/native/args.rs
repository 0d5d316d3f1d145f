//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::script::{LANGUAGE, Script, Step};

#[derive(Debug, Parser)]
#[command(name = "sinew-viewer", version, about = about(), max_term_width = 100, after_help = help())]
pub struct Args {
    /// The file to open; others can be opened and dropped in the window.
    pub file: Option<PathBuf>,
    /// A second file, shown beside the first one.
    pub beside: Option<PathBuf>,
    /// Size of the window in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = size)]
    pub size: (u32, u32),
    /// Clip to play, by its name (of a USD file: the path of a SkelAnimation).
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Write what the window shows and quit. May be repeated, with a --time each.
    #[arg(long, value_name = "OUT.png")]
    pub screenshot: Vec<PathBuf>,
    /// Time code of a screenshot; without it the first one of the file.
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    pub time: Vec<f64>,
    /// File of actions to take, one a line, then quit; - reads them from stdin as they come.
    #[arg(long, value_name = "FILE|-", conflicts_with = "screenshot")]
    pub script: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  sinew view hero.usda
  sinew view hero.usda walk.bvh
  sinew view hero.glb --clip Walk --screenshot first.png --screenshot later.png --time 0 --time 12
  printf 'settle\\nkey j\\nshot joints.png\\n' | sinew view hero.usda --script -
  printf 'settle\\ntime 12\\nsave hero.png\\n' | sinew view hero.usda --script -

Exit codes: 0 closed, 1 failed (no display, no device, a step of a script, a screenshot), 2 wrong usage.";

/// Names what this build reads.
fn about() -> String {
    format!(
        "Opens characters in a window: {}.",
        crate::files::format_names()
    )
}

fn help() -> String {
    format!("{EXAMPLES}\n\n{}", LANGUAGE.trim_end())
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parse = |(w, h): (&str, &str)| Some((w.parse().ok()?, h.parse().ok()?));
    let size = text.split_once(['x', 'X']).and_then(parse);
    size.filter(|(w, h)| (64..=16384).contains(w) && (64..=16384).contains(h))
        .ok_or_else(|| "expected WxH, each from 64 to 16384, such as 1280x800".into())
}

impl Args {
    /// The steps that --screenshot stands for, or those of --script if it is a file.
    ///
    /// # Errors
    /// A sentence, if the command line is wrong or the script cannot be read.
    pub fn steps(&self) -> Result<Script, String> {
        let (times, pictures) = (self.time.len(), self.screenshot.len());
        if times != 0 && times != pictures {
            return Err(format!(
                "--time: {times} of them for {pictures} of --screenshot; there is one for each, or none"
            ));
        }
        let mut script = Script::default();
        (script.answers, script.ended) = (self.script.is_some(), pictures > 0);
        if script.ended {
            script.push("settle")?;
            script.push("key Home")?;
        }
        for (i, path) in self.screenshot.iter().enumerate() {
            if let Some(time) = self.time.get(i) {
                script.push(&format!("time {time}"))?;
            }
            script.add(format!("shot {}", path.display()), Step::Shot(path.clone()));
        }
        if let Some(path) = self.script.as_ref().filter(|p| p.as_os_str() != "-") {
            let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
            let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
            for (i, line) in text.lines().enumerate() {
                let at = |e| format!("{}:{}: {e}", path.display(), i + 1);
                script.push(line).map_err(at)?;
            }
            script.ended = !script.is_empty();
        }
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_may_be_negative() {
        let words = ["viewer", "--screenshot", "x.png", "--time", "-1"];
        assert_eq!(Args::try_parse_from(words).unwrap().time, [-1.0]);
    }

    #[test]
    fn sizes_are_checked() {
        assert_eq!(size("640x480"), Ok((640, 480)));
        for wrong in ["640", "0x5", "99999x99999", "axb"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
