// SPDX-License-Identifier: Apache-2.0
//
// consumer_c MODEL EXPECTED: runs LeNet-5 through the installed library, in C, and compares its
// answers with the expected ones.
#include <morton/morton.h>
#include <stdio.h>
#include <stdlib.h>

static void need(morton_status status) {
  if (status == MORTON_OK) return;
  fprintf(stderr, "consumer_c: %s: %s\n", morton_status_name(status), morton_last_error());
  exit(1);
}

static double largest_difference(const float* got, const float* wanted, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = got[i] > wanted[i] ? got[i] - wanted[i] : wanted[i] - got[i];
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

int main(int count, char** arguments) {
  morton_device* device = NULL;
  morton_model* model = NULL;
  morton_compile_options* options = NULL;
  morton_compiled* compiled = NULL;
  morton_session* session = NULL;
  morton_tensors* expected = NULL;
  morton_tensor images = {.size = sizeof images}, answers = {.size = sizeof answers};
  if (count != 3) {
    fputs("usage: consumer_c MODEL EXPECTED\n", stderr);
    return 1;
  }
  if (morton_model_load("no such file", &model) != MORTON_ERROR_MODEL) {
    fputs("consumer_c: a missing model is no error of models here\n", stderr);
    return 1;
  }
  need(morton_tensors_read(arguments[2], &expected));
  need(morton_tensors_find(expected, "input", &images));
  need(morton_tensors_find(expected, "probabilities", &answers));
  need(morton_device_open(NULL, NULL, &device));
  need(morton_model_load(arguments[1], &model));
  need(morton_compile_options_create(&options));
  need(morton_compile_options_set_batch(options, images.extents[0]));
  need(morton_compile(model, device, options, &compiled));
  need(morton_session_create(compiled, NULL, &session));
  float* got = malloc(answers.bytes);
  if (got == NULL) return 1;
  need(morton_session_set_input(session, "input", images.data, images.bytes));
  need(morton_session_run(session));
  need(morton_session_get_output(session, "probabilities", got, answers.bytes));
  const double difference = largest_difference(got, answers.data, answers.bytes / sizeof(float));
  printf("Morton %s in C: %ld digits, largest difference %g\n", morton_version(),
         (long)images.extents[0], difference);
  free(got);
  morton_session_free(session);
  morton_compiled_free(compiled);
  morton_compile_options_free(options);
  morton_model_free(model);
  morton_device_free(device);
  morton_tensors_free(expected);
  return difference <= 2e-5 ? 0 : 1;
}
