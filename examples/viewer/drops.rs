//! What becomes of a dropped file, and what else can be done with it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use winit::keyboard::ModifiersState;

use super::live::Motion;
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
    let others = shown.map_or_else(Vec::new, |m| m.clips.clone());
    let onto = |m: &Model| m.path.clone();
    match (intent, character, shown) {
        (Intent::Beside, _, Some(_)) => (Task::open(file, None), Place::Beside),
        (Intent::Retarget, _, Some(model)) => {
            let task = Task::retarget(Motion::new(file), onto(model), others);
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
    Some(match &clip.from {
        None => {
            let others = model.clips.iter().filter(|c| c.from.is_some());
            Task::Open {
                file: model.path.clone(),
                clip: Some(clip.name.clone()),
                others: others.cloned().collect(),
            }
        }
        Some(file) => {
            let last = model.matched.as_ref().map(|m| &m.motion);
            let motion = Motion {
                file: file.clone(),
                clip: Some(clip.name.clone()),
                guess: last.is_some_and(|m| m.guess && m.file == *file),
            };
            Task::retarget(motion, model.path.clone(), model.clips.clone())
        }
    })
}

/// After a file was opened in place of `before`: what else the drop may have meant.
pub fn after_opening(before: &Model, now: &Model, task: &Task, unfit: &Unfit) -> Option<Offer> {
    let Task::Open { file, .. } = task else {
        return None;
    };
    let old = &before.path;
    if same_file(old, file) {
        return None;
    }
    let mut choices = Vec::new();
    let mut retarget = |text: String, motion: &PathBuf, onto: &PathBuf| {
        let (text, motion) = match unfit.of(motion, onto) {
            None => (text, Motion::new(motion.clone())),
            Some(Some(guess)) => (format!("{text} {BY_GUESS}"), guess.clone()),
            // It failed already.
            Some(None) => return,
        };
        let task = Task::retarget(motion, onto.clone(), Vec::new());
        choices.push((text, Wish::Load(task, Place::Main)));
    };
    if before.is_character() && has_motion(now) {
        retarget(format!("Play its clip on {}", before.name()), file, old);
    }
    if has_motion(before) && now.is_character() {
        retarget(
            format!("Play the clip of {} on it", before.name()),
            old,
            file,
        );
    }
    let clip = before.clip.and_then(|number| clip_of(before, number));
    let shown = clip.unwrap_or_else(|| Task::open(old.clone(), None));
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
    let name = name_of(task.file());
    let is_shown = |place: Place, file: &Path| {
        let model = shown[place as usize];
        model.is_some_and(|m| same_file(&m.path, file))
    };
    let (text, mut choices) = match task {
        Task::Open { .. } => (format!("{name} could not be opened."), Vec::new()),
        Task::Drop { onto, others, .. } | Task::Retarget { onto, others, .. } => {
            let on = name_of(onto);
            let guess = failed.guess.clone().map(|motion| {
                let text = match is_shown(Place::Main, onto) {
                    true => format!("Play it {BY_GUESS}"),
                    false => format!("Play it on {on} {BY_GUESS}"),
                };
                let task = Task::retarget(motion, onto.clone(), others.clone());
                (text, Wish::Load(task, Place::Main))
            });
            let text = format!("{name} could not be played on {on}.");
            (text, guess.into_iter().collect())
        }
    };
    choices.extend(untried);
    let open = |text: String, place| {
        let task = Task::open(task.file().to_owned(), None);
        (text, Wish::Load(task, place))
    };
    if failed.can_open && !is_shown(Place::Main, task.file()) {
        choices.push(open(format!("Open {name}"), Place::Main));
        if shown[0].is_some() && !is_shown(Place::Beside, task.file()) {
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

/// Motions that could not be played on a character, with the best guess where there is one.
#[derive(Debug, Default)]
pub struct Unfit(HashMap<(PathBuf, PathBuf), Option<Motion>>);

impl Unfit {
    /// Notes a task that failed, if it was to play a motion on a character.
    pub fn note(&mut self, task: &Task, guess: Option<Motion>) {
        if let Task::Drop { file, onto, .. } = task {
            self.0.insert((file.clone(), onto.clone()), guess);
        } else if let Task::Retarget { motion, onto, .. } = task {
            self.0.insert((motion.file.clone(), onto.clone()), guess);
        }
    }

    /// All may fit again.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// `Some` if the motion of a file did not fit, with a guess that was not tried.
    fn of(&self, motion: &Path, onto: &Path) -> Option<Option<&Motion>> {
        let noted = self.0.get(&(motion.to_owned(), onto.to_owned()));
        noted.map(Option::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::super::clips::ClipEntry;
    use sinew_render::{StageJoint, StageSkeleton};

    use super::super::model::Counts;
    use super::super::state::State;
    use super::*;

    fn model(file: &str, meshes: usize) -> Model {
        let joint = StageJoint {
            path: "hips".into(),
            name: "hips".into(),
            parent: None,
        };
        Model {
            path: file.into(),
            skeletons: vec![StageSkeleton {
                path: "/S".into(),
                joints: vec![joint],
                world_from_joint: Vec::new(),
            }],
            counts: Counts {
                meshes,
                ..Counts::default()
            },
            ..Model::default()
        }
    }

    #[test]
    fn a_drop_means_what_is_shown_and_which_keys_are_held() {
        let (hero, old) = (model("hero.usda", 2), model("old.bvh", 0));
        let none = ModifiersState::empty();
        let read = |shown: Option<&Model>, keys: ModifiersState| {
            let (task, place) = task(shown, "walk.bvh".into(), Intent::of(keys));
            let what = match task {
                Task::Open { .. } => "open",
                Task::Drop { .. } => "drop",
                Task::Retarget { .. } => "retarget",
            };
            (what, place)
        };
        for (shown, keys, expected) in [
            (Some(&hero), none, ("drop", Place::Main)),
            // Nothing is shown, or nothing that a clip could move.
            (None, none, ("open", Place::Main)),
            (Some(&old), none, ("open", Place::Main)),
            (Some(&hero), ModifiersState::SHIFT, ("open", Place::Beside)),
            (None, ModifiersState::SHIFT, ("open", Place::Main)),
            (
                Some(&hero),
                ModifiersState::CONTROL,
                ("retarget", Place::Main),
            ),
            (Some(&hero), ModifiersState::ALT, ("open", Place::Main)),
        ] {
            assert_eq!(read(shown, keys), expected, "{keys:?}");
        }
    }

    #[test]
    fn a_clip_of_the_list_is_read_from_where_it_is() {
        let mut hero = model("hero.usda", 2);
        let entry = |name: &str, from: Option<&str>| ClipEntry {
            name: name.into(),
            from: from.map(PathBuf::from),
            ..ClipEntry::default()
        };
        hero.clips = vec![entry("Idle", None), entry("Walk", Some("walk.bvh"))];
        let own = Task::Open {
            file: "hero.usda".into(),
            clip: Some("Idle".into()),
            others: hero.clips[1..].to_vec(),
        };
        let motion = Motion {
            file: "walk.bvh".into(),
            clip: Some("Walk".into()),
            guess: false,
        };
        let other = Task::retarget(motion, "hero.usda".into(), hero.clips.clone());
        let found = [0, 1, 2].map(|number| clip_of(&hero, number));
        assert_eq!(found, [Some(own), Some(other), None]);
    }

    fn labels(offer: Option<&Offer>) -> Vec<&str> {
        let choices = offer.into_iter().flat_map(|o| &o.choices);
        choices.map(|(label, _)| label.as_str()).collect()
    }

    #[test]
    fn what_is_offered_leads_on() {
        let (mut hero, mut odd) = (model("hero.usda", 2), model("odd.bvh", 0));
        let motion = Motion::new("odd.bvh".into());
        let guess = Some(Motion {
            guess: true,
            ..motion.clone()
        });
        let task = Task::retarget(motion, "hero.usda".into(), Vec::new());
        let mut failed = Failed {
            guess: guess.clone(),
            can_open: true,
            ..Failed::default()
        };
        let of_hero = [Some(&hero), None];
        let first = after_failure(&task, &failed, of_hero, Vec::new());
        let all = [
            "Play it by the best guess",
            "Open odd.bvh",
            "Show odd.bvh beside",
        ];
        assert_eq!(labels(first.as_ref()), all);
        // The guess failed too: it is not offered again, and the others are there once.
        failed.guess = None;
        let untried = first.map_or_else(Vec::new, |o| o.choices[1..].to_vec());
        let second = after_failure(&task, &failed, of_hero, untried);
        assert_eq!(labels(second.as_ref()), all[1..]);
        // It is at the right already.
        let both = [Some(&hero), Some(&odd)];
        let offer = after_failure(&task, &failed, both, Vec::new());
        assert_eq!(labels(offer.as_ref()), ["Open odd.bvh"]);
        // There is nothing to show in the file.
        failed.can_open = false;
        assert_eq!(after_failure(&task, &failed, of_hero, Vec::new()), None);

        // It was opened in place of the hero, and then played on the hero.
        (hero.times.end, odd.times.end) = (10.0, 10.0);
        (failed.guess, failed.can_open) = (guess.clone(), true);
        let opened = Task::open("odd.bvh".into(), None);
        let mut unfit = Unfit::default();
        let offer = after_opening(&hero, &odd, &opened, &unfit).unwrap();
        let (play, show) = ("Play its clip on hero.usda", "Show hero.usda beside it");
        assert_eq!(labels(Some(&offer)), [play, show]);
        let mut state = State {
            offer: Some(offer),
            error: Some("it does not fit".into()),
            ..State::default()
        };
        assert!(!state.take_choice(7) && state.offer.is_some() && state.error.is_some());
        assert!(state.take_choice(0) && state.offer.is_none() && state.error.is_none());
        assert_eq!(state.wishes, [Wish::Load(task.clone(), Place::Main)]);
        let offer = after_failure(&task, &failed, [Some(&odd), None], state.untried);
        let on_hero = "Play it on hero.usda by the best guess";
        assert_eq!(labels(offer.as_ref()), [on_hero, show]);
        // Once more: what failed is not offered again.
        let by_guess = format!("{play} by the best guess");
        for (guess, expected) in [(guess, vec![&*by_guess, show]), (None, vec![show])] {
            unfit.note(&task, guess);
            let offer = after_opening(&hero, &odd, &opened, &unfit);
            assert_eq!(labels(offer.as_ref()), expected);
        }
        unfit.clear();
        let offer = after_opening(&hero, &odd, &opened, &unfit);
        assert_eq!(labels(offer.as_ref()), [play, show]);
        // The same file again.
        let same = Task::open("hero.usda".into(), None);
        assert_eq!(after_opening(&hero, &hero, &same, &unfit), None);
    }
}
