// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What the layer (opencl_layer.cpp) lets a test program do that links it. The OpenCL loader loads
/// the same library, which is then there once.
extern "C" {

/// How a call fails.
enum FaultWay {
  /// That call alone returns the error, and does nothing; a release is done nevertheless.
  kFaultOnce = 0,
  /// It and all later calls on the same context but those that retain and release, of whatever
  /// function: the device has vanished. Without a context, all.
  kFaultFromHere,
  /// A function that makes an object says CL_SUCCESS and returns null.
  kFaultLie,
  /// A kernel (clEnqueueNDRangeKernel) does not begin before `morton_layer_disarm`: the device
  /// hangs.
  kFaultStall,
};

int morton_layer_functions(void);             ///< how many it knows
const char* morton_layer_name(int function);  ///< "clCreateBuffer"
int morton_layer_errors(int function,
                        const int** at);  ///< how many errors the function may return, and the list
int morton_layer_makes_objects(int function);  ///< 1 where it returns a handle
/// Calls of the function since `morton_layer_reset`, all threads together.
long morton_layer_calls(int function);
/// Sets the counts of calls to 0 and disarms.
void morton_layer_reset(void);
/// Lets the call number `call` of the function, from 1, fail; counts go on.
void morton_layer_arm(int function, long call, int error, enum FaultWay way);
/// Lets kernels that hang go on, and no further call fail.
void morton_layer_disarm(void);
long morton_layer_fired(void);  ///< calls that failed since `morton_layer_arm`
/// References to OpenCL's objects that are held now (what a program that has closed all must bring
/// to 0), and bytes of buffers and images: now and the most ever. Sub-buffers count with what they
/// lie in.
long morton_layer_live(void);
std::int64_t morton_layer_bytes(void);
std::int64_t morton_layer_peak_bytes(void);
/// Writes "12 cl_mem, 3 cl_event" for what is live.
void morton_layer_live_text(char* to, std::size_t size);
/// 1 while the calling thread is within the driver.
int morton_layer_is_in_driver(void);
}
