//! The rigs of motion capture and of data sets of motions.

use super::{L, LEFT, LOWER, SMALL, Table};

pub const TABLES: &[Table] = &[
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
        name: None,
        rig: "kinect",
        sides: LEFT,
        joints: "
SpineBase =hips
  SpineMid =spine
    SpineShoulder =chest
      Neck =neck
        Head =head
      Shoulder# =UpperArm
        Elbow# =LowerArm
          Wrist# =Hand
            Hand#
              HandTip#
            Thumb# =ThumbMetacarpal
  Hip# =UpperLeg
    Knee# =LowerLeg
      Ankle# =Foot
        Foot# =Toes",
    },
];
