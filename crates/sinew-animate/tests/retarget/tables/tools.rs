//! The rigs of tools that characters are built in.

use super::{L, LEFT, LOWER, Table};

pub const TABLES: &[Table] = &[
    Table {
        name: Some("Rigify"),
        rig: "rigify metarig",
        sides: L,
        joints: "
spine =hips
  spine.001 =spine
    spine.002 =chest
      spine.003 =upperChest
        spine.004 =neck
          spine.005
            spine.006 =head
              face
                nose
                jaw =jaw
                  chin
                ear.#
                eye.# =Eye
                brow.B.#
                teeth.T
                tongue
        shoulder.# =Shoulder
          upper_arm.# =UpperArm
            forearm.# =LowerArm
              hand.# =Hand
                palm.01.#
                  f_index.01.# =IndexProximal
                    f_index.02.# =IndexIntermediate
                      f_index.03.# =IndexDistal
                  thumb.01.# =ThumbMetacarpal
                    thumb.02.# =ThumbProximal
                      thumb.03.# =ThumbDistal
                palm.02.#
                  f_middle.01.# =MiddleProximal
                    f_middle.02.# =MiddleIntermediate
                      f_middle.03.# =MiddleDistal
                palm.04.#
                  f_pinky.01.# =LittleProximal
                    f_pinky.02.# =LittleIntermediate
                      f_pinky.03.# =LittleDistal
        breast.#
  pelvis.#
  thigh.# =UpperLeg
    shin.# =LowerLeg
      foot.# =Foot
        toe.# =Toes
        heel.02.#",
    },
    Table {
        name: Some("Rigify"),
        rig: "rigify generated",
        sides: L,
        joints: "
root
  MCH-torso.parent
    torso
      MCH-spine
        ORG-spine
          DEF-spine =hips
            DEF-spine.001 =spine
              DEF-spine.002 =chest
                DEF-spine.003 =upperChest
                  DEF-spine.004 =neck
                    DEF-spine.005
                      DEF-spine.006 =head
          ORG-pelvis.#
            DEF-pelvis.#
          ORG-spine.001
            ORG-spine.002
              ORG-spine.003
                ORG-shoulder.#
                  DEF-shoulder.# =Shoulder
                  ORG-upper_arm.#
                    DEF-upper_arm.# =UpperArm
                      DEF-upper_arm.#.001
                        DEF-forearm.# =LowerArm
                          DEF-forearm.#.001
                            DEF-hand.# =Hand
                    ORG-forearm.#
                      ORG-hand.#
                        ORG-palm.01.#
                          ORG-f_index.01.#
                            DEF-f_index.01.# =IndexProximal
                              DEF-f_index.02.# =IndexIntermediate
                                DEF-f_index.03.# =IndexDistal
                            f_index.01.#
                ORG-spine.004
          ORG-thigh.#
            DEF-thigh.# =UpperLeg
              DEF-thigh.#.001
                DEF-shin.# =LowerLeg
                  DEF-shin.#.001
                    DEF-foot.# =Foot
                      DEF-toe.# =Toes
            ORG-shin.#
      hips
      chest
        neck
          head
        shoulder.#
          upper_arm_fk.#
            forearm_fk.#
              hand_fk.#
  foot_ik.#
  hand_ik.#
  thigh_ik_target.#",
    },
    Table {
        name: Some("Blender"),
        rig: "classic blender",
        sides: L,
        joints: "
root
  hips =hips
    spine =spine
      chest =chest
        neck =neck
          head =head
            eye.# =Eye
            jaw =jaw
        shoulder.# =Shoulder
          upper_arm.# =UpperArm
            forearm.# =LowerArm
              hand.# =Hand
                thumb.01.# =ThumbMetacarpal
                  thumb.02.# =ThumbProximal
                    thumb.03.# =ThumbDistal
                finger_index.01.# =IndexProximal
                  finger_index.02.# =IndexIntermediate
                    finger_index.03.# =IndexDistal
    thigh.# =UpperLeg
      shin.# =LowerLeg
        foot.# =Foot
          toe.# =Toes
        heel.#",
    },
    Table {
        name: Some("VRM Add-on for Blender"),
        rig: "vrm add-on",
        sides: L,
        joints: "
root
  hips =hips
    spine =spine
      chest =chest
        upper_chest =upperChest
          neck =neck
            head =head
              eye.# =Eye
          shoulder.# =Shoulder
            upper_arm.# =UpperArm
              lower_arm.# =LowerArm
                hand.# =Hand
                  thumb.metacarpal.# =ThumbMetacarpal
                    thumb.proximal.# =ThumbProximal
                      thumb.distal.# =ThumbDistal
                  index.proximal.# =IndexProximal
                    index.intermediate.# =IndexIntermediate
                      index.distal.# =IndexDistal
    upper_leg.# =UpperLeg
      lower_leg.# =LowerLeg
        foot.# =Foot
          toes.# =Toes",
    },
    Table {
        name: Some("3ds Max Biped"),
        rig: "biped",
        sides: L,
        joints: "
Bip01
  Bip01 Footsteps
  Bip01 Pelvis =hips
    Bip01 Spine
      Bip01 Spine1 =spine
        Bip01 Spine2 =chest
          Bip01 Neck =neck
            Bip01 Head =head
              Bip01 HeadNub
              Bip01 Ponytail1
                Bip01 Ponytail11
            Bip01 # Clavicle =Shoulder
              Bip01 # UpperArm =UpperArm
                Bip01 # Forearm =LowerArm
                  Bip01 # ForeTwist
                  Bip01 # Hand =Hand
                    Bip01 # Finger0 =ThumbMetacarpal
                      Bip01 # Finger01 =ThumbProximal
                        Bip01 # Finger02 =ThumbDistal
                          Bip01 # Finger0Nub
                    Bip01 # Finger1 =IndexProximal
                      Bip01 # Finger11 =IndexIntermediate
                        Bip01 # Finger12 =IndexDistal
                          Bip01 # Finger1Nub
                    Bip01 # Finger4 =LittleProximal
                      Bip01 # Finger41 =LittleIntermediate
                        Bip01 # Finger42 =LittleDistal
                Bip01 # UpTwist
      Bip01 # Thigh =UpperLeg
        Bip01 # Calf =LowerLeg
          Bip01 # Foot =Foot
            Bip01 # Toe0 =Toes
              Bip01 # Toe0Nub
      Bip01 Tail",
    },
    Table {
        name: Some("3ds Max Biped"),
        rig: "biped with another name",
        sides: L,
        joints: "
HeroGuard
  HeroGuard Pelvis =hips
    HeroGuard Spine =spine
      HeroGuard Spine1 =chest
        HeroGuard # Clavicle =Shoulder
          HeroGuard # UpperArm =UpperArm
            HeroGuard # Forearm =LowerArm
              HeroGuard # Hand =Hand
                HeroGuard # Finger0 =ThumbMetacarpal
                  HeroGuard # Finger01 =ThumbProximal
                HeroGuard # Finger1 =IndexProximal
                  HeroGuard # Finger11 =IndexIntermediate
        HeroGuard Neck =neck
          HeroGuard Head =head
    HeroGuard # Thigh =UpperLeg
      HeroGuard # Calf =LowerLeg
        HeroGuard # Foot =Foot
          HeroGuard # Toe0 =Toes",
    },
    Table {
        name: Some("HumanIK"),
        rig: "humanik",
        sides: LEFT,
        joints: "
Character1_Reference
  Character1_Hips =hips
    Character1_#UpLeg =UpperLeg
      Character1_#UpLegRoll
      Character1_#Leg =LowerLeg
        Character1_#LegRoll
        Character1_#Foot =Foot
          Character1_#ToeBase =Toes
            Character1_#FootMiddle1
    Character1_Spine =spine
      Character1_Spine1 =chest
        Character1_Spine2
          Character1_Spine3 =upperChest
            Character1_#Shoulder =Shoulder
              Character1_#ShoulderExtra
              Character1_#Arm =UpperArm
                Character1_#ArmRoll
                Character1_#ForeArm =LowerArm
                  Character1_#ForeArmRoll
                  Character1_#Hand =Hand
                    Character1_#HandThumb1 =ThumbMetacarpal
                      Character1_#HandThumb2 =ThumbProximal
                        Character1_#HandThumb3 =ThumbDistal
                          Character1_#HandThumb4
                    Character1_#InHandIndex
                      Character1_#HandIndex1 =IndexProximal
                        Character1_#HandIndex2 =IndexIntermediate
                          Character1_#HandIndex3 =IndexDistal
                            Character1_#HandIndex4
                    Character1_#InHandPinky
                      Character1_#HandPinky1 =LittleProximal
                        Character1_#HandPinky2 =LittleIntermediate
                          Character1_#HandPinky3 =LittleDistal
                            Character1_#HandPinky4
            Character1_Neck =neck
              Character1_Neck1
                Character1_Head =head
                  Character1_Head1",
    },
    Table {
        name: Some("HumanIK"),
        rig: "humanik with mixed prefixes",
        sides: LEFT,
        joints: "
Fight_Hips =hips
  Fight_#UpLeg =UpperLeg
    Fight_#Leg =LowerLeg
      Fight_s_genrig_#Foot =Foot
        Fight_#ToeBase =Toes
          Fight_#ToeBase1
  Fight_Spine =spine
    Fight_Spine1 =chest
      Fight_Spine2
        Fight_Spine3 =upperChest
          Fight_Neck =neck
            Fight_Head =head
              Fight_Head1
          Fight_#Shoulder =Shoulder
            Fight_#Arm =UpperArm
              Fight_#ForeArm =LowerArm
                Fight_#Hand =Hand
                  Fight_#HandThumb1 =ThumbMetacarpal
                    Fight_#HandThumb2 =ThumbProximal
                      Fight_#HandThumb3 =ThumbDistal
                  Fight_#HandAttach
                  Fight_#FingerBase
                    Fight_#HandMiddle1 =MiddleProximal
                      Fight_#HandMiddle2 =MiddleIntermediate
                        Fight_#HandMiddle3 =MiddleDistal
                          Fight_#HandMiddle4",
    },
    Table {
        name: None,
        rig: "auto-rig pro",
        sides: LOWER,
        joints: "
root.x =hips
  spine_01.x =spine
    spine_02.x =chest
      spine_03.x =upperChest
        neck.x =neck
          head.x =head
        shoulder.# =Shoulder
          arm_stretch.# =UpperArm
            arm_twist.#
            forearm_stretch.# =LowerArm
              forearm_twist.#
              hand.# =Hand
                thumb1.# =ThumbMetacarpal
                  thumb2.# =ThumbProximal
                    thumb3.# =ThumbDistal
                index1_base.#
                  index1.# =IndexProximal
                    index2.# =IndexIntermediate
                      index3.# =IndexDistal
  thigh_stretch.# =UpperLeg
    thigh_twist.#
    leg_stretch.# =LowerLeg
      leg_twist.#
      foot.# =Foot
        toes_01.# =Toes",
    },
    Table {
        name: None,
        rig: "advanced skeleton",
        sides: L,
        joints: "
Root_M =hips
  RootPart1_M
    Spine1_M =spine
      Chest_M =chest
        Neck_M =neck
          Head_M =head
            Eye_# =Eye
            Jaw_M =jaw
              JawEnd_M
            HeadEnd_M
        Scapula_# =Shoulder
          Shoulder_# =UpperArm
            ShoulderPart1_#
              Elbow_# =LowerArm
                ElbowPart1_#
                  Wrist_# =Hand
                    ThumbFinger1_# =ThumbMetacarpal
                      ThumbFinger2_# =ThumbProximal
                        ThumbFinger3_# =ThumbDistal
                          ThumbFinger4_#
                    IndexFinger1_# =IndexProximal
                      IndexFinger2_# =IndexIntermediate
                        IndexFinger3_# =IndexDistal
                          IndexFinger4_#
                    Cup_#
                      PinkyFinger1_# =LittleProximal
                        PinkyFinger2_# =LittleIntermediate
                          PinkyFinger3_# =LittleDistal
                            PinkyFinger4_#
  Hip_# =UpperLeg
    HipPart1_#
      Knee_# =LowerLeg
        Ankle_# =Foot
          Toes_# =Toes
            ToesEnd_#
          Heel_#
            HeelEnd_#",
    },
];
