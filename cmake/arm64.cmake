# SPDX-License-Identifier: Apache-2.0
# The toolchain of the preset neon-tests: Debian's cross compiler for arm64, with the libraries of the root that
# tools/neon.sh makes. The programs that build (protoc) are this machine's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

cmake_path(SET morton_root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build-neon-tests/root)
set(CMAKE_FIND_ROOT_PATH ${morton_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Where the linker finds what the root's shared libraries need.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${morton_root}/usr/lib/aarch64-linux-gnu")
