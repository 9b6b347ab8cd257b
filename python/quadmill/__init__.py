"""Sorts, mines and queries arrays with the OpenGL graphics pipeline.

Arrays are of numpy, or of any library with DLPack or the buffer protocol. Work in place needs memory that can be
written as it lies; else it is refused, never done on a copy. The interpreter is free for other threads meanwhile.
"""
import builtins as _builtins
import inspect as _inspect

from . import _core
from ._core import *  # noqa: F403 - the module is what _core has
from ._core import __version__

__all__ = _builtins.sorted(name for name in vars(_core) if not name.startswith("_"))
for _name in __all__:
    _thing = getattr(_core, _name)
    _thing.__module__ = __name__  # what pickle, help() and tracebacks call them by
    if isinstance(_thing, type) and "__init__" in vars(_thing) and not issubclass(_thing, Exception):
        _made = _inspect.signature(_thing.__init__)
        _thing.__signature__ = _made.replace(parameters=_builtins.list(_made.parameters.values())[1:])
del _name, _thing, _made
