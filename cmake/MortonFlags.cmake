# SPDX-License-Identifier: Apache-2.0
# The compile options of Morton's own code. Code from outside comes in through SYSTEM includes.
add_library(morton_flags INTERFACE)
# Files have sizes of 64 bits, which are compared with what memory holds before they become sizes of 32.
if(CMAKE_SIZEOF_VOID_P GREATER 4)
  set(morton_conversion -Wconversion)
endif()
target_compile_options(morton_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow ${morton_conversion} -Wno-sign-conversion)
# g++ 12 warns in optimised code where nothing is wrong: of `"text" + string` (its bug 105651), and at -O3 of vectors in
# constants (its bug 80635 and others).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(morton_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(MORTON_WERROR)
  target_compile_options(morton_flags INTERFACE -Werror)
endif()

if(MORTON_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(MORTON_SANITIZE STREQUAL "thread")
  # It does not know fences of their own (-Wtsan), and sees what atomic variables order.
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(MORTON_SANITIZE)
  message(FATAL_ERROR "MORTON_SANITIZE is '${MORTON_SANITIZE}': expected OFF, address or thread")
endif()
# A conversion to an integer that does not hold the value is undefined too, and clang asks for it by name.
if(MORTON_FUZZ)
  set(MORTON_FUZZ_SANITIZERS address,undefined,float-cast-overflow)
  add_compile_options(-fsanitize=fuzzer-no-link,${MORTON_FUZZ_SANITIZERS} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MORTON_FUZZ_SANITIZERS})
endif()
if(MORTON_STATIC)
  add_link_options(-static-libgcc -static-libstdc++)
endif()

# Kept plans are known by the build that made them (src/base/files/build_id.hpp). Not every compiler asks the linker
# for an id.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options(LINKER:--build-id=sha1)
endif()
