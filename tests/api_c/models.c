// SPDX-License-Identifier: Apache-2.0
//
// Models and their options: ports, names and values, bytes, files, threads, structs of other sizes.
#include <pthread.h>
#include <stdlib.h>

#include "api_c/check.h"

/// The whole file with a zero behind it, which the caller frees.
static char* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char* data = malloc(*bytes + 1);
  if (data != NULL) data[*bytes] = 0;
  if (data != NULL && fread(data, 1, *bytes, file) != *bytes) *bytes = 0;
  fclose(file);
  return data;
}

void test_ports(void) {
  lenet all = lenet_open(3);
  morton_port port = {.size = sizeof port};
  CHECK(morton_model_input_count(all.model) == 1 && morton_model_output_count(all.model) == 1);
  CHECK_OK(morton_model_input(all.model, 0, &port));
  CHECK(strcmp(port.name, "input") == 0 && port.type == MORTON_F32 && port.is_tensor == 1);
  CHECK(port.rank == 4 && port.extents[0] == -1 && port.extents[3] == 32 && port.bytes == 0);
  CHECK(strcmp(port.symbols[0], "batch") == 0 && strcmp(port.symbols[1], "") == 0);
  CHECK_OK(morton_compiled_input(all.compiled, 0, &port));
  CHECK(port.extents[0] == 3 && port.bytes == 3 * PIXELS * sizeof(float));
  CHECK_OK(morton_model_output(all.model, 0, &port));
  CHECK(strcmp(port.name, "probabilities") == 0 && port.rank == 2 && port.extents[1] == KINDS);
  CHECK_OK(morton_compiled_output(all.compiled, 0, &port));
  CHECK(port.extents[0] == 3 && strcmp(port.counts[0], "") == 0);
  CHECK(morton_compiled_input_count(all.compiled) == 1);
  CHECK(morton_compiled_output_count(all.compiled) == 1);
  CHECK_FAILS(morton_model_input(all.model, 1, &port), MORTON_ERROR_USAGE, "index 1");
  CHECK(strcmp(morton_type_name(MORTON_F32), "f32") == 0);
  CHECK(strcmp(morton_type_name(MORTON_U2), "u2") == 0 && morton_type_name(26) == NULL);
  CHECK(morton_type_size(MORTON_F16) == 2 && morton_type_size(-1) == 0);

  char* text = NULL;
  CHECK_OK(morton_compiled_plan_text(all.compiled, 0, &text));
  CHECK(text != NULL && strstr(text, "softmax.") != NULL);
  morton_string_free(text);
  CHECK_OK(morton_compiled_report_json(all.compiled, &text));
  CHECK(text != NULL && strstr(text, "\"fallbacks\":[]") != NULL);
  CHECK(text != NULL && strstr(text, "\"weight_bytes\":") != NULL);
  morton_string_free(text);
  lenet_close(&all);
}

/// Counts what the log is told.
static void count_line(void* context, const char* line) {
  if (strlen(line) > 0) ++*(int*)context;
}

void test_options(void) {
  lenet all = lenet_open(1);
  morton_compile_options* options = NULL;
  morton_compiled* compiled = NULL;
  char* text = NULL;
  int lines = 0;
  CHECK_OK(morton_compile_options_create(&options));
  CHECK_FAILS(morton_compile_options_set(options, "presicion", "f16"), MORTON_ERROR_USAGE,
              "did you mean 'precision'?");
  CHECK_FAILS(morton_compile_options_set(options, "batch", "many"), MORTON_ERROR_USAGE, "many");
  CHECK(strcmp(morton_last_setting(), "batch") == 0);
  CHECK_FAILS(morton_compile_options_set(options, "start", "soon"), MORTON_ERROR_USAGE,
              "ready, at_once, interim_alone");
  CHECK_FAILS(morton_compile_options_set(options, "use", "gemm"), MORTON_ERROR_USAGE,
              "FAMILY=KERNEL");
  CHECK_FAILS(morton_compile_options_set(options, "tunables", "gemm.tile:TILE_M"),
              MORTON_ERROR_USAGE, "TUNABLE=VALUE");
  CHECK_FAILS(morton_compile_options_set(options, "shapes", "input:1x"), MORTON_ERROR_USAGE,
              "INPUT:EXTENTS");
  CHECK_FAILS(morton_compile_options_set(options, "precision", "f17"), MORTON_ERROR_USAGE, "f17");
  CHECK_FAILS(morton_compile_options_set_batch(options, -1), MORTON_ERROR_USAGE, "below 0");

  static const char* const settings[][2] = {
      {"batch", "1"},
      {"shapes", "input:1x1x32x32"},
      {"use", "gemm=gemm.naive"},
      {"exclude", "gemm.tile"},
      {"tuning", "ignore"},
      {"precision", "f32"},
      {"sums", "f32"},
      {"workspace_limit_bytes", "0"},
      {"launches", "apart"},
      {"start", "ready"},
      {"skip_passes", "fuse_epilogues"},
      {"other_shapes", "leave"},
      {"self_test", "off"},
      {"fallback", "refuse"},
      {"unkept", "report"},
  };
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i) {
    CHECK_OK(morton_compile_options_set(options, settings[i][0], settings[i][1]));
  }
  CHECK_OK(morton_compile_options_set_log(options, count_line, &lines));
  CHECK_OK(morton_compile(all.model, all.device, options, &compiled));
  CHECK_OK(morton_compiled_plan_text(compiled, 1, &text));
  CHECK(text != NULL && strstr(text, "gemm.naive") != NULL);
  CHECK(lines > 0);
  morton_string_free(text);
  morton_compiled_free(compiled);

  CHECK_OK(morton_compile_options_set(options, "precision", "f64"));
  CHECK_FAILS(morton_compile(all.model, all.device, options, &compiled), MORTON_ERROR_USAGE,
              "precision f64: expected f32, f16, bf16 or tf32");
  CHECK(strcmp(morton_last_setting(), "precision") == 0);
  CHECK_OK(morton_compile_options_set(options, "precision", "f32"));
  CHECK_OK(morton_compile_options_set(options, "sums", "i8"));
  CHECK_FAILS(morton_compile(all.model, all.device, options, &compiled), MORTON_ERROR_USAGE,
              "sums i8: expected f32 or f16");
  CHECK_OK(morton_compile_options_set(options, "sums", "f32"));
  static const int64_t huge[] = {INT64_MAX, 2}, many[] = {1 << 20, 1 << 21};
  CHECK_FAILS(morton_compile_options_set_shape(options, "input", huge, 2), MORTON_ERROR_USAGE,
              "extents: ");
  CHECK_FAILS(morton_compile_options_set_value(options, "input", MORTON_F32, many, 2, NULL, 0),
              MORTON_ERROR_USAGE, "extents: ");
  CHECK_OK(morton_compile_options_set(options, "use", "gemm=gemm.none_such"));
  CHECK_FAILS(morton_compile(all.model, all.device, options, &compiled), MORTON_ERROR_USAGE,
              "gemm.none_such");
  CHECK(compiled == NULL && strcmp(morton_last_setting(), "use") == 0);
  morton_compile_options_free(options);

  CHECK_OK(morton_compile_options_create(&options));
  static const int64_t extents[] = {2, 1, 32, 32};
  static const int64_t negative[] = {-2};
  CHECK_OK(morton_compile_options_set_shape(options, "input", extents, 4));
  CHECK_FAILS(morton_compile_options_set_shape(options, "input", negative, 1), MORTON_ERROR_USAGE,
              "below 0");
  CHECK_FAILS(morton_compile_options_set_value(options, "k", MORTON_I64, extents, 1, extents, 8),
              MORTON_ERROR_USAGE, "expected 16 bytes");
  CHECK_FAILS(morton_compile_options_set_value(options, "k", 99, extents, 1, extents, 8),
              MORTON_ERROR_USAGE, "type 99");
  CHECK_OK(morton_compile(all.model, all.device, options, &compiled));
  morton_port port = {.size = sizeof port};
  CHECK_OK(morton_compiled_input(compiled, 0, &port));
  CHECK(port.extents[0] == 2);
  morton_compiled_free(compiled);
  morton_compile_options_free(options);
  lenet_close(&all);
}

/// The page lists the options that there are: those that the error of an unknown one names.
void test_options_page(void) {
  morton_compile_options* options = NULL;
  size_t bytes = 0;
  char* page = read_file(MORTON_SOURCE_DIR "/docs/c_api.md", &bytes);
  CHECK_OK(morton_compile_options_create(&options));
  CHECK_FAILS(morton_compile_options_set(options, "0", "1"), MORTON_ERROR_USAGE, "There are ");
  char known[1024], wanted[128];
  snprintf(known, sizeof known, "%s", strstr(morton_last_error(), "There are ") + 10);
  int names = 0, rows = 0;
  for (const char* name = strtok(known, ", "); name != NULL; name = strtok(NULL, ", ")) {
    snprintf(wanted, sizeof wanted, "\n| `%s` | ", name);
    if (page == NULL || strstr(page, wanted) == NULL) {
      printf("docs/c_api.md lists no option %s\n", name);
      ++failures;
    }
    ++names;
  }
  const char* row = page == NULL ? NULL : strstr(page, "<!-- options -->");
  const char* end = page == NULL ? NULL : strstr(page, "<!-- end of options -->");
  CHECK(row != NULL && end != NULL);
  for (; row != NULL && row < end; row = strstr(row + 1, "\n| `")) ++rows;
  CHECK(names > 15 && rows - 1 == names);
  free(page);
  morton_compile_options_free(options);
}

void test_bytes(void) {
  lenet all = lenet_open(1);
  size_t bytes = 0;
  char* data = read_file(LENET, &bytes);
  morton_model* model = NULL;
  CHECK_OK(morton_model_from_bytes(data, bytes, "digits", &model));
  // The bytes are not needed any more.
  if (data != NULL) memset(data, 0, bytes);
  free(data);
  morton_compiled* compiled = NULL;
  morton_session* session = NULL;
  float got[KINDS], wanted[KINDS];
  CHECK_OK(morton_compile(model, all.device, NULL, &compiled));
  CHECK_OK(morton_session_create(compiled, NULL, &session));
  CHECK_OK(morton_session_set_input(session, "input", all.images, PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(session));
  CHECK_OK(morton_session_get_output(session, "probabilities", got, sizeof got));
  CHECK_OK(morton_session_set_input(all.session, "input", all.images, PIXELS * sizeof(float)));
  CHECK_OK(morton_session_run(all.session));
  CHECK_OK(morton_session_get_output(all.session, "probabilities", wanted, sizeof wanted));
  CHECK(memcmp(got, wanted, sizeof got) == 0);
  morton_session_free(session);
  morton_compiled_free(compiled);
  morton_model_free(model);
  CHECK_FAILS(morton_model_from_bytes("no model", 8, NULL, &model), MORTON_ERROR_MODEL, "model");
  CHECK(model == NULL);
  CHECK_FAILS(morton_model_load("no such file.onnx", &model), MORTON_ERROR_MODEL, "no such file");
  CHECK_OK(morton_model_load_within(LENET, NULL, "nodes=100,seconds=60", &model));
  morton_model_free(model);
  CHECK_FAILS(morton_model_load_within(LENET, NULL, "nodes=3", &model), MORTON_ERROR_UNSUPPORTED,
              "more than 3 nodes");
  CHECK(strcmp(morton_last_setting(), "limits") == 0);
  CHECK_FAILS(morton_model_load_within(LENET, NULL, "nods=3", &model), MORTON_ERROR_USAGE, "nods");
  CHECK_FAILS(morton_model_load_within(LENET, "no such folder", NULL, &model), MORTON_ERROR_MODEL,
              "is no folder");
  CHECK_FAILS(morton_model_new("lenet6", 1, &model), MORTON_ERROR_USAGE, "lenet5");
  lenet_close(&all);
}

void test_files(void) {
  static const int64_t extents[] = {2, 3};
  static const float values[] = {1, 2, 3, 4, 5, 6};
  const char* path = "c_api_tensors.npz";
  morton_tensor one = {.size = sizeof one, .name = "one", .type = MORTON_F32, .rank = 2};
  one.extents = extents;
  one.data = values;
  one.bytes = sizeof values;
  morton_tensor both[2];
  both[0] = one;
  both[1] = one;
  both[1].name = "two";
  CHECK_OK(morton_tensors_write(path, both, 2));
  morton_tensors* read = NULL;
  morton_tensor back = {.size = sizeof back};
  CHECK_OK(morton_tensors_read(path, &read));
  CHECK(morton_tensors_count(read) == 2);
  CHECK_OK(morton_tensors_find(read, "two", &back));
  CHECK(back.rank == 2 && back.extents[1] == 3 && back.bytes == sizeof values);
  CHECK(memcmp(back.data, values, sizeof values) == 0);
  CHECK_FAILS(morton_tensors_find(read, "three", &back), MORTON_ERROR_USAGE, "'two'");
  CHECK_FAILS(morton_tensors_at(read, 2, &back), MORTON_ERROR_USAGE, "index 2");
  morton_tensors_free(read);
  remove(path);

  morton_tensors* pictures = NULL;
  float input[PIXELS];
  static const int64_t shape[] = {1, 1, 32, 32};
  CHECK_OK(morton_tensors_read(MORTON_SOURCE_DIR "/examples/data/digit_7.png", &pictures));
  CHECK_OK(morton_tensors_at(pictures, 0, &back));
  CHECK_OK(morton_image_to_input(&back, shape, 4, input, sizeof input));
  CHECK_FAILS(morton_image_to_input(&back, shape, 4, input, 4), MORTON_ERROR_USAGE, "4096 bytes");
  float sum = 0;
  for (int i = 0; i < PIXELS; ++i) sum += input[i];
  CHECK(sum > 10 && sum < PIXELS);
  morton_tensors_free(pictures);
  CHECK_FAILS(morton_tensors_read("no such file.npy", &read), MORTON_ERROR_MODEL, "no such file");
}

/// Fails on a thread of its own, whose last error is not that of others.
static void* fail_elsewhere(void* compiled) {
  CHECK(morton_last_status() == MORTON_OK && strcmp(morton_last_error(), "") == 0);
  morton_session* session = NULL;
  CHECK_OK(morton_session_create(compiled, NULL, &session));
  CHECK_FAILS(morton_session_run(session), MORTON_ERROR_USAGE, "input");
  morton_session_free(session);
  return NULL;
}

void test_threads(void) {
  lenet all = lenet_open(1);
  morton_port port = {.size = sizeof port};
  pthread_t thread;
  CHECK_FAILS(morton_model_input(all.model, 7, &port), MORTON_ERROR_USAGE, "index 7");
  CHECK(pthread_create(&thread, NULL, fail_elsewhere, all.compiled) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strstr(morton_last_error(), "index 7") != NULL);
  lenet_close(&all);
}

void test_devices(void) {
  char* json = NULL;
  CHECK_OK(morton_devices_json(NULL, &json));
  CHECK(json != NULL && strstr(json, "{\"devices\":[{") == json);
  CHECK(json != NULL && strstr(json, "\"notes\":[") != NULL);
  morton_string_free(json);
  morton_device_options options;
  CHECK_OK(morton_device_options_init(&options, sizeof options));
  CHECK(options.size == sizeof options && options.cache_limit_bytes > 0);
  options.without_disk_cache = 1;
  morton_device* device = NULL;
  CHECK_OK(morton_device_open("", &options, &device));
  CHECK_OK(morton_device_json(device, &json));
  CHECK(json != NULL && strstr(json, "\"notes\":[]") != NULL);
  morton_string_free(json);
  CHECK_OK(morton_device_description(device, &json));
  CHECK(json != NULL && strstr(json, "compute units") != NULL);
  morton_string_free(json);
  morton_device_free(device);
  CHECK_FAILS(morton_device_open("a device of nobody", NULL, &device), MORTON_ERROR_USAGE,
              "a device of nobody");
  CHECK(device == NULL);
}
