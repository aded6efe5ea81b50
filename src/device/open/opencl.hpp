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
#include <CL/opencl.hpp>

#include "base/rooms.hpp"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
