# SPDX-License-Identifier: Apache-2.0
# Calls of OpenCL and allocations that fail: an OpenCL layer between Morton and the drivers, and what fails them.
if(MORTON_SANITIZE OR MORTON_STATIC OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_path(MORTON_CL_LAYER_INCLUDE_DIR CL/cl_layer.h)
mark_as_advanced(MORTON_CL_LAYER_INCLUDE_DIR)
if(NOT MORTON_CL_LAYER_INCLUDE_DIR)
  message(STATUS "CL/cl_layer.h is not installed: no test fails calls of OpenCL")
  return()
endif()
add_library(morton_fault_layer SHARED ${PROJECT_SOURCE_DIR}/tests/faults/opencl_layer.cpp)
target_link_libraries(morton_fault_layer PRIVATE morton_flags)
target_compile_definitions(morton_fault_layer PRIVATE CL_TARGET_OPENCL_VERSION=120)
target_include_directories(morton_fault_layer PUBLIC ${PROJECT_SOURCE_DIR}/tests)
set_target_properties(morton_fault_layer PROPERTIES
  CXX_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# The same between programs and the C library, for files and clocks (tools/faults.py).
add_library(morton_file_layer SHARED ${PROJECT_SOURCE_DIR}/tests/faults/file_layer.cpp)
target_link_libraries(morton_file_layer PRIVATE morton_flags ${CMAKE_DL_LIBS})
target_compile_definitions(morton_file_layer PRIVATE _GNU_SOURCE)
set_target_properties(morton_file_layer PROPERTIES
  CXX_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

file(GLOB fault_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/faults/*.cpp)
list(FILTER fault_sources EXCLUDE REGEX "/(opencl|file)_layer[.]cpp$")
add_executable(fault_trials ${fault_sources})
target_link_libraries(fault_trials PRIVATE morton_flags morton_fault_layer morton::morton)
target_compile_definitions(fault_trials PRIVATE
  MORTON_FAULT_LAYER="$<TARGET_FILE:morton_fault_layer>")
set_target_properties(fault_trials PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
set(faults_cache ${PROJECT_BINARY_DIR}/Testing/cache/faults)
file(MAKE_DIRECTORY ${faults_cache})
add_test(NAME faults COMMAND fault_trials --sample ${faults_cache} load run serve lost)
set_tests_properties(faults PROPERTIES
  TIMEOUT 300 ENVIRONMENT "${MORTON_TEST_ENVIRONMENT};POCL_CACHE_DIR=${faults_cache}/pocl")
