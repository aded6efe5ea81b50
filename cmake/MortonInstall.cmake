# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, libraries, program, find_package(morton) and pkg-config.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/morton)

install(TARGETS morton morton_tools EXPORT mortonTargets)
install(TARGETS morton_compile RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/morton)
if(TARGET morton_cli)
  install(TARGETS morton_cli)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/morton ${generated_include}/morton
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT mortonTargets NAMESPACE morton:: DESTINATION ${config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mortonConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/generated/mortonConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/mortonConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/mortonConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/mortonConfigVersion.cmake
        DESTINATION ${config_dir})

# What `morton demo` runs (shipped_file in cli/common/machine.hpp).
install(FILES ${PROJECT_SOURCE_DIR}/models/lenet5.onnx DESTINATION ${CMAKE_INSTALL_DATADIR}/morton/models)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/mnist DESTINATION ${CMAKE_INSTALL_DATADIR}/morton/data
        FILES_MATCHING PATTERN "*.gz")

# A static libmorton passes its own libraries on to whoever links it.
set(morton_pc_requires "OpenCL protobuf-lite libpng libturbojpeg minizip zlib")
if(MORTON_CLBLAST_LIBRARY_FOUND)
  string(APPEND morton_pc_requires " clblast")
endif()
if(BUILD_SHARED_LIBS)
  # A shared one carries them itself.
  set(morton_pc_requires "")
else()
  # A linker that is called for C does not know of C++'s library.
  set(morton_pc_runtime " -lstdc++ -lm")
endif()
file(RELATIVE_PATH morton_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package morton morton-tools)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in
                 ${PROJECT_BINARY_DIR}/generated/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/generated/${package}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
