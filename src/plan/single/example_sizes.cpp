// SPDX-License-Identifier: Apache-2.0
//
// Sizes at which a kernel is shown where nobody says others: a table.
#include "plan/single/example_sizes.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/rooms.hpp"

namespace morton::plan {
namespace {

/// The sizes of a family's examples: "NAME=EXPRESSION ..." over the names before.
struct FamilyExamples {
  std::string_view family;
  std::string_view like;    ///< a family whose sizes come first; empty: none
  std::string_view sizes;   ///< of the usual problem
  std::string_view others;  ///< what further ones, divided by '|', have in place of that
};

constexpr FamilyExamples kFamilyExamples[] = {
    {"gemm", "", "M=64 N=64 K=64", "N=1"},
    {"batched_gemm", "gemm", "B=4", "N=1"},
    {"filter_gemm", "batched_gemm", "", ""},
    {"integer_gemm", "gemm", "", "N=1"},
    {"batched_integer_gemm", "batched_gemm", "", "N=1"},
    {"coded_gemm", "gemm", "BITS=4 BLOCK=32 P=ceil_div(K*BITS,8) G=ceil_div(K,BLOCK)", "M=1"},
    {"conv2d", "",
     "N=1 C=64 H=28 W=28 O=64 KH=3 KW=3 SH=1 SW=1 DH=1 DW=1 PT=KH/2 PL=KW/2 G=1 I=C/G "
     "OH=(H+2*PT-DH*(KH-1)-1)/SH+1 OW=(W+2*PL-DW*(KW-1)-1)/SW+1",
     "KH=1 KW=1 | KH=5 KW=5 | C=3 | G=2 | G=16 | G=C"},
    {"integer_conv2d", "conv2d", "", "KH=1 KW=1 | C=3 | G=C"},
    {"max_pool2d", "",
     "N=1 C=64 H=28 W=28 KH=2 KW=2 SH=2 SW=2 DH=1 DW=1 PT=0 PL=0 "
     "OH=(H+2*PT-DH*(KH-1)-1)/SH+1 OW=(W+2*PL-DW*(KW-1)-1)/SW+1",
     ""},
    {"average_pool2d", "max_pool2d", "PB=0 PR=0 COUNT_PAD=0", ""},
    {"conv2d_pool", "",
     "N=1 C=6 H=14 W=14 O=16 KH=5 KW=5 SH=1 SW=1 DH=1 DW=1 PT=0 PL=0 G=1 I=C/G MAP=1 "
     "RH=(H+2*PT-DH*(KH-1)-1)/SH+1 RW=(W+2*PL-DW*(KW-1)-1)/SW+1 "
     "QH=2 QW=2 UH=2 UW=2 QT=0 QL=0 QB=0 QR=0 COMBINE=3 COUNT_PAD=0 "
     "OH=(RH+QT+QB-QH)/UH+1 OW=(RW+QL+QR-QW)/UW+1",
     ""},
    {"lp_pool2d", "max_pool2d", "P=2", ""},
    {"max_pool2d_indices", "max_pool2d", "COLUMNS=0", ""},
    {"max_pool2d_gradient", "max_pool2d", "", ""},
    {"conv_transpose2d", "",
     "N=1 C=64 H=14 W=14 O=32 KH=2 KW=2 SH=2 SW=2 DH=1 DW=1 PT=0 PL=0 G=1 J=O/G "
     "OH=(H-1)*SH+DH*(KH-1)+1-2*PT OW=(W-1)*SW+DW*(KW-1)+1-2*PL",
     ""},
    // Twice the size, by the centres of pixels: row p = (2*oh - 1) / 4.
    {"resize2d", "",
     "C=64 H=14 W=14 OH=28 OW=28 HN=2 HA=0-1 HD=4 WN=2 WA=0-1 WD=4 TAPS=2 EXCLUDE=0 CUBIC=0", ""},
    {"elementwise", "", "D0=64 D1=64", ""},
    {"bias", "", "M=64 N=64", ""},
    {"sigmoid", "bias", "", ""},
    {"relu", "bias", "", ""},
    {"sum", "", "B=4 M=64 N=64", ""},
    {"reduce", "", "M=64 L=64 N=1 P=1 MAP=0 COMBINE=0 MEAN=0 DEPTH=L COUNT=L", "N=64"},
    {"log_sum_exp", "", "M=64 L=64 N=1", ""},
    {"inverse_deviation", "log_sum_exp", "EPSILON=925353388", ""},  // 1e-5
    {"arg_max", "log_sum_exp", "SMALLEST=0 LAST=0", ""},
    {"softmax", "log_sum_exp", "LOG=0", "N=64"},
    // 1/sqrt(32).
    {"attention", "", "B=1 H=12 M=128 L=128 D=32 W=32 E=1 F=1 G=1 S=L SCALE=1043662067", "G=M"},
    {"hardmax", "log_sum_exp", "", ""},
    {"normalize", "log_sum_exp", "KIND=0 EPSILON=925353388", ""},
    {"top_k", "log_sum_exp", "K=5 SMALLEST=0 INDICES=0", "K=L"},
    {"cumulative_sum", "log_sum_exp", "EXCLUSIVE=0 REVERSE=0", ""},
    {"recurrence", "", "T=28 N=16 U=128 G=4 K=U P=2 S=2 CELL=4 REVERSE=0", ""},
    {"parted_recurrence", "recurrence", "N=1 W=2 M=2*N*T", ""},
    {"trees", "", "N=1000 F=50 S=8 C=1 T=1000 B=6 P=1024000 U=2*T V=1 WORDS=2 ONE=1 COMBINE=0",
     "C=3 V=64 ONE=0"},
    {"coupling", "", "N=1000 C=3 P=C*(C-1)/2", ""},
    {"cumulative_product", "cumulative_sum", "", ""},
    // 1e-4, 0.75 and 1.
    {"local_response", "", "N=1 C=64 S=784 SIZE=5 ALPHA=953267991 BETA=1061158912 BIAS=1065353216",
     ""},
    {"unfold2d", "",
     "N=1 C=16 H=28 W=28 KH=3 KW=3 SH=1 SW=1 DH=1 DW=1 PT=KH/2 PL=KW/2 "
     "OH=(H+2*PT-DH*(KH-1)-1)/SH+1 OW=(W+2*PL-DW*(KW-1)-1)/SW+1 K=C*KH*KW P=OH*OW",
     ""},
    {"fold2d", "",
     "N=1 O=16 H=14 W=14 KH=2 KW=2 SH=2 SW=2 DH=1 DW=1 PT=0 PL=0 "
     "OH=(H-1)*SH+DH*(KH-1)+1-2*PT OW=(W-1)*SW+DW*(KW-1)+1-2*PL K=O*KH*KW P=H*W",
     ""},
    {"pack", "", "D0=96 D1=96", ""},
    {"gather", "", "D0=16 D1=64 L=1 I0=32 I1=1 I2=1 I3=1", ""},
    {"scatter", "", "O=1 D=64 M=16 I=64 L=1 I0=64 I1=1 I2=1 I3=1 REDUCTION=0 SHARED=1",
     "SHARED=0 I=1"},
    {"grid_sample", "", "N=1 C=16 D=1 H=32 W=32 P=784 R=2 TAPS=2 PADDING=0 CORNERS=0", "TAPS=1"},
    {"roi_align", "",
     "N=1 C=16 H=28 W=28 R=8 Q=4 OH=7 OW=7 LARGEST=0 SHIFT=1 SAMPLES=2 SCALE=1065353216",
     "LARGEST=1"},
    {"roi_max_pool", "", "N=1 C=16 H=28 W=28 R=8 Q=5 OH=7 OW=7 PLACE=0 SCALE=1065353216", ""},
    {"suppression", "", "B=1 C=80 N=8400 M=1000 Q=4 E=1", ""},
    {"determinant", "", "B=64 M=4 N=4 S=16", ""},
    {"winograd_weights", "", "O=64 C=64 U=3 V=3 OUT=2 X=(OUT+2)*(OUT+2)", "OUT=4"},
    {"winograd_input", "",
     "N=1 C=64 H=28 W=28 OUT=2 PT=1 PL=1 TH=ceil_div(H+2*PT-2,OUT) TW=ceil_div(W+2*PL-2,OUT) "
     "T0=0 T=N*TH*TW X=(OUT+2)*(OUT+2)",
     "OUT=4"},
    {"winograd_output", "",
     "N=1 O=64 OH=28 OW=28 OUT=2 TH=ceil_div(OH,OUT) TW=ceil_div(OW,OUT) T0=0 T=N*TH*TW "
     "X=(OUT+2)*(OUT+2)",
     "OUT=4"},
};

struct SizeRule {
  std::string name;
  Expression value;
};

std::vector<SizeRule> rules_in(std::string_view text) {
  std::vector<SizeRule> rules;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    rules.push_back(
        {word.substr(0, equals), Expression::parse(word.substr(equals + 1), "example sizes")});
  }
  return rules;
}

const FamilyExamples& examples_of(std::string_view family) {
  const auto* const found = std::ranges::find(kFamilyExamples, family, &FamilyExamples::family);
  if (found != std::end(kFamilyExamples)) return *found;
  throw InternalError("example sizes: there are none of the family " + std::string(family));
}

std::vector<SizeRule> usual_rules(const FamilyExamples& examples) {
  std::vector<SizeRule> rules;
  if (!examples.like.empty()) rules = usual_rules(examples_of(examples.like));
  for (SizeRule& rule : rules_in(examples.sizes)) rules.push_back(std::move(rule));
  return rules;
}

/// What stands between the bars; what stands before the first bar comes first.
std::vector<std::string_view> divided(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void replace_rule(std::vector<SizeRule>& rules, const SizeRule& rule, std::string_view family) {
  const auto found = std::ranges::find(rules, rule.name, &SizeRule::name);
  if (found != rules.end()) {
    found->value = rule.value;
    return;
  }
  std::string names;
  for (const SizeRule& known : rules) names += (names.empty() ? "" : ", ") + known.name;
  throw UsageError(setting("problem") + ": " + std::string(family) + " has no size '" + rule.name +
                   "'; it has " + names);
}

Environment evaluated(const std::vector<SizeRule>& rules, const std::string& family) {
  Environment sizes;
  for (const SizeRule& rule : rules) {
    try {
      sizes[rule.name] = rule.value.evaluate(sizes);
    } catch (const ModelError& error) {
      throw UsageError(setting("problem") + ": the sizes make no problem of " + family + ": " +
                       error.message());
    }
  }
  return sizes;
}

}  // namespace

std::vector<Environment> example_sizes(const std::string& family, const Environment& given) {
  const FamilyExamples& examples = examples_of(family);
  std::vector<std::string_view> variants = divided(examples.others);
  variants.insert(variants.begin(), "");
  std::vector<Environment> all;
  for (const std::string_view variant : variants) {
    std::vector<SizeRule> rules = usual_rules(examples);
    for (const SizeRule& rule : rules_in(variant)) replace_rule(rules, rule, family);
    for (const auto& [name, value] : given) replace_rule(rules, {name, Expression(value)}, family);
    all.push_back(evaluated(rules, family));
  }
  return all;
}

}  // namespace morton::plan
