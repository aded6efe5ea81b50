// SPDX-License-Identifier: Apache-2.0
//
// consumer MODEL EXPECTED: runs LeNet-5 through the installed library and compares its answers with
// the expected ones. Includes every header for applications, so that each is installed and stands
// alone (but mirror.hpp, which needs OpenCL's headers).
#include <cmath>
#include <cstddef>
#include <exception>
#include <iostream>
#include <morton/architectures.hpp>
#include <morton/compare.hpp>
#include <morton/compile.hpp>
#include <morton/compiled_file.hpp>
#include <morton/dataset.hpp>
#include <morton/device.hpp>
#include <morton/dtype.hpp>
#include <morton/error.hpp>
#include <morton/evaluation.hpp>
#include <morton/export.hpp>
#include <morton/files.hpp>
#include <morton/interop.hpp>
#include <morton/model.hpp>
#include <morton/morton.hpp>
#include <morton/optimizer.hpp>
#include <morton/plan_choices.hpp>
#include <morton/roofline_peaks.hpp>
#include <morton/session.hpp>
#include <morton/support.hpp>
#include <morton/tensor.hpp>
#include <morton/trainer.hpp>
#include <morton/training_run.hpp>
#include <morton/version.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

morton::Tensor find(const std::vector<morton::NamedTensor>& tensors, const std::string& name) {
  for (const auto& tensor : tensors) {
    if (tensor.name == name) return tensor.tensor;
  }
  throw std::runtime_error("no tensor '" + name + "'");
}

/// An exception of the library must be caught by its class on this side of the boundary.
void expect_errors_to_cross() {
  try {
    static_cast<void>(morton::Model::load("no such file"));
  } catch (const morton::ModelError& error) {
    if (error.error_class() == morton::ErrorClass::model) return;
  }
  throw std::runtime_error("a missing model is no ModelError here");
}

double largest_difference(const morton::Tensor& got, const morton::Tensor& expected) {
  if (got.shape() != expected.shape()) throw std::runtime_error("the answers have another shape");
  double largest = 0.0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double difference = std::fabs(got.at(i) - expected.at(i));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

int run(const std::string& model_file, const std::string& expected_file) {
  expect_errors_to_cross();
  const auto expected = morton::read_tensors(expected_file);
  const morton::Tensor images = find(expected, "input");
  const morton::Device device = morton::Device::open();
  morton::CompileOptions options;
  options.batch = images.shape()[0];
  morton::Session session(morton::compile(morton::Model::load(model_file), device, options));
  const std::vector<morton::NamedTensor> inputs{{"input", images}};
  const auto outputs = session.run(inputs);
  const double difference =
      largest_difference(find(outputs, "probabilities"), find(expected, "probabilities"));
  std::cout << "Morton " << MORTON_VERSION << " on " << device.description() << ": "
            << options.batch << " digits, largest difference " << difference << '\n';
  return difference <= 2e-5 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 3) throw std::runtime_error("usage: consumer MODEL EXPECTED");
    return run(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    std::cerr << "consumer: " << error.what() << '\n';
    return 1;
  }
}
