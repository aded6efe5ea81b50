// SPDX-License-Identifier: Apache-2.0
//
// Null pointers, and structs that an older or a newer header made.
#include "api_c/check.h"

/// Statuses keep their numbers; those of types and losses the library compares with C++'s.
typedef char
    statuses_keep_their_numbers[MORTON_OK == 0 && MORTON_ERROR_USAGE == 1 &&
                                        MORTON_ERROR_MODEL == 2 && MORTON_ERROR_UNSUPPORTED == 3 &&
                                        MORTON_ERROR_DEVICE == 4 && MORTON_ERROR_INTERNAL == 5 &&
                                        MORTON_ERROR_MEMORY == 6
                                    ? 1
                                    : -1];

void test_null(void) {
  morton_port port = {.size = sizeof port};
  morton_tensor tensor = {.size = sizeof tensor};
  CHECK_FAILS(morton_model_load(NULL, NULL), MORTON_ERROR_USAGE, "model is NULL");
  morton_model* model = NULL;
  CHECK_FAILS(morton_model_load(NULL, &model), MORTON_ERROR_USAGE, "path is NULL");
  CHECK_FAILS(morton_model_from_bytes(NULL, 3, NULL, &model), MORTON_ERROR_USAGE, "data is NULL");
  CHECK_FAILS(morton_model_save(NULL, "x.onnx"), MORTON_ERROR_USAGE, "model is NULL");
  CHECK_FAILS(morton_model_input(NULL, 0, &port), MORTON_ERROR_USAGE, "model is NULL");
  morton_compiled* compiled = NULL;
  CHECK_FAILS(morton_compile(NULL, NULL, NULL, &compiled), MORTON_ERROR_USAGE, "NULL");
  CHECK_FAILS(morton_compile_options_set(NULL, "batch", "1"), MORTON_ERROR_USAGE, "options");
  morton_session* session = NULL;
  CHECK_FAILS(morton_session_create(NULL, NULL, &session), MORTON_ERROR_USAGE, "compiled");
  CHECK_FAILS(morton_session_run(NULL), MORTON_ERROR_USAGE, "session is NULL");
  CHECK_FAILS(morton_session_set_input(NULL, "x", NULL, 0), MORTON_ERROR_USAGE, "session");
  morton_trainer* trainer = NULL;
  CHECK_FAILS(morton_trainer_create(NULL, NULL, NULL, &trainer), MORTON_ERROR_USAGE, "NULL");
  CHECK_FAILS(morton_tensors_at(NULL, 0, &tensor), MORTON_ERROR_USAGE, "tensors");
  CHECK_FAILS(morton_devices_json(NULL, NULL), MORTON_ERROR_USAGE, "json is NULL");
  CHECK(morton_model_input_count(NULL) == 0 && morton_tensors_count(NULL) == 0);
  CHECK(morton_trainer_steps_done(NULL) == -1);
  morton_device_free(NULL);
  morton_model_free(NULL);
  morton_compile_options_free(NULL);
  morton_compiled_free(NULL);
  morton_session_free(NULL);
  morton_trainer_free(NULL);
  morton_tensors_free(NULL);
  morton_string_free(NULL);
}

/// What a program has that was compiled with a later header.
typedef struct later_options {
  morton_session_options known;
  int64_t new_member;
} later_options;

/// What a program has that was compiled with an earlier one: no member behind the folder.
typedef struct earlier_options {
  size_t size;
  const char* cache_dir;
  int64_t behind;  ///< not the library's
} earlier_options;

void test_versions(void) {
  CHECK(strlen(morton_version()) >= 5);
  CHECK(strcmp(morton_status_name(MORTON_ERROR_DEVICE), "device") == 0);
  CHECK(strcmp(morton_status_name(99), "unknown") == 0);

  lenet all = lenet_open(1);
  later_options later;
  memset(&later, 0xff, sizeof later);
  CHECK_OK(morton_session_options_init(&later.known, sizeof later));
  CHECK(later.known.size == sizeof later && later.new_member == 0);
  morton_session* session = NULL;
  CHECK_OK(morton_session_create(all.compiled, &later.known, &session));
  morton_session_free(session);
  later.new_member = 1;
  CHECK_FAILS(morton_session_create(all.compiled, &later.known, &session), MORTON_ERROR_USAGE,
              "does not know");
  CHECK(session == NULL);
  later.known.size = 0;
  CHECK_FAILS(morton_session_create(all.compiled, &later.known, &session), MORTON_ERROR_USAGE,
              "its size is not set");

  earlier_options earlier = {0, NULL, 77};
  morton_device_options* as_known = (morton_device_options*)(void*)&earlier;
  CHECK_OK(morton_device_options_init(as_known, offsetof(earlier_options, behind)));
  CHECK(earlier.behind == 77 && earlier.size == offsetof(earlier_options, behind));
  morton_device* device = NULL;
  CHECK_OK(morton_device_open(NULL, as_known, &device));
  morton_device_free(device);

  morton_port port;
  memset(&port, 0, sizeof port);
  CHECK_FAILS(morton_model_input(all.model, 0, &port), MORTON_ERROR_USAGE, "its size is not set");
  // What lay in memory where a caller never wrote: nothing is read or written by it.
  memset(&port, 0xa5, sizeof port);
  CHECK_FAILS(morton_model_input(all.model, 0, &port), MORTON_ERROR_USAGE, "its size is not set");
  CHECK(port.bytes == port.size);
  memset(&later, 0xa5, sizeof later);
  CHECK_FAILS(morton_session_create(all.compiled, &later.known, &session), MORTON_ERROR_USAGE,
              "its size is not set");
  lenet_close(&all);
}
