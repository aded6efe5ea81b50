// SPDX-License-Identifier: Apache-2.0
//
// Matrix and network definitions of R17: what is read, what is written, and what is refused.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "formats/arrays/r17_network.hpp"
#include "graph/architectures.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string definition(const std::string& rows, const std::string& cols, const std::string& type,
                       const std::string& file) {
  return "{\"rows\": " + rows + ", \"cols\": " + cols + ", \"data_type\": \"" + type +
         "\", \"file\": \"" + file + "\"}";
}

std::vector<float> floats_of(const Tensor& tensor) {
  const auto values = tensor.as<float>();
  return {values.begin(), values.end()};
}

/// What reading a csv matrix of this size says is wrong.
std::string csv_complaint(const char* rows, const char* cols, const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder / "m.csv", text);
  const auto path = write_bytes(folder / "m.json", definition(rows, cols, "csv", "m.csv"));
  return message_of<ModelError>([&] { (void)read_r17_matrix(path); });
}

TEST(R17Matrix, ReadsCsv) {
  const TemporaryFolder folder;
  write_bytes(folder / "m.csv", "1,-2.5, 3e2\r\n1e-60,inf,\t-0 \n\n");
  const auto path = write_bytes(folder / "m.json", definition("2", "3", "csv", "m.csv"));
  const Tensor matrix = read_r17_matrix(path);
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_THAT(floats_of(matrix),
              ElementsAre(1.0F, -2.5F, 300.0F, 0.0F, std::numeric_limits<float>::infinity(), 0.0F));
  EXPECT_TRUE(std::signbit(floats_of(matrix).back()));
}

TEST(R17Matrix, ReadsBinary) {
  const TemporaryFolder folder;
  const std::string one("\x00\x00\x80\x3f", 4);
  const std::string minus_two("\x00\x00\x00\xc0", 4);
  write_bytes(folder / "m.bin", one + minus_two + one);
  const auto path = write_bytes(folder / "m.json", definition("3", "1", "binary", "m.bin"));
  EXPECT_EQ(read_r17_matrix(path).shape(), (Shape{3, 1}));
  EXPECT_THAT(floats_of(read_r17_matrix(path)), ElementsAre(1.0F, -2.0F, 1.0F));
}

TEST(R17Matrix, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  LoadBudget budget({});
  std::mt19937_64 generator(3);
  for (const auto& shape : {Shape{1, 1}, Shape{3, 17}, Shape{63, 1}, Shape{1, 63}}) {
    Tensor matrix = Tensor::allocate(DType::f32, shape);
    for (float& value : matrix.as_mutable<float>()) {
      // Any float but a NaN, subnormal ones included.
      do {
        value = std::bit_cast<float>(static_cast<std::uint32_t>(generator()));
      } while (std::isnan(value));
    }
    for (const MatrixData data : {MatrixData::csv, MatrixData::binary}) {
      write_r17_matrix(folder / "sub/m.json", matrix, data);
      const Tensor read = read_r17_matrix(NamedFiles(folder.path(), {}), "sub/m.json", budget);
      EXPECT_EQ(read.shape(), shape);
      EXPECT_EQ(floats_of(read), floats_of(matrix));
    }
  }
}

TEST(R17Matrix, SaysWhatIsWrongWithCsv) {
  EXPECT_THAT(csv_complaint("2", "2", "1,2\n3,4,5\n"),
              HasSubstr("m.csv: line 2: 3 values, expected 2"));
  EXPECT_THAT(csv_complaint("2", "2", "1,2\n\n3,4\n"), HasSubstr("line 2: 0 values, expected 2"));
  EXPECT_THAT(csv_complaint("3", "1", "1\n2\n  "), HasSubstr("line 3: a value is missing"));
  EXPECT_THAT(csv_complaint("2", "1", "1\n2\n3\n"), HasSubstr("line 3: a row too many"));
  EXPECT_THAT(csv_complaint("1", "2", "1,\n"), HasSubstr("a value is missing"));
  EXPECT_THAT(csv_complaint("1", "2", "1,x\n"), HasSubstr("'x' is no number"));
  EXPECT_THAT(csv_complaint("1", "2", "1,2 3"), HasSubstr("'2 3' is no number"));
  EXPECT_THAT(csv_complaint("1", "2", "1,1e39"), HasSubstr("does not fit a 32-bit float"));
  EXPECT_THAT(csv_complaint("1000000", "1000000", "1,2"), HasSubstr("too short to hold"));
  EXPECT_THAT(csv_complaint("9000000000000000000", "9", "1,2"),
              HasSubstr("m.json: 9000000000000000000x9 has more than 1099511627776 elements"));
  EXPECT_THAT(csv_complaint("0", "2", ""), HasSubstr("rows: expected 1 or more, got 0"));
  EXPECT_THAT(csv_complaint("1.5", "2", ""), HasSubstr("rows: expected an integer"));
  EXPECT_THAT(csv_complaint("1", "2", ""), HasSubstr("too short"));
}

TEST(R17Matrix, SaysWhatIsWrongWithDefinitions) {
  const TemporaryFolder folder;
  const auto complaint = [&](const std::string& text) {
    const auto path = write_bytes(folder / "m.json", text);
    return message_of<ModelError>([&] { (void)read_r17_matrix(path); });
  };
  write_bytes(folder / "m.bin", "12345678");
  EXPECT_THAT(complaint("{"), HasSubstr("is no valid JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(complaint("{}"), HasSubstr("'rows' is missing"));
  EXPECT_THAT(complaint("{\"row\": 1}"), HasSubstr("unknown key 'row'"));
  EXPECT_THAT(complaint(definition("1", "2", "npy", "m.bin")),
              HasSubstr("data_type: expected 'csv' or 'binary', got 'npy'"));
  EXPECT_THAT(complaint(definition("1", "3", "binary", "m.bin")),
              HasSubstr("has 8 bytes; 1x3 values of 4 bytes need 12"));
  EXPECT_THAT(complaint(definition("1", "1", "binary", "m.bin")), HasSubstr("has 8 bytes"));
  EXPECT_THAT(complaint(definition("1", "2", "binary", "none.bin")), HasSubstr("no such file"));
}

TEST(R17Matrix, StaysInItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "inner");
  write_bytes(folder / "m.csv", "1\n");
  std::filesystem::create_symlink(folder / "m.csv", folder / "inner/link.csv");
  for (const std::string& file :
       {std::string("../m.csv"), (folder / "m.csv").string(), std::string("link.csv")}) {
    const auto path = write_bytes(folder / "inner/m.json", definition("1", "1", "csv", file));
    const bool is_link = file == "link.csv";
    EXPECT_THAT(message_of<ModelError>([&] { (void)read_r17_matrix(path); }),
                HasSubstr(is_link ? "symbolic link" : "leads out of the folder"));
    LoadBudget budget({});
    EXPECT_THROW((void)read_r17_matrix(NamedFiles(folder / "inner", {}), "../inner/m.json", budget),
                 ModelError);
  }
}

/// A folder with the matrices of a 3-2-1 network.
class R17Network : public ::testing::Test {
 protected:
  R17Network() {
    write_matrix("1_w", {2, 3});
    write_matrix("1_b", {2, 1});
    write_matrix("2_w", {1, 2});
    write_matrix("2_b", {1, 1});
  }
  void write_matrix(const std::string& name, const Shape& shape) const {
    Tensor matrix = Tensor::allocate(DType::f32, shape);
    float value = 0.5F;
    for (float& element : matrix.as_mutable<float>()) element = value += 1.0F;
    write_r17_matrix(folder_ / (name + ".json"), matrix, MatrixData::csv);
  }
  [[nodiscard]] Graph read(const std::string& layers, const std::string& size) const {
    const auto path =
        write_bytes(folder_ / "net.json", "{\"layers\": [" + layers + "], \"size\": " + size + "}");
    return import_r17_network(path);
  }
  [[nodiscard]] std::string complaint(const std::string& layers, const std::string& size) const {
    return message_of<ModelError>([&] { (void)read(layers, size); });
  }
  static std::string affine(const std::string& weights, const std::string& biases) {
    return R"({"layer": "AffineLayer", "weights": ")" + weights + R"(.json", "biases": ")" +
           biases + R"(.json"})";
  }

  const std::string sigmoid_ = R"({"layer": "SigmoidLayer"})";
  const std::string relu_ = R"({"layer": "ReLULayer"})";
  TemporaryFolder folder_;
};

TEST_F(R17Network, BecomesAGraph) {
  const Graph graph =
      read(affine("1_w", "1_b") + "," + sigmoid_ + "," + affine("2_w", "2_b") + "," + relu_, "4");
  EXPECT_EQ(print(graph).find("Gemm"), std::string::npos);
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op);
  EXPECT_THAT(ops, ElementsAre("MatMul", "Add", "Sigmoid", "MatMul", "Add", "Relu"));
  const GraphTensor& input = graph.tensor(graph.inputs.at(0));
  EXPECT_EQ(input.name, "input");
  EXPECT_EQ(input.declared.at(0).value, 3);
  EXPECT_EQ(input.declared.at(1).symbol, "batch");
  const GraphTensor& output = graph.tensor(graph.outputs.at(0));
  EXPECT_EQ(output.name, "output");
  EXPECT_EQ(output.declared.at(0).value, 1);
  const GraphTensor& weights = graph.tensor(graph.nodes[0].inputs[0]);
  EXPECT_THAT(floats_of(weights.data), ElementsAre(1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F));
}

TEST_F(R17Network, SaysWhatIsWrong) {
  const std::string first = affine("1_w", "1_b");
  EXPECT_THAT(complaint(first, "2"), HasSubstr("size: is 2, but there are 1 layers"));
  EXPECT_THAT(complaint("", "0"), HasSubstr("holds no AffineLayer"));
  EXPECT_THAT(complaint(sigmoid_ + "," + first, "2"),
              HasSubstr("layers[0]: the first layer must be an AffineLayer"));
  EXPECT_THAT(complaint(R"({"layer": "TanhLayer"})", "1"), HasSubstr("unknown layer 'TanhLayer'"));
  EXPECT_THAT(
      complaint(first + "," + affine("1_w", "1_b"), "2"),
      HasSubstr("layers[1].weights: the matrix has 3 columns, but the layer before gives 2"));
  EXPECT_THAT(complaint(affine("1_w", "2_b"), "1"),
              HasSubstr("layers[0].biases: the matrix is 1x1; weights of 2 rows need 2x1"));
  EXPECT_THAT(complaint(affine("1_w", "2_w"), "1"), HasSubstr("the matrix is 1x2"));
  EXPECT_THAT(complaint(affine("3_w", "1_b"), "1"), HasSubstr("layers[0].weights: "));
  EXPECT_THAT(complaint(affine("../1_w", "1_b"), "1"), HasSubstr("leads out of the folder"));
  EXPECT_THAT(complaint(R"({"layer": "SigmoidLayer", "weights": "1_w.json"})", "1"),
              HasSubstr("unknown key 'weights'"));
  EXPECT_THAT(complaint(R"({"layer": "AffineLayer", "weights": "1_w.json"})", "1"),
              HasSubstr("'biases' is missing"));
  EXPECT_THAT(complaint("3", "1"), HasSubstr("layers[0]"));
}

TEST_F(R17Network, DamagedFilesNeverDoWorse) {
  (void)read(affine("1_w", "1_b"), "1");
  const auto reading = [&](const std::string& bytes) {
    (void)import_r17_network(write_bytes(folder_ / "damaged.json", bytes));
  };
  Hostility hostility(reading);
  const std::string whole = bytes_of_file(folder_ / "net.json");
  hostility.truncate(whole);
  EXPECT_EQ(hostility.accepted, 0);
  hostility.flip(whole, 300, whole.size());
}

TEST_F(R17Network, ComesBackAsItWasWritten) {
  for (const char* name : {"r17-256", "r17-digits"}) {
    for (const MatrixData data : {MatrixData::csv, MatrixData::binary}) {
      Graph graph = build(find_architecture(name), 5);
      graph.name = "back";  // a definition has no name but its file's
      export_r17_network(graph, folder_ / "back.json", data);
      const Graph back = import_r17_network(folder_ / "back.json");
      EXPECT_EQ(print(back), print(graph));
      ASSERT_EQ(back.tensors.size(), graph.tensors.size());
      for (const GraphTensor& tensor : graph.tensors) {
        if (tensor.kind != GraphTensor::Kind::constant) continue;
        ASSERT_NE(back.find(tensor.name), kNoTensor) << tensor.name;
        EXPECT_EQ(floats_of(back.tensor(back.find(tensor.name)).data), floats_of(tensor.data));
      }
    }
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "back_1_w.bin"));
}

TEST_F(R17Network, RefusesWhatItCannotExpress) {
  const auto refused = [&](const char* name) {
    const Graph graph = build(find_architecture(name), 5);
    return message_of<UnsupportedError>(
        [&] { export_r17_network(graph, folder_ / "no.json", MatrixData::csv); });
  };
  EXPECT_THAT(refused("lenet5"), HasSubstr("node 'C1' (Conv): no layer computes it"));
  EXPECT_THAT(refused("c18-mlp"), HasSubstr("node 'hidden_1' (Gemm)"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "no.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "no_1_w.json"));
}

}  // namespace
}  // namespace morton::test
