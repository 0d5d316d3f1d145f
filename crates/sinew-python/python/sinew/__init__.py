"""GPU and CPU skinning for UsdSkel characters, with the results of Pixar's code."""

from ._sinew import __version__

__all__ = ["__version__"]
