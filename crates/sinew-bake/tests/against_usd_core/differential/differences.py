"""Every known difference between sinew and Pixar's bake, and who keeps it out of the comparison.

Nothing else is excused: what is not here fails the test.
"""

# (rule of src/skel/rules.md, where it is kept out, why)
KNOWN = (
    (6, "pixar.deinstance",
     "Pixar refuses native instances; sinew bakes them. Pixar gets a copy without instances, compared path by path."),
    (13, "shapes.INBETWEEN_WEIGHTS",
     "Of two in-betweens of one weight Pixar uses both; the schema text has the second ignored. None is drawn twice."),
    (17, "shapes.add_shapes",
     "For a target that is missing Pixar reads a neighbouring shape; its slot is empty here. All targets are there."),
    (20, "rig._add_weights",
     "Where weights are blocked, Pixar writes no sample of a prim that only blends, so that its neighbours interpolate; "
     "sinew writes the rest points. No weights are blocked."),
    (22, "pixar.mend_op_orders",
     "Of a rigid prim that it cannot bake Pixar leaves one op without a value, and points that blend; sinew leaves the "
     "prim as it was. Its transform is compared with that before Pixar's bake, its points are not."),
    (22, "compare.Comparison._prim",
     "Of a prim whose influences do not fit Pixar bakes the normals that blend; sinew writes nothing for it."),
    (24, "gprims._add_normals",
     "sinew skins primvars:normals too, Pixar's bake reads `normals` alone. Only `normals` are drawn."),
    (24, "shapes.add_shapes",
     "Normals of the wrong number are blended by Pixar where the offsets' indices happen to fit; sinew leaves them. "
     "They get no normal offsets."),
    (25, "ties.hemisphere_ties",
     "Where a joint's rotation is half a turn from the heaviest joint's, the last bit of either computation chooses the "
     "way round. Such points are counted and left out."),
    (28, "compare.Comparison._resets_between_samples",
     "Of a rigid prim that resets the transform stack Pixar drops the reset and samples its parents' times; sinew keeps "
     "the reset, which takes fewer samples. Such prims are compared at sinew's samples."),
    (31, "pixar.sample_ancestors",
     "Pixar forgets the times of ancestors' transforms. It gets them as an op that does nothing on each Skeleton."),
    (32, "compare.Comparison._retyped",
     "Pixar makes an Xform of a SkelRoot none of whose prims it bakes; sinew leaves it, with what it left in it."),
    (32, "compare.Comparison._hint",
     "Pixar's hints count a SkelRoot within a SkelRoot by its joints, and prims whose extents it fails to write not at "
     "all. Where Pixar writes a hint, ours is compared with usd-core's ComputeExtentsHint of our own stage, unless a "
     "SkelRoot is left below, which usd-core bounds by its joints and sinew by what is in it, or animated points without "
     "an extent, whose boxes sinew interpolates; at times that both sample."),
    (33, "gprims._add_widths",
     "usd-core has no extent for Points whose widths are not as many, sinew pads by the largest. They are as many."),
    (32, "generate._hint_extents",
     "usd-core 26.11 crashes where more models have an extentsHint than prims are baked. One model has one."),
    (33, "compare.Comparison._prim",
     "Pixar writes extents beside points that it fails to bake, and at times misses a sample. Extents are compared "
     "where points are baked, at Pixar's own samples."),
    (31, "composition.write",
     "A layer offset with a negative scale makes usd-core 26.11 look up samples in the wrong order. None is drawn."),
)  # fmt: skip
