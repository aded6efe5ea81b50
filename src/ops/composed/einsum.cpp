// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "ops/composed/einsum_equation.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

/// A tensor whose dimensions have labels, each once.
struct Term {
  TensorId value = kNoTensor;
  std::string labels;
};

bool has_label(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

/// Writes an equation's nodes: sums of products of pairs, from the left.
class EinsumWriter {
 public:
  explicit EinsumWriter(Expansion& expansion) : writer_(expansion) {}

  TensorId run(const EinsumEquation& equation) {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < equation.terms.size(); ++i) {
      terms.push_back(each_once({writer_.input(i), equation.terms[i]}));
    }
    drop_ones(terms, equation.result);
    Term all = terms.front();
    for (std::size_t i = 1; i < terms.size(); ++i) {
      const std::string later = needed_from(terms, i + 1, equation.result);
      all = summed(all, later + terms[i].labels);
      all = product(all, summed(terms[i], later + all.labels), later);
    }
    all = summed(all, equation.result);
    return ordered(all, equation.result).value;
  }

 private:
  /// Labels of the result and of the terms from `first` on.
  static std::string needed_from(const std::vector<Term>& terms, std::size_t first,
                                 std::string result) {
    for (std::size_t t = first; t < terms.size(); ++t) result += terms[t].labels;
    return result;
  }

  [[nodiscard]] std::int64_t extent(const Term& term, char label) const {
    return writer_.shape_of(term.value)[term.labels.find(label)];
  }

  [[nodiscard]] Shape extents(const Term& term, const std::string& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(extent(term, label));
    return shape;
  }

  Term ordered(const Term& term, const std::string& labels) {
    if (term.labels == labels) return term;
    std::vector<std::int64_t> order;
    for (const char label : labels) {
      order.push_back(static_cast<std::int64_t>(term.labels.find(label)));
    }
    return {writer_.transposed(term.value, order), labels};
  }

  /// The diagonals of dimensions with one label.
  Term each_once(Term term) {
    for (std::size_t a = 0; a < term.labels.size();) {
      const std::size_t b = term.labels.find(term.labels[a], a + 1);
      if (b == std::string::npos) {
        ++a;
        continue;
      }
      term = diagonal(term, a, b);
      a = 0;
    }
    return term;
  }

  /// Of dimensions a and b, which stand last then.
  Term diagonal(const Term& term, std::size_t a, std::size_t b) {
    const std::size_t rank = term.labels.size();
    std::vector<std::int64_t> order;
    Term result;
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d) {
      if (d == a || d == b) continue;
      order.push_back(static_cast<std::int64_t>(d));
      result.labels += term.labels[d];
      shape.push_back(writer_.shape_of(term.value)[d]);
    }
    order.push_back(static_cast<std::int64_t>(a));
    order.push_back(static_cast<std::int64_t>(b));
    const std::int64_t length = writer_.shape_of(term.value)[a];
    Shape joined = shape;
    joined.push_back(length * length);
    const TensorId flat = writer_.reshaped(writer_.transposed(term.value, order), joined);
    std::vector<std::int64_t> steps(joined.size(), 1);
    steps.back() = length + 1;
    const TensorId line =
        writer_.sliced(flat, std::vector<std::int64_t>(joined.size(), 0), joined, steps);
    return {line, result.labels + term.labels[a]};
  }

  /// Of a label that is 1 in one term and more in another the first says nothing.
  void drop_ones(std::vector<Term>& terms, const std::string& result) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      std::string kept;
      for (const char label : terms[t].labels) {
        const bool elsewhere = std::ranges::any_of(terms, [&](const Term& other) {
          return &other != &terms[t] && has_label(other.labels, label);
        });
        const bool says_nothing =
            extent(terms[t], label) == 1 &&
            (elsewhere ? is_wider(terms, t, label) : !has_label(result, label));
        if (!says_nothing) kept += label;
      }
      terms[t] = {writer_.reshaped(terms[t].value, extents(terms[t], kept)), kept};
    }
  }

  [[nodiscard]] bool is_wider(const std::vector<Term>& terms, std::size_t own, char label) const {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (t == own || !has_label(terms[t].labels, label)) continue;
      // Of terms that are all 1 the last keeps it.
      if (extent(terms[t], label) > 1 || t > own) return true;
    }
    return false;
  }

  Term summed(const Term& term, const std::string& needed) {
    std::vector<std::int64_t> axes;
    std::string kept;
    for (std::size_t d = 0; d < term.labels.size(); ++d) {
      if (has_label(needed, term.labels[d])) {
        kept += term.labels[d];
      } else {
        axes.push_back(static_cast<std::int64_t>(d));
      }
    }
    if (axes.empty()) return term;
    return {writer_.reshaped(writer_.sum(term.value, axes), extents(term, kept)), kept};
  }

  Term product(const Term& a, const Term& b, const std::string& needed) {
    std::string batch, both, rows, columns;
    for (const char label : a.labels) {
      if (!has_label(b.labels, label)) rows += label;
      if (has_label(b.labels, label)) (has_label(needed, label) ? batch : both) += label;
    }
    for (const char label : b.labels) {
      if (!has_label(a.labels, label)) columns += label;
    }
    const DType type = writer_.type_of(a.value);
    const auto& types = find_operator("MatMul")->types;
    // Of 16 bits it is written out in f32.
    const bool multiplies = is_short_real(type) || std::ranges::find(types, type) != types.end();
    if (both.empty() || !multiplies)
      return by_elements(a, b, needed, batch + rows + columns + both);
    const Shape lead = extents(a, batch);
    const std::int64_t terms = element_count(extents(a, both));
    const auto matrix = [&](const Term& term, const std::string& labels, std::int64_t m,
                            std::int64_t n) {
      return writer_.reshaped(ordered(term, labels).value, {element_count(lead), m, n});
    };
    const std::int64_t m = element_count(extents(a, rows));
    const std::int64_t n = element_count(extents(b, columns));
    const TensorId value = writer_.add("MatMul", {matrix(a, batch + rows + both, m, terms),
                                                  matrix(b, batch + both + columns, terms, n)});
    Shape shape = lead;
    const Shape of_rows = extents(a, rows);
    const Shape of_columns = extents(b, columns);
    shape.insert(shape.end(), of_rows.begin(), of_rows.end());
    shape.insert(shape.end(), of_columns.begin(), of_columns.end());
    return {writer_.reshaped(value, shape), batch + rows + columns};
  }

  /// The products of all pairs, summed where that is asked for.
  Term by_elements(const Term& a, const Term& b, const std::string& needed,
                   const std::string& labels) {
    const auto beside = [&](const Term& term) {
      std::string own;
      Shape shape;
      for (const char label : labels) {
        const bool is_own = has_label(term.labels, label);
        if (is_own) own += label;
        shape.push_back(is_own ? extent(term, label) : 1);
      }
      return writer_.reshaped(ordered(term, own).value, shape);
    };
    return summed({writer_.add("Mul", {beside(a), beside(b)}), labels}, needed);
  }

  Expansion& writer_;
};

std::vector<TensorId> expand_einsum(Expansion& expansion) {
  return {EinsumWriter(expansion).run(einsum_equation(expansion.node()))};
}

}  // namespace

const Operator& operator_Einsum() {
  static const Operator kOperator{
      .name = "Einsum",
      .inputs = {.most = kAnyNumber},
      .attributes = {"equation"},
      .since_opset = 12,
      .expand = expand_einsum,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8, DType::u8, DType::i16,
                DType::u16, DType::i32, DType::u32, DType::i64, DType::u64},
  };
  return kOperator;
}

}  // namespace morton::ops
