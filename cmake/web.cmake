# Toolchain file of the preset `web`: Emscripten, as Debian packages it (apt-get install emscripten).
find_path(QUADMILL_EMSCRIPTEN cmake/Modules/Platform/Emscripten.cmake
    HINTS "$ENV{EMSDK}/upstream/emscripten" /usr/share/emscripten /usr/lib/emscripten NO_CMAKE_FIND_ROOT_PATH)
if(NOT QUADMILL_EMSCRIPTEN)
    message(FATAL_ERROR "the preset web needs Emscripten: apt-get install emscripten, or set EMSDK")
endif()
include("${QUADMILL_EMSCRIPTEN}/cmake/Modules/Platform/Emscripten.cmake")
set(QUADMILL_WEB ON)
