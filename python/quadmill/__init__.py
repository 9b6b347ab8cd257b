"""Sorts, mines and queries arrays with the OpenGL graphics pipeline.

Arrays are of numpy, or of any library with DLPack or the buffer protocol. Work in place needs memory that can be
written as it lies; else it is refused, never done on a copy. The interpreter is free for other threads meanwhile.
"""
import builtins as _builtins

from . import _core
from ._core import *  # noqa: F403 - the module is what _core has
from ._core import __version__

__all__ = _builtins.sorted(name for name in vars(_core) if not name.startswith("_"))
for _name in __all__:
    getattr(_core, _name).__module__ = __name__  # what pickle, help() and tracebacks call them by
del _name
