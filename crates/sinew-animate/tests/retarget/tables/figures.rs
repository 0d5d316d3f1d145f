//! The rigs of ready-made figures and of generators of bodies.

use super::{L, LOWER, SMALL, Table};

pub const TABLES: &[Table] = &[
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
        rig: "makehuman",
        sides: L,
        joints: "
root =hips
  pelvis.#
    upperleg01.# =UpperLeg
      upperleg02.#
        lowerleg01.# =LowerLeg
          lowerleg02.#
            foot.# =Foot
              toe1-1.# =Toes
                toe1-2.#
              toe2-1.#
                toe2-2.#
  spine05 =spine
    spine04
      spine03 =chest
        spine02
          breast.#
          spine01 =upperChest
            clavicle.# =Shoulder
              shoulder01.#
                upperarm01.# =UpperArm
                  upperarm02.#
                    lowerarm01.# =LowerArm
                      lowerarm02.#
                        wrist.# =Hand
                          finger1-1.# =ThumbMetacarpal
                            finger1-2.# =ThumbProximal
                              finger1-3.# =ThumbDistal
                          metacarpal1.#
                            finger2-1.# =IndexProximal
                              finger2-2.# =IndexIntermediate
                                finger2-3.# =IndexDistal
                          metacarpal4.#
                            finger5-1.# =LittleProximal
                              finger5-2.# =LittleIntermediate
                                finger5-3.# =LittleDistal
            neck01 =neck
              neck02
                neck03
                  head =head
                    jaw =jaw
                      tongue00
                    eye.# =Eye
                    levator02.#",
    },
];
