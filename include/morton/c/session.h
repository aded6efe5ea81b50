// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_C_SESSION_H
#define MORTON_C_SESSION_H

/// Running a compiled model. morton/morton.h is the header to include.
#include "morton/c/base.h"
#include "morton/c/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A queue, the activations and the state of one compiled model. Belongs to one thread at a time;
/// any number of sessions share a compiled model.
typedef struct morton_session morton_session;

/// How a session runs.
typedef struct morton_session_options {
  size_t size;
  int32_t profiling;  ///< 1: measures each step with the device's clock
  int32_t reserved;   ///< 0
} morton_session_options;

/// Fills the struct with what holds unless told otherwise. `size` is
/// sizeof(morton_session_options).
MORTON_C_API morton_status morton_session_options_init(morton_session_options* options,
                                                       size_t size);

/// `options` may be NULL. MORTON_ERROR_DEVICE where the device has no memory left.
MORTON_C_API morton_status morton_session_create(const morton_compiled* compiled,
                                                 const morton_session_options* options,
                                                 morton_session** session);
/// Waits for what is enqueued.
MORTON_C_API void morton_session_free(morton_session* session);

/// Copies an input from the caller's memory: all `bytes` bytes that the port states.
/// MORTON_ERROR_USAGE for an unknown name or another size; the session stays as it was.
MORTON_C_API morton_status morton_session_set_input(morton_session* session, const char* name,
                                                    const void* data, size_t bytes);
/// Runs all steps on the inputs that are set, and waits for them. MORTON_ERROR_USAGE where an input
/// was never set or anything is mapped.
MORTON_C_API morton_status morton_session_run(morton_session* session);
/// The two halves of it. A program that reads an output behind each run needs no `wait`:
/// morton_session_get_output waits. Another `enqueue` may follow before the first has ended: steps
/// run in order. `wait` is for all that was enqueued. They fail as morton_session_run.
MORTON_C_API morton_status morton_session_enqueue(morton_session* session);
MORTON_C_API morton_status morton_session_wait(morton_session* session);
/// Waits for the enqueued work, then copies an output to the caller's memory: all `bytes` bytes
/// that the port states. Of an output whose extents a run finds out the port states the bound; what
/// there is lies at the front, and morton_session_output_extents says how much. MORTON_ERROR_USAGE
/// for an unknown name, another size, or before the first run; MORTON_ERROR_DEVICE.
MORTON_C_API morton_status morton_session_get_output(morton_session* session, const char* name,
                                                     void* data, size_t bytes);
/// The extents that an output has after the last run, into `extents`, which has room for `rank`, as
/// many as the port states. MORTON_ERROR_USAGE for an unknown name or another rank.
MORTON_C_API morton_status morton_session_output_extents(morton_session* session, const char* name,
                                                         int64_t* extents, size_t rank);

/// An input's memory for writing (all of it: what was set is lost), or an output's for reading, at
/// `*data`, `*bytes` bytes: no copy where host and device share memory. Valid until `unmap`, which
/// must come before the next run. Until then the port can be neither mapped again nor set
/// (MORTON_ERROR_USAGE).
MORTON_C_API morton_status morton_session_map_input(morton_session* session, const char* name,
                                                    void** data, size_t* bytes);
MORTON_C_API morton_status morton_session_map_output(morton_session* session, const char* name,
                                                     const void** data, size_t* bytes);
/// Unmaps all that is mapped. Nothing mapped is no error.
MORTON_C_API morton_status morton_session_unmap(morton_session* session);

/// Measures the steps of the runs that follow (1), or stops it (0). Waits for what is enqueued.
MORTON_C_API morton_status morton_session_set_profiling(morton_session* session, int32_t on);
/// Times of the last run's steps as a JSON array, empty without profiling; docs/c_api.md describes
/// it. The text is the caller's.
MORTON_C_API morton_status morton_session_step_times_json(morton_session* session, char** json);

#ifdef __cplusplus
}
#endif

#endif
