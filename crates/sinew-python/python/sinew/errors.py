"""Exceptions and warnings.

Every exception of this package is an :class:`Error`. What was ignored, guessed or left out is a
:class:`SinewWarning`, issued through the module ``warnings``.
"""

from __future__ import annotations

from typing import Optional

__all__ = [
    "CancelledError",
    "Error",
    "FileError",
    "GpuError",
    "InvalidError",
    "NothingToSkinError",
    "SinewWarning",
    "UnknownPrimError",
    "UsageError",
]


class Error(Exception):
    """Anything that goes wrong. After an error no output appears under its name.

    >>> import sinew
    >>> try:
    ...     sinew.open("no/such.usda")
    ... except sinew.Error as error:
    ...     print(type(error).__name__, error.file)
    FileError no/such.usda
    """

    #: Stable code in kebab-case, such as ``joint-order``, or None. ``sinew check --codes`` lists them.
    code: Optional[str]
    #: Path of the prim that it is about, or None.
    prim: Optional[str]
    #: Name of the property, or None.
    property: Optional[str]
    #: The file, or None.
    file: Optional[str]

    def __init__(
        self,
        message: str,
        *,
        code: Optional[str] = None,
        prim: Optional[str] = None,
        property: Optional[str] = None,
        file: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.prim = prim
        self.property = property
        self.file = file


class InvalidError(Error):
    """An attribute of a prim, or a part of a file, breaks a rule; ``prim`` and ``property`` say which.

    >>> issubclass(InvalidError, Error)
    True
    """


class UsageError(Error, ValueError):
    """Arguments that are wrong whatever the files contain.

    >>> import sinew
    >>> sinew.open("hero.usda", variants=["no braces"])
    Traceback (most recent call last):
    ...
    sinew.errors.UsageError: variants: 'no braces' is no variant selection; expected /Prim{set=name}, in quotes
    """


class FileError(Error, OSError):
    """A file that cannot be read or written.

    >>> issubclass(FileError, OSError)
    True
    """


class UnknownPrimError(Error, KeyError):
    """There is no skinned prim at a path that was asked for.

    >>> import sinew
    >>> sinew.open("examples/assets/hatchling.usda").get("/no/such") is None
    True
    """

    def __str__(self) -> str:
        # KeyError shows the repr of its argument.
        return str(self.args[0])


class NothingToSkinError(Error):
    """The file is readable, but nothing in it can be skinned.

    >>> issubclass(NothingToSkinError, Error)
    True
    """


class GpuError(Error):
    """The GPU failed, or there is none.

    >>> issubclass(GpuError, Error)
    True
    """


class CancelledError(Error):
    """The work was stopped.

    >>> issubclass(CancelledError, Error)
    True
    """


class SinewWarning(UserWarning):
    """What was ignored, guessed or left out.

    >>> str(SinewWarning("the prim is rigid", code="rigid-prim", prim="/Hero/Eye"))
    '/Hero/Eye: the prim is rigid [rigid-prim]'
    """

    #: Stable code in kebab-case, or None.
    code: Optional[str]
    #: Path of the prim, or of the layer, or None.
    prim: Optional[str]
    #: Name of the property, or None.
    property: Optional[str]
    #: The message without path and code.
    message: str

    def __init__(
        self,
        message: str,
        *,
        code: Optional[str] = None,
        prim: Optional[str] = None,
        property: Optional[str] = None,
    ) -> None:
        at = f"{prim}: " if prim else ""
        coded = f" [{code}]" if code else ""
        super().__init__(f"{at}{message}{coded}")
        self.message = message
        self.code = code
        self.prim = prim
        self.property = property or None
