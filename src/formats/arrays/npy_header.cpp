// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/npy_header.hpp"

#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

struct TypeName {
  DType type;
  std::string_view name;
};

constexpr std::array<TypeName, 12> kNpyTypes{{{DType::f16, "<f2"},
                                              {DType::f32, "<f4"},
                                              {DType::f64, "<f8"},
                                              {DType::i8, "|i1"},
                                              {DType::u8, "|u1"},
                                              {DType::i16, "<i2"},
                                              {DType::u16, "<u2"},
                                              {DType::i32, "<i4"},
                                              {DType::u32, "<u4"},
                                              {DType::i64, "<i8"},
                                              {DType::u64, "<u8"},
                                              {DType::boolean, "|b1"}}};

/// Reads the few Python literals that a header consists of.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    NpyHeader header;
    std::set<std::string_view> seen;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      if (!seen.insert(key).second) fail("the key " + in_quotes(key) + " stands twice");
      expect(':');
      if (key == "descr") {
        header.dtype = dtype();
      } else if (key == "fortran_order") {
        header.order = order();
      } else if (key == "shape") {
        header.shape = shape();
      } else {
        fail("unknown key " + in_quotes(key));
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (!text_.empty()) fail("text behind the dictionary: " + in_quotes(text_));
    if (seen.size() != 3) fail("it must say descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelError(where_ + ": not an .npy array: header: " + what);
  }

  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
  }

  bool accept(char c) {
    skip_space();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "' expected before " + in_quotes(text_));
  }

  std::string_view string() {
    skip_space();
    const char quote = text_.empty() ? '\0' : text_.front();
    const std::size_t end = text_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) {
      fail("a string expected before " + in_quotes(text_));
    }
    const std::string_view value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }

  DType dtype() {
    skip_space();
    if (!text_.empty() && text_.front() == '[') {
      throw UnsupportedError(where_ + ": an array of records; Morton reads arrays of numbers");
    }
    const std::string_view name = string();
    for (const TypeName& known : kNpyTypes) {
      // Of one byte, so that any byte order is the same.
      const bool bytes = known.name.front() == '|' && name.size() == 3;
      if (name == known.name || (bytes && name.substr(1) == known.name.substr(1))) {
        return known.type;
      }
    }
    std::string list;
    for (const TypeName& known : kNpyTypes) list += " " + std::string(known.name);
    throw UnsupportedError(where_ + ": element type " + in_quotes(name) + "; Morton reads" + list);
  }

  NpyOrder order() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string_view, NpyOrder>{"False", NpyOrder::c},
                                      {"True", NpyOrder::fortran}}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail("True or False expected before " + in_quotes(text_));
  }

  Shape shape() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == kMaxRank) {
        fail("more than " + std::to_string(kMaxRank) + " dimensions");
      }
      skip_space();
      std::int64_t extent = -1;
      const auto [stop, status] =
          std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (status != std::errc{} || extent < 0)
        fail("an extent expected before " + in_quotes(text_));
      text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
      result.push_back(extent);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return result;
  }

  std::string_view text_;
  const std::string& where_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  return HeaderParser(text, where).parse();
}

std::string_view npy_name_of(DType type) {
  for (const TypeName& known : kNpyTypes) {
    if (known.type == type) return known.name;
  }
  throw InternalError("npy: element type out of range");
}

}  // namespace morton::formats
