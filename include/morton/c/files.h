// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_C_FILES_H
#define MORTON_C_FILES_H

/// Tensors in files. morton/morton.h is the header to include.
#include "morton/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A tensor in the host's memory, with its name. All pointers are their owner's.
typedef struct morton_tensor {
  size_t size;       ///< set by the caller: sizeof(morton_tensor)
  const char* name;  ///< "" where a file gives none
  morton_type type;
  int32_t reserved;  ///< 0
  size_t rank;
  const int64_t* extents;  ///< `rank` of them, outermost first
  const void* data;        ///< `bytes` bytes, dense and row-major
  size_t bytes;
} morton_tensor;

/// Tensors that were read from a file. Never changes, so threads may share it.
typedef struct morton_tensors morton_tensors;

/// Reads .npy, .npz, .pb (ONNX TensorProto), IDX (.gz or not), .png and .jpg. Images come as u8
/// [height, width, channels]. MORTON_ERROR_MODEL for no file or a damaged one.
MORTON_C_API morton_status morton_tensors_read(const char* path, morton_tensors** tensors);
MORTON_C_API void morton_tensors_free(morton_tensors* tensors);
/// How many there are; 0 for NULL.
MORTON_C_API size_t morton_tensors_count(const morton_tensors* tensors);
/// The tensor at `index`, from 0. MORTON_ERROR_USAGE beyond the last.
MORTON_C_API morton_status morton_tensors_at(const morton_tensors* tensors, size_t index,
                                             morton_tensor* tensor);
/// The tensor of this name. MORTON_ERROR_USAGE where there is none, with the names that there are.
MORTON_C_API morton_status morton_tensors_find(const morton_tensors* tensors, const char* name,
                                               morton_tensor* tensor);
/// Writes `count` tensors to .npy (one) or .npz. The file appears whole or not at all.
/// MORTON_ERROR_USAGE where it cannot be written.
MORTON_C_API morton_status morton_tensors_write(const char* path, const morton_tensor* tensors,
                                                size_t count);

/// An image (u8 [height, width, channels]) as an input of f32 [1, C, H, W], `bytes` bytes at `to`:
/// levels / 255, colours turned to grey where C is 1. A smaller image is centred on zeros, a larger
/// one is a MORTON_ERROR_USAGE. `extents` are the four of the input.
MORTON_C_API morton_status morton_image_to_input(const morton_tensor* image, const int64_t* extents,
                                                 size_t rank, float* to, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
