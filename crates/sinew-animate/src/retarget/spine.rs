//! Spines of different lengths: which joints the topmost trunk bones follow.

use super::{Bone, BoneMap, BonePair, Humanoid, Rig};

/// The bones of the trunk above the hips, topmost first.
const TRUNK: [Bone; 3] = [Bone::UpperChest, Bone::Chest, Bone::Spine];

/// Neck and arms hang from the topmost joint of the trunk.
const ON_TOP: [&[Bone]; 3] = [
    &[Bone::Neck, Bone::Head],
    &[Bone::LeftShoulder, Bone::LeftUpperArm],
    &[Bone::RightShoulder, Bone::RightUpperArm],
];

impl BoneMap {
    /// Lets the topmost joint of the target's trunk follow the topmost joint of the source's trunk,
    /// so that arms and head get the bend of the whole spine. A source may have more joints in its
    /// spine than there are human bones (Unreal Engine 5, HumanIK), or than the target has.
    ///
    /// If neither of the two joints is in a pair, they become one. If only the target's is, it
    /// follows the source's topmost joint from now on.
    #[must_use]
    pub fn with_top_of_trunk(
        mut self,
        (source, source_bones): (&Rig, &Humanoid),
        (target, target_bones): (&Rig, &Humanoid),
    ) -> Self {
        let tops = (
            top_of_trunk(source, source_bones),
            top_of_trunk(target, target_bones),
        );
        let (Some(from), Some(mut to)) = tops else {
            return self;
        };
        if self
            .pairs
            .iter()
            .any(|p| source.find(&p.source) == Ok(from))
        {
            return self;
        }
        let paired = |joint: usize| {
            let mut pairs = self.pairs.iter();
            pairs.position(|p| target.find(&p.target) == Ok(joint))
        };
        // Joints of the target above its last paired one ride on it. If the source has no more
        // joints than human bones there, the last paired one is the topmost.
        let longest = TRUNK.iter().find_map(|b| source_bones.joints().get(b));
        let has_extra = longest.is_some_and(|j| *j != from);
        if paired(to).is_none() && !has_extra {
            let mut chain = target.chain(to);
            let Some(below) = chain.find(|j| paired(*j).is_some()) else {
                return self;
            };
            to = below;
        }
        let is_trunk = |pair: &BonePair| pair.bone.is_some_and(|b| TRUNK.contains(&b));
        let name = source.unique_name(from).to_owned();
        match paired(to) {
            Some(pair) if is_trunk(&self.pairs[pair]) => self.pairs[pair].source = name,
            Some(_) => {}
            None => self.pairs.push(BonePair {
                source: name,
                target: target.unique_name(to).to_owned(),
                bone: None,
            }),
        }
        self
    }
}

/// The joint above the hips from which the neck and the arms branch off; `None` if they branch off
/// elsewhere.
fn top_of_trunk(rig: &Rig, humanoid: &Humanoid) -> Option<usize> {
    let joints = humanoid.joints();
    let find = |bones: &&[Bone]| bones.iter().find_map(|b| joints.get(b)).copied();
    let [neck, left, right] = ON_TOP.each_ref().map(find);
    let (neck, left, right) = (neck?, left?, right?);
    let has = |joint: usize, above: usize| rig.chain(joint).skip(1).any(|j| j == above);
    let top = rig
        .chain(neck)
        .skip(1)
        .find(|j| has(left, *j) && has(right, *j))?;
    let highest = TRUNK.iter().find_map(|b| joints.get(b))?;
    rig.chain(top).any(|j| j == *highest).then_some(top)
}
