// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_MORTON_H
#define MORTON_MORTON_H

/// Morton runs neural networks on any OpenCL 1.2 device. This is its interface for C99, and for
/// what calls C: Python's ctypes, Rust, Julia, C#. docs/c_api.md shows it in use.
///
///     morton_device* device = NULL;
///     morton_model* model = NULL;
///     morton_compiled* compiled = NULL;
///     morton_session* session = NULL;
///     if (morton_device_open("auto", NULL, &device) == MORTON_OK &&
///         morton_model_load("lenet5.onnx", &model) == MORTON_OK &&
///         morton_compile(model, device, NULL, &compiled) == MORTON_OK &&
///         morton_session_create(compiled, NULL, &session) == MORTON_OK &&
///         morton_session_set_input(session, "input", pixels, sizeof pixels) == MORTON_OK &&
///         morton_session_run(session) == MORTON_OK &&
///         morton_session_get_output(session, "probabilities", shares, sizeof shares) == MORTON_OK)
///       use(shares);
///     else
///       fprintf(stderr, "error: %s\n", morton_last_error());
///
/// These hold for all functions:
///
/// - What can fail returns a morton_status. After anything but MORTON_OK, `morton_last_error` says
///   what went wrong, and what the function was to make is NULL. After MORTON_ERROR_USAGE all is
///   as it was.
/// - A handle (`morton_device*` and so on) is made by one function and given back by its `_free`,
///   which takes NULL too. Handles may be given back in any order: each keeps alive what it needs.
/// - A text that a function hands over (`char**`) is the caller's, who gives it back by
///   `morton_string_free`. What a `const char*` or a port points to is its handle's, and lives as
///   long as that.
/// - Texts are UTF-8 and end in a zero byte. Sizes are in bytes, extents in elements, outermost
///   first; tensors are dense and row-major.
/// - A struct begins with its size. An option struct is filled by its `_init`, and another one has
///   `size` set by the caller to `sizeof`. So a program goes on working with a later library.
/// - Devices, models, compiled models and options may be used by several threads at once, as long
///   as none changes or frees them. A session or trainer belongs to one thread at a time. The last
///   error is each thread's own.
#include "morton/c/base.h"
#include "morton/c/files.h"
#include "morton/c/model.h"
#include "morton/c/session.h"
#include "morton/c/trainer.h"

#endif
