//! Scripts that a running viewer plays, step by step.

use serde_json::Value;

use crate::judge::{self, check};

/// A viewer that takes steps and answers each.
pub trait Steps {
    /// Takes a step and gives its answer.
    fn step(&mut self, line: &str) -> Result<&Value, String>;

    /// The last answer.
    fn last(&self) -> &Value;

    /// Plays a script: actions that succeed, those that are `refused`, and lines that judge the last answer.
    fn play(&mut self, script: &str) -> Result<(), String> {
        for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let result = match word {
                "refused" => {
                    let answer = self.step(rest)?;
                    check(answer["failed"].is_string(), || answer.to_string())
                }
                word if judge::is_judgement(word) => judge::judge(self.last(), line),
                _ => {
                    let answer = self.step(line)?;
                    check(answer["failed"].is_null(), || answer.to_string())
                }
            };
            result.map_err(|e| format!("{line}: {e}"))?;
        }
        Ok(())
    }
}
