# SPDX-License-Identifier: Apache-2.0
# The interface for C: its tests are C99, and so is an example; others call it from Python and Rust.
enable_language(C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

# morton_example_test(name COMMAND...): an example as a test. All share their caches, as they would on a user's
# machine: most run LeNet-5, whose kernels take seconds to build.
function(morton_example_test name)
  set(cache ${PROJECT_BINARY_DIR}/Testing/cache/examples)
  file(MAKE_DIRECTORY ${cache})
  add_test(NAME example_${name} COMMAND ${ARGN})
  set_tests_properties(example_${name} PROPERTIES
    TIMEOUT 300 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};POCL_CACHE_DIR=${cache};MORTON_CACHE_DIR=${cache}")
endfunction()

# One program for tests/api_c, which knows morton/morton.h alone. Each of its tests is one of ctest's.
file(GLOB c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/api_c/*.c)
add_executable(c_api_tests ${c_sources})
target_include_directories(c_api_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(c_api_tests PRIVATE MORTON_SOURCE_DIR="${MORTON_TEST_SOURCE_DIR}")
target_link_libraries(c_api_tests PRIVATE morton_flags morton::morton Threads::Threads m)
set_target_properties(c_api_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
set(c_cache ${PROJECT_BINARY_DIR}/Testing/cache/c_api)
file(MAKE_DIRECTORY ${c_cache})
file(STRINGS ${PROJECT_SOURCE_DIR}/tests/api_c/main.c c_tests REGEX "^ *{\"[a-z_]+\", test_")
foreach(line IN LISTS c_tests)
  string(REGEX REPLACE "^ *{\"([a-z_]+)\".*" "\\1" c_test "${line}")
  add_test(NAME CApi.${c_test} COMMAND c_api_tests ${c_test})
  set_tests_properties(CApi.${c_test} PROPERTIES
    TIMEOUT 300 WORKING_DIRECTORY ${c_cache}
    ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};${MORTON_QUICK_KERNELS};POCL_CACHE_DIR=${c_cache};MORTON_CACHE_DIR=${c_cache}")
endforeach()

add_test(NAME c_page
         COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/api_c/check_page.py ${CMAKE_C_COMPILER})

# What the library exports for C, and the types of its headers; types are skipped where abidw is missing.
if(MORTON_C_SYMBOLS)
  add_test(NAME c_abi
           COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/api_c/check_abi.py
                   $<TARGET_FILE:morton> --cc ${CMAKE_C_COMPILER})
  set_tests_properties(c_abi PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()

# The library with sanitizers is for programs that have them too.
if(BUILD_SHARED_LIBS AND NOT MORTON_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  morton_example_test(ctypes_classify
    /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/examples/ctypes_classify/main.py $<TARGET_FILE:morton>)
  set(shows_a_seven "digit_7[.]png shows a 7 [(]99[.]")
  set_tests_properties(example_ctypes_classify PROPERTIES PASS_REGULAR_EXPRESSION "${shows_a_seven}")
  find_program(MORTON_CARGO cargo HINTS $ENV{HOME}/.cargo/bin)
  mark_as_advanced(MORTON_CARGO)
  if(MORTON_CARGO)
    morton_example_test(rust_classify ${CMAKE_COMMAND} -E env
      MORTON_LIB_DIR=$<TARGET_FILE_DIR:morton> CARGO_TARGET_DIR=${PROJECT_BINARY_DIR}/rust
      ${MORTON_CARGO} run --offline --quiet --release
      --manifest-path ${PROJECT_SOURCE_DIR}/examples/rust_classify/Cargo.toml)
    set_tests_properties(example_rust_classify PROPERTIES PASS_REGULAR_EXPRESSION "${shows_a_seven}")
  else()
    message(STATUS "cargo is not installed: no test builds the example in Rust")
  endif()
endif()
