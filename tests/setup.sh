#!/usr/bin/env bash
# Installs what building and testing need on Debian 12, and nothing that is installed already. `tests/setup.sh command`
# installs only what building and running the command needs, `tests/setup.sh quick` what `tests/run.sh quick` needs,
# `tests/setup.sh web` what the npm package needs.
set -euo pipefail
packages=(g++ cmake ninja-build python3 python3-glad # to build
    libcli11-dev libfmt-dev libglm-dev libmuparser-dev nlohmann-json3-dev libstb-dev libxxhash-dev zlib1g-dev
    libzstd-dev libhwy-dev fonts-dejavu-core  # libraries of the command; Highway is optional, but sorts fast
    libegl1 libegl-mesa0 libgl1-mesa-dri)     # OpenGL without a GPU
case "$*" in
command) ;;
quick) packages+=(doctest-dev libsqlite3-dev libeigen3-dev libx11-dev libgl-dev liblapack-test) ;;
web) packages=(cmake ninja-build python3 python3-glad libglm-dev emscripten nodejs) ;;
'')
    packages+=(pkgconf binutils git
        liburing-dev libopenmpi-dev openmpi-bin # optional parts of the library: asynchronous files, many machines
        doctest-dev libsqlite3-dev libx11-dev libgl-dev glslang-tools # tests
        clang-14 clang-tidy llvm-14 libclang-rt-14-dev                # and their linter, fuzzers and coverage
        liblapack-test                                                # LAPACK's own tester
        doxygen groff-base dpkg-dev file                              # the reference, the manual page, packages
        libglfw3-dev libimgui-dev xvfb xdotool                        # windows of demos, and their tests
        libsdl2-dev qt6-base-dev libqt6opengl6-dev libgtk-4-dev       # host programs in the tests
        libsfml-dev freeglut3-dev liballegro5-dev
        pybind11-dev python3-dev python3-numpy python3-pip python3-setuptools python3-wheel # the Python module
        python3-pytest python3-moderngl python3-pyglet python3-opengl python3-distributed python3-pandas # and its tests
        emscripten nodejs npm chromium firefox-esr xauth              # the npm package
        libtbb-dev libboost-dev libeigen3-dev libopenblas-dev)        # rivals of `quadmill bench`
    ;;
*)
    echo "usage: tests/setup.sh [command | quick | web]" >&2
    exit 2
    ;;
esac
missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
# These packages are not needed if their command exists: it may come from another package that conflicts with Debian's.
declare -A commands=([pkgconf]=pkg-config [nodejs]=node [npm]=npm)
for i in "${!missing[@]}"; do
    name=${commands[${missing[i]}]:-}
    if [ -n "$name" ] && command -v "$name" >/dev/null; then unset 'missing[i]'; fi
done
[ ${#missing[@]} -eq 0 ] && exit 0
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "setup: not root and no sudo; as root: apt-get install ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
