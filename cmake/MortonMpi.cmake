# SPDX-License-Identifier: Apache-2.0
# morton-mpi.so, which libmorton loads to train over MPI (docs/distributed.md). It alone links MPI.
set(MORTON_MPI AUTO CACHE STRING "Training over MPI: AUTO (where MPI is found), ON or OFF")
set_property(CACHE MORTON_MPI PROPERTY STRINGS AUTO ON OFF)
if(NOT MORTON_MPI OR MORTON_SANITIZE OR MORTON_FUZZ)
  if(MORTON_MPI STREQUAL "ON")
    message(FATAL_ERROR "MORTON_MPI is ON, and the module is built neither with sanitizers nor to fuzz")
  endif()
  message(STATUS "training over MPI: OFF")
  return()
endif()
# The headers of C are enough: MPI's own for C++ are gone from the standard.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  if(MORTON_MPI STREQUAL "ON")
    message(FATAL_ERROR "MORTON_MPI is ON, and MPI is not found (Debian: libopenmpi-dev)")
  endif()
  message(STATUS "training over MPI: OFF (not found: MPI)")
  return()
endif()
message(STATUS "training over MPI: ON")

add_library(morton_mpi MODULE ${PROJECT_SOURCE_DIR}/libexec/morton_mpi.cpp)
set_target_properties(morton_mpi PROPERTIES
  PREFIX "" OUTPUT_NAME morton-mpi LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/morton)
target_include_directories(morton_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(morton_mpi PRIVATE morton_flags MPI::MPI_CXX)
install(TARGETS morton_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/morton)
