// SPDX-License-Identifier: Apache-2.0
//
// Bad input through the public interface: one error of the right class that names what is wrong,
// never a crash, and never an answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "api/inside.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "morton/morton.hpp"
#include "support/child_process.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string_view class_name(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::usage:
      return "usage";
    case ErrorClass::model:
      return "model";
    case ErrorClass::unsupported:
      return "unsupported";
    case ErrorClass::device:
      return "device";
    case ErrorClass::internal:
      return "internal";
  }
  return "?";
}

/// "<class>: <message>", or "nothing".
template <typename Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(class_name(error.error_class())) + ": " + error.what();
  }
  return "nothing";
}

Model to_model(Graph graph) { return Inside::make(std::move(graph)); }

std::string device_text() {
  return read_file(MORTON_SOURCE_DIR "/tests/devices/pocl_cpu.json", 1 << 20);
}

/// Planning goes through passes and the catalogue, and needs no device.
std::string plan_complaint(const Model& model, const CompileOptions& options) {
  return complaint([&] {
    static_cast<void>(plan_text(model, device_text(), CompiledModel::Detail::brief, options));
  });
}

TEST(ApiModelErrors, FilesThatAreNoModels) {
  EXPECT_THAT(complaint([] { static_cast<void>(Model::load("/no/such/model.onnx")); }),
              AllOf(StartsWith("model: "), HasSubstr("/no/such/model.onnx")));
  EXPECT_THAT(complaint([] { static_cast<void>(Model::load("/")); }), StartsWith("model: "));
  EXPECT_THAT(complaint([] { static_cast<void>(Model::from_bytes("", "empty")); }),
              AllOf(StartsWith("model: "), HasSubstr("empty")));
  EXPECT_THAT(complaint([] { static_cast<void>(Model::from_bytes("<html>", "page")); }),
              AllOf(StartsWith("model: "), HasSubstr("page")));
}

TEST(ApiModelErrors, EveryTruncationAndManyMutationsOfAModel) {
  const std::string good = read_file(MORTON_SOURCE_DIR "/models/lenet5.onnx", 1 << 22);
  const auto try_bytes = [](const std::string& bytes) {
    // An InternalError is a defect of Morton; so is anything that is no Error.
    const std::string text = complaint([&] {
      const Model model = Model::from_bytes(bytes, "damaged");
      static_cast<void>(model.summary());
      static_cast<void>(model.text());
      static_cast<void>(
          plan_text(model, device_text(), CompiledModel::Detail::brief, CompileOptions{}));
    });
    EXPECT_THAT(text, ::testing::Not(StartsWith("internal: ")));
    return text;
  };
  EXPECT_EQ(try_bytes(good), "nothing");
  for (std::size_t size = 0; size < good.size(); size += size < 300 ? 7 : 9973) {
    EXPECT_THAT(try_bytes(good.substr(0, size)), ::testing::Not("nothing")) << size << " bytes";
  }
  std::mt19937_64 generator(1);
  // Behind the weights lie the nodes; before them, names and shapes. Some of either are hit.
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("mutation " + std::to_string(i));
    std::string bytes = good;
    const std::size_t at = i % 2 == 0 ? generator() % 1500 : good.size() - 1 - generator() % 1500;
    bytes[at] = static_cast<char>(generator());
    static_cast<void>(try_bytes(bytes));
  }
}

TEST(ApiCompileErrors, OptionsThatCannotBe) {
  const Model mlp = to_model(make_mlp(1));
  CompileOptions options;
  options.batch = -1;
  EXPECT_THAT(plan_complaint(mlp, options), StartsWith("usage: "));
  options = {};
  options.shapes = {{"y", {1, 784}}};
  const auto error = thrown<UsageError>([&] {
    static_cast<void>(plan_text(mlp, device_text(), CompiledModel::Detail::brief, options));
  });
  EXPECT_THAT(error.message().settings(), ElementsAre(NamedSetting{"shapes", "y"}));
  options.shapes = {{"x", {1, 783}}};
  EXPECT_THAT(plan_complaint(mlp, options),
              AllOf(StartsWith("usage: "), HasSubstr("784"), HasSubstr("783")));
  options.shapes = {{"x", {784}}};
  EXPECT_THAT(plan_complaint(mlp, options), StartsWith("usage: "));
  options.shapes = {{"x", {0, 784}}};
  EXPECT_THAT(plan_complaint(mlp, options), ::testing::Not(StartsWith("internal: ")));
  options = {};
  options.skip_passes = {"no_such_pass"};
  EXPECT_THAT(plan_complaint(mlp, options),
              AllOf(StartsWith("usage: "), HasSubstr("no_such_pass")));
  options.skip_passes = {"infer_shapes"};
  EXPECT_THAT(plan_complaint(mlp, options), StartsWith("usage: "));
}

TEST(ApiCompileErrors, SizesOutOfRange) {
  const Model mlp = to_model(make_mlp(1));
  for (const std::int64_t batch :
       {std::int64_t{1} << 22, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    CompileOptions options;
    options.batch = batch;
    const std::string text = plan_complaint(mlp, options);
    EXPECT_NE(text, "nothing") << batch;
    EXPECT_THAT(text, ::testing::Not(StartsWith("internal: "))) << batch;
  }
}

TEST(ApiCompileErrors, OperatorsThatAreNotThere) {
  NetworkBuilder network("unknown_operator", 1);
  network.output(network.node("Frobnicate", {network.input("x", {3, 4})}));
  const Model model = to_model(network.finish());
  ASSERT_EQ(model.summary().unsupported.size(), 1U);
  EXPECT_THAT(plan_complaint(model, {}),
              AllOf(StartsWith("unsupported: "), HasSubstr("Frobnicate")));
}

TEST(ApiCompileErrors, ShapesThatDoNotFit) {
  NetworkBuilder network("misfit", 1);
  const TensorId x = network.input("x", {3, 4});
  network.output(network.node("MatMul", {x, network.parameter({5, 6}, 5)}));
  EXPECT_THAT(plan_complaint(to_model(network.finish()), {}),
              AllOf(StartsWith("model: "), HasSubstr("MatMul0"), HasSubstr("3x4")));
}

TEST(ApiCompileErrors, CataloguesThatAreWrong) {
  const Model mlp = to_model(make_mlp(1));
  const TemporaryFolder folder;
  CompileOptions options;
  options.catalogue_files = {(folder.path() / "missing.json").string()};
  EXPECT_THAT(plan_complaint(mlp, options),
              AllOf(StartsWith("model: "), HasSubstr("missing.json")));
  const std::filesystem::path file = folder.path() / "mine.json";
  options.catalogue_files = {file.string()};
  for (const char* text : {"", "{", "[]", "{\"schema\": 7}", "{\"schema\": 1, \"name\": \"x\"}"}) {
    std::ofstream(file) << text;
    EXPECT_THAT(plan_complaint(mlp, options), AllOf(StartsWith("model: "), HasSubstr("mine.json")))
        << text;
  }
  // A name that is taken.
  copy_file(MORTON_SOURCE_DIR "/src/kernels/softmax/rows.json", folder.path() / "rows.json");
  copy_file(MORTON_SOURCE_DIR "/src/kernels/softmax/rows.cl", folder.path() / "rows.cl");
  options.catalogue_files = {(folder.path() / "rows.json").string()};
  EXPECT_THAT(plan_complaint(mlp, options),
              AllOf(StartsWith("model: "), HasSubstr("softmax.rows")));
}

TEST(ApiDeviceErrors, DescriptionsThatAreWrong) {
  const Model mlp = to_model(make_mlp(1));
  const auto plan_for = [&](const std::string& json) {
    return complaint(
        [&] { static_cast<void>(plan_text(mlp, json, CompiledModel::Detail::brief)); });
  };
  EXPECT_EQ(plan_for(device_text()), "nothing");
  EXPECT_THAT(plan_for(""), StartsWith("model: "));
  EXPECT_THAT(plan_for("[]"), StartsWith("model: "));
  const Json good = parse_json(device_text(), "device");
  for (const auto& [key, value] : good.items()) {
    SCOPED_TRACE(key);
    Json json = good;
    json.erase(key);
    EXPECT_THAT(plan_for(json.dump()), AllOf(StartsWith("model: "), HasSubstr(key)));
    json[key] = nullptr;
    EXPECT_THAT(plan_for(json.dump()), AllOf(StartsWith("model: "), HasSubstr(key)));
    if (!value.is_number()) continue;
    json[key] = -1;
    EXPECT_THAT(plan_for(json.dump()), AllOf(StartsWith("model: "), HasSubstr(key)));
  }
  Json json = good;
  json["colour"] = "red";
  EXPECT_THAT(plan_for(json.dump()), AllOf(StartsWith("model: "), HasSubstr("colour")));
  json = good;
  json["max_allocation_bytes"] = 1000;
  EXPECT_THAT(plan_for(json.dump()), AllOf(StartsWith("unsupported: "), HasSubstr("at most 1000")));
  json = good;
  json["local_memory_bytes"] = 0;
  json["clock_mhz"] = 0;
  json["roofs"]["gflops_f32"] = 0;
  EXPECT_EQ(plan_for(json.dump()), "nothing");
}

TEST(ApiDeviceErrors, SelectorsThatMatchNothing) {
  for (const char* selector : {"9:9", "no such device", "units=12345", "units=x", ":"}) {
    EXPECT_THAT(complaint([&] { static_cast<void>(Device::open(selector)); }),
                AllOf(StartsWith("usage: "), HasSubstr(selector)));
  }
}

/// Run in a process of its own, which finds no OpenCL platform.
TEST(DISABLED_ApiDeviceErrorsChild, NoDeviceAtAll) {
  EXPECT_TRUE(Device::list_json().empty());
  for (const char* selector : {"auto", "cpu", "0:0"}) {
    EXPECT_THAT(complaint([&] { static_cast<void>(Device::open(selector)); }),
                StartsWith("device: "))
        << selector;
  }
  // What needs no device goes on.
  EXPECT_EQ(plan_complaint(to_model(make_mlp(1)), {}), "nothing");
}

TEST(ApiDeviceErrors, NoDeviceIsADeviceErrorAndPlanningGoesOn) {
  const TemporaryFolder nothing;
  const auto child = test::run_tests_in_child("DISABLED_ApiDeviceErrorsChild.*",
                                              {{"OCL_ICD_VENDORS", nothing.path().string()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  EXPECT_THAT(child.output, HasSubstr("1 test from 1 test suite ran"));
}

TEST(ApiTensorErrors, SizesAndTypesThatDoNotFit) {
  float values[4] = {};
  EXPECT_THAT(complaint([&] {
                static_cast<void>(Tensor::borrow(DType::f32, {2, 3}, values, sizeof(values)));
              }),
              StartsWith("usage: "));
  EXPECT_THAT(complaint([] { static_cast<void>(Tensor::allocate(DType::f32, {-1})); }),
              StartsWith("model: "));
  EXPECT_THAT(complaint([] {
                static_cast<void>(
                    Tensor::allocate(DType::f64, {std::int64_t{1} << 40, std::int64_t{1} << 40}));
              }),
              StartsWith("model: "));
  EXPECT_THAT(complaint([] { static_cast<void>(Tensor::allocate(DType::f32, {4}).as<double>()); }),
              StartsWith("usage: "));
  EXPECT_THAT(complaint([] { static_cast<void>(Tensor::allocate(DType::f32, {4}).reshaped({3})); }),
              StartsWith("model: "));
  EXPECT_THAT(complaint([] { static_cast<void>(parse_dtype("float")); }),
              AllOf(StartsWith("usage: "), HasSubstr("f32")));
}

}  // namespace
}  // namespace morton::test
