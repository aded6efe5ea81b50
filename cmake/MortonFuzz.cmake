# SPDX-License-Identifier: Apache-2.0
# The targets of tests/fuzz as one program for libFuzzer, with a link of each target's name (tools/fuzz.py).
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "MORTON_FUZZ: libFuzzer is clang's; configure with the preset `fuzz`")
endif()

file(GLOB_RECURSE fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
set(cli_common ${PROJECT_SOURCE_DIR}/cli/common)
add_executable(morton_fuzz ${fuzz_sources} ${MORTON_FUZZED_SOURCES} ${cli_common}/log.cpp ${cli_common}/output.cpp
               ${cli_common}/terminal.cpp ${PROJECT_SOURCE_DIR}/tests/support/networks.cpp)
target_include_directories(morton_fuzz SYSTEM PRIVATE ${MORTON_ONNX_DIR})
target_include_directories(morton_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/cli)
target_compile_definitions(morton_fuzz PRIVATE MORTON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(morton_fuzz PRIVATE morton_flags morton_host ${MORTON_FMT} morton_spdlog)
target_link_options(morton_fuzz PRIVATE -fsanitize=fuzzer)
set_target_properties(morton_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)

file(STRINGS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_targets.def fuzz_rows REGEX "^FUZZ_TARGET")
foreach(row IN LISTS fuzz_rows)
  string(REGEX REPLACE "^FUZZ_TARGET\\(([a-z0-9_]+),.*" "\\1" name "${row}")
  add_custom_command(TARGET morton_fuzz POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink morton_fuzz ${PROJECT_BINARY_DIR}/fuzz/${name} VERBATIM)
endforeach()
