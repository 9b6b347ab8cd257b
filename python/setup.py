"""Builds the module with CMake: `pip wheel ./python --no-build-isolation`.

CMAKE_ARGS has further options for CMake. QUADMILL_BUILD names a build folder in which the module is there already, as
after `cmake -DQUADMILL_PYTHON=ON`.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent.parent


class CMake(build_ext):
    def build_extension(self, extension):
        built = os.environ.get("QUADMILL_BUILD") or self.build()
        found = list(pathlib.Path(built).glob(f"python/quadmill/_core{self.get_ext_filename('')}"))
        if len(found) != 1:
            sys.exit(f"setup.py: there is no module for this Python in {built}/python/quadmill")
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found[0], target)

    def build(self):
        folder = pathlib.Path(self.build_temp).resolve()
        off = [f"-DQUADMILL_{what}=OFF" for what in ("BUILD_CLI", "BUILD_TESTS", "BUILD_DEMOS", "INSTALL")]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DQUADMILL_PYTHON=ON",
                        f"-DPython_EXECUTABLE={sys.executable}", *off,
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "quadmill_python", "--parallel",
                        str(len(os.sched_getaffinity(0)))], check=True)
        return folder


setup(version=re.search(r'QUADMILL_VERSION "(.*)"', (ROOT / "include/quadmill/version.hpp").read_text())[1],
      ext_modules=[Extension("quadmill._core", [])], cmdclass={"build_ext": CMake})
