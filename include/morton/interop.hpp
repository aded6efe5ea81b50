// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/session.hpp"

// OpenCL's handle types, as <CL/cl.h> declares them: this header works with or without it.
typedef struct _cl_context* cl_context;
typedef struct _cl_device_id* cl_device_id;
typedef struct _cl_command_queue* cl_command_queue;
typedef struct _cl_mem* cl_mem;

namespace morton {

/// Works in a context of the caller's; both are retained. Throws UsageError when one is null or
/// `device` does not belong to `context`.
[[nodiscard]] MORTON_API Device adopt_device(cl_context context, cl_device_id device,
                                             const DeviceConfig& config = {});
/// Enqueues all further work of the session into the caller's in-order queue, which is retained.
/// Null gives the session's own one back. Throws UsageError for a queue that may reorder commands
/// or belongs to another context or device, and while anything is mapped.
MORTON_API void use_queue(Session& session, cl_command_queue queue);
/// Reads an input from, or writes an output to, the caller's buffer (dense row-major, at least the
/// port's bytes) in place of the session's own; retained until replaced. Null gives the own one
/// back. Throws UsageError for a buffer that is too small, of another context, closed to the
/// kernels' kind of access, or another port's memory where one of the two is an output; for a port
/// that is another one's memory under a second name; and while anything is mapped.
MORTON_API void bind_buffer(Session& session, const std::string& port, cl_mem buffer);
/// The context that the device works in; not retained for the caller.
[[nodiscard]] MORTON_API cl_context context_of(const Device& device);
/// The device itself, likewise.
[[nodiscard]] MORTON_API cl_device_id device_of(const Device& device);

}  // namespace morton
