//! What becomes of a dropped file, and what else can be done with it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use winit::keyboard::ModifiersState;

use super::files;
use super::loader::{Failed, Place, Task, same_file};
use super::model::Model;
use super::state::{Choice, Offer, Wish};

/// What a file is dropped for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A motion is retargeted to the character that is shown; any other file is opened.
    Auto,
    /// Opened, whatever it is.
    Open,
    /// Its clip is retargeted to the character that is shown.
    Retarget,
    /// Shown at the right of what is shown.
    Beside,
}

impl Intent {
    /// Of the keys that are held: Shift puts it beside, Ctrl retargets, Alt opens.
    pub fn of(keys: ModifiersState) -> Self {
        match keys {
            k if k.shift_key() => Self::Beside,
            k if k.control_key() => Self::Retarget,
            k if k.alt_key() => Self::Open,
            _ => Self::Auto,
        }
    }

    /// As scripts write it.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "open" => Self::Open,
            "retarget" => Self::Retarget,
            "beside" => Self::Beside,
            _ => return None,
        })
    }
}

fn has_motion(model: &Model) -> bool {
    let joints = model.skeletons.iter().any(|s| !s.joints.is_empty());
    joints && (model.times.end > model.times.start || !model.clips.is_empty())
}

/// What to read for a dropped file, and where to show it.
pub fn task(shown: Option<&Model>, file: PathBuf, intent: Intent) -> (Task, Place) {
    let character = shown.filter(|m| m.is_character());
    let onto = |model: &Model| Task {
        is_drop: intent == Intent::Auto,
        others: model.clips.clone(),
        selected: model.selected.clone(),
        ..Task::retarget(&file, &model.path)
    };
    match (intent, character, shown) {
        (Intent::Beside, _, Some(_)) => (Task::open(file, None), Place::Beside),
        (Intent::Retarget, _, Some(model)) | (Intent::Auto, Some(model), _) => {
            (onto(model), Place::Main)
        }
        _ => (Task::open(file, None), Place::Main),
    }
}

/// Of files that were given together, the one to open: the first that this build reads and that no other one names.
pub fn meant(files: &[(PathBuf, Arc<[u8]>)]) -> Option<&PathBuf> {
    let reads = |path: &Path| files::endings().iter().any(|e| has_ending(path, e));
    let is_named = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let mut others = files.iter().filter(|(other, _)| other != path);
        others.any(|(_, bytes)| bytes.windows(name.len().max(1)).any(|w| w == name))
    };
    let read = || files.iter().map(|(path, _)| path).filter(|p| reads(p));
    let main = read().find(|p| !is_named(p)).or_else(|| read().next());
    // Of a file that cannot be read the reader says why.
    main.or_else(|| files.first().map(|(path, _)| path))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// The task that plays a clip of the list.
pub fn clip_of(model: &Model, number: usize) -> Option<Task> {
    let clip = model.clips.get(number)?;
    let name = Some(clip.name.clone());
    Some(match &clip.from {
        None => {
            let others = model.clips.iter().filter(|c| c.from.is_some());
            Task {
                others: others.cloned().collect(),
                selected: model.selected.clone(),
                ..Task::open(&model.path, name)
            }
        }
        Some(file) => {
            let last = model.matched.as_ref().map(|m| &m.task);
            Task {
                clip: name,
                guess: last.is_some_and(|task| task.guess && task.file == *file),
                others: model.clips.clone(),
                selected: model.selected.clone(),
                ..Task::retarget(file, &model.path)
            }
        }
    })
}

/// After a file was opened in place of `before`: what else the drop may have meant.
pub fn after_opening(before: &Model, now: &Model, task: &Task, unfit: &Unfit) -> Option<Offer> {
    let (old, file) = (&before.path, &task.file);
    if task.onto.is_some() || same_file(old, file) {
        return None;
    }
    let mut choices = Vec::new();
    let mut retarget = |text: String, motion: &PathBuf, onto: &Model| {
        let mut task = Task {
            selected: onto.selected.clone(),
            ..Task::retarget(motion, &onto.path)
        };
        let text = match unfit.of(&task) {
            None => text,
            Some(true) => format!("{text} {BY_GUESS}"),
            // It failed already.
            Some(false) => return,
        };
        task.guess = unfit.of(&task).is_some();
        choices.push((text, Wish::Load(task, Place::Main)));
    };
    if before.is_character() && has_motion(now) {
        retarget(format!("Play its clip on {}", before.name()), file, before);
    }
    if has_motion(before) && now.is_character() {
        retarget(
            format!("Play the clip of {} on it", before.name()),
            old,
            now,
        );
    }
    let clip = before.clip.and_then(|number| clip_of(before, number));
    let shown = clip.unwrap_or_else(|| Task {
        selected: before.selected.clone(),
        ..Task::open(old, None)
    });
    let beside = Wish::Load(shown, Place::Beside);
    choices.push((format!("Show {} beside it", before.name()), beside));
    Some(Offer {
        text: format!("{} was opened.", now.name()),
        choices,
    })
}

const BY_GUESS: &str = "by the best guess";

fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// After a file could not be shown: what else can be tried. `shown` is what is shown, by [`Place`],
/// and `untried` are the other choices of the offer that led here. Nothing is offered that is shown already or that was tried, so every choice
/// leads on.
pub fn after_failure(
    task: &Task,
    failed: &Failed,
    shown: [Option<&Model>; 2],
    untried: Vec<Choice>,
) -> Option<Offer> {
    let name = name_of(&task.file);
    let is_shown = |place: Place, file: &Path| {
        let model = shown[place as usize];
        model.is_some_and(|m| same_file(&m.path, file))
    };
    let mut choices = Vec::new();
    let text = match &task.onto {
        None => format!("{name} could not be opened."),
        Some(onto) => {
            let on = name_of(onto);
            if failed.can_guess {
                let text = match is_shown(Place::Main, onto) {
                    true => format!("Play it {BY_GUESS}"),
                    false => format!("Play it on {on} {BY_GUESS}"),
                };
                let guess = Task {
                    is_drop: false,
                    guess: true,
                    ..task.clone()
                };
                choices.push((text, Wish::Load(guess, Place::Main)));
            }
            format!("{name} could not be played on {on}.")
        }
    };
    choices.extend(untried);
    let open = |text: String, place| {
        let task = Task::open(&task.file, None);
        (text, Wish::Load(task, place))
    };
    if failed.can_open && !is_shown(Place::Main, &task.file) {
        choices.push(open(format!("Open {name}"), Place::Main));
        if shown[0].is_some() && !is_shown(Place::Beside, &task.file) {
            choices.push(open(format!("Show {name} beside"), Place::Beside));
        }
    }
    let mut seen: Vec<Wish> = Vec::new();
    choices.retain(|(_, wish)| {
        let is_new = !seen.contains(wish);
        seen.push(wish.clone());
        is_new
    });
    (!choices.is_empty()).then_some(Offer { text, choices })
}

/// Motions that could not be played on a character, and whether there is a guess that was not tried.
#[derive(Debug, Default)]
pub struct Unfit(HashMap<(PathBuf, PathBuf), bool>);

impl Unfit {
    /// Notes a task that failed, if it was to play a motion on a character.
    pub fn note(&mut self, task: &Task, can_guess: bool) {
        if let Some(onto) = &task.onto {
            self.0.insert((task.file.clone(), onto.clone()), can_guess);
        }
    }

    /// All may fit again.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// `Some` if the motion of a task did not fit: whether there is a guess that was not tried.
    fn of(&self, task: &Task) -> Option<bool> {
        let key = (task.file.clone(), task.onto.clone()?);
        self.0.get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_files_dropped_together_the_one_that_names_the_others_is_opened() {
        let file = |name: &str, text: &str| (PathBuf::from(name), Arc::from(text.as_bytes()));
        for (files, opened) in [
            (vec![], None),
            (vec![file("a.png", "")], Some("a.png")),
            (
                vec![file("a.bin", ""), file("a.gltf", "a.bin")],
                Some("a.gltf"),
            ),
            (
                vec![file("body.usdc", ""), file("hero.USDA", "@body.usdc@")],
                Some("hero.USDA"),
            ),
            // Two that name each other.
            (
                vec![file("a.usda", "b.usda"), file("b.usda", "a.usda")],
                Some("a.usda"),
            ),
        ] {
            let found = meant(&files).and_then(|p| p.to_str());
            assert_eq!(found, opened);
        }
    }

    #[test]
    fn a_drop_means_what_the_held_keys_say() {
        for (keys, intent) in [
            (ModifiersState::empty(), Intent::Auto),
            (ModifiersState::SHIFT, Intent::Beside),
            (ModifiersState::CONTROL, Intent::Retarget),
            (ModifiersState::ALT, Intent::Open),
        ] {
            assert_eq!(Intent::of(keys), intent, "{keys:?}");
        }
    }
}
