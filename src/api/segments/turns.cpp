// SPDX-License-Identifier: Apache-2.0
#include "api/segments/turns.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/inside.hpp"
#include "api/segments/fed_body.hpp"
#include "base/error.hpp"
#include "ops/core/node_view.hpp"
#include "ops/core/planned.hpp"

namespace morton::api {
namespace {

/// So many turns are in the queue at most: drivers keep something for each command there.
constexpr std::int64_t kTurnsInQueue = 64;

Tensor number_of(std::int64_t value) {
  return Tensor::from({}, std::span<const std::int64_t>(&value, 1));
}

Tensor truth_of(bool value) {
  Tensor tensor = Tensor::allocate(DType::boolean, {});
  tensor.set(0, value ? 1.0 : 0.0);
  return tensor;
}

/// Where `axis` of so many dimensions lies, counted from the front. Throws ModelError.
std::int64_t from_front(std::int64_t axis, std::int64_t rank, const std::string& where) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  throw ModelError(where + ": dimension " + std::to_string(axis) + " of " + std::to_string(rank) +
                   " is named");
}

/// `count` tensors of this shape along a new dimension, and which that is.
std::pair<Shape, std::int64_t> stacked_shape(Shape shape, std::int64_t count,
                                             const StackedOutput& how, const std::string& where) {
  const std::int64_t axis = from_front(how.axis, std::ssize(shape) + 1, where);
  shape.insert(shape.begin() + axis, count);
  return {std::move(shape), axis};
}

/// Tensors of one shape side by side, along a new dimension. Throws UnsupportedError where their
/// shapes differ.
Tensor stacked(std::vector<Tensor> turns, const StackedOutput& how, const std::string& where) {
  if (how.from_back) std::ranges::reverse(turns);
  const Tensor& first = turns.front();
  for (const Tensor& turn : turns) {
    if (turn.shape() == first.shape() && turn.dtype() == first.dtype()) continue;
    throw UnsupportedError(where + ": what its turns give has several shapes, " +
                           to_string(first.shape()) + " and " + to_string(turn.shape()));
  }
  const auto [shape, axis] = stacked_shape(first.shape(), std::ssize(turns), how, where);
  Tensor whole = Tensor::allocate(first.dtype(), shape);
  std::size_t blocks = 1;
  for (std::int64_t d = 0; d < axis; ++d)
    blocks *= static_cast<std::size_t>(shape[static_cast<std::size_t>(d)]);
  const std::size_t bytes = blocks == 0 ? 0 : first.bytes() / blocks;
  std::byte* to = reinterpret_cast<std::byte*>(whole.mutable_data());
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const Tensor& turn : turns) {
      std::memcpy(to, turn.data() + b * bytes, bytes);
      to += bytes;
    }
  }
  return whole;
}

}  // namespace

/// A body that feeds itself, for one shape of its inputs.
struct Turns::Fed {
  FedBody body;
  Session session;
};

/// A run of the loop.
struct Turns::Going {
  std::optional<std::int64_t> most;  ///< turns
  bool condition = true;
  std::int64_t turn = 0;
  Values values;  ///< of the body's inputs
  std::vector<std::vector<Tensor>> stacked;
};

Turns::Turns(LoopParts parts, Message why, SegmentContext& context, int depth)
    : context_(context),
      parts_(std::move(parts)),
      why_(std::move(why)),
      body_(parts_.body, context, depth) {}

Turns::~Turns() = default;

Turns::Going Turns::begin(const std::vector<const Tensor*>& inputs) const {
  const std::string where = parts_.op + " '" + parts_.name + "'";
  const auto only_one = [&](const Tensor& tensor, const char* what) -> const Tensor& {
    if (tensor.size() == 1) return tensor;
    throw ModelError(where + ": its " + what + " has " + std::to_string(tensor.size()) + " values");
  };
  Going going;
  if (parts_.count && inputs[*parts_.count] != nullptr) {
    // Exporters write the largest number for a loop without one: a double does not hold it.
    going.most = whole_numbers(only_one(*inputs[*parts_.count], "number of turns")).front();
  }
  for (const auto& [input, axis] : parts_.counted_axes) {
    const Shape& shape = inputs[input]->shape();
    const auto place = static_cast<std::size_t>(from_front(axis, std::ssize(shape), where));
    if (going.most && *going.most != shape[place]) {
      throw ModelError(where + ": its scanned inputs have " + std::to_string(*going.most) +
                       " and " + std::to_string(shape[place]) + " elements along their axes");
    }
    going.most = shape[place];
  }
  going.stacked.resize(parts_.stacked.size());
  for (std::size_t i = 0; i < parts_.body.inputs.size(); ++i) {
    const std::string& name = parts_.body.tensor(parts_.body.inputs[i]).name;
    const Tensor* given = parts_.sources[i] ? inputs[*parts_.sources[i]] : nullptr;
    if (i == 1 && given != nullptr) going.condition = only_one(*given, "condition").at(0) != 0.0;
    if (given == nullptr && i > 1) throw ModelError(where + ": its state '" + name + "' is absent");
    going.values[name] = given != nullptr ? *given : i == 0 ? number_of(0) : truth_of(true);
  }
  return going;
}

bool Turns::goes_on(const Going& going) const {
  if (!going.condition || (going.most && going.turn >= *going.most)) return false;
  if (going.turn < context_.limits.most_turns) return true;
  throw UnsupportedError(parts_.op + " '" + parts_.name + "': takes more than " +
                         setting("most_turns", std::to_string(context_.limits.most_turns)) +
                         "; allow more where it is meant to");
}

Turns::Fed* Turns::fed_for(const Values& given) {
  const Graph declared = declared_as(parts_.body, given, Extents::fixed);
  const std::string key = plan_key(declared, planned_graph_inputs(declared), given);
  const auto found = std::ranges::find(fed_, key, &Tried::key);
  if (found != fed_.end()) {
    fed_.splice(fed_.begin(), fed_, found);
  } else {
    while (std::ssize(fed_) >= std::max<std::int64_t>(1, context_.limits.kept_plans)) {
      fed_.pop_back();
    }
    fed_.push_front({key, made_fed(given)});
  }
  return fed_.front().fed.get();
}

std::unique_ptr<Turns::Fed> Turns::made_fed(const Values& given) {
  std::optional<FedBody> body = fed_body(parts_, given, context_);
  if (!body) return nullptr;
  CompileOptions options = options_for(context_, body->graph, given);
  options.feeds = body->feeds;
  try {
    const CompiledModel compiled = context_.made(
        compile(Inside::make(body->graph, context_.loading), context_.device, options));
    return std::make_unique<Fed>(Fed{*std::move(body), Session(compiled)});
  } catch (const ModelError&) {
    return nullptr;  // passes have left a state that takes another's value, as no plan can
  } catch (const UnsupportedError&) {
    return nullptr;
  }
}

void Turns::run_fed(Fed& fed, Going& going) {
  Session& session = fed.session;
  const FedBody& body = fed.body;
  for (std::size_t s = 0; s < body.states.size(); ++s) {
    if (body.is_fed[s]) session.set_state(body.states[s], going.values.at(body.states[s]));
  }
  if (!body.turn.empty()) session.set_state(body.turn, going.values.at(body.turn));
  if (body.condition_is_state) session.set_state(body.condition, going.values.at(body.condition));
  for (const PortInfo& input : session.model().inputs()) {
    session.set_input(input.name, going.values.at(input.name));
  }
  while (goes_on(going)) {
    const Event turn = session.enqueue();
    ++going.turn;
    if (body.goes_on == GoesOn::never) going.condition = false;
    if (body.goes_on == GoesOn::as_data_say) {
      const Tensor read = body.condition_is_state ? session.get_state(body.condition)
                                                  : session.get_output(body.condition);
      going.condition = read.at(0) != 0.0;
    }
    if (!body.stacked.empty()) {
      std::vector<Tensor> results = session.get_outputs(body.stacked);
      for (std::size_t i = 0; i < results.size(); ++i) {
        going.stacked[i].push_back(std::move(results[i]));
      }
    }
    if (going.turn % kTurnsInQueue == 0) turn.wait();
  }
  for (std::size_t s = 0; s < body.states.size(); ++s) {
    if (body.is_fed[s]) going.values[body.states[s]] = session.get_state(body.states[s]);
  }
}

void Turns::run_turn(Going& going) {
  const auto input = [&](std::size_t i) -> const std::string& {
    return parts_.body.tensor(parts_.body.inputs[i]).name;
  };
  const auto output = [&](std::size_t i) -> const std::string& {
    return parts_.body.tensor(parts_.body.outputs[i]).name;
  };
  going.values[input(0)] = number_of(going.turn);
  const Values results = body_.run(going.values);
  for (std::size_t i = 0; i < parts_.stacked.size(); ++i) {
    going.stacked[i].push_back(results.at(output(1 + parts_.states + i)));
  }
  for (std::size_t s = 0; s <= parts_.states; ++s) {
    going.values[input(1 + s)] = results.at(output(s));
  }
  going.condition = results.at(output(0)).at(0) != 0.0;
  ++going.turn;
}

std::vector<Tensor> Turns::results(Going& going) const {
  std::vector<Tensor> results;
  for (std::size_t s = 0; s < parts_.states; ++s) {
    results.push_back(going.values.at(parts_.body.tensor(parts_.body.inputs[2 + s]).name));
  }
  const std::string where = parts_.op + " '" + parts_.name + "'";
  for (std::size_t i = 0; i < parts_.stacked.size(); ++i) {
    if (!going.stacked[i].empty()) {
      results.push_back(stacked(std::move(going.stacked[i]), parts_.stacked[i], where));
      continue;
    }
    const auto types = body_results(parts_.body, going.values, context_);
    if (!types) {
      throw UnsupportedError(where + ": takes no turn, and the extents of output " +
                             std::to_string(parts_.states + i) + " follow from its turns");
    }
    const auto& [type, shape] = (*types)[1 + parts_.states + i];
    const Shape empty = stacked_shape(shape, 0, parts_.stacked[i], where).first;
    results.push_back(Tensor::allocate(type, empty));
  }
  return results;
}

std::vector<Tensor> Turns::run(const std::vector<const Tensor*>& inputs) {
  Going going = begin(inputs);
  Fed* fed = goes_on(going) ? fed_for(going.values) : nullptr;
  if (fed != nullptr) run_fed(*fed, going);
  while (goes_on(going)) run_turn(going);
  const bool reads = fed == nullptr || fed->body.goes_on == GoesOn::as_data_say;
  context_.wait(parts_.name, why_, std::max<std::int64_t>(1, reads ? going.turn : 1));
  return results(going);
}

}  // namespace morton::api
