//! What is wrong or doubtful in the file that is shown: one list, each message once, as bad as `sinew check` says.

use std::collections::HashSet;
use std::path::Path;

use sinew::{Invalid, Warning};
use sinew_check::Severity;
use sinew_render::Stage;

/// The code of an error about a prim that has none, as `sinew check` reports it.
const UNCODED: &str = "not-skinned";

/// One message about the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub severity: Severity,
    pub code: &'static str,
    /// With the place and the code.
    pub text: String,
}

/// How bad a warning with this code is, by the table of `sinew check`.
pub fn severity(code: &str) -> Severity {
    sinew_check::code(code).map_or(Severity::Warning, |row| row.severity)
}

/// The messages about a file, without repetitions.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    list: Vec<Message>,
    /// Code, path and property of each.
    seen: HashSet<(&'static str, String, String)>,
    /// Paths with an error.
    failed: HashSet<String>,
}

impl Messages {
    /// What the readers of a stage tell, and why prims of it are not drawn or not skinned.
    pub fn of_stage(stage: &Stage) -> Self {
        let (scene, geometry) = (stage.scene(), stage.geometry());
        let mut out = Self::default();
        let failed = stage.failed().iter().map(|prim| &prim.error);
        for error in scene.errors.iter().chain(&geometry.errors).chain(failed) {
            out.add_error(error, &scene.file);
        }
        for warning in scene.warnings.iter().chain(&geometry.warnings) {
            out.add(warning);
        }
        for found in stage.left_out() {
            let warning = Warning::new(found.code, &found.path, &found.message);
            out.add(&warning.on(&found.property));
        }
        out
    }

    /// Adds a warning, unless one with this code is there for the same place.
    pub fn add(&mut self, warning: &Warning) {
        let Warning {
            code,
            path,
            property,
            ..
        } = warning;
        self.push(code, path, property, severity(code), warning.to_string());
    }

    /// Adds an error of a prim. One without a code is left out if the prim has another error.
    pub fn add_error(&mut self, error: &Invalid, file: &Path) {
        let code = error.code.unwrap_or(UNCODED);
        if error.code.is_none() && self.failed.contains(&error.prim) {
            return;
        }
        let mut told = error.clone();
        // The window names the file already.
        told.file = told.file.filter(|f| f.as_path() != file);
        let text = format!("{told} [{code}]");
        self.push(code, &error.prim, &error.property, severity(code), text);
    }

    fn push(
        &mut self,
        code: &'static str,
        path: &str,
        property: &str,
        severity: Severity,
        text: String,
    ) {
        if !self
            .seen
            .insert((code, path.to_owned(), property.to_owned()))
        {
            return;
        }
        if severity == Severity::Error {
            self.failed.insert(path.to_owned());
        }
        // The worst first; of one severity as they came.
        let at = self.list.partition_point(|m| m.severity >= severity);
        let message = Message {
            severity,
            code,
            text,
        };
        self.list.insert(at, message);
    }

    pub fn list(&self) -> &[Message] {
        &self.list
    }

    pub fn has_errors(&self) -> bool {
        !self.failed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_listed_once_and_as_bad_as_check_says() {
        let mut messages = Messages::default();
        let mtoon = Warning::new("mtoon-simplified", "materials[0]", "two tones");
        messages.add(&mtoon);
        messages.add(&Warning::new("no-such-code", "/M", "odd"));
        messages.add(&Warning::new("spring-bones-ignored", "springs", "ignored"));
        messages.add(&mtoon);
        let error = |code: Option<&'static str>| {
            let error = Invalid::new("/M", "points", "3 points", "2").in_file("hero.usda");
            Invalid { code, ..error }
        };
        let file = Path::new("hero.usda");
        messages.add_error(&error(Some("frame-rate-invalid")), file);
        // It says no more than the one with a code.
        messages.add_error(&error(None), file);
        let told: Vec<(Severity, &str)> = messages
            .list()
            .iter()
            .map(|m| (m.severity, m.text.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    Severity::Error,
                    "/M.points: expected 3 points, found 2 [frame-rate-invalid]"
                ),
                (Severity::Warning, "/M: odd [no-such-code]"),
                (Severity::Warning, "springs: ignored [spring-bones-ignored]"),
                (Severity::Info, "materials[0]: two tones [mtoon-simplified]"),
            ]
        );
        for message in messages.list().iter().filter(|m| m.code != "no-such-code") {
            let row = sinew_check::code(message.code).unwrap();
            assert_eq!(message.severity, row.severity);
        }
        assert!(messages.has_errors());
    }
}
