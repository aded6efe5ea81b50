// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_TESTS_API_C_CHECK_H
#define MORTON_TESTS_API_C_CHECK_H

/// What the tests of the interface for C share. A check that fails prints itself and is counted;
/// the test goes on where it can.
#include <morton/morton.h>
#include <stdio.h>
#include <string.h>

/// How many checks of this test failed.
extern int failures;

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) {                                                 \
      printf("%s:%d: is not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                       \
    }                                                                   \
  } while (0)

/// The call must succeed; what it says where it does not is printed.
#define CHECK_OK(call)                                                                      \
  do {                                                                                      \
    const morton_status status_ = (call);                                                   \
    if (status_ != MORTON_OK) {                                                             \
      printf("%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call, morton_status_name(status_), \
             morton_last_error());                                                          \
      ++failures;                                                                           \
    }                                                                                       \
  } while (0)

/// The call must fail with this status and a text that holds `words`.
#define CHECK_FAILS(call, wanted, words)                                        \
  do {                                                                          \
    const morton_status status_ = (call);                                       \
    CHECK(status_ == (wanted));                                                 \
    CHECK(morton_last_status() == (wanted));                                    \
    if (strstr(morton_last_error(), (words)) == NULL) {                         \
      printf("%s:%d: the error has no '%s': %s\n", __FILE__, __LINE__, (words), \
             morton_last_error());                                              \
      ++failures;                                                               \
    }                                                                           \
  } while (0)

#define LENET MORTON_SOURCE_DIR "/models/lenet5.onnx"
#define LENET_EXPECTED MORTON_SOURCE_DIR "/models/lenet5.expected.npz"
enum { DIGITS = 20, PIXELS = 32 * 32, KINDS = 10 };

/// LeNet-5 on the default device, with what ONNX Runtime answers.
typedef struct lenet {
  morton_device* device;
  morton_model* model;
  morton_compiled* compiled;
  morton_session* session;
  morton_tensors* expected;
  const float* images;         ///< DIGITS * PIXELS
  const float* probabilities;  ///< DIGITS * KINDS
} lenet;

/// Everything, for so many digits at a time.
lenet lenet_open(int64_t batch);
void lenet_close(lenet* all);

#endif
