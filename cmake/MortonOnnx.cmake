# SPDX-License-Identifier: Apache-2.0
# onnx.pb.h and onnx.pb.cc, generated from the onnx.proto that libonnx-dev installs.
#
# The lite runtime parses and writes, but registers no descriptors: two copies of ONNX's messages in
# one process (ours and that of an application's own ONNX library) would end it while loading.
find_path(MORTON_ONNX_PROTO_DIR onnx/onnx.proto REQUIRED)
set(MORTON_ONNX_DIR ${PROJECT_BINARY_DIR}/generated/onnx)
file(MAKE_DIRECTORY ${MORTON_ONNX_DIR})
add_custom_command(
  OUTPUT ${MORTON_ONNX_DIR}/onnx.pb.h ${MORTON_ONNX_DIR}/onnx.pb.cc
  COMMAND protobuf::protoc --cpp_out=lite:${MORTON_ONNX_DIR} -I ${MORTON_ONNX_PROTO_DIR}/onnx
          ${MORTON_ONNX_PROTO_DIR}/onnx/onnx.proto
  DEPENDS ${MORTON_ONNX_PROTO_DIR}/onnx/onnx.proto
  COMMENT "Generating onnx.pb.h"
  VERBATIM)
add_custom_target(morton_onnx_header DEPENDS ${MORTON_ONNX_DIR}/onnx.pb.h)
set_source_files_properties(${MORTON_ONNX_DIR}/onnx.pb.cc PROPERTIES COMPILE_OPTIONS "-w")
