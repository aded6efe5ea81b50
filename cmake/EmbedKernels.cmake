# SPDX-License-Identifier: Apache-2.0
# cmake -D KERNEL_DIR=... -D LIST=... -D OUTPUT=... -P EmbedKernels.cmake
#
# Writes a C++ file that holds the files named in LIST (one path per line) as raw string literals,
# each under its path relative to KERNEL_DIR.
cmake_minimum_required(VERSION 3.25)

set(delimiter "MORTON_FILE")
file(STRINGS "${LIST}" kernel_files)
set(entries "")
set(count 0)
foreach(file IN LISTS kernel_files)
  file(READ "${file}" content)
  file(SIZE "${file}" size)
  string(LENGTH "${content}" length)
  if(NOT size EQUAL length)
    message(FATAL_ERROR "${file} has ${size} bytes, of which only ${length} can be kept: it must "
                        "hold no carriage returns and no zero bytes")
  endif()
  string(FIND "${content}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} contains )${delimiter}\", which ends the literal it is kept in")
  endif()
  file(RELATIVE_PATH path "${KERNEL_DIR}" "${file}")
  string(APPEND entries
         "    EmbeddedFile{\"${path}\"sv, R\"${delimiter}(${content})${delimiter}\"sv},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "// Generated from src/kernels; do not edit.
#include \"catalogue/embedded.hpp\"

#include <array>

namespace morton::catalogue {
namespace {
using namespace std::string_view_literals;
constexpr std::array<EmbeddedFile, ${count}> kFiles{{
${entries}}};
}  // namespace

std::span<const EmbeddedFile> embedded_kernels() { return kFiles; }
}  // namespace morton::catalogue
")
