// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/r17_matrix.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "base/numbers/checked.hpp"
#include "base/shape.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "binary matrices are little-endian");

/// Far above any definition; refuses a file that was named by mistake.
constexpr std::int64_t kDefinitionLimitBytes = std::int64_t{1} << 20;
constexpr const char* kCsv = "csv";
constexpr const char* kBinary = "binary";

/// What a definition says.
struct Definition {
  Shape shape;
  MatrixData data = MatrixData::csv;
  std::string file;
};

std::int64_t read_extent(const JsonReader& reader) {
  const std::int64_t extent = reader.integer();
  if (extent < 1) reader.fail("expected 1 or more, got " + std::to_string(extent));
  return extent;
}

Definition read_definition(const JsonReader& reader) {
  reader.allow_keys({"rows", "cols", "data_type", "file"});
  Definition definition;
  definition.shape = {read_extent(reader.at("rows")), read_extent(reader.at("cols"))};
  const std::string type = reader.at("data_type").text();
  if (type != kCsv && type != kBinary) {
    reader.at("data_type").fail("expected 'csv' or 'binary', got " + in_quotes(type));
  }
  definition.data = type == kCsv ? MatrixData::csv : MatrixData::binary;
  definition.file = reader.at("file").text();
  return definition;
}

/// Reads the numbers of a csv file into a matrix, one after the other.
class CsvParser {
 public:
  CsvParser(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {}

  void read(const Shape& shape, std::span<float> values) {
    const auto columns = static_cast<std::size_t>(shape[1]);
    for (std::size_t at = 0; at < values.size(); at += columns) {
      read_line(values.subspan(at, columns));
    }
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      fail("a row too many: expected " + std::to_string(shape[0]) + " lines");
    }
  }

 private:
  std::string_view next_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    return line;
  }

  void read_line(std::span<float> values) {
    std::string_view line = next_line();
    std::size_t count = 1;
    for (const char c : line) count += c == ',' ? 1 : 0;
    if (count != values.size() || line.empty()) {
      fail(std::to_string(line.empty() ? 0 : count) + " values, expected " +
           std::to_string(values.size()));
    }
    for (float& value : values) {
      const std::size_t comma = line.find(',');
      value = number(line.substr(0, comma));
      if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
    }
  }

  /// Read as a double, so that a value too small for a float becomes zero rather than an error.
  float number(std::string_view text) const {
    const std::size_t first = text.find_first_not_of(" \t");
    const std::size_t last = text.find_last_not_of(" \t");
    if (first == std::string_view::npos) fail("a value is missing");
    text = text.substr(first, last - first + 1);
    double value = 0.0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status == std::errc::invalid_argument || stop != end) {
      fail(in_quotes(text) + " is no number");
    }
    const bool too_large =
        std::isfinite(value) && std::fabs(value) > std::numeric_limits<float>::max();
    if (status != std::errc{} || too_large) fail(in_quotes(text) + " does not fit a 32-bit float");
    return static_cast<float>(value);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ModelError(where_ + ": line " + std::to_string(line_) + ": " + what);
  }

  std::string_view rest_;
  std::string where_;
  std::int64_t line_ = 0;
};

Tensor read_csv(const MappedFile& file, const std::string& where, const Shape& shape) {
  const std::int64_t count = element_count(shape, where.c_str());
  // A digit and a separator for each value: an impossible size takes no memory.
  if (static_cast<std::int64_t>(file.bytes().size()) < 2 * count - 1) {
    throw ModelError(where + ": is too short to hold " + to_string(shape) + " values");
  }
  Tensor matrix = Tensor::allocate(DType::f32, shape);
  CsvParser(file.bytes(), where).read(shape, matrix.as_mutable<float>());
  return matrix;
}

Tensor read_binary(std::shared_ptr<const MappedFile> file, const std::string& where,
                   const Shape& shape) {
  const std::int64_t bytes =
      checked_mul(element_count(shape, where.c_str()), size_of(DType::f32), where.c_str());
  if (static_cast<std::uint64_t>(bytes) != file->bytes().size()) {
    throw ModelError(where + ": has " + std::to_string(file->bytes().size()) + " bytes; " +
                     to_string(shape) + " values of 4 bytes need " + std::to_string(bytes));
  }
  const std::string_view data = file->bytes();
  return Tensor::share(DType::f32, shape, data.data(), data.size(), std::move(file));
}

Tensor read_matrix(const InputFile& opened, const NamedFiles& beside, LoadBudget& budget) {
  if (opened.bytes() > kDefinitionLimitBytes) {
    throw ModelError(opened.where() + ": is too large for a matrix definition");
  }
  const Json json = parse_json(MappedFile(opened).bytes(), opened.where());
  const JsonReader reader(json, opened.where());
  const Definition definition = read_definition(reader);
  budget.take_constant(opened.where());
  require_elements(budget.limits(), definition.shape, opened.where());
  try {
    const InputFile data = beside.open(definition.file);
    budget.take_external(data.bytes(), data.where());
    auto mapped = std::make_shared<const MappedFile>(data);
    return definition.data == MatrixData::csv
               ? read_csv(*mapped, data.where(), definition.shape)
               : read_binary(std::move(mapped), data.where(), definition.shape);
  } catch (const ModelError& error) {
    throw ModelError(reader.at("file").where() + ": " + error.message());
  }
}

std::string csv_of(const Tensor& matrix) {
  std::string text;
  const std::int64_t columns = matrix.shape()[1];
  std::int64_t column = 0;
  for (const float value : matrix.as<float>()) {
    char digits[32];
    const auto written = std::to_chars(std::begin(digits), std::end(digits), value);
    text.append(std::begin(digits), written.ptr);
    column = column + 1 == columns ? 0 : column + 1;
    text += column == 0 ? '\n' : ',';
  }
  return text;
}

}  // namespace

Tensor read_r17_matrix(const fs::path& definition) {
  LoadBudget budget({});
  return read_matrix(InputFile(definition), NamedFiles(definition.parent_path(), {}), budget);
}

Tensor read_r17_matrix(const NamedFiles& files, const std::string& name, LoadBudget& budget) {
  return read_matrix(files.open(name), files.beside(name), budget);
}

void write_r17_matrix(const fs::path& definition, const Tensor& matrix, MatrixData data) {
  if (matrix.shape().size() != 2 || matrix.dtype() != DType::f32) {
    throw UsageError(definition.string() +
                     ": a matrix definition holds f32 of two dimensions, got " +
                     std::string(name_of(matrix.dtype())) + " " + to_string(matrix.shape()));
  }
  const bool csv = data == MatrixData::csv;
  fs::path file = definition;
  file.replace_extension(csv ? ".csv" : ".bin");
  if (csv) {
    write_file_atomically(file, csv_of(matrix));
  } else {
    write_file_atomically(file, {reinterpret_cast<const char*>(matrix.data()), matrix.bytes()});
  }
  const Json json = {{"rows", matrix.shape()[0]},
                     {"cols", matrix.shape()[1]},
                     {"data_type", csv ? kCsv : kBinary},
                     {"file", file.filename().string()}};
  write_file_atomically(definition, json.dump(2) + "\n");
}

}  // namespace morton::formats
