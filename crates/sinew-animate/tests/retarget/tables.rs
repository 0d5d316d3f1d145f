//! The joints of many tools' rigs, as the tools name them.
//!
//! A line is a joint, indented below its parent. `#` in a name makes two joints, one for each side;
//! what is indented below is made twice too. After `=` stands the human bone that the joint has to
//! be found as, without its side; joints without one have to stay unmatched.

/// The rig of a tool.
pub struct Table {
    /// What the report calls the names.
    pub name: Option<&'static str>,
    /// A short name of the rig.
    pub rig: &'static str,
    pub sides: [&'static str; 2],
    pub joints: &'static str,
}

const LEFT: [&str; 2] = ["Left", "Right"];
const SMALL: [&str; 2] = ["left", "right"];
const L: [&str; 2] = ["L", "R"];
const LOWER: [&str; 2] = ["l", "r"];

pub const TABLES: &[Table] = &[
    Table {
        name: Some("Mixamo"),
        rig: "mixamo",
        sides: LEFT,
        joints: "
mixamorig:Hips =hips
  mixamorig:Spine =spine
    mixamorig:Spine1 =chest
      mixamorig:Spine2 =upperChest
        mixamorig:Neck =neck
          mixamorig:Head =head
            mixamorig:HeadTop_End
        mixamorig:#Shoulder =Shoulder
          mixamorig:#Arm =UpperArm
            mixamorig:#ForeArm =LowerArm
              mixamorig:#Hand =Hand
                mixamorig:#HandThumb1 =ThumbMetacarpal
                  mixamorig:#HandThumb2 =ThumbProximal
                    mixamorig:#HandThumb3 =ThumbDistal
                      mixamorig:#HandThumb4
                mixamorig:#HandIndex1 =IndexProximal
                  mixamorig:#HandIndex2 =IndexIntermediate
                    mixamorig:#HandIndex3 =IndexDistal
                      mixamorig:#HandIndex4
                mixamorig:#HandMiddle1 =MiddleProximal
                  mixamorig:#HandMiddle2 =MiddleIntermediate
                    mixamorig:#HandMiddle3 =MiddleDistal
                      mixamorig:#HandMiddle4
                mixamorig:#HandRing1 =RingProximal
                  mixamorig:#HandRing2 =RingIntermediate
                    mixamorig:#HandRing3 =RingDistal
                      mixamorig:#HandRing4
                mixamorig:#HandPinky1 =LittleProximal
                  mixamorig:#HandPinky2 =LittleIntermediate
                    mixamorig:#HandPinky3 =LittleDistal
                      mixamorig:#HandPinky4
  mixamorig:#UpLeg =UpperLeg
    mixamorig:#Leg =LowerLeg
      mixamorig:#Foot =Foot
        mixamorig:#ToeBase =Toes
          mixamorig:#Toe_End",
    },
    Table {
        name: Some("Ready Player Me"),
        rig: "ready player me",
        sides: LEFT,
        joints: "
Armature
  Hips =hips
    Spine =spine
      Spine1 =chest
        Spine2 =upperChest
          Neck =neck
            Head =head
              HeadTop_End
              #Eye =Eye
          #Shoulder =Shoulder
            #Arm =UpperArm
              #ForeArm =LowerArm
                #Hand =Hand
                  #HandThumb1 =ThumbMetacarpal
                    #HandThumb2 =ThumbProximal
                      #HandThumb3 =ThumbDistal
                        #HandThumb4
                  #HandIndex1 =IndexProximal
                    #HandIndex2 =IndexIntermediate
                      #HandIndex3 =IndexDistal
    #UpLeg =UpperLeg
      #Leg =LowerLeg
        #Foot =Foot
          #ToeBase =Toes
            #Toe_End",
    },
    Table {
        name: Some("VRoid"),
        rig: "vroid",
        sides: L,
        joints: "
Root
  J_Bip_C_Hips =hips
    J_Bip_C_Spine =spine
      J_Bip_C_Chest =chest
        J_Sec_#_Bust1
          J_Sec_#_Bust2
        J_Bip_C_UpperChest =upperChest
          J_Bip_C_Neck =neck
            J_Bip_C_Head =head
              J_Adj_#_FaceEye =Eye
              J_Sec_Hair1_01
                J_Sec_Hair2_01
          J_Bip_#_Shoulder =Shoulder
            J_Bip_#_UpperArm =UpperArm
              J_Sec_#_TopsUpperArmInside
              J_Bip_#_LowerArm =LowerArm
                J_Bip_#_Hand =Hand
                  J_Bip_#_Index1 =IndexProximal
                    J_Bip_#_Index2 =IndexIntermediate
                      J_Bip_#_Index3 =IndexDistal
                  J_Bip_#_Little1 =LittleProximal
                    J_Bip_#_Little2 =LittleIntermediate
                      J_Bip_#_Little3 =LittleDistal
                  J_Bip_#_Thumb1 =ThumbMetacarpal
                    J_Bip_#_Thumb2 =ThumbProximal
                      J_Bip_#_Thumb3 =ThumbDistal
    J_Bip_#_UpperLeg =UpperLeg
      J_Sec_#_SkirtFront1_01
      J_Bip_#_LowerLeg =LowerLeg
        J_Bip_#_Foot =Foot
          J_Bip_#_ToeBase =Toes",
    },
    Table {
        name: Some("VRM/EXT humanoid"),
        rig: "vrm",
        sides: SMALL,
        joints: "
root
  hips =hips
    spine =spine
      chest =chest
        upperChest =upperChest
          neck =neck
            head =head
              #Eye =Eye
              jaw =jaw
          #Shoulder =Shoulder
            #UpperArm =UpperArm
              #LowerArm =LowerArm
                #Hand =Hand
                  #ThumbMetacarpal =ThumbMetacarpal
                    #ThumbProximal =ThumbProximal
                      #ThumbDistal =ThumbDistal
                  #RingProximal =RingProximal
                    #RingIntermediate =RingIntermediate
                      #RingDistal =RingDistal
    #UpperLeg =UpperLeg
      #LowerLeg =LowerLeg
        #Foot =Foot
          #Toes =Toes",
    },
    Table {
        name: Some("Godot"),
        rig: "godot",
        sides: LEFT,
        joints: "
Root
  Hips =hips
    #UpperLeg =UpperLeg
      #LowerLeg =LowerLeg
        #Foot =Foot
          #Toes =Toes
    Spine =spine
      Chest =chest
        UpperChest =upperChest
          Neck =neck
            Head =head
              #Eye =Eye
              Jaw =jaw
          #Shoulder =Shoulder
            #UpperArm =UpperArm
              #LowerArm =LowerArm
                #Hand =Hand
                  #ThumbMetacarpal =ThumbMetacarpal
                    #ThumbProximal =ThumbProximal
                      #ThumbDistal =ThumbDistal
                  #MiddleProximal =MiddleProximal
                    #MiddleIntermediate =MiddleIntermediate
                      #MiddleDistal =MiddleDistal",
    },
    Table {
        name: Some("Unity"),
        rig: "unity",
        sides: LEFT,
        joints: "
Hips =hips
  #UpperLeg =UpperLeg
    #LowerLeg =LowerLeg
      #Foot =Foot
        #Toes =Toes
  Spine =spine
    Chest =chest
      UpperChest =upperChest
        Neck =neck
          Head =head
            #Eye =Eye
            Jaw =jaw
        #Shoulder =Shoulder
          #UpperArm =UpperArm
            #LowerArm =LowerArm
              #Hand =Hand
                #ThumbProximal =ThumbMetacarpal
                  #ThumbIntermediate =ThumbProximal
                    #ThumbDistal =ThumbDistal
                #LittleProximal =LittleProximal
                  #LittleIntermediate =LittleIntermediate
                    #LittleDistal =LittleDistal",
    },
    Table {
        name: Some("Unreal"),
        rig: "unreal 4",
        sides: LOWER,
        joints: "
root
  pelvis =hips
    spine_01 =spine
      spine_02 =chest
        spine_03 =upperChest
          clavicle_# =Shoulder
            upperarm_# =UpperArm
              lowerarm_# =LowerArm
                hand_# =Hand
                  index_01_# =IndexProximal
                    index_02_# =IndexIntermediate
                      index_03_# =IndexDistal
                  middle_01_# =MiddleProximal
                    middle_02_# =MiddleIntermediate
                      middle_03_# =MiddleDistal
                  pinky_01_# =LittleProximal
                    pinky_02_# =LittleIntermediate
                      pinky_03_# =LittleDistal
                  ring_01_# =RingProximal
                    ring_02_# =RingIntermediate
                      ring_03_# =RingDistal
                  thumb_01_# =ThumbMetacarpal
                    thumb_02_# =ThumbProximal
                      thumb_03_# =ThumbDistal
                lowerarm_twist_01_#
              upperarm_twist_01_#
          neck_01 =neck
            head =head
    thigh_# =UpperLeg
      calf_# =LowerLeg
        calf_twist_01_#
        foot_# =Foot
          ball_# =Toes
      thigh_twist_01_#
  ik_foot_root
    ik_foot_#
  ik_hand_root
    ik_hand_gun
      ik_hand_#",
    },
    Table {
        name: Some("Unreal"),
        rig: "unreal 5",
        sides: LOWER,
        joints: "
root
  pelvis =hips
    spine_01 =spine
      spine_02
        spine_03 =chest
          spine_04
            spine_05 =upperChest
              clavicle_# =Shoulder
                upperarm_# =UpperArm
                  lowerarm_# =LowerArm
                    lowerarm_correctiveRoot_#
                      lowerarm_in_#
                    hand_# =Hand
                      index_metacarpal_#
                        index_01_# =IndexProximal
                          index_02_# =IndexIntermediate
                            index_03_# =IndexDistal
                      pinky_metacarpal_#
                        pinky_01_# =LittleProximal
                          pinky_02_# =LittleIntermediate
                            pinky_03_# =LittleDistal
                      thumb_01_# =ThumbMetacarpal
                        thumb_02_# =ThumbProximal
                          thumb_03_# =ThumbDistal
                      weapon_#
                    lowerarm_twist_02_#
                      lowerarm_twist_01_#
                  upperarm_twist_01_#
                    upperarm_twistCor_01_#
                  upperarm_correctiveRoot_#
                    upperarm_bicep_#
                clavicle_out_#
              neck_01 =neck
                neck_02
                  head =head
    thigh_# =UpperLeg
      calf_# =LowerLeg
        foot_# =Foot
          ball_# =Toes
          ankle_bck_#
          ankle_fwd_#
        calf_twist_02_#
          calf_twist_01_#
        calf_correctiveRoot_#
          calf_knee_#
      thigh_twist_01_#
      thigh_correctiveRoot_#
        thigh_bck_#
  ik_foot_root
    ik_foot_#
  ik_hand_root
    ik_hand_gun
      ik_hand_#
  interaction
  center_of_mass",
    },
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
        name: Some("DAZ Genesis 8"),
        rig: "genesis 8",
        sides: LOWER,
        joints: "
hip =hips
  pelvis
    #ThighBend =UpperLeg
      #ThighTwist
        #Shin =LowerLeg
          #Foot =Foot
            #Metatarsals
              #Toe =Toes
                #SmallToe4
                  #SmallToe4_2
                #BigToe
                  #BigToe_2
            #Heel
  abdomenLower =spine
    abdomenUpper
      chestLower =chest
        chestUpper =upperChest
          #Collar =Shoulder
            #ShldrBend =UpperArm
              #ShldrTwist
                #ForearmBend =LowerArm
                  #ForearmTwist
                    #Hand =Hand
                      #Thumb1 =ThumbMetacarpal
                        #Thumb2 =ThumbProximal
                          #Thumb3 =ThumbDistal
                      #Carpal1
                        #Index1 =IndexProximal
                          #Index2 =IndexIntermediate
                            #Index3 =IndexDistal
                      #Carpal2
                        #Mid1 =MiddleProximal
                          #Mid2 =MiddleIntermediate
                            #Mid3 =MiddleDistal
                      #Carpal4
                        #Pinky1 =LittleProximal
                          #Pinky2 =LittleIntermediate
                            #Pinky3 =LittleDistal
          neckLower =neck
            neckUpper
              head =head
                upperTeeth
                lowerJaw =jaw
                  lowerTeeth
                    tongue01
                #Eye =Eye
                #Ear
                upperFaceRig
                  #BrowInner
                  #EyelidInner
        #Pectoral",
    },
    Table {
        name: Some("DAZ Genesis 9"),
        rig: "genesis 9",
        sides: LOWER,
        joints: "
hip =hips
  pelvis
    #_thigh =UpperLeg
      #_thightwist1
      #_thightwist2
      #_shin =LowerLeg
        #_foot =Foot
          #_metatarsals
          #_toes =Toes
            #_bigtoe1
              #_bigtoe2
            #_indextoe1
            #_pinkytoe1
  spine1 =spine
    spine2 =chest
      spine3
        spine4 =upperChest
          #_shoulder =Shoulder
            #_upperarm =UpperArm
              #_upperarmtwist1
              #_forearm =LowerArm
                #_forearmtwist1
                #_hand =Hand
                  #_indexmetacarpal
                    #_index1 =IndexProximal
                      #_index2 =IndexIntermediate
                        #_index3 =IndexDistal
                  #_midmetacarpal
                    #_mid1 =MiddleProximal
                      #_mid2 =MiddleIntermediate
                        #_mid3 =MiddleDistal
                  #_thumb1 =ThumbMetacarpal
                    #_thumb2 =ThumbProximal
                      #_thumb3 =ThumbDistal
          neck1 =neck
            neck2
              head =head
                lowerjaw =jaw
                #_eye =Eye
                #_ear
          #_pectoral",
    },
    Table {
        name: Some("Character Creator"),
        rig: "character creator",
        sides: L,
        joints: "
CC_Base_BoneRoot
  CC_Base_Hip =hips
    CC_Base_Pelvis
      CC_Base_#_Thigh =UpperLeg
        CC_Base_#_ThighTwist01
          CC_Base_#_ThighTwist02
        CC_Base_#_Calf =LowerLeg
          CC_Base_#_CalfTwist01
          CC_Base_#_KneeShareBone
          CC_Base_#_Foot =Foot
            CC_Base_#_ToeBaseShareBone
            CC_Base_#_ToeBase =Toes
              CC_Base_#_BigToe1
              CC_Base_#_IndexToe1
              CC_Base_#_PinkyToe1
    CC_Base_Waist =spine
      CC_Base_Spine01 =chest
        CC_Base_Spine02 =upperChest
          CC_Base_#_Clavicle =Shoulder
            CC_Base_#_Upperarm =UpperArm
              CC_Base_#_UpperarmTwist01
              CC_Base_#_Forearm =LowerArm
                CC_Base_#_ElbowShareBone
                CC_Base_#_ForearmTwist01
                CC_Base_#_Hand =Hand
                  CC_Base_#_Thumb1 =ThumbMetacarpal
                    CC_Base_#_Thumb2 =ThumbProximal
                      CC_Base_#_Thumb3 =ThumbDistal
                  CC_Base_#_Index1 =IndexProximal
                    CC_Base_#_Index2 =IndexIntermediate
                      CC_Base_#_Index3 =IndexDistal
                  CC_Base_#_Mid1 =MiddleProximal
                    CC_Base_#_Mid2 =MiddleIntermediate
                      CC_Base_#_Mid3 =MiddleDistal
          CC_Base_#_RibsTwist
            CC_Base_#_Breast
          CC_Base_NeckTwist01 =neck
            CC_Base_NeckTwist02
              CC_Base_Head =head
                CC_Base_FacialBone
                  CC_Base_JawRoot =jaw
                    CC_Base_Tongue01
                    CC_Base_Teeth02
                  CC_Base_#_Eye =Eye
                  CC_Base_UpperJaw
                    CC_Base_Teeth01",
    },
    Table {
        name: Some("SMPL"),
        rig: "smpl",
        sides: L,
        joints: "
f_avg_root
  f_avg_Pelvis =hips
    f_avg_#_Hip =UpperLeg
      f_avg_#_Knee =LowerLeg
        f_avg_#_Ankle =Foot
          f_avg_#_Foot =Toes
    f_avg_Spine1 =spine
      f_avg_Spine2 =chest
        f_avg_Spine3 =upperChest
          f_avg_Neck =neck
            f_avg_Head =head
          f_avg_#_Collar =Shoulder
            f_avg_#_Shoulder =UpperArm
              f_avg_#_Elbow =LowerArm
                f_avg_#_Wrist =Hand
                  f_avg_#_Hand",
    },
    Table {
        name: Some("SMPL-X"),
        rig: "smpl-x",
        sides: SMALL,
        joints: "
root
  pelvis =hips
    #_hip =UpperLeg
      #_knee =LowerLeg
        #_ankle =Foot
          #_foot =Toes
    spine1 =spine
      spine2 =chest
        spine3 =upperChest
          neck =neck
            head =head
              jaw =jaw
              #_eye_smplhf =Eye
          #_collar =Shoulder
            #_shoulder =UpperArm
              #_elbow =LowerArm
                #_wrist =Hand
                  #_index1 =IndexProximal
                    #_index2 =IndexIntermediate
                      #_index3 =IndexDistal
                  #_middle1 =MiddleProximal
                    #_middle2 =MiddleIntermediate
                      #_middle3 =MiddleDistal
                  #_pinky1 =LittleProximal
                    #_pinky2 =LittleIntermediate
                      #_pinky3 =LittleDistal
                  #_thumb1 =ThumbMetacarpal
                    #_thumb2 =ThumbProximal
                      #_thumb3 =ThumbDistal",
    },
    Table {
        name: Some("ARKit"),
        rig: "arkit",
        sides: SMALL,
        joints: "
root
  hips_joint =hips
    #_upLeg_joint =UpperLeg
      #_leg_joint =LowerLeg
        #_foot_joint =Foot
          #_toes_joint =Toes
            #_toesEnd_joint
    spine_1_joint =spine
      spine_2_joint
        spine_3_joint
          spine_4_joint =chest
            spine_5_joint
              spine_6_joint
                spine_7_joint =upperChest
                  #_shoulder_1_joint =Shoulder
                    #_arm_joint =UpperArm
                      #_forearm_joint =LowerArm
                        #_hand_joint =Hand
                          #_handIndexStart_joint
                            #_handIndex_1_joint =IndexProximal
                              #_handIndex_2_joint =IndexIntermediate
                                #_handIndex_3_joint =IndexDistal
                                  #_handIndexEnd_joint
                          #_handMidStart_joint
                            #_handMid_1_joint =MiddleProximal
                              #_handMid_2_joint =MiddleIntermediate
                                #_handMid_3_joint =MiddleDistal
                                  #_handMidEnd_joint
                          #_handPinkyStart_joint
                            #_handPinky_1_joint =LittleProximal
                              #_handPinky_2_joint =LittleIntermediate
                                #_handPinky_3_joint =LittleDistal
                                  #_handPinkyEnd_joint
                          #_handRingStart_joint
                            #_handRing_1_joint =RingProximal
                              #_handRing_2_joint =RingIntermediate
                                #_handRing_3_joint =RingDistal
                                  #_handRingEnd_joint
                          #_handThumbStart_joint =ThumbMetacarpal
                            #_handThumb_1_joint =ThumbProximal
                              #_handThumb_2_joint =ThumbDistal
                                #_handThumbEnd_joint
                  neck_1_joint =neck
                    neck_2_joint
                      neck_3_joint
                        neck_4_joint
                          head_joint =head
                            jaw_joint =jaw
                              chin_joint
                            #_eye_joint =Eye
                              #_eyeLowerLid_joint
                              #_eyeUpperLid_joint
                              #_eyeball_joint
                            nose_joint",
    },
    Table {
        name: Some("MikuMikuDance"),
        rig: "mmd",
        sides: ["左", "右"],
        joints: "
操作中心
全ての親
  センター
    グルーブ
      腰 =hips
        上半身 =spine
          上半身2 =chest
            首 =neck
              頭 =head
                両目
                #目 =Eye
                前髪1
            #肩P
              #肩 =Shoulder
                #肩C
                  #腕 =UpperArm
                    #腕捩
                      #腕捩1
                      #ひじ =LowerArm
                        #手捩
                          #手首 =Hand
                            #ダミー
                            #親指０ =ThumbMetacarpal
                              #親指１ =ThumbProximal
                                #親指２ =ThumbDistal
                                  #親指先
                            #人指１ =IndexProximal
                              #人指２ =IndexIntermediate
                                #人指３ =IndexDistal
                            #中指１ =MiddleProximal
                              #中指２ =MiddleIntermediate
                                #中指３ =MiddleDistal
                            #薬指１ =RingProximal
                              #薬指２ =RingIntermediate
                                #薬指３ =RingDistal
                            #小指１ =LittleProximal
                              #小指２ =LittleIntermediate
                                #小指３ =LittleDistal
        下半身
          腰キャンセル#
            #足 =UpperLeg
              #ひざ =LowerLeg
                #足首 =Foot
                  #つま先 =Toes
            #足D
              #ひざD
                #足首D
                  #足先EX
  #足ＩＫ
    #つま先ＩＫ",
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
        name: Some("Rokoko"),
        rig: "rokoko",
        sides: LEFT,
        joints: "
Hips =hips
  Spine1 =spine
    Spine2 =chest
      Spine3
        Spine4 =upperChest
          Neck =neck
            Head =head
              HeadTip
          #Shoulder =Shoulder
            #Arm =UpperArm
              #ForeArm =LowerArm
                #Hand =Hand
                  #Finger5Metacarpal
                    #Finger5Proximal =LittleProximal
                      #Finger5Medial =LittleIntermediate
                        #Finger5Distal =LittleDistal
                          #Finger5Tip
                  #Finger2Metacarpal
                    #Finger2Proximal =IndexProximal
                      #Finger2Medial =IndexIntermediate
                        #Finger2Distal =IndexDistal
                          #Finger2Tip
                  #Finger1Metacarpal =ThumbMetacarpal
                    #Finger1Proximal =ThumbProximal
                      #Finger1Distal =ThumbDistal
                        #Finger1Tip
  #Thigh =UpperLeg
    #Shin =LowerLeg
      #Foot =Foot
        #Toe =Toes
          #ToeTip",
    },
    Table {
        name: Some("Xsens"),
        rig: "xsens bvh",
        sides: LEFT,
        joints: "
Hips =hips
  Chest =spine
    Chest2 =chest
      Chest3
        Chest4 =upperChest
          Neck =neck
            Head =head
          #Collar =Shoulder
            #Shoulder =UpperArm
              #Elbow =LowerArm
                #Wrist =Hand
  #Hip =UpperLeg
    #Knee =LowerLeg
      #Ankle =Foot
        #Toe =Toes",
    },
    Table {
        name: Some("Xsens"),
        rig: "xsens fbx",
        sides: LEFT,
        joints: "
Reference
  Hips =hips
    #UpperLeg =UpperLeg
      #LowerLeg =LowerLeg
        #Foot =Foot
          #Toe =Toes
    L5 =spine
      L3 =chest
        T12
          T8 =upperChest
            #Shoulder =Shoulder
              #UpperArm =UpperArm
                #ForeArm =LowerArm
                  #Hand =Hand
                    #FirstMC =ThumbMetacarpal
                      #FirstPP =ThumbProximal
                        #FirstDP =ThumbDistal
                    #SecondMC
                      #SecondPP =IndexProximal
                        #SecondMP =IndexIntermediate
                          #SecondDP =IndexDistal
                    #ThirdMC
                      #ThirdPP =MiddleProximal
                        #ThirdMP =MiddleIntermediate
                          #ThirdDP =MiddleDistal
            Neck =neck
              Head =head",
    },
    Table {
        name: Some("CMU (BVH)"),
        rig: "cmu bvh",
        sides: LEFT,
        joints: "
Hips =hips
  LHipJoint
    LeftUpLeg =leftUpperLeg
      LeftLeg =leftLowerLeg
        LeftFoot =leftFoot
          LeftToeBase =leftToes
  RHipJoint
    RightUpLeg =rightUpperLeg
      RightLeg =rightLowerLeg
        RightFoot =rightFoot
          RightToeBase =rightToes
  LowerBack =spine
    Spine =chest
      Spine1 =upperChest
        Neck =neck
          Neck1
            Head =head
        #Shoulder =Shoulder
          #Arm =UpperArm
            #ForeArm =LowerArm
              #Hand =Hand
                #FingerBase
                  #HandIndex1 =IndexProximal
                #Thumb =ThumbMetacarpal",
    },
    Table {
        name: Some("CMU (Acclaim)"),
        rig: "cmu asf",
        sides: LOWER,
        joints: "
root =hips
  #hipjoint
    #femur =UpperLeg
      #tibia =LowerLeg
        #foot =Foot
          #toes =Toes
  lowerback =spine
    upperback =chest
      thorax =upperChest
        lowerneck =neck
          upperneck
            head =head
        #clavicle =Shoulder
          #humerus =UpperArm
            #radius =LowerArm
              #wrist =Hand
                #hand
                  #fingers
                #thumb =ThumbMetacarpal",
    },
    Table {
        name: Some("BVH (hip, knee, ankle)"),
        rig: "3ds max style bvh",
        sides: LEFT,
        joints: "
Hips =hips
  #Hip =UpperLeg
    #Knee =LowerLeg
      #Ankle =Foot
        #Ankle_End
  Chest =chest
    #Collar =Shoulder
      #Shoulder =UpperArm
        #Elbow =LowerArm
          #Wrist =Hand
            #Wrist_End
    Neck =neck
      Head =head",
    },
    Table {
        name: Some("BVH (hip, knee, ankle)"),
        rig: "biovision bvh",
        sides: LEFT,
        joints: "
Hips =hips
  #Hip =UpperLeg
    #Knee =LowerLeg
      #Ankle =Foot
  Chest =spine
    Chest2 =chest
      #Shoulder =UpperArm
        #Elbow =LowerArm
          #Wrist =Hand
      Neck =neck
        Head =head",
    },
    Table {
        name: None,
        rig: "lhip bvh",
        sides: LOWER,
        joints: "
hip =hips
  #hip =UpperLeg
    #knee =LowerLeg
      #ankle =Foot
  abdomen =spine
    chest =chest
      neck =neck
        head =head
      #collar =Shoulder
        #shoulder =UpperArm
          #elbow =LowerArm
            #wrist =Hand",
    },
    Table {
        name: Some("Human3.6M"),
        rig: "human3.6m",
        sides: L,
        joints: "
Hip =hips
  #Hip =UpperLeg
    #Knee =LowerLeg
      #Foot =Foot
  Spine =spine
    Thorax =chest
      Neck/Nose =neck
        Head =head
      #Shoulder =UpperArm
        #Elbow =LowerArm
          #Wrist =Hand",
    },
    Table {
        name: Some("Poser"),
        rig: "poser",
        sides: LOWER,
        joints: "
BODY
  hip =hips
    abdomen =spine
      chest =chest
        neck =neck
          head =head
            #Eye =Eye
        #Collar =Shoulder
          #Shldr =UpperArm
            #ForeArm =LowerArm
              #Hand =Hand
                #Thumb1 =ThumbMetacarpal
                  #Thumb2 =ThumbProximal
                    #Thumb3 =ThumbDistal
                #Index1 =IndexProximal
                  #Index2 =IndexIntermediate
                    #Index3 =IndexDistal
                #Mid1 =MiddleProximal
                  #Mid2 =MiddleIntermediate
                    #Mid3 =MiddleDistal
    #Buttock
      #Thigh =UpperLeg
        #Shin =LowerLeg
          #Foot =Foot
            #Toe =Toes",
    },
    Table {
        name: None,
        rig: "source engine 2",
        sides: L,
        joints: "
pelvis =hips
  spine_0 =spine
    spine_1
      spine_2 =chest
        spine_3 =upperChest
          neck_0 =neck
            head =head
          clavicle_# =Shoulder
            arm_upper_# =UpperArm
              arm_lower_# =LowerArm
                hand_# =Hand
                  finger_thumb_0_# =ThumbMetacarpal
                    finger_thumb_1_# =ThumbProximal
                      finger_thumb_2_# =ThumbDistal
                  finger_index_meta_#
                    finger_index_0_# =IndexProximal
                      finger_index_1_# =IndexIntermediate
                        finger_index_2_# =IndexDistal
  leg_upper_# =UpperLeg
    leg_lower_# =LowerLeg
      ankle_# =Foot
        ball_# =Toes",
    },
    Table {
        name: None,
        rig: "numbered limbs",
        sides: L,
        joints: "
Skeleton_torso_joint_1 =hips
  Skeleton_torso_joint_2 =spine
    torso_joint_3 =chest
      Skeleton_neck_joint_1 =neck
        Skeleton_neck_joint_2 =head
      Skeleton_arm_joint_#__4_ =UpperArm
        Skeleton_arm_joint_#__3_ =LowerArm
          Skeleton_arm_joint_#__2_ =Hand
  leg_joint_#_1 =UpperLeg
    leg_joint_#_2 =LowerLeg
      leg_joint_#_3 =Foot
        leg_joint_#_5 =Toes",
    },
    Table {
        name: None,
        rig: "a game's own rig",
        sides: L,
        joints: "
global_jnt
  cog_jnt
    c_pelvis_jnt =hips
      c_spineA_jnt =spine
        c_spineB_jnt =chest
          c_chest_jnt =upperChest
            c_neck_jnt =neck
              c_head_jnt =head
                c_jaw_jnt =jaw
                #_eye_jnt =Eye
            #_clav_jnt =Shoulder
              #_uparm_jnt =UpperArm
                #_uparmTwist_jnt
                #_loarm_jnt =LowerArm
                  #_wrist_jnt =Hand
                    #_thumbA_jnt =ThumbMetacarpal
                      #_thumbB_jnt =ThumbProximal
                        #_thumbC_jnt =ThumbDistal
                    #_pointerA_jnt =IndexProximal
                      #_pointerB_jnt =IndexIntermediate
                        #_pointerC_jnt =IndexDistal
            #_cape_jnt
      #_upleg_jnt =UpperLeg
        #_loleg_jnt =LowerLeg
          #_ankle_jnt =Foot
            #_ball_jnt =Toes
              #_toetip_jnt",
    },
];
