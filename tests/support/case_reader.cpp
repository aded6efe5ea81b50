// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <charconv>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "ops/core/operator.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kLimitBytes = std::int64_t{1} << 20;

/// "MaxPool" -> "max_pool", "IsNaN" -> "is_nan", "ai.onnx.ml.Scaler" -> "ai_onnx_ml_scaler".
std::string snake_case(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool ends_nan = name.substr(0, i + 1).ends_with("NaN");
    const auto before = static_cast<unsigned char>(i > 0 ? name[i - 1] : '.');
    if (std::isupper(c) != 0 && !ends_nan &&
        (std::islower(before) != 0 || std::isdigit(before) != 0)) {
      result += '_';
    }
    result += c == '.' ? '_' : static_cast<char>(std::tolower(c));
  }
  return result;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

/// One line of a file.
class LineReader {
 public:
  LineReader(std::string op, std::string where) : op_(std::move(op)), where_(std::move(where)) {}

  [[nodiscard]] OperatorCase read(const std::string& line) const {
    const auto columns = split(line, '|');
    if (columns.size() < 2 || columns.size() > 5) {
      fail("expected name | inputs | attributes | then | tags, got '" + line + "'");
    }
    const auto column = [&](std::size_t i) {
      return i < columns.size() ? words(columns[i]) : std::vector<std::string>{};
    };
    OperatorCase test;
    test.op = op_;
    test.where = where_;
    if (column(0).size() != 1) fail("a case has one name");
    test.name = column(0)[0];
    for (const auto& word : column(1)) test.inputs.push_back(input(word));
    for (const auto& word : column(2)) add_attribute(word, test.attributes);
    for (const auto& word : column(3)) test.then.push_back(step(word));
    for (const auto& word : column(4)) {
      if (word == "small") {
        test.small = true;
      } else if (word.rfind("opset=", 0) == 0) {
        test.opset = integer(word.substr(6));
      } else if (word.rfind("output=", 0) == 0) {
        test.output = integer(word.substr(7));
      } else {
        fail("unknown tag '" + word + "'");
      }
    }
    return test;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw ModelError(where_ + ": " + what); }

  [[nodiscard]] std::int64_t integer(const std::string& text) const {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status != std::errc() || stop != end) fail("'" + text + "' is no integer");
    return value;
  }

  /// "[1,2]".
  [[nodiscard]] std::vector<std::int64_t> list(const std::string& text) const {
    if (text.back() != ']') fail("'" + text + "' lacks its ']'");
    std::vector<std::int64_t> values;
    for (const auto& part : split(text.substr(1, text.size() - 2), ',')) {
      values.push_back(integer(part));
    }
    return values;
  }

  /// "[1,2]", or "2x1[1,2]".
  [[nodiscard]] CaseInput constant_list(const std::string& word) const {
    const auto start = word.find('[');
    if (start == std::string::npos) fail("'" + word + "' lacks its '['");
    const auto values = list(word.substr(start));
    Shape shape;
    for (const auto& extent : split(word.substr(0, start), 'x')) shape.push_back(integer(extent));
    if (start == 0) shape = {static_cast<std::int64_t>(values.size())};
    if (element_count(shape) != static_cast<std::int64_t>(values.size())) {
      fail("'" + word + "' has " + std::to_string(values.size()) + " numbers");
    }
    return {CaseInput::Kind::list, shape, values};
  }

  [[nodiscard]] CaseInput input(std::string word) const {
    if (word == "-") return {CaseInput::Kind::absent, {}, {}};
    if (word.back() == ']') return constant_list(word);
    CaseInput result;
    if (word.back() == '!') {
      result.kind = CaseInput::Kind::constant;
      word.pop_back();
    }
    if (const auto colon = word.find(':'); colon != std::string::npos) {
      result.dtype = parse_dtype(word.substr(colon + 1));
      word.resize(colon);
    }
    if (word.front() == '=') {
      result.kind = CaseInput::Kind::number;
      const Attribute value = attribute(word.substr(1));
      const auto* whole = std::get_if<std::int64_t>(&value);
      const auto* real = std::get_if<double>(&value);
      if (whole == nullptr && real == nullptr) fail("'" + word + "' is no number");
      result.value = whole != nullptr ? static_cast<double>(*whole) : *real;
      return result;
    }
    if (word == "scalar") return result;
    for (const auto& extent : split(word, 'x')) result.shape.push_back(integer(extent));
    return result;
  }

  /// "Add(6x1x1!)", "Relu" or "MaxPool{kernel_shape=[2,2];strides=[2,2]}".
  [[nodiscard]] CaseStep step(const std::string& whole) const {
    const auto brace = whole.find('{');
    const std::string word = whole.substr(0, brace);
    const auto open = word.find('(');
    CaseStep result{word.substr(0, open), {}, {}};
    if (brace != std::string::npos) {
      if (whole.back() != '}') fail("'" + whole + "' lacks its '}'");
      for (const auto& part : split(whole.substr(brace + 1, whole.size() - brace - 2), ';')) {
        add_attribute(part, result.attributes);
      }
    }
    if (open == std::string::npos) return result;
    if (word.back() != ')') fail("'" + word + "' lacks its ')'");
    for (const auto& part : split(word.substr(open + 1, word.size() - open - 2), ';')) {
      result.more_inputs.push_back(input(part));
    }
    return result;
  }

  void add_attribute(const std::string& text, std::map<std::string, Attribute>& to) const {
    const auto equals = text.find('=');
    if (equals == std::string::npos) fail("attribute '" + text + "' has no value");
    to[text.substr(0, equals)] = attribute(text.substr(equals + 1));
  }

  [[nodiscard]] Attribute attribute(const std::string& text) const {
    if (text.empty()) fail("an attribute has no value");
    if (text.front() == '[' && text.size() > 1 &&
        std::isalpha(static_cast<unsigned char>(text[1])) != 0) {
      return texts(text);
    }
    if (text.front() == '[' && text.find('.') != std::string::npos) return reals(text);
    if (text.front() == '[') return list(text);
    // Also an equation of Einsum without a letter in front.
    const bool is_word = std::isalpha(static_cast<unsigned char>(text.front())) != 0;
    if (is_word || text.find("->") != std::string::npos) return text;
    if (text.find('.') == std::string::npos) return integer(text);
    return real(text);
  }

  [[nodiscard]] std::vector<std::string> texts(const std::string& text) const {
    if (text.back() != ']') fail("'" + text + "' lacks its ']'");
    return split(text.substr(1, text.size() - 2), ',');
  }

  [[nodiscard]] double real(const std::string& text) const {
    std::istringstream stream(text);
    double value = 0.0;
    if (!(stream >> value) || !stream.eof()) fail("'" + text + "' is no number");
    return value;
  }

  [[nodiscard]] std::vector<double> reals(const std::string& text) const {
    if (text.back() != ']') fail("'" + text + "' is no list");
    std::istringstream parts(text.substr(1, text.size() - 2));
    std::vector<double> values;
    for (std::string part; std::getline(parts, part, ',');) values.push_back(real(part));
    return values;
  }

  std::string op_;
  std::string where_;
};

std::string operator_of_file(const std::filesystem::path& file) {
  for (const Operator* op : operators()) {
    if (snake_case(op->name) == file.stem().string()) return std::string(op->name);
  }
  throw ModelError(file.string() + ": no operator has this name");
}

}  // namespace

OperatorCase parse_case(const std::string& op, const std::string& line, const std::string& where) {
  return LineReader(op, where).read(line);
}

std::vector<OperatorCase> read_cases(const std::filesystem::path& file) {
  const std::string op = operator_of_file(file);
  std::vector<OperatorCase> cases;
  std::set<std::string> names;
  std::istringstream stream(read_file(file, kLimitBytes));
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::string text = line.substr(0, line.find('#'));
    if (words(text).empty()) continue;
    const std::string where = file.filename().string() + ":" + std::to_string(number);
    cases.push_back(parse_case(op, text, where));
    if (!names.insert(cases.back().name).second) {
      throw ModelError(where + ": the name '" + cases.back().name + "' stands twice");
    }
  }
  if (cases.empty()) throw ModelError(file.string() + ": holds no case");
  return cases;
}

std::vector<OperatorCase> all_cases(const std::filesystem::path& folder) {
  std::vector<OperatorCase> cases;
  for (const Operator* op : operators()) {
    if (op->host.is_control)
      continue;  // tests/host/passes/passes_control_flow_test.cpp has its tests
    for (auto& test : read_cases(folder / (snake_case(op->name) + ".cases"))) {
      cases.push_back(std::move(test));
    }
  }
  return cases;
}

}  // namespace morton::test
