// SPDX-License-Identifier: Apache-2.0
//
// Running LeNet-5: answers, wrong inputs, mapped memory, times.
#include <math.h>
#include <stdlib.h>

#include "api_c/check.h"

/// Two f32 implementations of a network whose answers are probabilities.
static const float tolerance = 2e-5F;

static void check_answers(const float* got, const float* wanted, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (fabsf(got[i] - wanted[i]) <= tolerance) continue;
    printf("element %lu is %g, expected %g\n", (unsigned long)i, got[i], wanted[i]);
    ++failures;
    return;
  }
}

static int first_choice(const float* probabilities) {
  int best = 0;
  for (int kind = 1; kind < KINDS; ++kind) {
    if (probabilities[kind] > probabilities[best]) best = kind;
  }
  return best;
}

void test_digits(void) {
  static const int64_t batches[] = {1, 3, DIGITS};
  for (size_t b = 0; b < 3; ++b) {
    const size_t batch = (size_t)batches[b];
    lenet all = lenet_open(batches[b]);
    float got[DIGITS * KINDS];
    CHECK_OK(
        morton_session_set_input(all.session, "input", all.images, batch * PIXELS * sizeof(float)));
    CHECK_OK(morton_session_run(all.session));
    CHECK_OK(morton_session_get_output(all.session, "probabilities", got,
                                       batch * KINDS * sizeof(float)));
    check_answers(got, all.probabilities, batch * KINDS);
    for (size_t digit = 0; digit < batch; ++digit) {
      CHECK(first_choice(got + digit * KINDS) == first_choice(all.probabilities + digit * KINDS));
    }
    lenet_close(&all);
  }
}

void test_wrong_inputs(void) {
  lenet all = lenet_open(1);
  const size_t bytes = PIXELS * sizeof(float);
  float got[KINDS], again[KINDS];
  const void* mapped = NULL;
  CHECK_FAILS(morton_session_run(all.session), MORTON_ERROR_USAGE, "input");
  CHECK_FAILS(morton_session_get_output(all.session, "probabilities", got, sizeof got),
              MORTON_ERROR_USAGE, "'probabilities' has no value before a run");
  CHECK_FAILS(morton_session_map_output(all.session, "probabilities", &mapped, NULL),
              MORTON_ERROR_USAGE, "before a run");
  CHECK_OK(morton_session_set_input(all.session, "input", all.images, bytes));
  CHECK_OK(morton_session_run(all.session));
  CHECK_OK(morton_session_get_output(all.session, "probabilities", got, sizeof got));

  CHECK_FAILS(morton_session_set_input(all.session, "imput", all.images, bytes), MORTON_ERROR_USAGE,
              "imput");
  CHECK_FAILS(morton_session_set_input(all.session, "input", all.images, bytes - 4),
              MORTON_ERROR_USAGE, "expected 4096 bytes (f32 1x1x32x32), got 4092");
  CHECK_FAILS(morton_session_set_input(all.session, "input", NULL, bytes), MORTON_ERROR_USAGE,
              "NULL");
  CHECK_FAILS(morton_session_get_output(all.session, "probability", again, sizeof again),
              MORTON_ERROR_USAGE, "probability");
  CHECK_FAILS(morton_session_get_output(all.session, "probabilities", again, 4), MORTON_ERROR_USAGE,
              "expected 40 bytes");
  // Nothing is lost: the input is still set, and the session runs as before.
  CHECK_OK(morton_session_run(all.session));
  CHECK_OK(morton_session_get_output(all.session, "probabilities", again, sizeof again));
  CHECK(memcmp(got, again, sizeof got) == 0);
  // A call that succeeds leaves the last error.
  CHECK(strstr(morton_last_error(), "expected 40 bytes") != NULL);
  lenet_close(&all);
}

void test_mapping(void) {
  lenet all = lenet_open(3);
  void* to = NULL;
  const void* from = NULL;
  size_t bytes = 0;
  CHECK_OK(morton_session_map_input(all.session, "input", &to, &bytes));
  CHECK(bytes == 3 * PIXELS * sizeof(float));
  if (to != NULL) memcpy(to, all.images, bytes);
  void* second = &bytes;
  CHECK_FAILS(morton_session_map_input(all.session, "input", &second, NULL), MORTON_ERROR_USAGE,
              "mapped");
  CHECK(second == NULL);
  CHECK_FAILS(morton_session_run(all.session), MORTON_ERROR_USAGE, "unmap");
  CHECK_OK(morton_session_unmap(all.session));
  CHECK_OK(morton_session_enqueue(all.session));
  CHECK_OK(morton_session_wait(all.session));
  CHECK_OK(morton_session_map_output(all.session, "probabilities", &from, &bytes));
  CHECK(bytes == 3 * KINDS * sizeof(float));
  if (from != NULL) check_answers(from, all.probabilities, 3 * KINDS);
  CHECK_OK(morton_session_unmap(all.session));
  CHECK_OK(morton_session_unmap(all.session));
  lenet_close(&all);
}

void test_profile(void) {
  lenet all = lenet_open(1);
  char* json = NULL;
  CHECK_OK(morton_session_set_input(all.session, "input", all.images, PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(all.session));
  CHECK_OK(morton_session_step_times_json(all.session, &json));
  CHECK(json != NULL && strcmp(json, "[]") == 0);
  morton_string_free(json);
  CHECK_OK(morton_session_set_profiling(all.session, 1));
  CHECK_OK(morton_session_run(all.session));
  CHECK_OK(morton_session_step_times_json(all.session, &json));
  CHECK(json != NULL && strstr(json, "\"device_us\":") != NULL);
  CHECK(json != NULL && strstr(json, "\"kernel\":\"softmax.") != NULL);
  morton_string_free(json);
  CHECK_FAILS(morton_session_set_profiling(all.session, 2), MORTON_ERROR_USAGE, "expected 0 or 1");
  CHECK(strcmp(morton_last_setting(), "profiling") == 0);

  morton_session_options options;
  morton_session* session = NULL;
  CHECK_OK(morton_session_options_init(&options, sizeof options));
  options.profiling = 1;
  CHECK_OK(morton_session_create(all.compiled, &options, &session));
  CHECK_OK(morton_session_set_input(session, "input", all.images, PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(session));
  CHECK_OK(morton_session_step_times_json(session, &json));
  CHECK(json != NULL && strlen(json) > 2);
  morton_string_free(json);
  morton_session_free(session);
  lenet_close(&all);
}

void test_handles(void) {
  // What a session needs it keeps alive itself, in whatever order handles are given back.
  lenet all = lenet_open(1);
  float got[KINDS];
  morton_compiled_free(all.compiled);
  morton_model_free(all.model);
  morton_device_free(all.device);
  all.compiled = NULL;
  all.model = NULL;
  all.device = NULL;
  CHECK_OK(morton_session_set_input(all.session, "input", all.images, PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(all.session));
  CHECK_OK(morton_session_get_output(all.session, "probabilities", got, sizeof got));
  check_answers(got, all.probabilities, KINDS);
  int64_t extents[2] = {0, 0};
  CHECK_OK(morton_session_output_extents(all.session, "probabilities", extents, 2));
  CHECK(extents[0] == 1 && extents[1] == KINDS);
  CHECK_FAILS(morton_session_output_extents(all.session, "probabilities", extents, 3),
              MORTON_ERROR_USAGE, "has 2 extents");
  lenet_close(&all);
}

void test_compiled_file(void) {
  lenet all = lenet_open(1);
  const char* path = "c_api_lenet.morton";
  CHECK_OK(morton_compiled_save(all.compiled, path));
  morton_compiled* loaded = NULL;
  morton_session* session = NULL;
  float got[3 * KINDS];
  CHECK_OK(morton_compiled_load(path, all.device, 0, &loaded));
  CHECK_OK(morton_session_create(loaded, NULL, &session));
  CHECK_OK(morton_session_set_input(session, "input", all.images, PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(session));
  CHECK_OK(morton_session_get_output(session, "probabilities", got, KINDS * sizeof(float)));
  check_answers(got, all.probabilities, KINDS);
  morton_session_free(session);
  morton_compiled_free(loaded);
  remove(path);

  morton_compiled* other = NULL;
  CHECK_OK(morton_compiled_with_batch(all.compiled, 3, 1, &other));
  CHECK_OK(morton_session_create(other, NULL, &session));
  CHECK_OK(morton_session_set_input(session, "input", all.images, 3 * PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(session));
  CHECK_OK(morton_session_get_output(session, "probabilities", got, sizeof got));
  check_answers(got, all.probabilities, 3 * KINDS);
  morton_session_free(session);
  morton_compiled_free(other);
  lenet_close(&all);
}

/// NonZero of 6 numbers: an ONNX file of opset 13, input "x", output "places" [1, n].
static const unsigned char non_zero[] = {
    8,  8,   18,  0,  58,  69,  10,  20, 10, 1,   120, 18,  6,  112, 108, 97,  99, 101, 115, 34, 7,
    78, 111, 110, 90, 101, 114, 111, 18, 1,  103, 90,  15,  10, 1,   120, 18,  10, 10,  8,   8,  1,
    18, 4,   10,  2,  8,   6,   98,  25, 10, 6,   112, 108, 97, 99,  101, 115, 18, 15,  10,  13, 8,
    7,  18,  9,   10, 2,   8,   1,   10, 3,  18,  1,   110, 66, 4,   10,  0,   16, 13};

void test_counts(void) {
  morton_device* device = NULL;
  morton_model* model = NULL;
  morton_compiled* compiled = NULL;
  morton_session* session = NULL;
  CHECK_OK(morton_device_open(NULL, NULL, &device));
  CHECK_OK(morton_model_from_bytes(non_zero, sizeof non_zero, "non_zero", &model));
  CHECK_OK(morton_compile(model, device, NULL, &compiled));
  CHECK_OK(morton_session_create(compiled, NULL, &session));
  morton_port port = {.size = sizeof port};
  CHECK_OK(morton_compiled_output(compiled, 0, &port));
  CHECK(port.type == MORTON_I64 && port.rank == 2 && port.extents[1] == 6 && port.bytes == 48);
  CHECK(strlen(port.counts[0]) == 0 && strlen(port.counts[1]) > 0);

  static const float values[2][6] = {{0, 1, 0, 2, 3, 0}, {0, 0, 0, 0, 5, 0}};
  static const int64_t wanted[2][3] = {{1, 3, 4}, {4, 0, 0}};
  static const int64_t counts[2] = {3, 1};
  for (int turn = 0; turn < 2; ++turn) {
    int64_t places[6] = {0}, extents[2] = {0}, count = 0;
    CHECK_OK(morton_session_set_input(session, "x", values[turn], sizeof values[turn]));
    CHECK_OK(morton_session_enqueue(session));
    CHECK_OK(morton_session_get_output(session, "places", places, sizeof places));
    CHECK_OK(morton_session_output_extents(session, "places", extents, 2));
    CHECK_OK(morton_session_get_output(session, port.counts[1], &count, sizeof count));
    CHECK(extents[0] == 1 && extents[1] == counts[turn] && count == counts[turn]);
    CHECK(memcmp(places, wanted[turn], (size_t)counts[turn] * sizeof(int64_t)) == 0);
    CHECK_FAILS(morton_session_get_output(session, "places", places, 8), MORTON_ERROR_USAGE,
                "expected 48 bytes");
  }
  morton_session_free(session);
  morton_compiled_free(compiled);
  morton_model_free(model);
  morton_device_free(device);
}
