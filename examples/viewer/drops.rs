//! What becomes of a dropped file, and what else can be done with it.

use std::path::PathBuf;

use winit::keyboard::ModifiersState;

use super::clips;
use super::live::Motion;
use super::loader::{Place, Task};
use super::model::Model;
use super::state::{Offer, Wish};

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

/// What was shown when a file was dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    path: PathBuf,
    /// Shows it again, with the clip that it played.
    task: Task,
    name: String,
    is_character: bool,
    has_motion: bool,
}

impl Before {
    pub fn new(model: &Model) -> Self {
        let clip = model.clip.and_then(|number| clip_of(model, number));
        Self {
            path: model.path.clone(),
            task: clip.unwrap_or_else(|| Task::open(model.path.clone(), None)),
            name: model.name(),
            is_character: model.is_character(),
            has_motion: has_motion(model),
        }
    }
}

fn has_motion(model: &Model) -> bool {
    let joints = model.skeletons.iter().any(|s| !s.joints.is_empty());
    joints && (model.times.end > model.times.start || !model.clips.is_empty())
}

/// What to read for a dropped file, and where to show it.
pub fn task(shown: Option<&Model>, file: PathBuf, intent: Intent) -> (Task, Place) {
    let character = shown.filter(|m| m.is_character());
    let others = shown.map_or_else(Vec::new, |m| m.clips.clone());
    let onto = |m: &Model| m.path.clone();
    match (intent, character, shown) {
        (Intent::Beside, _, Some(_)) => (Task::open(file, None), Place::Beside),
        (Intent::Retarget, _, Some(model)) => {
            let motion = Motion::new(file);
            let onto = onto(model);
            let task = Task::Retarget {
                motion,
                onto,
                others,
            };
            (task, Place::Main)
        }
        (Intent::Auto, Some(model), _) => {
            let onto = onto(model);
            (Task::Drop { file, onto, others }, Place::Main)
        }
        _ => (Task::open(file, None), Place::Main),
    }
}

/// The task that plays a clip of the list.
pub fn clip_of(model: &Model, number: usize) -> Option<Task> {
    let clip = model.clips.get(number)?;
    let name = Some(clip.name.clone()).filter(|n| n != clips::AS_AUTHORED);
    Some(match &clip.from {
        None => {
            let others = model.clips.iter().filter(|c| c.from.is_some());
            Task::Open {
                file: model.path.clone(),
                clip: name,
                others: others.cloned().collect(),
            }
        }
        Some(file) => {
            let last = model.matched.as_ref().map(|m| &m.motion);
            Task::Retarget {
                motion: Motion {
                    file: file.clone(),
                    clip: name,
                    guess: last.is_some_and(|m| m.guess && m.file == *file),
                },
                onto: model.path.clone(),
                others: model.clips.clone(),
            }
        }
    })
}

/// After a file was opened in place of another one: what else the drop may have meant.
pub fn after_opening(before: &Before, now: &Model, task: &Task) -> Option<Offer> {
    let Task::Open { file, .. } = task else {
        return None;
    };
    let old = &before.path;
    if super::loader::same_file(old, file) {
        return None;
    }
    let mut choices = Vec::new();
    let retarget = |motion: &PathBuf, onto: &PathBuf| {
        let task = Task::Retarget {
            motion: Motion::new(motion.clone()),
            onto: onto.clone(),
            others: Vec::new(),
        };
        Wish::Load(task, Place::Main)
    };
    if before.is_character && has_motion(now) {
        let text = format!("Play its clip on {}", before.name);
        choices.push((text, retarget(file, old)));
    }
    if before.has_motion && now.is_character() {
        let text = format!("Play the clip of {} on it", before.name);
        choices.push((text, retarget(old, file)));
    }
    let beside = Wish::Load(before.task.clone(), Place::Beside);
    choices.push((format!("Show {} beside it", before.name), beside));
    Some(Offer {
        text: format!("{} was opened.", now.name()),
        choices,
    })
}

/// After a file could not be shown: what can be tried.
pub fn after_failure(task: &Task, guess: Option<Motion>) -> Option<Offer> {
    let (file, onto, others) = match task {
        Task::Drop { file, onto, others } => (file, onto, others),
        Task::Retarget {
            motion,
            onto,
            others,
        } => (&motion.file, onto, others),
        Task::Open { .. } => return None,
    };
    let motion = guess?;
    let task = Task::Retarget {
        motion,
        onto: onto.clone(),
        others: others.clone(),
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Some(Offer {
        text: format!("The joints of {name} could not be matched."),
        choices: vec![
            (
                "Play it by the best guess".into(),
                Wish::Load(task, Place::Main),
            ),
            (
                "Open it".into(),
                Wish::Load(Task::open(file.clone(), None), Place::Main),
            ),
            (
                "Show it beside".into(),
                Wish::Load(Task::open(file.clone(), None), Place::Beside),
            ),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::clips::ClipEntry;
    use super::super::model::{Counts, Joint, SkeletonInfo};
    use super::*;

    fn model(file: &str, meshes: usize) -> Model {
        let joint = Joint {
            name: "hips".into(),
            parent: None,
            depth: 0,
        };
        Model {
            path: file.into(),
            skeletons: vec![SkeletonInfo {
                path: "/S".into(),
                joints: vec![joint],
            }],
            counts: Counts {
                meshes,
                ..Counts::default()
            },
            ..Model::default()
        }
    }

    fn entry(name: &str, from: Option<&str>) -> ClipEntry {
        ClipEntry {
            label: name.into(),
            title: name.into(),
            name: name.into(),
            from: from.map(PathBuf::from),
        }
    }

    #[test]
    fn a_drop_means_what_is_shown_and_which_keys_are_held() {
        let hero = model("hero.usda", 2);
        let file = || PathBuf::from("walk.bvh");
        let auto = task(Some(&hero), file(), Intent::Auto);
        assert!(matches!(auto, (Task::Drop { .. }, Place::Main)));
        // Nothing is shown, or nothing that a clip could move.
        for shown in [None, Some(model("old.bvh", 0))] {
            let auto = task(shown.as_ref(), file(), Intent::Auto);
            assert_eq!(auto, (Task::open(file(), None), Place::Main));
        }
        let beside = task(Some(&hero), file(), Intent::of(ModifiersState::SHIFT));
        assert_eq!(beside, (Task::open(file(), None), Place::Beside));
        let first = task(None, file(), Intent::Beside);
        assert_eq!(first.1, Place::Main);
        let forced = task(Some(&hero), file(), Intent::of(ModifiersState::CONTROL));
        assert!(matches!(forced.0, Task::Retarget { .. }));
        let opened = task(Some(&hero), file(), Intent::of(ModifiersState::ALT));
        assert_eq!(opened, (Task::open(file(), None), Place::Main));
    }

    #[test]
    fn a_clip_of_the_list_is_read_from_where_it_is() {
        let mut hero = model("hero.usda", 2);
        hero.clips = vec![entry("Idle", None), entry("Walk", Some("walk.bvh"))];
        let Some(Task::Open { file, clip, others }) = clip_of(&hero, 0) else {
            panic!("an own clip");
        };
        assert_eq!((file, clip), ("hero.usda".into(), Some("Idle".into())));
        assert_eq!(others, [entry("Walk", Some("walk.bvh"))]);
        let Some(Task::Retarget { motion, onto, .. }) = clip_of(&hero, 1) else {
            panic!("a clip of another file");
        };
        assert_eq!((motion.file, onto), ("walk.bvh".into(), "hero.usda".into()));
        assert_eq!(clip_of(&hero, 2), None);
    }

    #[test]
    fn what_a_drop_may_have_meant_is_offered() {
        let (mut hero, mut other) = (model("hero.usda", 2), model("other.glb", 1));
        hero.times.end = 10.0;
        let opened = |model: &Model| Task::open(model.path.clone(), None);
        let labels = |before: &Model, now: &Model| -> Vec<String> {
            let offer = after_opening(&Before::new(before), now, &opened(now));
            let choices = offer.map_or_else(Vec::new, |o| o.choices);
            choices.into_iter().map(|(label, _)| label).collect()
        };
        assert_eq!(
            labels(&hero, &other),
            [
                "Play the clip of hero.usda on it",
                "Show hero.usda beside it"
            ]
        );
        other.times.end = 5.0;
        assert_eq!(labels(&hero, &other).len(), 3);
        // The same file again.
        assert!(labels(&hero, &hero).is_empty());
    }
}
