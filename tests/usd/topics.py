"""The topics of `everything.py` that are written as usda text.

Topics of `TEXT_ONLY` have no crate form.

Each is a list of layers, the root layer first: a name and the text. `EXT` stands for the extension.
"""

TEXTS = {}

TEXTS["blocks"] = [("blocks", '''#usda 1.0
def "Strong" (
    prepend inherits = </Weak>
)
{
    float animationBlock = AnimationBlock
    float block = None
    float[] blockedArray = None
    float samplesOverBlock = None
    float samplesOverBlock.timeSamples = {
        0: 1,
        1: None,
        2: 3,
    }
    float samplesOverAnimationBlock = AnimationBlock
    float samplesOverAnimationBlock.timeSamples = {
        0: 1,
    }
    double splineAndDefault = 5
    double splineAndDefault.spline = {
        0: 10; post linear,
        2: 20; post held,
    }
    double splineAndSamples.timeSamples = {
        0: 1,
        2: 2,
    }
    double splineAndSamples.spline = {
        0: 10; post linear,
        2: 20; post held,
    }
    double splineOfNothing = 3
    double splineOfNothing.spline = {
    }
    double splineWithGaps = 7
    double splineWithGaps.spline = {
        pre: none,
        post: none,
        0: 1; post none,
        2: 3; post held,
    }
    double defaultOverSpline = 4
    double blockOverSpline = None
    double animationBlockOverSpline = AnimationBlock
    float emptySamples.timeSamples = {
    }
    float infinite = inf
    float minusInfinite = -inf
    float notANumber = nan
}

def "Weak"
{
    float animationBlock = 1
    float animationBlock.timeSamples = {
        0: 2,
    }
    float block = 1
    float block.timeSamples = {
        0: 2,
    }
    float[] blockedArray = [1, 2]
    double defaultOverSpline.spline = {
        0: 1; post held,
    }
    double blockOverSpline.spline = {
        0: 1; post held,
    }
    double animationBlockOverSpline = 2
    double animationBlockOverSpline.spline = {
        0: 1; post held,
    }
    float emptySamples = 4
}
''')]

TEXTS["names"] = [("names", '''#usda 1.0
(
    defaultPrim = "Größe"
)
def Xform "Größe"
{
    float ümläut = 1
    float 日本語:名前 = 2
    def Scope "子供"
    {
        rel ziel = </Größe/子供.ümläut>
        custom rel ziel
    }
    def Scope "_underscore9"
    {
    }
    def Scope "a_very_long_name_that_needs_more_than_twenty_three_bytes_to_be_stored_anywhere_at_all"
    {
        double a:very:deep:name:space:with:many:parts = 3
        double a:very:deep:name:space = 4
    }
}

def Scope "def"
{
    float def = 1
    float timeSamples = 2
    float default = 3
    float custom = 4
    float uniform = 5
    float None = 6
    float inherits = 7
    float references = 8
    float True = 9
    float edit = 10
}

def Scope "reorder"
{
    def Scope "A"
    {
    }
    def Scope "B"
    {
    }
    def Scope "C"
    {
    }
    float c = 1
    float b = 2
    float a = 3
    reorder nameChildren = ["C", "A"]
    reorder properties = ["a", "c"]
}
''')]

TEXTS["metadata"] = [("metadata", '''#usda 1.0
(
    "the comment of the layer"
    colorConfiguration = @config.ocio@
    colorManagementSystem = "OpenColorIO"
    customLayerData = {
        bool yes = 1
        string text = "a \\"b\\" \\n c"
        dictionary nested = {
            dictionary deeper = {
                dictionary deepest = {
                    int[] numbers = [1, 2, 3]
                }
            }
            dictionary empty = {
            }
        }
        string "odd key with spaces" = "x"
        double "0" = 1.5
        int "key:with:colons" = 1
        int "ümläut" = 2
        asset file = @./file.png@
        asset[] files = [@a.png@, @@]
        token[] tokens = ["a", "b"]
        double3 vector = (1, 2, 3)
        matrix4d matrix = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )
        quatf rotation = (1, 0, 0, 0)
        timecode time = 5
        half small = 0.5
        uchar byte = 255
        int64 big = -9223372036854775808
        uint64 bigger = 18446744073709551615
        float[] none = []
    }
    defaultPrim = "World"
    doc = """The documentation of the layer,
in two lines."""
    endTimeCode = 48.5
    endFrame = 40
    expressionVariables = {
        string NAME = "value"
        bool FLAG = 1
        int64 NUMBER = 3
        string[] LIST = ["a", "b"]
    }
    fallbackPrimTypes = {
        token[] NewCube = ["Cube", "Mesh"]
    }
    framePrecision = 5
    framesPerSecond = 30
    hasOwnedSubLayers = true
    kilogramsPerUnit = 0.001
    metersPerUnit = 1
    owner = "somebody"
    relocates = {
        </World/From>: </World/To>,
    }
    renderSettingsPrimPath = "/Render/Settings"
    sessionOwner = "nobody"
    startFrame = -2
    startTimeCode = -1
    timeCodesPerSecond = 48
    upAxis = "Z"
)

def Xform "World" (
    "the comment of the prim"
    active = true
    prepend apiSchemas = ["MaterialBindingAPI", "CollectionAPI:render"]
    assetInfo = {
        asset identifier = @asset.usd@
        string name = "asset"
        string version = "1.0"
        asset[] payloadAssetDependencies = [@a.usd@, @b.usd@]
    }
    append clipSets = ["one", "two"]
    customData = {
        string a = "b"
        dictionary userDocBrief = {
            string text = """two
lines"""
        }
    }
    displayGroupOrder = ["one", "two"]
    displayName = "The World"
    doc = 'documentation with "quotes"'
    hidden = false
    delete inactiveIds = [3]
    prepend inactiveIds = [1]
    append inactiveIds = [2]
    instanceable = false
    kind = "assembly"
    payloadAssetDependencies = [@a.usd@]
    permission = public
    prefix = "pre"
    prefixSubstitutions = {
        "a": "b",
        "c d": "e"
    }
    sdrMetadata = {
        string role = "texture"
        token "other key" = "x"
    }
    suffix = "post"
    suffixSubstitutions = {
        "a": "b"
    }
    symmetricPeer = "Peer"
    symmetryArguments = {
        int axis = 1
    }
    symmetryFunction = function
    uiHints = {
        string displayName = "hint"
        bool hidden = 1
    }
)
{
    float number = 1 (
        "the comment of the attribute"
        allowedTokens = ["a", "b"]
        arraySizeConstraint = 3
        assetInfo = {
            string name = "x"
        }
        colorSpace = "lin_rec709"
        connectability = "interfaceOnly"
        constraintTargetIdentifier = "target"
        customData = {
            int a = 1
        }
        displayGroup = "group:sub"
        displayName = "Number"
        doc = "documentation"
        elementSize = 4
        hidden = true
        interpolation = "vertex"
        limits = {
            dictionary hard = {
                double minimum = 0
            }
            dictionary soft = {
                double maximum = 2
                double minimum = 1
            }
        }
        permission = private
        prefix = "p"
        renderType = "type"
        sdrMetadata = {
            string a = "b"
        }
        suffix = "s"
        symmetricPeer = "peer"
        symmetryArguments = {
            int a = 1
        }
        symmetryFunction = function
        uiHints = {
            dictionary valueLabels = {
                int a = 1
            }
        }
        unauthoredValuesIndex = 2
        weight = 0.5
    )
    rel target = </World> (
        "the comment of the relationship"
        bindMaterialAs = "strongerThanDescendants"
        customData = {
            int a = 1
        }
        displayGroup = "group"
        displayName = "Target"
        doc = "documentation"
        hidden = true
        noLoadHint = true
        permission = private
        renderType = "type"
    )
    def Scope "From"
    {
    }
}

over "Inactive" (
    active = false
)
{
}

class "Class"
{
}
''')]

TEXTS["unregistered"] = [("unregistered", '''#usda 1.0
(
    foo = "bar"
    numberOfLayer = 3
    dictionaryOfLayer = {
        int a = 3
        dictionary b = {
            string[] c = ["d"]
        }
    }
)
def "A" (
    asset = @a.usd@
    text = "x"
    list = [1, 2]
    number = 3.5
    add added = ["a"]
    delete deleted = ["b"]
    append appended = [1]
    reorder ordered = ["z"]
    tuple = (1, 2)
    prepend prepended = [3, 4]
    quoted = "with \\"quotes\\" and \\n break"
)
{
    float x = 1 (
        of_attribute = "a"
        dictionary_of_attribute = {
            int a = 1
        }
    )
    rel r (
        of_relationship = 4
    )
}
''')]

TEXTS["listOps"] = [("listOps", '''#usda 1.0
def "Explicit" (
    apiSchemas = ["A", "B"]
    inherits = [</C1>, </C2>]
    specializes = </C1>
    references = [@r1.EXT@, @r2.EXT@</P>]
    payload = @p.EXT@</P>
    inactiveIds = [1, -2]
    clipSets = ["a"]
    variantSets = ["v", "w"]
)
{
    rel r = [</A>, </B.x>]
    float x.connect = </A.x>
}

def "None" (
    apiSchemas = None
    inherits = None
    specializes = None
    references = None
    payload = None
    inactiveIds = None
)
{
    rel r = None
    float x.connect = None
}

def "Edits" (
    delete apiSchemas = ["D"]
    add apiSchemas = ["A"]
    prepend apiSchemas = ["P", "Q"]
    append apiSchemas = ["Z"]
    reorder apiSchemas = ["Z", "P"]
    delete inherits = </D>
    add inherits = </A>
    prepend inherits = [</P>, </Q>]
    append inherits = </Z>
    reorder inherits = [</Z>, </P>]
    prepend specializes = </P>
    append specializes = </Z>
    delete references = @d.EXT@
    add references = @a.EXT@
    prepend references = [@p.EXT@ (offset = 1; scale = 2), </Internal>]
    append references = @z.EXT@</P> (
        offset = -3.5
        customData = {
            int a = 1
            string b = "c"
        }
    )
    delete payload = @d.EXT@
    prepend payload = @p.EXT@ (scale = 0.5)
    append payload = </Internal>
    delete inactiveIds = [3]
    prepend inactiveIds = [1]
    append inactiveIds = [9223372036854775807]
    delete clipSets = ["d"]
    prepend clipSets = ["p"]
    append clipSets = ["z"]
    prepend variantSets = "v"
    delete variantSets = "d"
    append variantSets = "w"
)
{
    delete rel r = </D>
    add rel r = </A>
    prepend rel r = [</P>, </Q>]
    append rel r = </Z>
    reorder rel r = [</Z>, </P>]
    delete float x.connect = </D.x>
    add float x.connect = </A.x>
    prepend float x.connect = </P.x>
    append float x.connect = [</Z.x>, </Y.x>]
    reorder float x.connect = [</Z.x>, </P.x>]
}
''')]

TEXTS["properties"] = [("properties", '''#usda 1.0
def Xform "A" (
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    uniform token uniformToken = "a"
    uniform double uniformSamples.timeSamples = {
        0: 1,
        5: 2,
    }
    uniform double[] uniformArray = [1, 2]
    custom float customFloat = 1
    custom uniform float customUniform = 2
    float declared
    custom rel customRelationship
    rel noTargets = []
    rel absolute = </A/B>
    rel relative = <../A/B.x>
    rel many = [</A>, </A.customFloat>, </A/B>]
    rel proxyPrim = </A/B>
    varying rel varyingRelationship = </A>
    token outputs:out.connect = </A/B.outputs:out>
    color3f inputs:color = (1, 0, 0)
    color3f inputs:color.connect = [</A/B.outputs:color>, </A/B.x>]
    color3f inputs:color.timeSamples = {
        1: (0, 1, 0),
    }
    matrix4d xformOp:transform = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (5, 6, 7, 1) )
    uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:transform"]
    texCoord2f[] primvars:st = [(0, 0), (1, 1)] (
        interpolation = "faceVarying"
    )
    int[] primvars:st:indices = [0, 1, 1]
    opaque outputs:surface
    group folder

    def "B"
    {
        float x = 1
        token outputs:out
        color3f outputs:color
    }
}
''')]

TEXTS["variants"] = [("variants", '''#usda 1.0
(
    defaultPrim = "A"
)
def Xform "A" (
    variants = {
        string look = "red"
        string empty = ""
        string outer = "one"
    }
    prepend variantSets = ["look", "outer", "empty"]
)
{
    float strong = 1
    variantSet "look" = {
        "red" (
            "a comment"
            customData = {
                int a = 1
            }
        ) {
            float strong = 2
            float weak = 3
            def "Child"
            {
                float x.timeSamples = {
                    0: 1,
                }
                rel r = </A/Child.x>
            }
            over "Shared"
            {
                float ofRed = 1
            }
        }
        "blue" (
            prepend references = </Class>
        ) {
            float weak = 4
            reorder nameChildren = ["Shared", "Child"]
        }
        "15-odd|name" {
        }
    }
    variantSet "outer" = {
        "one" (
            variants = {
                string inner = "b"
            }
            prepend variantSets = "inner"
        ) {
            variantSet "inner" = {
                "a" {
                    int nested = 1
                }
                "b" (
                    prepend variantSets = "innermost"
                    variants = {
                        string innermost = "x"
                    }
                ) {
                    int nested = 2
                    variantSet "innermost" = {
                        "x" {
                            int deep = 1
                            def Scope "Deep"
                            {
                            }
                        }
                    }
                }
            }
        }
        "two" {
        }
    }
    def "Shared"
    {
    }
}

class "Class"
{
    float ofClass = 1
    def "Child"
    {
    }
}
''')]

TEXTS["arcs"] = [("arcs", '''#usda 1.0
(
    defaultPrim = "World"
    endTimeCode = 100
    startTimeCode = 0
    subLayers = [
        @./arcs_sub.EXT@ (offset = 10; scale = 2)
    ]
    timeCodesPerSecond = 24
    relocates = {
        </World/Referenced/Mesh>: </World/Referenced/Moved>,
        </World/Referenced/Gone>: <>,
    }
)
def Xform "World"
{
    def "Referenced" (
        prepend references = @./arcs_ref.EXT@ (offset = 5; scale = 0.5)
    )
    {
        over "Moved"
        {
            custom float added = 1
        }
    }
    def "Part" (
        prepend references = @./arcs_ref.EXT@</Other> (customData = { string why = "test" })
    )
    {
    }
    def "Loaded" (
        prepend payload = @./arcs_ref.EXT@</Model> (offset = -5)
    )
    {
    }
    def "Both" (
        prepend inherits = </_class_Base>
        prepend specializes = </_special>
        prepend references = </World/Part>
    )
    {
        float own = 1
    }
    def "Variant" (
        prepend references = @./arcs_ref.EXT@</Model>
        variants = {
            string size = "big"
        }
    )
    {
    }
}

class "_class_Base"
{
    float fromClass = 1
    float own = 5
    def Scope "ClassChild"
    {
        timecode t = 3
    }
}

class "_special"
{
    float fromClass = 2
    float fromSpecial = 3
}
'''), ("arcs_sub", '''#usda 1.0
(
    timeCodesPerSecond = 48
)
over "World"
{
    double sampled.timeSamples = {
        0: 1,
        10: 2,
    }
    timecode time = 4
    timecode[] times = [1, 2]
    timecode times2.timeSamples = {
        1: 2,
        3: 4,
    }
    double curve.spline = {
        bezier,
        pre: sloped(2),
        post: loop repeat,
        1: 2; pre (0.1, 0.2); post curve (0.5, 2),
        4: 7 & 2.5; pre (0.25, -1); post held,
        6: 3; post linear,
    }
    timecode timeCurve.spline = {
        1: 2; post linear,
        5: 9; post held,
    }
    over "Referenced"
    {
        float fromSub = 1
    }
}
'''), ("arcs_ref", '''#usda 1.0
(
    defaultPrim = "Model"
    endTimeCode = 10
    startTimeCode = 1
)
def Xform "Model" (
    kind = "component"
    prepend inherits = </_class_Base>
    prepend variantSets = "size"
)
{
    double sampled.timeSamples = {
        0: 1,
        10: 2,
    }
    asset file = @./texture.png@
    rel toMesh = [</Model/Mesh>, </Model/Mesh.points>]
    float x.connect = </Model/Gone.y>
    variantSet "size" = {
        "big" {
            float ofVariant = 1
            def Scope "Big"
            {
            }
        }
        "small" (
            prepend payload = </Other>
        ) {
        }
    }
    def Mesh "Mesh"
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points.timeSamples = {
            1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
            2: [(0, 0, 1), (1, 0, 1), (0, 1, 1)],
        }
    }
    def Scope "Gone"
    {
        float y = 1
    }
}

def Scope "Other"
{
    int n = 7
    def Scope "Below"
    {
        rel up = </Other>
        rel outside = </Model>
    }
}

class "_class_Base"
{
    float fromReferencedClass = 1
}
''')]

TEXTS["durations"] = [("durations", '''#usda 1.4
(
    subLayers = [
        @./durations_sub.EXT@ (offset = 10; scale = 2)
    ]
)
over "A"
{
    duration[] edited = edit [append 7; write [0] to [1]]
}
'''), ("durations_sub", '''#usda 1.4
def "A" (
    customData = {
        duration length = 1.5
        duration[] lengths = [1, 2]
    }
)
{
    duration length = 4
    duration length.timeSamples = {
        0: 1.5,
        1: None,
        2: -0.25,
    }
    duration[] lengths = [1, 2.5, 1e9]
    duration[] empty = []
    duration[] edited = [1, 2]
    duration none
}
''')]

TEXTS["expressions"] = [("expressions", '''#usda 1.0
(
    expressionVariables = {
        string NAME = "ref"
        string WHAT = "red"
        string FILE = "`'expressions_${NAME}.EXT'`"
    }
    subLayers = [
        @`"expressions_${MISSING}.EXT"`@,
        @`'expressions_sub.EXT'`@
    ]
)
def "A" (
    prepend references = @`"./expressions_${NAME}.EXT"`@
    variants = {
        string look = "`${WHAT}`"
    }
)
{
    asset file = @`"${NAME}.png"`@
    asset[] files = [@`"${NAME}.png"`@, @b.png@]
    asset sampled.timeSamples = {
        0: @`"${NAME}.png"`@,
    }
}
'''), ("expressions_sub", '''#usda 1.0
(
    expressionVariables = {
        string NAME = "weaker"
        string MISSING = "sub"
    }
)
over "A"
{
    int fromSub = 1
}
'''), ("expressions_ref", '''#usda 1.0
(
    defaultPrim = "R"
    expressionVariables = {
        string NAME = "inReference"
    }
)
def "R" (
    prepend variantSets = "look"
)
{
    asset own = @`"${NAME}.png"`@
    variantSet "look" = {
        "red" {
            int red = 1
        }
        "blue" {
            int blue = 1
        }
    }
}
''')]

TEXTS["sublayers"] = [("sublayers", '''#usda 1.0
(
    subLayers = [
        @./sublayers_a.EXT@,
        @./sublayers_b.EXT@ (offset = 100),
        @./sublayers_c.EXT@ (offset = -3.5; scale = 0.25),
        @./sublayers_missing.EXT@
    ]
)
over "A"
{
    float strong = 1
}
'''), ("sublayers_a", '''#usda 1.0
(
    subLayers = [
        @./sublayers_c.EXT@ (scale = 2)
    ]
)
def "A"
{
    float strong = 2
    float a = 2
}
'''), ("sublayers_b", '''#usda 1.0
def Xform "A"
{
    float a = 3
    float b.timeSamples = {
        0: 1,
        1: 2,
    }
}
'''), ("sublayers_c", '''#usda 1.0
over "A"
{
    float c.timeSamples = {
        0: 1,
        1: 2,
    }
}
''')]

TEXTS["clips"] = [("clips", '''#usda 1.0
(
    endTimeCode = 40
    startTimeCode = 0
)
def "Model" (
    clips = {
        dictionary default = {
            double2[] active = [(0, 0), (10, 1), (20, 0)]
            asset[] assetPaths = [@./clips_a.EXT@, @./clips_b.EXT@]
            bool interpolateMissingClipValues = 0
            asset manifestAssetPath = @./clips_manifest.EXT@
            string primPath = "/Clip"
            double2[] times = [(0, 0), (10, 10), (10, 0), (20, 10), (30, 20)]
        }
        dictionary other = {
            string primPath = "/Clip"
            string templateAssetPath = "./clips_template.#.EXT"
            double templateStartTime = 1
            double templateEndTime = 2
            double templateStride = 1
            double templateActiveOffset = 0
        }
    }
    clipSets = ["default", "other"]
)
{
    float x
    double3 y = (1, 2, 3)
    float fromTemplate
    float[] points.timeSamples = {
        0: [0],
    }
}
'''), ("clips_manifest", '''#usda 1.0
over "Clip"
{
    float x
    double3 y
}
'''), ("clips_a", '''#usda 1.0
over "Clip"
{
    float x.timeSamples = {
        0: 0,
        5: None,
        10: 10,
    }
    double3 y.timeSamples = {
        0: (0, 0, 0),
        10: (1, 2, 3),
    }
}
'''), ("clips_b", '''#usda 1.0
over "Clip"
{
    float x.timeSamples = {
        0: 100,
        10: 200,
    }
}
'''), ("clips_template.1", '''#usda 1.0
over "Clip"
{
    float fromTemplate.timeSamples = {
        1: 1,
    }
}
'''), ("clips_template.2", '''#usda 1.0
over "Clip"
{
    float fromTemplate.timeSamples = {
        2: 2,
    }
}
''')]

TEXTS["instances"] = [("instances", '''#usda 1.0
def Xform "World"
{
    def "One" (
        instanceable = true
        prepend references = </Prototype>
    )
    {
        double3 xformOp:translate = (1, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        over "Child"
        {
            float ignored = 1
        }
    }
    def "Two" (
        instanceable = true
        prepend references = </Prototype>
    )
    {
        double3 xformOp:translate = (2, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def "Plain" (
        instanceable = false
        prepend references = </Prototype>
    )
    {
        over "Child"
        {
            float counted = 1
        }
    }
    def PointInstancer "Points"
    {
        int[] protoIndices = [0, 0]
        point3f[] positions = [(0, 0, 0), (1, 1, 1)]
        rel prototypes = </World/One>
    }
}

class Xform "Prototype"
{
    def Sphere "Child"
    {
        double radius = 2
        rel toSelf = </Prototype/Child>
    }
    def "Nested" (
        instanceable = true
        prepend references = </Inner>
    )
    {
    }
}

class "Inner"
{
    def Cube "Deep"
    {
    }
}
''')]

TEXTS["unknownTypes"] = [("unknownTypes", '''#usda 1.0
(
    fallbackPrimTypes = {
        token[] FutureMesh = ["Mesh"]
    }
)
def FutureMesh "A" (
    prepend apiSchemas = ["FutureAPI", "FutureAPI:instance", "MaterialBindingAPI"]
)
{
    point3f[] points = [(0, 0, 0)]
    float future:thing = 1
}

def Nobody_Knows "B"
{
    def "C"
    {
    }
}

def Mesh "D"
{
    float points = 3
    string radius = "not a number"
}

over Sphere "TypedOver"
{
}
''')]

TEXTS["assets"] = [("assets", '''#usda 1.0
(
    colorConfiguration = @./config.ocio@
    customLayerData = {
        asset a = @./tex/a.png@
        asset[] list = [@./tex/a.png@, @../b.png@, @@]
        dictionary nested = {
            asset c = @c.png@
        }
    }
)
def "A" (
    assetInfo = {
        asset identifier = @./a.EXT@
        asset[] payloadAssetDependencies = [@./b.EXT@]
    }
    customData = {
        asset a = @./tex/a.png@
        dictionary nested = {
            asset[] list = [@./x.png@, @@@at@sign.png@@@]
        }
    }
    payloadAssetDependencies = [@./p.EXT@, @q.EXT@]
)
{
    asset plain = @./tex/a.png@
    asset none
    asset empty = @@
    asset at = @@@with@at.png@@@
    asset ats = @@@with@@two.png@@@
    asset udim = @./tex/<UDIM>.exr@
    asset space = @./with space/a b.png@
    asset package = @./p.usdz[inner/x.png]@
    asset search = @search/path.png@
    asset absolute = @/absolute/path.png@
    asset uri = @https://example.com/a.png?x=1#y@
    asset ümläut = @./ümläut/日本.png@
    asset percent = @./a%20b.png@
    asset[] list = [@./tex/a.png@, @@, @search/b.png@]
    asset sampled = @./tex/0.png@
    asset sampled.timeSamples = {
        0: @./tex/0.png@,
        1: @@,
        2: None,
        3: @./tex/3.png@,
    }
    asset[] sampledList.timeSamples = {
        0: [@./tex/0.png@],
        1: [],
    }
    uniform asset inputs:file = @./tex/a.png@ (
        customData = {
            asset fallback = @./f.png@
        }
        colorSpace = "sRGB"
    )
}
''')]

TEXTS["durations"] = [("durations", '''#usda 1.0
(
    subLayers = [
        @./durations_sub.EXT@ (offset = 10; scale = 2)
    ]
)
def "Referenced" (
    references = @./durations_sub.EXT@</Shot> (offset = -1; scale = 0.5)
)
{
}
'''), ("durations_sub", '''#usda 1.4
def "Shot" (
    customData = {
        duration handle = 4
        dictionary nested = {
            duration[] handles = [1, -2]
            timecode time = 3
        }
    }
)
{
    duration length = 4 (
        customData = {
            duration[] handles = [1, 2]
        }
    )
    duration[] lengths = [1, 2]
    duration[] none = []
    duration blocked = None
    duration sampled.timeSamples = {
        0: 2,
        10: 7,
    }
    duration[] sampledList.timeSamples = {
        0: [2, 3],
        10: [7, 9],
    }
    duration curve.spline = {
        post: sloped(2),
        0: 2; post linear,
        10: 4 & 9; post held,
    }
    timecode times.spline = {
        0: 2; post linear,
        10: 4 & 9; post held,
    }
}
''')]

TEXTS["units"] = [("units", '''#usda 1.0
def "A"
{
    double length = 1 (
        displayUnit = cm
    )
}
''')]

# usd-core cannot write units into crate files.
TEXT_ONLY = {"units"}
