// SPDX-License-Identifier: Apache-2.0
//
// Every pack entry against the host's packing, bit for bit, on random layouts and views.
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>

#include "base/device/fatal_kernels.hpp"
#include "base/error.hpp"
#include "device/plan_memory.hpp"
#include "host/layout_random.hpp"
#include "plan/cost/cost.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/lower/emit.hpp"
#include "plan/search/repack.hpp"
#include "run/guarded_run.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr unsigned kPackSeed = 7;
constexpr int kTransforms = 42;
constexpr std::int64_t kMostElements = 1500;

/// A tensor that lies in memory as `from` says, to be copied into `to`.
struct Transform {
  std::string what;
  Tensor source;
  Arrangement from, to;
  BoundProblem bound;
  std::vector<std::byte> expected;
};

/// Makes transforms at random; each kind in turn.
class TransformSource : public test::LayoutSource {
 public:
  TransformSource(unsigned seed, DType type) : LayoutSource(seed), type_(type) {}

  Transform next(int number) {
    switch (number % 7) {
      case 0:
        return direct();
      case 1:
        return transposed();
      case 2:
        return columns();
      case 3:
        return broadcast();
      case 4:
        return slice();
      case 5:
        return picture();
      default:
        return joined();
    }
  }

  /// A matrix for an entry that packs one layout, straight or (where it reads any source) turned.
  Transform for_entry(const Entry& entry, int number) {
    const std::vector<std::string> names{"D0", "D1"};
    const OperandFormat& from = entry.operands.at("src");
    const OperandFormat& to = entry.operands.at("dst");
    const Shape extents = shape(2, kMostElements);
    const bool turned = from.is_any() && number % 2 == 1;
    Transform result;
    const Shape tensor = turned ? Shape{extents[1], extents[0]} : extents;
    const bool takes_reals = std::ranges::count(from.types, DType::f32) > 0;
    const DType type = takes_reals ? DType::f32 : DType::u8;
    result.source = takes_reals ? values(tensor) : bytes(tensor);
    result.from = from.is_any()
                      ? somewhere(tensor)
                      : make_arrangement(type, tensor, {{0}, {1}}, layout_of(from, names, {}),
                                         {1, 1}, PaddingContents::undefined);
    const Layout order = to.is_any() ? layout(2) : layout_of(to, names, {});
    result.to = make_arrangement(type, extents, {{0}, {1}}, order, {between(1, 5), between(1, 5)},
                                 PaddingContents::zero);
    View view = View::identity({"A", "B"});
    if (turned) view = View::mapped({"A", "B"}, parse({"b", "a"}), parse({"B", "A"}));
    result.bound = pack_problem(TensorId(0), TensorId(1), view, result.to,
                                problem_of({"A", "B"}, extents), Demand::Kind::packed);
    result.expected.resize(static_cast<std::size_t>(bytes_of(result.to)));
    pack_through(result.source, view, environment_of(problem_of({"A", "B"}, extents)), result.to,
                 result.expected);
    result.what = turned ? "matrix, turned" : "matrix";
    return result;
  }

 private:
  Tensor values(const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::f32, shape);
    for (float& value : tensor.as_mutable<float>()) {
      value = static_cast<float>(between(-1'000'000, 1'000'000)) / 4096.0F;
    }
    if (type_ == DType::f32) return tensor;
    Tensor halves = Tensor::allocate(type_, shape);
    for (std::int64_t i = 0; i < halves.size(); ++i) halves.set(i, tensor.at(i));
    return halves;
  }

  Tensor bytes(const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::u8, shape);
    for (std::uint8_t& value : tensor.as_mutable<std::uint8_t>()) {
      value = static_cast<std::uint8_t>(between(1, 255));
    }
    return tensor;
  }

  /// Somewhere in memory, padding and the pitch's gaps undefined.
  Arrangement somewhere(const Shape& shape) {
    Arrangement result = arrangement(shape);
    result.dtype = type_;
    result.padding = PaddingContents::undefined;
    return result;
  }

  /// A pack's target has no pitch.
  Arrangement target(const Shape& shape) {
    Arrangement result = arrangement(shape);
    result.dtype = type_;
    result.pitch = 0;
    return result;
  }

  /// A target in the operand's own dimensions.
  Arrangement operand_target(const Shape& shape) {
    Shape align;
    Grouping grouping;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      align.push_back(coin() ? 1 : between(1, 5));
      grouping.push_back({static_cast<int>(d)});
    }
    const Layout order = layout(static_cast<int>(shape.size()));
    return make_arrangement(type_, shape, std::move(grouping), order, align, PaddingContents::zero);
  }

  Transform direct() {
    const Shape extents = shape(static_cast<int>(between(0, 4)), kMostElements);
    Arrangement from = somewhere(extents);
    return as_it_is("direct", extents, std::move(from), target(extents));
  }

  /// The few channels of an image side by side, along rows that are long beside a block of them.
  Transform picture() {
    const Shape extents{between(1, 2), between(1, 5), between(1, 3), between(30, 40)};
    Arrangement from = coin() ? somewhere(extents) : row_major_arrangement(type_, extents);
    const Layout order(4, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, between(2, 4)}});
    return as_it_is("picture", extents, std::move(from),
                    make_arrangement(type_, extents, {{0}, {1}, {2}, {3}}, order,
                                     {1, 1, 1, between(1, 3)}, PaddingContents::zero));
  }

  Transform as_it_is(const std::string& what, const Shape& extents, Arrangement from,
                     Arrangement to) {
    Transform result;
    result.source = values(extents);
    result.from = std::move(from);
    result.to = std::move(to);
    result.bound =
        pack_problem(TensorId(0), TensorId(1), View{}, result.to, Problem{}, Demand::Kind::direct);
    result.expected.resize(static_cast<std::size_t>(bytes_of(result.to)));
    pack(result.source, result.to, result.expected);
    result.what = what;
    return result;
  }

  /// Through `view`, which names `problem`'s extents and structure, to an operand of `extents`.
  Transform through(const std::string& what, const Shape& tensor, const View& view,
                    const Problem& problem, const Shape& extents) {
    Transform result;
    result.source = values(tensor);
    result.from = somewhere(tensor);
    result.to = operand_target(extents);
    result.bound =
        pack_problem(TensorId(0), TensorId(1), view, result.to, problem, Demand::Kind::packed);
    result.expected.resize(static_cast<std::size_t>(bytes_of(result.to)));
    pack_through(result.source, view, environment_of(problem), result.to, result.expected);
    result.what = what + " " + view.print();
    return result;
  }

  static std::vector<Expression> parse(const std::vector<std::string>& texts) {
    std::vector<Expression> expressions;
    for (const std::string& text : texts) expressions.push_back(Expression::parse(text, "test"));
    return expressions;
  }

  static Problem problem_of(const std::vector<std::string>& names, const Shape& extents) {
    Problem problem;
    for (std::size_t d = 0; d < names.size(); ++d) problem.extents[names[d]] = extents[d];
    return problem;
  }

  Transform transposed() {
    const Shape extents = shape(3, kMostElements);
    const View view = View::mapped({"A", "B", "C"}, parse({"c", "a", "b"}), parse({"C", "A", "B"}));
    return through("transpose", {extents[2], extents[0], extents[1]}, view,
                   problem_of({"A", "B", "C"}, extents), extents);
  }

  /// Tensor dimensions joined in an operand's, one of them reversed in order.
  Transform joined() {
    const Shape part = shape(3, kMostElements);
    Problem problem = problem_of({"A", "B", "C"}, {part[0], part[1], part[2]});
    problem.extents["M"] = part[0] * part[2];
    problem.extents["N"] = part[1];
    const View view =
        View::mapped({"M", "N"}, parse({"m/C", "n", "C - 1 - m%C"}), parse({"A", "B", "C"}));
    return through("join", part, view, problem, {part[0] * part[2], part[1]});
  }

  /// What a convolution reads: padding that differs on each side, strides and dilation.
  Transform columns() {
    const std::int64_t n = between(1, 2), c = between(1, 3), h = between(3, 7), w = between(3, 6);
    Problem problem;
    auto& s = problem.structure;
    s = {{"KH", between(1, 3)}, {"KW", between(1, 3)}, {"SH", between(1, 3)},
         {"SW", between(1, 3)}, {"DH", between(1, 2)}, {"DW", between(1, 2)},
         {"PT", between(0, 3)}, {"PL", between(0, 3)}};
    const std::int64_t below = between(0, 2), right = between(0, 3);
    const auto count = [&](std::int64_t size, const char* k, const char* d, std::int64_t pad,
                           const char* stride) {
      return std::max<std::int64_t>(0, size + pad - (s.at(k) - 1) * s.at(d) - 1) / s.at(stride) + 1;
    };
    const std::int64_t oh = count(h, "KH", "DH", s.at("PT") + below, "SH");
    const std::int64_t ow = count(w, "KW", "DW", s.at("PL") + right, "SW");
    problem.extents = {{"N", n},
                       {"C", c},
                       {"H", h},
                       {"W", w},
                       {"OH", oh},
                       {"OW", ow},
                       {"K", c * s.at("KH") * s.at("KW")},
                       {"P", n * oh * ow}};
    View view = View::mapped(
        {"K", "P"},
        parse({"p/(OH*OW)", "k/(KH*KW)", "p/OW%OH*SH + k/KW%KH*DH - PT", "p%OW*SW + k%KW*DW - PL"}),
        parse({"N", "C", "H", "W"}));
    view.bounded = true;
    view.outside = coin() ? 0.0 : -1.5;
    return through("columns", {n, c, h, w}, view, problem, {problem.extents["K"], n * oh * ow});
  }

  Transform broadcast() {
    const Shape extents = shape(3, kMostElements);
    const View view = View::mapped({"A", "B", "C"}, parse({"0", "b"}), parse({"1", "B"}));
    return through("broadcast", {1, extents[1]}, view, problem_of({"A", "B", "C"}, extents),
                   extents);
  }

  /// Starts before or inside the tensor, and may end beyond it.
  Transform slice() {
    const Shape extents = shape(2, kMostElements / 4);
    const Shape tensor = shape(2, kMostElements / 4);
    View view = View::mapped({"A", "B"}, parse({"2*a - FROM", "b + FROM"}), parse({"T", "U"}));
    view.bounded = true;
    view.outside = 0.125;
    Problem problem =
        problem_of({"A", "B", "T", "U"}, {extents[0], extents[1], tensor[0], tensor[1]});
    problem.extents["FROM"] = between(0, 4);
    return through("slice", tensor, view, problem, extents);
  }

  DType type_;  ///< of sources and targets, but for those of one entry
};

Value value_of(const std::string& name, Value::Kind kind, const Arrangement& arrangement,
               BlockId block) {
  Value value;
  value.name = name;
  value.kind = kind;
  value.arrangement = arrangement;
  value.block = block;
  value.bytes = bytes_of(arrangement);
  return value;
}

/// Appends a step that runs the entry on the transform.
void add_step(Plan& plan, const Entry& entry, const Transform& transform,
              const DeviceInfo& device) {
  const std::string number = std::to_string(plan.steps.size());
  const ValueId from = plan.values.add(
      value_of("x" + number, Value::Kind::input, transform.from, plan.blocks.add({})));
  const ValueId to = plan.values.add(
      value_of("y" + number, Value::Kind::output, transform.to, plan.blocks.add({})));
  plan.inputs.push_back({"x" + number, from});
  plan.outputs.push_back({"y" + number, to});
  InstanceSpec spec;
  spec.entry = &entry;
  spec.tunables = standard_tunables(entry);
  spec.problem = transform.bound.problem;
  const auto operand = [&](const char* role, const Arrangement& arrangement,
                           InstanceOperand::Direction direction) {
    const auto access = entry.operands.at(role).is_any() ? InstanceOperand::Access::generated
                                                         : InstanceOperand::Access::by_hand;
    return InstanceOperand{role, arrangement, transform.bound.operands.at(role).view, access,
                           direction};
  };
  spec.operands = {operand("src", transform.from, InstanceOperand::Direction::read),
                   operand("dst", transform.to, InstanceOperand::Direction::write)};
  const LaunchSize size = launch_size(
      entry,
      entry_environment(entry, spec.problem, spec.tunables, device, elements_of(transform.to)),
      device);
  spec.local.assign(size.local.begin(), size.local.end());
  const InstanceSource source = generate(spec);
  const Environment sizes = argument_values(spec);
  Step step;
  step.name = transform.what;
  step.kernel = entry.name;
  step.action = KernelLaunch{plan.instances.add(source), size.global, size.local};
  for (const auto& argument : source.arguments) {
    if (argument.kind == InstanceArgument::Kind::integer) {
      step.arguments.push_back({argument.name, sizes.find(argument.name)->second});
    } else {
      step.arguments.push_back({argument.name, PassedValue{argument.name == "src" ? from : to}});
    }
  }
  step.reads = {from};
  if (entry.takes_work()) {
    Value work = work_value("work" + number, spec);
    work.block = plan.blocks.add({PlannedBlock::Kind::weights, work.bytes});
    const ValueId id = plan.values.add(std::move(work));
    for (StepArgument& argument : step.arguments) {
      if (argument.name == "work") argument.passed = PassedValue{id};
    }
  }
  step.writes = {to};
  plan.steps.push_back(std::move(step));
}

class CataloguePack : public test::DeviceTest {
 protected:
  /// Runs `count` transforms by the entry and compares each with the host.
  void run(const Entry& entry, int count, Surroundings surroundings, DType type = DType::f32) {
    TransformSource source(kPackSeed, type);
    std::vector<Transform> transforms;
    std::vector<NamedTensor> inputs;
    Plan plan;
    plan.devices = {PlannedDevice{fingerprint(device().info()), ""}};
    for (int i = 0; i < count; ++i) {
      transforms.push_back(packs_one_layout(entry) ? source.for_entry(entry, i) : source.next(i));
      add_step(plan, entry, transforms.back(), device().info());
      inputs.push_back({"x" + std::to_string(i), transforms.back().source});
    }
    Plan* const plans[] = {&plan};
    share_program(plans);
    const LoadedPlan loaded(plan, shared_device());
    const GuardedResult result = run_guarded(loaded, inputs, surroundings, catalogue_);
    EXPECT_EQ(result.damage, "");
    for (int i = 0; i < count; ++i) {
      const Transform& transform = transforms[static_cast<std::size_t>(i)];
      const auto& got = result.bytes[plan.outputs[static_cast<std::size_t>(i)].value];
      EXPECT_TRUE(got == transform.expected)
          << entry.name << ", seed " << kPackSeed << ", number " << i << ": " << transform.what
          << "\n  from " << print(transform.from) << "\n  to " << print(transform.to);
    }
  }

  Catalogue catalogue_ = Catalogue::standard();
};
MORTON_ON_EVERY_DEVICE(CataloguePack);

TEST_P(CataloguePack, EqualsTheHostOnRandomLayoutsAndViews) {
  int entries = 0;
  for (const Entry& entry : catalogue_.entries()) {
    // Those of parts are tested where parts are joined: CatalogueEntries.
    if (entry.family != families::pack || writes_parts(entry)) continue;
    if (!fatal_quirk(device().info(), entry.name).empty()) continue;
    run(entry, kTransforms, Surroundings::guards);
    ++entries;
  }
  EXPECT_GE(entries, 2);
}

TEST_P(CataloguePack, MovesHalvesAsTheyAre) {
  int entries = 0;
  for (const Entry& entry : catalogue_.entries()) {
    if (entry.family != families::pack || writes_parts(entry) || packs_one_layout(entry)) continue;
    for (const DType type : {DType::f16, DType::bf16}) {
      const auto knows = [&](const char* role) {
        return std::ranges::count(entry.operands.at(role).types, type) > 0;
      };
      if (!knows("src") || !knows("dst")) continue;
      run(entry, kTransforms / 4, Surroundings::guards, type);
      ++entries;
    }
  }
  EXPECT_GE(entries, 4);
}

class CataloguePackOclgrind : public CataloguePack {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CataloguePackOclgrind);

TEST_P(CataloguePackOclgrind, LeavesNothingToReport) {
  for (const Entry& entry : catalogue_.entries()) {
    if (entry.family == families::pack && !writes_parts(entry))
      run(entry, kTransforms, Surroundings::nothing);
  }
}

INSTANTIATE_TEST_SUITE_P(Oclgrind, CataloguePackOclgrind, ::testing::ValuesIn(test::oclgrind_ids()),
                         test::device_test_name);

}  // namespace
}  // namespace morton::test
