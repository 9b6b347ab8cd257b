# The OpenGL and EGL declarations: made by glad at configure time, with every global name made quadmill's own so that a
# program with its own glad links beside the library. Gives the target quadmill_glad (objects of the OpenGL loader).
find_program(GLAD_EXECUTABLE glad)
if(NOT GLAD_EXECUTABLE)
    message(FATAL_ERROR "quadmill needs the glad generator at configure time: apt-get install python3-glad")
endif()
set(glad_dir "${CMAKE_CURRENT_BINARY_DIR}/glad")
# With the compatibility profile's functions: a host may have it, and its old state is saved (compatibility.hpp).
set(glad_apis gl:compatibility=4.5,egl=1.5)
set(glad_extensions
    GL_ARB_imaging,GL_KHR_robustness,GL_KHR_shader_subgroup,GL_ARB_shader_clock,GL_ARB_pipeline_statistics_query,GL_EXT_depth_bounds_test,GL_NV_fill_rectangle,GL_NVX_gpu_memory_info,GL_ATI_meminfo,EGL_EXT_platform_base,EGL_EXT_device_base,EGL_EXT_device_enumeration,EGL_EXT_device_query,EGL_EXT_platform_device,EGL_MESA_platform_surfaceless,EGL_KHR_surfaceless_context)
set(glad_stamp "${glad_apis} ${glad_extensions} ${GLAD_EXECUTABLE}")
set(glad_known "")
if(EXISTS "${glad_dir}/stamp")
    file(READ "${glad_dir}/stamp" glad_known)
endif()
if(NOT glad_known STREQUAL glad_stamp)
    file(REMOVE_RECURSE "${glad_dir}")
    execute_process(
        COMMAND "${GLAD_EXECUTABLE}" --reproducible --quiet --api "${glad_apis}" --extensions "${glad_extensions}"
                --out-path "${glad_dir}" c --mx
        RESULT_VARIABLE glad_failed ERROR_VARIABLE glad_words)
    if(glad_failed)
        message(FATAL_ERROR "glad failed (${glad_failed}):\n${glad_words}")
    endif()
    file(RENAME "${glad_dir}/include/glad" "${glad_dir}/include/quadmill_glad")
    foreach(file include/quadmill_glad/gl.h include/quadmill_glad/egl.h src/gl.c)
        file(READ "${glad_dir}/${file}" text)
        string(REPLACE "gladLoad" "quadmill_gladLoad" text "${text}")
        string(REPLACE "GladGLContext" "QuadmillGLContext" text "${text}")
        string(REPLACE "glad_egl" "quadmill_egl" text "${text}")
        string(REGEX REPLACE "GLAD_(E?GL)_H_" "QUADMILL_GLAD_\\1_H_" text "${text}")
        string(REPLACE "<glad/" "<quadmill_glad/" text "${text}")
        file(WRITE "${glad_dir}/${file}" "${text}")
    endforeach()
    file(WRITE "${glad_dir}/stamp" "${glad_stamp}")
endif()

add_library(quadmill_glad OBJECT "${glad_dir}/src/gl.c")
target_include_directories(quadmill_glad SYSTEM PUBLIC "${glad_dir}/include")
set_target_properties(quadmill_glad PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
