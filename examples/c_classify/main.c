// SPDX-License-Identifier: Apache-2.0
//
// A digit that a network recognizes, in C.
//
//     build/examples/c_classify                                   a seven, with LeNet-5
//     build/examples/c_classify DIGIT.png [MODEL.onnx [DEVICE]]
//
// The paths that are assumed hold in the repository's root.
#include <morton/morton.h>
#include <stdio.h>
#include <stdlib.h>

/// Ends the program with what the library says of a call that failed.
static void need(morton_status status) {
  if (status == MORTON_OK) return;
  fprintf(stderr, "error (%s): %s\n", morton_status_name(status), morton_last_error());
  exit(1);
}

static void* need_memory(size_t bytes) {
  void* memory = malloc(bytes);
  if (memory != NULL) return memory;
  fputs("error: no memory is left\n", stderr);
  exit(1);
}

int main(int argc, char** argv) {
  const char* picture = argc > 1 ? argv[1] : "examples/data/digit_7.png";
  const char* file = argc > 2 ? argv[2] : "models/lenet5.onnx";

  // 1. A device: NULL takes a GPU if there is one, else the CPU.
  morton_device* device = NULL;
  char* text = NULL;
  need(morton_device_open(argc > 3 ? argv[3] : NULL, NULL, &device));
  need(morton_device_description(device, &text));
  printf("device: %s\n", text);
  morton_string_free(text);

  // 2. A model, as its file states it, compiled for the device. Do this once: threads may share it.
  morton_model* model = NULL;
  morton_compile_options* options = NULL;
  morton_compiled* compiled = NULL;
  need(morton_model_load(file, &model));
  need(morton_compile_options_create(&options));
  need(morton_compile_options_set_batch(options, 1));
  need(morton_compile(model, device, options, &compiled));
  morton_compile_options_free(options);

  // 3. What it takes and gives. A port's extents and bytes are known once it is compiled.
  morton_port input = {.size = sizeof input}, output = {.size = sizeof output};
  need(morton_compiled_input(compiled, 0, &input));
  need(morton_compiled_output(compiled, 0, &output));

  // 4. A picture as an input. Any memory of yours can be one.
  morton_tensors* pictures = NULL;
  morton_tensor pixels = {.size = sizeof pixels};
  float* digit = need_memory(input.bytes);
  float* probabilities = need_memory(output.bytes);
  need(morton_tensors_read(picture, &pictures));
  need(morton_tensors_at(pictures, 0, &pixels));
  need(morton_image_to_input(&pixels, input.extents, input.rank, digit, input.bytes));

  // 5. A session runs the model. Each thread has its own.
  morton_session* session = NULL;
  need(morton_session_create(compiled, NULL, &session));
  need(morton_session_set_input(session, input.name, digit, input.bytes));
  need(morton_session_run(session));
  need(morton_session_get_output(session, output.name, probabilities, output.bytes));

  // 6. Ten probabilities, one for each digit.
  size_t best = 0;
  for (size_t kind = 1; kind < output.bytes / sizeof(float); ++kind) {
    if (probabilities[kind] > probabilities[best]) best = kind;
  }
  printf("%s shows a %lu (%.2f %%)\n", picture, (unsigned long)best, 100.0 * probabilities[best]);

  free(probabilities);
  free(digit);
  morton_tensors_free(pictures);
  morton_session_free(session);
  morton_compiled_free(compiled);
  morton_model_free(model);
  morton_device_free(device);
  return 0;
}
