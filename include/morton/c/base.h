// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_C_BASE_H
#define MORTON_C_BASE_H

/// What all parts of the interface for C share: statuses, errors, element types, ports.
/// morton/morton.h is the header to include.
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MORTON_C_API __attribute__((visibility("default")))
#else
#define MORTON_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Whose fault it is; MORTON_OK where nothing is wrong. No value ever changes its number.
typedef int32_t morton_status;
enum {
  MORTON_OK = 0,
  MORTON_ERROR_USAGE = 1,        ///< the caller asked for something impossible
  MORTON_ERROR_MODEL = 2,        ///< a model, data or cache file is wrong
  MORTON_ERROR_UNSUPPORTED = 3,  ///< the file is right, the engine cannot do it
  MORTON_ERROR_DEVICE = 4,       ///< no device, a driver's refusal, a lost context
  MORTON_ERROR_INTERNAL = 5,     ///< a defect of Morton; please report it
  MORTON_ERROR_MEMORY = 6        ///< the host has no memory left
};

/// "0.1.0": the library's version. Never NULL.
MORTON_C_API const char* morton_version(void);
/// "ok", "usage", "model" and so on; "unknown" for a number that is no status.
MORTON_C_API const char* morton_status_name(morton_status status);

/// Of the last call on this thread that failed: its status, MORTON_OK where none did. A call that
/// succeeds leaves it as it is.
MORTON_C_API morton_status morton_last_status(void);
/// Its text: where, what was expected, what was got, what to do; "" where no call failed. Like the
/// two below it is valid until the next call that fails on this thread.
MORTON_C_API const char* morton_last_error(void);
/// The setting that is at fault, such as "exclude"; "" where none is.
MORTON_C_API const char* morton_last_setting(void);
/// The node of the model that is at fault, by name; "" where none is.
MORTON_C_API const char* morton_last_node(void);

/// Gives a text back that a function handed over. NULL is no error.
MORTON_C_API void morton_string_free(char* text);

/// Element type of a tensor. No value ever changes its number.
typedef int32_t morton_type;
enum {
  MORTON_F32 = 0,
  MORTON_F16 = 1,
  MORTON_F64 = 2,
  MORTON_I8 = 3,
  MORTON_U8 = 4,
  MORTON_I32 = 5,
  MORTON_I64 = 6,
  MORTON_BOOL = 7,  ///< a byte, 0 or 1
  MORTON_BF16 = 8,
  MORTON_TF32 = 9,
  MORTON_I16 = 10,
  MORTON_U16 = 11,
  MORTON_U32 = 12,
  MORTON_U64 = 13,
  MORTON_F8E4M3FN = 14,  ///< this and what follows: a byte for each element
  MORTON_F8E4M3FNUZ = 15,
  MORTON_F8E5M2 = 16,
  MORTON_F8E5M2FNUZ = 17,
  MORTON_F8E8M0 = 18,
  MORTON_F4E2M1 = 19,
  MORTON_F6E2M3 = 20,
  MORTON_F6E3M2 = 21,
  MORTON_I4 = 22,
  MORTON_U4 = 23,
  MORTON_I2 = 24,
  MORTON_U2 = 25
};

/// "f32", "i64", "bool" and so on; NULL for a number that is no type.
MORTON_C_API const char* morton_type_name(morton_type type);
/// Bytes of one element; 0 for a number that is no type.
MORTON_C_API size_t morton_type_size(morton_type type);

/// An input or output. All pointers are the handle's that was asked.
typedef struct morton_port {
  size_t size;  ///< set by the caller: sizeof(morton_port)
  const char* name;
  morton_type type;
  int32_t is_tensor;  ///< 0 for a list or an optional value; type and extents are of its tensors
  size_t rank;        ///< number of extents; 0 for a scalar
  const int64_t* extents;  ///< outermost first; -1 where the model leaves one open
  /// A name for each extent: of an open one as the model calls it, else "".
  const char* const* symbols;
  /// For each extent that a run finds out the name of the output that counts it (one i64), else "".
  /// The extent is the bound then.
  const char* const* counts;
  size_t bytes;  ///< of the whole tensor; 0 where an extent is open
} morton_port;

#ifdef __cplusplus
}
#endif

#endif
