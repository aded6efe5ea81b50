# SPDX-License-Identifier: Apache-2.0
# morton_host, morton_device, morton, morton_tools and the program.
set(generated_include ${PROJECT_BINARY_DIR}/generated/include)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in ${generated_include}/morton/version.hpp
               @ONLY)

# Sets `out` to every C++ source file of the given folders of src/.
function(morton_sources out)
  set(all "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
    list(APPEND all ${files})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# Compiles files of one folder together, about a dozen in one unit: each header is read and each
# template made once for all of them, which takes a third of the time of compiling them apart.
# MORTON_UNITY=OFF compiles every file alone, as CI does once.
function(morton_unity target)
  if(NOT MORTON_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A private struct of a class may hold types of an unnamed namespace: that is one file's affair.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" room)
    if(NOT DEFINED count_${room})
      set(count_${room} 0)
    endif()
    math(EXPR group "${count_${room}} / ${MORTON_UNITY_FILES}")
    math(EXPR count_${room} "${count_${room}} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${target}_${room}_${group})
  endforeach()
endfunction()

# Adds an object library with the include folders that all of Morton's own code has.
function(morton_object_library name)
  add_library(${name} OBJECT ${ARGN})
  morton_unity(${name})
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${generated_include} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE morton_flags)
  target_link_libraries(${name} PUBLIC ${MORTON_FMT})
endfunction()

morton_sources(host_sources
  base problems graph ops formats passes autodiff layout catalogue source plan training)
morton_object_library(morton_host ${host_sources} ${MORTON_EMBEDDED_KERNELS}
                      ${MORTON_ONNX_DIR}/onnx.pb.cc)
set(MORTON_HOST_LIBRARIES protobuf::libprotobuf-lite PNG::PNG ${MORTON_TURBOJPEG_LIBRARY}
                          ${MORTON_MINIZIP_LIBRARY} ZLIB::ZLIB Threads::Threads)
if(MORTON_SODIUM_FOUND)
  list(APPEND MORTON_HOST_LIBRARIES ${MORTON_SODIUM_LIBRARY})
  target_compile_definitions(morton_host PRIVATE MORTON_HAS_SODIUM)
  target_include_directories(morton_host SYSTEM PRIVATE ${MORTON_SODIUM_INCLUDE_DIR})
endif()
target_link_libraries(morton_host PUBLIC ${MORTON_HOST_LIBRARIES} nlohmann_json::nlohmann_json)
add_dependencies(morton_host morton_onnx_header)
# Only src/formats includes onnx.pb.h: tools/check/include_rules.py sees to it.
target_include_directories(morton_host SYSTEM PRIVATE ${MORTON_ONNX_DIR})

morton_sources(device_sources device launch run api)
list(FILTER device_sources EXCLUDE REGEX "/src/device/probe/")
morton_object_library(morton_device ${device_sources})
target_compile_definitions(morton_device PUBLIC
  CL_TARGET_OPENCL_VERSION=120 CL_HPP_TARGET_OPENCL_VERSION=120
  CL_HPP_MINIMUM_OPENCL_VERSION=120)
target_link_libraries(morton_device PRIVATE Eigen3::Eigen
                                    PUBLIC ${MORTON_HOST_LIBRARIES} OpenCL::OpenCL
                                           nlohmann_json::nlohmann_json)
set(MORTON_DEVICE_LIBRARIES "")
if(MORTON_CLBLAST_LIBRARY_FOUND)
  set(MORTON_DEVICE_LIBRARIES ${MORTON_CLBLAST_LIBRARY})
  target_compile_definitions(morton_device PRIVATE MORTON_HAS_CLBLAST)
  target_include_directories(morton_device SYSTEM PRIVATE ${MORTON_CLBLAST_INCLUDE_DIR})
  target_link_libraries(morton_device PUBLIC ${MORTON_DEVICE_LIBRARIES})
endif()

# What only tools need: measuring, tuning, single problems, the insides as text.
morton_sources(tools_sources device/probe tools)
morton_object_library(morton_tools_objects ${tools_sources})
target_compile_definitions(morton_tools_objects PRIVATE
  $<TARGET_PROPERTY:morton_device,INTERFACE_COMPILE_DEFINITIONS>)
target_link_libraries(morton_tools_objects PRIVATE Eigen3::Eigen
                                           PUBLIC OpenCL::OpenCL nlohmann_json::nlohmann_json)

add_library(morton $<TARGET_OBJECTS:morton_host> $<TARGET_OBJECTS:morton_device>)
add_library(morton::morton ALIAS morton)
set_target_properties(morton PROPERTIES VERSION ${PROJECT_VERSION}
                                        SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
target_compile_features(morton PUBLIC cxx_std_20)
target_include_directories(morton PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${generated_include}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(morton PRIVATE ${MORTON_HOST_LIBRARIES} ${MORTON_DEVICE_LIBRARIES}
                                     ${MORTON_FMT} OpenCL::OpenCL)

# The functions for C have versions of their own: the file lists them (docs/c_api.md).
if(BUILD_SHARED_LIBS AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(MORTON_C_SYMBOLS ${PROJECT_SOURCE_DIR}/src/api/c/morton.map)
  target_link_options(morton PRIVATE LINKER:--version-script=${MORTON_C_SYMBOLS})
  set_property(TARGET morton APPEND PROPERTY LINK_DEPENDS ${MORTON_C_SYMBOLS})
endif()

# It calls a part of libmorton's inside: what src/base/for_tools.hpp marks.
add_library(morton_tools $<TARGET_OBJECTS:morton_tools_objects>)
add_library(morton::tools ALIAS morton_tools)
set_target_properties(morton_tools PROPERTIES EXPORT_NAME tools
                                              VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR}
                                              LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN")
target_link_libraries(morton_tools PUBLIC morton PRIVATE ${MORTON_FMT} OpenCL::OpenCL)
if(NOT MORTON_SANITIZE)
  # Neither library may lack anything: least of all may libmorton need its tools.
  foreach(library morton morton_tools)
    target_link_options(${library} PRIVATE LINKER:-z,defs)
  endforeach()
endif()

# Compiles kernels for the library in a process of its own: src/device/workers starts it.
add_executable(morton_compile ${PROJECT_SOURCE_DIR}/libexec/morton_compile.cpp)
set_target_properties(morton_compile PROPERTIES
  OUTPUT_NAME morton-compile RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/morton
  INSTALL_RPATH "$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}")
target_include_directories(morton_compile PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(morton_compile PRIVATE morton_flags morton)

# The commit is asked for in each build: a header of its own, which one file includes.
add_custom_target(morton_commit
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
          -D OUTPUT=${PROJECT_BINARY_DIR}/generated/program/morton/commit.hpp
          -P ${PROJECT_SOURCE_DIR}/cmake/Commit.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/program/morton/commit.hpp VERBATIM)

# Names of classes, which the program holds.
file(READ ${PROJECT_SOURCE_DIR}/data/labels/imagenet.txt imagenet_labels)
configure_file(${PROJECT_SOURCE_DIR}/cmake/labels.hpp.in
               ${PROJECT_BINARY_DIR}/generated/program/morton/labels.hpp @ONLY)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${PROJECT_SOURCE_DIR}/data/labels/imagenet.txt)

# The program uses the public headers and nothing else of Morton.
file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
if(cli_sources)
  add_executable(morton_cli ${cli_sources})
  morton_unity(morton_cli)
  set_target_properties(morton_cli PROPERTIES
    OUTPUT_NAME morton RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  target_include_directories(morton_cli PRIVATE ${PROJECT_SOURCE_DIR}/cli
                                                ${PROJECT_BINARY_DIR}/generated/program)
  target_link_libraries(morton_cli PRIVATE morton_flags morton_tools morton CLI11::CLI11 Eigen3::Eigen
                                           morton_spdlog nlohmann_json::nlohmann_json)
  add_dependencies(morton_cli morton_compile morton_commit)
  # Half of the time of a whole build goes into such headers.
  target_precompile_headers(morton_cli PRIVATE <CLI/CLI.hpp> <fmt/format.h>)
  # The program computes in the library. At -O2 its own code takes half as long again to compile.
  target_compile_options(morton_cli PRIVATE -fpch-preprocess $<$<CONFIG:Release>:-O1>)
endif()

# What the targets of tests/fuzz call outside of morton_host: none of it needs a device.
set(MORTON_FUZZED_SOURCES
  ${PROJECT_SOURCE_DIR}/src/api/compile/compiled_format.cpp
  ${PROJECT_SOURCE_DIR}/cli/words/option_texts.cpp
  ${PROJECT_SOURCE_DIR}/cli/common/pictures/labels.cpp)
set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/common/pictures/labels.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated/program)
