// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one place that includes OpenCL's headers: C++ bindings with exceptions, version 1.2.
#ifndef CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_ENABLE_EXCEPTIONS
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif
#include <CL/cl.h>

namespace morton::device {

/// A release that fails leaves the handle given away all the same. OpenCL's binding throws for it
/// where one handle takes another's place, and releases the old one again later, which ends the
/// process; so releases report nothing to it.
template <typename Handle>
cl_int released(cl_int (*release)(Handle), Handle handle) {
  static_cast<void>(release(handle));
  return CL_SUCCESS;
}

}  // namespace morton::device

#define MORTON_RELEASE(function, Handle)                  \
  inline cl_int morton_##function(Handle handle) {        \
    return morton::device::released(&::function, handle); \
  }
MORTON_RELEASE(clReleaseCommandQueue, cl_command_queue)
MORTON_RELEASE(clReleaseContext, cl_context)
MORTON_RELEASE(clReleaseDevice, cl_device_id)
MORTON_RELEASE(clReleaseEvent, cl_event)
MORTON_RELEASE(clReleaseKernel, cl_kernel)
MORTON_RELEASE(clReleaseMemObject, cl_mem)
MORTON_RELEASE(clReleaseProgram, cl_program)
#undef MORTON_RELEASE
#define clReleaseCommandQueue morton_clReleaseCommandQueue
#define clReleaseContext morton_clReleaseContext
#define clReleaseDevice morton_clReleaseDevice
#define clReleaseEvent morton_clReleaseEvent
#define clReleaseKernel morton_clReleaseKernel
#define clReleaseMemObject morton_clReleaseMemObject
#define clReleaseProgram morton_clReleaseProgram
#include <CL/opencl.hpp>
#undef clReleaseCommandQueue
#undef clReleaseContext
#undef clReleaseDevice
#undef clReleaseEvent
#undef clReleaseKernel
#undef clReleaseMemObject
#undef clReleaseProgram

#include "base/rooms.hpp"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
