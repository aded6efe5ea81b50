// SPDX-License-Identifier: Apache-2.0
//
// c_api_tests NAME: runs one test of the interface for C. Without a name it runs all.
#include "api_c/check.h"

int failures = 0;

void test_digits(void);
void test_wrong_inputs(void);
void test_mapping(void);
void test_profile(void);
void test_counts(void);
void test_ports(void);
void test_options(void);
void test_options_page(void);
void test_bytes(void);
void test_handles(void);
void test_null(void);
void test_versions(void);
void test_files(void);
void test_threads(void);
void test_training(void);
void test_training_errors(void);
void test_compiled_file(void);
void test_devices(void);

static const struct {
  const char* name;
  void (*run)(void);
} tests[] = {
    {"digits", test_digits},
    {"wrong_inputs", test_wrong_inputs},
    {"mapping", test_mapping},
    {"profile", test_profile},
    {"counts", test_counts},
    {"ports", test_ports},
    {"options", test_options},
    {"options_page", test_options_page},
    {"bytes", test_bytes},
    {"handles", test_handles},
    {"null", test_null},
    {"versions", test_versions},
    {"files", test_files},
    {"threads", test_threads},
    {"training", test_training},
    {"training_errors", test_training_errors},
    {"compiled_file", test_compiled_file},
    {"devices", test_devices},
};

int main(int count, char** arguments) {
  size_t ran = 0;
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i) {
    if (count > 1 && strcmp(arguments[1], tests[i].name) != 0) continue;
    const int before = failures;
    tests[i].run();
    printf("%s  %s\n", failures == before ? "ok  " : "FAIL", tests[i].name);
    ++ran;
  }
  if (ran == 0) {
    printf("there is no test '%s'\n", arguments[1]);
    return 2;
  }
  return failures == 0 ? 0 : 1;
}

lenet lenet_open(int64_t batch) {
  lenet all;
  memset(&all, 0, sizeof all);
  morton_compile_options* options = NULL;
  CHECK_OK(morton_device_open(NULL, NULL, &all.device));
  CHECK_OK(morton_model_load(LENET, &all.model));
  CHECK_OK(morton_compile_options_create(&options));
  CHECK_OK(morton_compile_options_set_batch(options, batch));
  CHECK_OK(morton_compile(all.model, all.device, options, &all.compiled));
  morton_compile_options_free(options);
  CHECK_OK(morton_session_create(all.compiled, NULL, &all.session));
  CHECK_OK(morton_tensors_read(LENET_EXPECTED, &all.expected));
  morton_tensor tensor = {.size = sizeof tensor};
  CHECK_OK(morton_tensors_find(all.expected, "input", &tensor));
  CHECK(tensor.bytes == sizeof(float) * DIGITS * PIXELS && tensor.type == MORTON_F32);
  all.images = tensor.data;
  CHECK_OK(morton_tensors_find(all.expected, "probabilities", &tensor));
  CHECK(tensor.bytes == sizeof(float) * DIGITS * KINDS && tensor.rank == 2);
  all.probabilities = tensor.data;
  return all;
}

void lenet_close(lenet* all) {
  morton_session_free(all->session);
  morton_compiled_free(all->compiled);
  morton_model_free(all->model);
  morton_device_free(all->device);
  morton_tensors_free(all->expected);
}
