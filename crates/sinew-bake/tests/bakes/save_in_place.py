"""Whether usd-core can change layers and save them to their own files, and loses nothing.

usage: save_in_place.py FILE...

Prints the number of files.
"""

import shutil
import sys
import tempfile

from pxr import Sdf


def main():
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(sys.argv[1:]):
            layer = Sdf.Layer.FindOrOpen(file)
            assert not layer.comment, (file, layer.comment)
            layer.comment = "saved in place"
            before = layer.ExportToString()
            assert layer.Save(), file
            # Under another name, so that it is read anew.
            copy = f"{folder}/{number}.usdc"
            shutil.copy(file, copy)
            assert Sdf.Layer.OpenAsAnonymous(copy).ExportToString() == before, file
    print(len(sys.argv) - 1)


main()
