# Packages for Debian, by `cpack` in the build folder: libquadmill-dev, quadmill (the command, its pages, and sgetrf to be
# preloaded) and, of a shared build, the library by its binary interface. Configure with -DCMAKE_INSTALL_PREFIX=/usr to
# have libraries where Debian has them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quadmill)
set(CPACK_PACKAGE_VENDOR quadmill)
# Debian requires an address. The distributor of packages sets it: -DCPACK_PACKAGE_CONTACT="Name <address>".
if(NOT CPACK_PACKAGE_CONTACT)
    set(CPACK_PACKAGE_CONTACT "The quadmill authors <quadmill@example.org>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_COMPONENTS_ALL dev)
set(library_package "libquadmill${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
if(BUILD_SHARED_LIBS AND TARGET quadmill)
    list(APPEND CPACK_COMPONENTS_ALL library)
    set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
endif()
if(TARGET quadmill_cli)
    list(APPEND CPACK_COMPONENTS_ALL command)
endif()
# Libraries that programs with the static library must link.
foreach(pair "QUADMILL_VQSORT;libhwy-dev" "LIBURING_FOUND;liburing-dev")
    list(POP_FRONT pair found)
    if(${found})
        list(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ${pair})
    endif()
endforeach()
# libEGL is opened at run time, so no tool finds this dependency. It needs a driver: Mesa's, or a vendor's.
list(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS libegl1)
list(JOIN CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libegl1)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS libegl1)
foreach(component DEV LIBRARY COMMAND)
    set(CPACK_DEBIAN_${component}_PACKAGE_RECOMMENDS libgl1-mesa-dri)
endforeach()
if(TARGET quadmill_mpi)
    get_target_property(mpi_libraries MPI::MPI_C INTERFACE_LINK_LIBRARIES)
    if(mpi_libraries MATCHES "mpich")
        set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS libmpich-dev)
        set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS mpich)
    else()
        set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS libopenmpi-dev)
        set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS openmpi-bin)
    endif()
endif()

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libquadmill-dev)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME quadmill)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(about "Sorting, summaries of streams, queries, sketches and matrices in C++20, with
textures, quads, blending and depth tests of OpenGL 4.5, not compute shaders.
Without a GPU the CPU computes.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${about} This package has the shared library.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "${about} This package has what programs that use
it are built with: headers, libraries, and files for CMake and pkg-config.")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The command sorts numbers, lines and files larger than memory, answers
quantiles and SQL on streams and CSV, and factorizes matrices, with the
graphics pipeline or the CPU. LAPACK's sgetrf comes as a library to be
preloaded.")

# Required by Debian's policy for each package: licence and changelog; and ldconfig must run for the library.
set(debian "${CMAKE_CURRENT_BINARY_DIR}/debian")
string(TIMESTAMP debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, if it is set
file(WRITE "${debian}/changelog" "quadmill (${PROJECT_VERSION}) unstable; urgency=medium

  * The version is described in CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${debian_date}
")
execute_process(COMMAND gzip -9n INPUT_FILE "${debian}/changelog" OUTPUT_FILE "${debian}/changelog.gz"
    COMMAND_ERROR_IS_FATAL ANY)
file(WRITE "${debian}/triggers" "activate-noawait ldconfig\n")
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" licence)
file(READ "${PROJECT_SOURCE_DIR}/src/show/FONT_LICENSE" font_licence)
set(copyright_COMMAND "${licence}\n${font_licence}")
set(copyright_DEV "${licence}")
set(copyright_LIBRARY "${licence}")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" name)
    set(folder "${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME}")
    file(WRITE "${debian}/${component}/copyright" "${copyright_${name}}")
    install(FILES "${debian}/${component}/copyright" DESTINATION "${folder}" COMPONENT ${component})
    install(FILES "${debian}/changelog.gz" DESTINATION "${folder}" COMPONENT ${component})
endforeach()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${debian}/triggers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
