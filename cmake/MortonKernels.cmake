# SPDX-License-Identifier: Apache-2.0
# Embeds every file of src/kernels into the library; src/catalogue/embedded.hpp declares the result.
set(kernel_dir ${PROJECT_SOURCE_DIR}/src/kernels)
file(GLOB kernel_files CONFIGURE_DEPENDS ${kernel_dir}/*/*.cl ${kernel_dir}/*/*.clh
     ${kernel_dir}/*/*.json)
list(SORT kernel_files)

# The list is a file of its own, written only when it changes, so that a removed kernel leaves the
# program too.
set(kernel_list ${PROJECT_BINARY_DIR}/generated/kernel_files.txt)
list(JOIN kernel_files "\n" kernel_lines)
file(CONFIGURE OUTPUT ${kernel_list} CONTENT "${kernel_lines}\n" @ONLY)

set(MORTON_EMBEDDED_KERNELS ${PROJECT_BINARY_DIR}/generated/embedded_kernels.cpp)
add_custom_command(
  OUTPUT ${MORTON_EMBEDDED_KERNELS}
  COMMAND ${CMAKE_COMMAND} -D KERNEL_DIR=${kernel_dir} -D LIST=${kernel_list}
          -D OUTPUT=${MORTON_EMBEDDED_KERNELS} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
  DEPENDS ${kernel_files} ${kernel_list} ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake
  COMMENT "Embedding kernels"
  VERBATIM)
set_source_files_properties(${MORTON_EMBEDDED_KERNELS} PROPERTIES COMPILE_OPTIONS "-w")
