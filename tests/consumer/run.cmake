# Installs quadmill as its users do and builds and runs the projects of this folder with it, static or shared.
#   cmake -DSHARED=ON|OFF [-DBUILT=...] -DWORK_DIR=... -DGENERATOR=... -DC=... -DCXX=... -DNM=... -P run.cmake
# BUILT is the calling build if that is plain and of this kind: then it is installed. Otherwise the library is built
# again and plainly, because outside projects do not know that build's flags: as a part of another project, which
# installs it, too. Both kinds share build folders, so they must not run at the same time.
cmake_minimum_required(VERSION 3.25)
set(CMAKE_EXECUTE_PROCESS_COMMAND_ECHO STDOUT)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
cmake_path(GET source PARENT_PATH source)
foreach(name CFLAGS CXXFLAGS LDFLAGS DESTDIR CMAKE_PREFIX_PATH PKG_CONFIG_PATH)
    set(ENV{${name}})
endforeach()
set(kind static)
if(SHARED)
    set(kind shared)
endif()
set(prefix "${WORK_DIR}/prefix_${kind}")
cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
find_program(pkg_config pkg-config REQUIRED)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(build from to)
    run("${CMAKE_COMMAND}" -S "${from}" -B "${to}" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${C}"
        "-DCMAKE_CXX_COMPILER=${CXX}" -DBUILD_SHARED_LIBS=${SHARED} --no-warn-unused-cli ${ARGN})
    run("${CMAKE_COMMAND}" --build "${to}" --parallel ${jobs} ${target})
endfunction()

# 1. As a part of another project, where nothing is installed unless that project requests it. This compiles the
# library, so it is done for the kind that is not built already.
# Rooms add -O1 to a build of Release. Without it a static library has weak symbols of glm, too.
set(type Release)
if(SHARED)
    set(type MinSizeRel)
endif()
set(flags -DCMAKE_BUILD_TYPE=${type} "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
    "-DCMAKE_CXX_FLAGS_MINSIZEREL=-O0 -DNDEBUG" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=20)
if(NOT BUILT)
    set(target --target consumer)
    build("${CMAKE_CURRENT_LIST_DIR}/subdirectory" "${WORK_DIR}/subdirectory" ${flags} -UQUADMILL_INSTALL -UINSTALL
        -UQUADMILL_MPI)
    unset(target)
    run("${WORK_DIR}/subdirectory/consumer")
endif()

# Installs to another folder than the one that the build was configured with.
file(REMOVE_RECURSE "${prefix}" "${prefix}_whole")
if(BUILT)  # all of it, too: the command and its pages
    run("${CMAKE_COMMAND}" --install "${BUILT}" --prefix "${prefix}_whole")
    run("${prefix}_whole/bin/quadmill" --version)
else()
    build("${CMAKE_CURRENT_LIST_DIR}/subdirectory" "${WORK_DIR}/subdirectory" ${flags} -DINSTALL=ON
        -DQUADMILL_MPI=OFF -DCMAKE_INSTALL_PREFIX=/nowhere)
    set(BUILT "${WORK_DIR}/subdirectory")
endif()
foreach(component library dev)
    run("${CMAKE_COMMAND}" --install "${BUILT}" --prefix "${prefix}" --component ${component})
endforeach()

# 2. The installed files: headers that need only the standard library, files that do not name a folder of this build,
# and no foreign symbols.
file(GLOB headers RELATIVE "${source}/include/quadmill" "${source}/include/quadmill/*.hpp")
foreach(header IN LISTS headers)
    if(header STREQUAL "mpi.hpp")  # for programs that have MPI, and there only where the build found one
        continue()
    endif()
    file(STRINGS "${prefix}/include/quadmill/${header}" lines REGEX "^ *# *include")
    list(FILTER lines EXCLUDE REGEX "^#include (<[a-z_]+>|\"quadmill/[a-z_]+\\.hpp\")$")
    if(lines)
        message(FATAL_ERROR "${header} includes what an outside project need not have: ${lines}")
    endif()
endforeach()
file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc")
foreach(file IN LISTS texts)
    file(READ "${file}" text)
    foreach(folder "${source}" "${WORK_DIR}" "${BUILT}" /nowhere)
        string(FIND "${text}" "${folder}" at)
        if(NOT at EQUAL -1)
            message(FATAL_ERROR "${file} names ${folder}")
        endif()
    endforeach()
endforeach()

# Own symbols are in namespace quadmill, or begin with quadmill_ in C. Templates of std that a compiler emits in every
# program alike are weak and match any other copy; but in a shared library they must not appear.
set(own "(_Z(T[A-Z]|Th[0-9n]+_|Tv[0-9n]+_n[0-9]+_|GV|GR)?Z?N?[KVRO]*8quadmill|quadmill_)")
file(GLOB_RECURSE library "${prefix}/libquadmill.a")
set(options --extern-only)
set(standard "(_Z(T[A-Z]|GV)?Z?N?[KVRO]*(S|9__gnu_cxx|10__cxxabiv1)|DW\\.ref\\.)")
set(allowed "^[0-9a-f]* *([A-Z] ${own}|[uVW] (_Z.*8quadmill|${standard}))")
if(SHARED)
    file(GLOB_RECURSE library "${prefix}/libquadmill.so")
    set(options --dynamic)
    set(allowed "^[0-9a-f]* *[A-Z] _Z(T[A-Z])?N?[KVRO]*8quadmill")
endif()
execute_process(COMMAND "${NM}" --defined-only ${options} "${library}" OUTPUT_VARIABLE symbols
    COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* [A-Za-z] [^\n]*" symbols "${symbols}")
list(LENGTH symbols count)
list(FILTER symbols EXCLUDE REGEX "${allowed}")
if(count LESS 10 OR symbols)
    list(JOIN symbols "\n" symbols)
    message(FATAL_ERROR "of the ${count} symbols of ${library} these are not quadmill's own:\n${symbols}")
endif()

# 3. The projects.
file(STRINGS "${source}/include/quadmill/version.hpp" version REGEX "#define QUADMILL_VERSION ")
string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${version}")
# A plugin that links a static library exports none of its symbols.
function(require_hidden plugin)
    execute_process(COMMAND "${NM}" --dynamic --defined-only "${plugin}" OUTPUT_VARIABLE symbols
        COMMAND_ERROR_IS_FATAL ANY)
    if(NOT symbols MATCHES " T median\n" OR symbols MATCHES "quadmill")
        message(FATAL_ERROR "${plugin} shows\n${symbols}")
    endif()
endfunction()
foreach(project find_package own_glad)
    set(folder "${WORK_DIR}/${project}_${kind}")
    file(REMOVE_RECURSE "${folder}")
    build("${CMAKE_CURRENT_LIST_DIR}/${project}" "${folder}"
        "-DCMAKE_PREFIX_PATH=${prefix}" "-DWANTED_VERSION=${version}")
    run("${folder}/consumer")
endforeach()
if(NOT SHARED)
    require_hidden("${WORK_DIR}/find_package_${kind}/libplugin.so")
endif()
find_program(python3 python3 REQUIRED)
file(REMOVE_RECURSE "${WORK_DIR}/readme_${kind}")
run("${python3}" "${CMAKE_CURRENT_LIST_DIR}/readme.py" "${WORK_DIR}/readme_${kind}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_PREFIX_PATH=${prefix}")

file(GLOB_RECURSE pc_file "${prefix}/quadmill.pc")
cmake_path(GET pc_file PARENT_PATH pc_dir)
cmake_path(GET library PARENT_PATH library_dir)
set(ENV{PKG_CONFIG_PATH} "${pc_dir}")
set(build_with "${CMAKE_CURRENT_LIST_DIR}/pkg_config/build.sh")
set(program "${WORK_DIR}/pkg_config_${kind}")
foreach(pair "quadmill;sort_floats.cpp" "quadmill_summary;summary/main.cpp")
    list(POP_FRONT pair package)
    run("${build_with}" "${package}" "${CXX}" "${program}" "${CMAKE_CURRENT_LIST_DIR}/${pair}")
    run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${library_dir}" "${program}")
    if(NOT SHARED OR package STREQUAL "quadmill_summary")  # which is static in both
        run("${build_with}" "${package}" "${CXX}" "${program}.so" "${CMAKE_CURRENT_LIST_DIR}/plugin.cpp" -shared -fPIC
            -fvisibility=hidden)
        require_hidden("${program}.so")
    endif()
endforeach()

# 4. Summaries alone: of the installation above, and of one that was built without OpenGL.
build("${source}" "${WORK_DIR}/summary_library" ${flags} -DQUADMILL_GL=OFF -DQUADMILL_BUILD_TESTS=OFF)
run("${CMAKE_COMMAND}" --install "${WORK_DIR}/summary_library" --prefix "${prefix}_summary")
file(GLOB_RECURSE shown "${prefix}_summary/*quadmill.*" "${prefix}_summary/*query.hpp")
if(shown)
    message(FATAL_ERROR "without OpenGL there is nothing behind ${shown}")
endif()
foreach(from "${prefix}" "${prefix}_summary")
    file(REMOVE_RECURSE "${WORK_DIR}/summary_${kind}")
    build("${CMAKE_CURRENT_LIST_DIR}/summary" "${WORK_DIR}/summary_${kind}" "-DCMAKE_PREFIX_PATH=${from}")
    run("${WORK_DIR}/summary_${kind}/consumer")
    require_hidden("${WORK_DIR}/summary_${kind}/libplugin.so")
endforeach()

# The sources configure without OpenGL. (tests/CMakeLists.txt builds that project's program.)
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/summary" -B "${WORK_DIR}/summary" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DQUADMILL_SOURCES=${source}")
