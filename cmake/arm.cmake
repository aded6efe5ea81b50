# SPDX-License-Identifier: Apache-2.0
# The toolchain of the presets arm64-tests and armhf-tests, which say MORTON_ARM: Debian's cross compiler, with the
# libraries of the root that tools/arm.sh makes. The programs that build (protoc) are this machine's.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MORTON_ARM)
if(MORTON_ARM STREQUAL "arm64")
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
elseif(MORTON_ARM STREQUAL "armhf")
  set(CMAKE_SYSTEM_PROCESSOR armv7l)
  set(CMAKE_LIBRARY_ARCHITECTURE arm-linux-gnueabihf)
else()
  message(FATAL_ERROR "MORTON_ARM is '${MORTON_ARM}': expected arm64 or armhf")
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${CMAKE_LIBRARY_ARCHITECTURE}-g++)
set(CMAKE_C_COMPILER ${CMAKE_LIBRARY_ARCHITECTURE}-gcc)

cmake_path(SET morton_root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build-${MORTON_ARM}-tests/root)
set(CMAKE_FIND_ROOT_PATH ${morton_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Where the linker finds what the root's shared libraries need.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${morton_root}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
