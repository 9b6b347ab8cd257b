# Writes the commit of SOURCE into the file OUT, only when it is another one than before:
#   cmake -DSOURCE=... -DOUT=... -P commit.cmake
cmake_minimum_required(VERSION 3.25)
find_program(GIT git)
set(commit "")
if(GIT)
    execute_process(COMMAND "${GIT}" -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
    set(commit "unknown")
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT "namespace quadmill::detail::cli {
extern const char* const commit;
const char* const commit = \"${commit}\";
}  // namespace quadmill::detail::cli
")
