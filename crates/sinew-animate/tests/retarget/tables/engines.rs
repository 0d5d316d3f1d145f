//! The rigs of game engines, avatars and stores of characters.

use super::{L, LEFT, LOWER, SMALL, Table};

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
    Table {
        name: None,
        rig: "synty",
        sides: L,
        joints: "
Root
  Hips =hips
    Spine_01 =spine
      Spine_02 =chest
        Spine_03 =upperChest
          Neck =neck
            Head =head
              Eyes
              Eyebrows
          Clavicle_# =Shoulder
            Shoulder_# =UpperArm
              Elbow_# =LowerArm
                Hand_# =Hand
                  Thumb_01_# =ThumbMetacarpal
                    Thumb_02_# =ThumbProximal
                      Thumb_03_# =ThumbDistal
                  IndexFinger_01_# =IndexProximal
                    IndexFinger_02_# =IndexIntermediate
                      IndexFinger_03_# =IndexDistal
                      Prop_#
    UpperLeg_# =UpperLeg
      LowerLeg_# =LowerLeg
        Ankle_# =Foot
          Ball_# =Toes
            Toes_#",
    },
];
