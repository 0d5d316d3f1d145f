"""Makes the fonts of the viewer's page from those of egui: outlines without instructions and kerning, which take most of
their bytes.

    python make.py FOLDER    # of epaint_default_fonts/fonts; needs fonttools
"""
import os, sys
from fontTools import subset

HERE = os.path.dirname(os.path.abspath(__file__))
# The file of egui, what of it is kept, the name of its licence, and that of the new font.
FONTS = [
    ("Ubuntu-Light.ttf", None, "UFL.txt", "Ubuntu Light derivative Sinew"),
    # What it lacks is shown in the font for text.
    ("Hack-Regular.ttf", range(0x20, 0x7F), "Hack-Regular.txt", "Hack derivative Sinew"),
]
for source, kept, licence, name in FONTS:
    options = subset.Options(hinting=False, notdef_outline=True, name_IDs=[0, 1, 2, 4, 6, 13, 14])
    options.layout_features = ["ccmp", "locl", "mark", "mkmk"]
    font = subset.load_font(os.path.join(sys.argv[1], source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=kept or font.getBestCmap())
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = name.replace(" ", "") if record.nameID == 6 else name
    subset.save_font(font, os.path.join(HERE, source), options)
    with open(os.path.join(sys.argv[1], licence)) as text, open(os.path.join(HERE, licence), "w") as copy:
        copy.write(text.read())
