# SPDX-License-Identifier: Apache-2.0
find_package(GTest REQUIRED)

# One executable per folder of tests/, if it has source files.
function(morton_test_executable name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE morton_flags ${ARGN} GTest::gtest_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

morton_test_executable(host_tests host morton_host)
foreach(folder device model error plans)
  string(REPLACE plans plan name ${folder})
  morton_test_executable(${name}_tests ${folder} morton_host morton_device)
endforeach()
