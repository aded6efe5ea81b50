# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE_DIR=... -D OUTPUT=... -P Commit.cmake
#
# Writes a header with the commit that is built, where it has changed. Outside of a repository, or
# without git, it is empty. "+" stands for changes that are not committed.
cmake_minimum_required(VERSION 3.25)

set(commit "")
find_program(git git)
if(git AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(COMMAND ${git} -C "${SOURCE_DIR}" describe --always --abbrev=8 --dirty=+ --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Generated; do not edit.
#pragma once

#define MORTON_COMMIT \"@commit@\"
" @ONLY)
