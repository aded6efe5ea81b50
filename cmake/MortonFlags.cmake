# SPDX-License-Identifier: Apache-2.0
# The compile options of Morton's own code. Code from outside comes in through SYSTEM includes.
add_library(morton_flags INTERFACE)
target_compile_options(morton_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(MORTON_WERROR)
  target_compile_options(morton_flags INTERFACE -Werror)
endif()

if(MORTON_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
if(MORTON_STATIC)
  add_link_options(-static-libgcc -static-libstdc++)
endif()
