// SPDX-License-Identifier: Apache-2.0
#include "plan/candidates.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "plan/cost.hpp"
#include "plan/library_step.hpp"
#include "plan/narrow.hpp"
#include "plan/recipe.hpp"
#include "plan/repack.hpp"
#include "plan/work_group.hpp"

namespace morton {
namespace {

/// More ways than this to combine the steps of a recipe are not looked at.
constexpr std::size_t kMostCombinations = 256;
/// Each slab is planned by itself and launches kernels of its own.
constexpr std::int64_t kMostSlabs = 256;

const TaskTensor& tensor_at(int id, const TaskList& tasks,
                            const std::vector<TaskTensor>& temporaries) {
  return id >= kFirstTemporary ? temporaries[static_cast<std::size_t>(id - kFirstTemporary)]
                               : tasks.tensors[static_cast<std::size_t>(id)];
}

std::int64_t operand_bytes(const BoundProblem& bound, const TaskList& tasks,
                           const std::vector<TaskTensor>& temporaries) {
  std::int64_t bytes = 0;
  for (const auto& [role, binding] : bound.operands) {
    const TaskTensor& tensor = tensor_at(binding.tensor, tasks, temporaries);
    bytes += element_count(tensor.shape) * size_of(tensor.dtype);
  }
  for (const auto& side : bound.sides) bytes += element_count(side.shape) * size_of(DType::f32);
  return bytes;
}

/// True when the view's groups cover the tensor: a step of a recipe may look at a part of it, and
/// then what lies beyond the operand's extents is data, not padding.
bool covers(const View& view, const Shape& tensor, const Environment& names) {
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    std::int64_t extent = 1;
    for (const int t : (*view.grouping)[d]) extent *= tensor[static_cast<std::size_t>(t)];
    if (extent != names.find(view.dimensions[d])->second) return false;
  }
  return true;
}

Demand demand_of(const Entry& entry, const std::string& role, const BoundProblem& bound,
                 const TaskTensor& tensor, const Environment& names) {
  const OperandFormat& format = entry.operands.at(role);
  const View& view = bound.operands.at(role).view;
  // What packs into one layout is chosen where that is already settled.
  if (format.is_any() || entry.family == "pack") return {};
  Demand demand;
  Arrangement& arrangement = demand.arrangement;
  arrangement.dtype = format.stored.value_or(tensor.dtype);
  arrangement.layout = layout_of(format, view.dimensions, names);
  arrangement.rim = format.rim;
  arrangement.memory = format.memory;
  arrangement.image_rows = format.image_rows;
  arrangement.image_texels = format.image_texels;
  if (view.grouping && covers(view, tensor.shape, names)) {
    demand.kind = Demand::Kind::direct;
    arrangement.tensor_shape = tensor.shape;
    arrangement.grouping = *view.grouping;
  } else if (role != "dst") {
    demand.kind = Demand::Kind::packed;
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      arrangement.tensor_shape.push_back(names.find(view.dimensions[d])->second);
      arrangement.grouping.push_back({static_cast<int>(d)});
    }
  } else {
    throw UnsupportedError("its result would have to be scattered through " + view.print());
  }
  for (const auto& dimension : view.dimensions) {
    const auto padded = names.find(dimension + "_pad");
    arrangement.padded.push_back(padded != names.end() ? padded->second
                                                       : names.find(dimension)->second);
  }
  return demand;
}

void check_operands(const Entry& entry, const Problem& problem, const PlanOptions& options) {
  for (const auto& [role, format] : entry.operands) {
    if (format.stored && *format.stored != options.precision) {
      const std::string name(name_of(*format.stored));
      throw UnsupportedError("it keeps " + role + " as " + name + ", which needs the precision " +
                             name);
    }
    const auto type = problem.types.find(role);
    if (type == problem.types.end()) continue;
    if (std::find(format.types.begin(), format.types.end(), type->second) == format.types.end()) {
      throw UnsupportedError("its operand " + role + " cannot be " +
                             std::string(name_of(type->second)));
    }
  }
}

/// An operand in an image must fit the device's images.
void check_image(const std::string& role, const Arrangement& arrangement,
                 const DeviceInfo& device) {
  if (!device.images) {
    throw UnsupportedError("its operand " + role + " lies in an image; the device has none");
  }
  const ImageExtents extents = image_extents(arrangement);
  if (extents.texels > device.image_max_width || extents.rows > device.image_max_height) {
    throw UnsupportedError(
        "its operand " + role + " would be an image of " + std::to_string(extents.texels) + " x " +
        std::to_string(extents.rows) + " texels; the device's are at most " +
        std::to_string(device.image_max_width) + " x " + std::to_string(device.image_max_height));
  }
}

/// One kernel on the problem as it is; throws UnsupportedError with the reason when it cannot be.
KernelChoice choose_entry(const Entry& entry, const BoundProblem& bound, const std::string& name,
                          const PlanContext& context, const std::vector<TaskTensor>& temporaries) {
  KernelChoice choice;
  choice.name = name;
  choice.entry = &entry;
  choice.tunables = tunables_for(entry, context.options.local);
  choice.bound = bound;
  require_library(entry, context.options);
  check_operands(entry, bound.problem, context.options);
  const TaskTensor& dst = tensor_at(tensor_of(bound, "dst"), context.tasks, temporaries);
  const Environment names = entry_environment(entry, bound.problem, choice.tunables, context.device,
                                              element_count(dst.shape));
  for (const auto& condition : entry.require) {
    if (condition.evaluate(names) == 0) {
      throw UnsupportedError("it requires " + condition.print());
    }
  }
  const LaunchSize size = launch_size(entry, names, context.device);
  Environment padded = names;
  for (const auto& [role, binding] : bound.operands) {
    const TaskTensor& tensor = tensor_at(binding.tensor, context.tasks, temporaries);
    choice.demands[role] = demand_of(entry, role, bound, tensor, names);
    if (choice.demands[role].arrangement.memory == MemoryKind::image) {
      check_image(role, choice.demands[role].arrangement, context.device);
    }
  }
  // A kernel that computes its padding works on the padded extents.
  if (entry.edges == Entry::Edges::pad) {
    for (const auto& [extent, value] : bound.problem.extents) {
      padded[extent] = names.find(extent + "_pad")->second;
    }
  }
  if (dst.kind == TaskTensor::Kind::derived) {
    choice.once = true;
    return choice;
  }
  const std::int64_t bytes = entry.bytes.evaluate(names) != 0
                                 ? entry.bytes.evaluate(names)
                                 : operand_bytes(bound, context.tasks, temporaries);
  choice.estimated_us =
      step_cost_us(static_cast<double>(entry.flop.evaluate(padded)),
                   efficiency_of(entry, context.device) * busy_share(size, context.device),
                   static_cast<double>(bytes), context.device);
  return choice;
}

bool writes_temporary(const KernelChoice& kernel, int temporary) {
  return tensor_of(kernel.bound, "dst") == temporary;
}

/// Fixes how each temporary lies in memory (its producer's format, else its consumer's, else
/// row-major) and adds up the candidate's time, repacking between its own kernels included.
void settle(Candidate& candidate, const PlanContext& context) {
  candidate.temporary_arrangements.clear();
  candidate.estimated_us = 0.0;
  for (const auto& kernel : candidate.kernels) candidate.estimated_us += kernel.estimated_us;
  for (std::size_t t = 0; t < candidate.temporaries.size(); ++t) {
    const int id = kFirstTemporary + static_cast<int>(t);
    const TaskTensor& tensor = candidate.temporaries[t];
    Arrangement chosen = row_major_arrangement(tensor.dtype, tensor.shape);
    const Demand* consumer = nullptr;
    const KernelChoice* producer = nullptr;
    for (const auto& kernel : candidate.kernels) {
      if (writes_temporary(kernel, id)) producer = &kernel;
      for (const auto& [role, binding] : kernel.bound.operands) {
        if (role != "dst" && binding.tensor == id) consumer = &kernel.demands.at(role);
      }
    }
    const bool consumer_decides = consumer != nullptr && consumer->kind == Demand::Kind::direct;
    if (producer != nullptr && producer->demands.at("dst").kind == Demand::Kind::direct) {
      chosen = producer->demands.at("dst").arrangement;
    } else if (consumer_decides) {
      chosen = consumer->arrangement;
      // The reader says where elements lie; what is around them is what the producer leaves.
      if (producer != nullptr) chosen.rim = producer->entry->operands.at("dst").rim;
    }
    const bool repacked =
        consumer != nullptr && (consumer->kind == Demand::Kind::packed ||
                                (consumer_decides && !satisfies(chosen, consumer->arrangement)));
    if (repacked && tensor.kind != TaskTensor::Kind::derived)
      candidate.estimated_us += repack_cost_us(chosen, consumer->arrangement, context);
    candidate.temporary_arrangements.push_back(chosen);
  }
}

bool is_integer_sum(const Problem& problem) {
  const auto sum = problem.types.find("acc");
  return sum != problem.types.end() && sum->second == DType::i32;
}

bool wants_narrow_family(const PlanOptions& options) {
  return std::any_of(options.use.begin(), options.use.end(),
                     [](const auto& wanted) { return is_narrow_family(wanted.first); });
}

/// The entry alone, or followed by an elementwise step for an epilogue that it does not carry.
Candidate entry_candidate(const Entry& entry, const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer) {
  Candidate candidate;
  candidate.name = entry.name;
  // Who names a kernel for biases or activations wants them out of the products' epilogues.
  // What follows sums of integers (a requantisation) is none of those and stays.
  const bool sums_integers = is_integer_sum(task.bound.problem);
  const bool carries =
      entry.carries_epilogue && (sums_integers || !wants_narrow_family(context.options));
  const bool splits = !carries && !task.bound.problem.epilogue.is_identity();
  if (!splits) {
    candidate.kernels.push_back(choose_entry(entry, task.bound, task.name, context, outer));
    return candidate;
  }
  const int dst = tensor_of(task.bound, "dst");
  TaskTensor raw = tensor_at(dst, context.tasks, outer);
  raw.name += ":raw";
  if (sums_integers) raw.dtype = DType::i32;
  raw.kind = TaskTensor::Kind::temporary;
  raw.is_output = false;
  std::vector<TaskTensor> temporaries = outer;
  temporaries.push_back(raw);
  const int raw_id = kFirstTemporary + static_cast<int>(outer.size());
  BoundProblem plain = task.bound;
  plain.problem.epilogue = Chain{};
  plain.sides.clear();
  plain.operands["dst"].tensor = raw_id;
  candidate.kernels.push_back(choose_entry(entry, plain, task.name, context, temporaries));
  BoundProblem rest =
      elementwise_problem(raw_id, dst, raw.shape, task.bound.problem.epilogue, task.bound.sides);
  rest.problem.types["src0"] = raw.dtype;
  rest.problem.types["dst"] = tensor_at(dst, context.tasks, outer).dtype;
  candidate.kernels.push_back(
      choose_elementary(rest, task.name + ":epilogue", context, temporaries));
  candidate.temporaries.push_back(std::move(raw));
  return candidate;
}

/// Temporaries of `part` are appended to those of `whole`, its kernels renumbered. Both know the
/// `outer` temporaries around the recipe, and the first `own` of `whole`, which are the recipe's.
void append(Candidate& whole, const Candidate& part, std::size_t outer, std::size_t own) {
  const std::size_t known = outer + own;
  const auto shift = static_cast<int>(whole.temporaries.size()) - static_cast<int>(own);
  const auto renumber = [&](int& id) {
    if (id >= kFirstTemporary + static_cast<int>(known)) id += shift;
  };
  for (KernelChoice kernel : part.kernels) {
    for (auto& [role, binding] : kernel.bound.operands) renumber(binding.tensor);
    for (auto& side : kernel.bound.sides) renumber(side.tensor);
    whole.kernels.push_back(std::move(kernel));
  }
  whole.temporaries.insert(whole.temporaries.end(), part.temporaries.begin(),
                           part.temporaries.end());
}

/// Names of the recipes that a task is a step of, outermost first. A recipe is not taken within
/// itself.
using RecipePath = std::vector<std::string>;

CandidateList list_within(const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer, const RecipePath& path);

void require_within_limit(const ExpandedRecipe& expanded, const PlanContext& context,
                          std::size_t known) {
  const std::int64_t limit = context.options.workspace_limit_bytes;
  const std::int64_t bytes = workspace_bytes(expanded, known);
  if (bytes <= limit) return;
  throw UnsupportedError("its temporaries of " + std::to_string(bytes) +
                         " bytes exceed the workspace limit of " + std::to_string(limit));
}

/// A way through the steps of a recipe so far, and which candidate it took for each.
struct PartialRecipe {
  Candidate candidate;
  std::map<std::size_t, std::string> taken;  ///< by the recipe's step: the candidate's name
};

/// All ways through the recipe in this many slabs.
std::vector<Candidate> candidates_in_slabs(const Recipe& recipe, const Task& task,
                                           const PlanContext& context,
                                           const std::vector<TaskTensor>& outer,
                                           const RecipePath& path, std::int64_t slabs) {
  const ExpandedRecipe expanded = expand(recipe, task, outer.size(), context.tasks, slabs);
  require_within_limit(expanded, context, outer.size());
  std::vector<TaskTensor> known = outer;
  known.insert(known.end(), expanded.temporaries.begin(), expanded.temporaries.end());
  PartialRecipe start;
  start.candidate.name = recipe.name;
  start.candidate.temporaries = expanded.temporaries;
  std::vector<PartialRecipe> whole{start};
  RecipePath inside = path;
  inside.push_back(recipe.name);
  for (const auto& step : expanded.steps) {
    const CandidateList parts = list_within(step.task, context, known, inside);
    if (parts.candidates.empty()) {
      throw UnsupportedError("its step " + step.task.bound.problem.family + " has no kernel" +
                             (parts.rejections.empty() ? ""
                                                       : ": " + parts.rejections[0].name + " " +
                                                             parts.rejections[0].why));
    }
    std::vector<PartialRecipe> longer;
    for (const auto& prefix : whole) {
      const auto taken = prefix.taken.find(step.step);
      for (const auto& part : parts.candidates) {
        // Later slabs are computed as the first one is.
        if (taken != prefix.taken.end() && taken->second != part.name) continue;
        if (longer.size() == kMostCombinations) break;
        PartialRecipe joined = prefix;
        append(joined.candidate, part, outer.size(), expanded.temporaries.size());
        const bool named = part.kernels.size() > 1 || parts.candidates.size() > 1;
        if (taken == prefix.taken.end() && named) joined.candidate.name += "/" + part.name;
        joined.taken.emplace(step.step, part.name);
        longer.push_back(std::move(joined));
      }
    }
    whole = std::move(longer);
    if (whole.empty()) {
      throw UnsupportedError("no kernel of its step " + step.task.bound.problem.family +
                             " computes the last slab as well as the others");
    }
  }
  std::vector<Candidate> candidates;
  for (auto& way : whole) candidates.push_back(std::move(way.candidate));
  return candidates;
}

/// All ways through the recipe, in as few slabs as keep its temporaries within the workspace limit
/// and its steps within what kernels can do.
std::vector<Candidate> recipe_candidates(const Recipe& recipe, const Task& task,
                                         const PlanContext& context,
                                         const std::vector<TaskTensor>& outer,
                                         const RecipePath& path) {
  const std::int64_t most = std::min(most_slabs(recipe, task), kMostSlabs);
  for (std::int64_t slabs = 1;; slabs = std::min(2 * slabs, most)) {
    try {
      return candidates_in_slabs(recipe, task, context, outer, path, slabs);
    } catch (const UnsupportedError&) {
      if (slabs >= most) throw;
    }
  }
}

bool contains(const RecipePath& path, const std::string& name) {
  return std::find(path.begin(), path.end(), name) != path.end();
}

bool is_excluded(const std::string& name, const PlanContext& context) {
  return contains(context.options.exclude, name);
}

/// The entry or recipe that `use` asks for, or nothing. Who asks for a gemm kernel asks for it in
/// batches too.
std::string wanted_for(const std::string& family, const PlanContext& context) {
  const auto& use = context.options.use;
  if (const auto wanted = use.find(family); wanted != use.end()) return wanted->second;
  const auto product = use.find("gemm");
  if (family != "batched_gemm" || product == use.end()) return {};
  const std::string twin = "batched_" + product->second;
  return context.catalogue.find_entry(twin) != nullptr ? twin : std::string();
}

/// Whether `use` lets this entry or recipe compute its family. A wanted recipe has free choice
/// inside.
bool is_wanted(const std::string& name, const std::string& family, const PlanContext& context,
               const RecipePath& path) {
  const std::string wanted = wanted_for(family, context);
  return wanted.empty() || wanted == name || contains(path, wanted);
}

/// A recipe that poses the same family again (a product with its sides swapped) may lead to what is
/// wanted.
bool leads_to_own_family(const Recipe& recipe) {
  return std::any_of(recipe.steps.begin(), recipe.steps.end(),
                     [&](const RecipeStep& step) { return step.family == recipe.family; });
}

/// Every entry and recipe of the task's own family.
CandidateList list_family(const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer, const RecipePath& path) {
  CandidateList list;
  const std::string& family = task.bound.problem.family;
  for (const auto& entry : context.catalogue.entries()) {
    if (entry.family != family || !is_wanted(entry.name, family, context, path)) continue;
    if (packs_one_layout(entry)) {
      list.rejections.push_back({entry.name, "it packs one layout, and a step's reader names it"});
      continue;
    }
    if (is_excluded(entry.name, context)) {
      list.rejections.push_back({entry.name, "it is excluded"});
      continue;
    }
    try {
      list.candidates.push_back(entry_candidate(entry, task, context, outer));
    } catch (const UnsupportedError& error) {
      list.rejections.push_back({entry.name, error.what()});
    }
  }
  for (const auto& recipe : context.catalogue.recipes()) {
    if (recipe.family != family || contains(path, recipe.name)) continue;
    if (!is_wanted(recipe.name, family, context, path) && !leads_to_own_family(recipe)) continue;
    if (is_excluded(recipe.name, context)) {
      list.rejections.push_back({recipe.name, "it is excluded"});
      continue;
    }
    try {
      for (auto& candidate : recipe_candidates(recipe, task, context, outer, path)) {
        list.candidates.push_back(std::move(candidate));
      }
    } catch (const UnsupportedError& error) {
      list.rejections.push_back({recipe.name, error.what()});
    }
  }
  return list;
}

CandidateList list_within(const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer, const RecipePath& path) {
  CandidateList list;
  bool wanted = false;
  const auto at = [&](int id) -> const TaskTensor& { return tensor_at(id, context.tasks, outer); };
  const bool whole_only = context.options.use.contains(task.bound.problem.family);
  for (const auto& bound : narrowed(task.bound, at)) {
    const bool asked = context.options.use.contains(bound.problem.family);
    if (whole_only && !asked) continue;
    wanted = wanted || asked;
    CandidateList found = list_family({task.name, bound}, context, outer, path);
    std::move(found.candidates.begin(), found.candidates.end(),
              std::back_inserter(list.candidates));
    std::move(found.rejections.begin(), found.rejections.end(),
              std::back_inserter(list.rejections));
  }
  if (wanted) return list;
  CandidateList found = list_family(task, context, outer, path);
  std::move(found.candidates.begin(), found.candidates.end(), std::back_inserter(list.candidates));
  std::move(found.rejections.begin(), found.rejections.end(), std::back_inserter(list.rejections));
  return list;
}

/// The cheapest entry for which `fits` does not throw UnsupportedError.
KernelChoice cheapest_entry(const BoundProblem& bound, const std::string& name,
                            const PlanContext& context, const std::vector<TaskTensor>& temporaries,
                            const std::function<void(const Entry&)>& check_fits) {
  std::string reasons;
  std::optional<KernelChoice> best;
  for (const auto& entry : context.catalogue.entries()) {
    if (entry.family != bound.problem.family) continue;
    if (!is_wanted(entry.name, entry.family, context, {})) continue;
    if (is_excluded(entry.name, context)) continue;
    try {
      check_fits(entry);
      KernelChoice choice = choose_entry(entry, bound, name, context, temporaries);
      if (!best || choice.estimated_us < best->estimated_us) best = std::move(choice);
    } catch (const UnsupportedError& error) {
      reasons += std::string("; ") + entry.name + ": " + error.what();
    }
  }
  if (best) return *best;
  throw UnsupportedError("plan: no kernel for " + print(bound.problem) + " (" + name + ")" +
                         reasons);
}

/// True when the matrix lies as the format says: dst with whatever padding, src with none.
bool lies_as(const OperandFormat& format, const std::string& role, const Binding& binding,
             const Arrangement& arrangement, const BoundProblem& bound) {
  const View& view = binding.view;
  if (view.dimensions.size() != 2 || !view.grouping) return false;
  const Layout layout = layout_of(format, view.dimensions, {});
  if (role == "dst") return arrangement.layout == layout && arrangement.grouping == *view.grouping;
  Arrangement wanted = arrangement;
  wanted.grouping = *view.grouping;
  wanted.layout = layout;
  wanted.pitch = 0;
  wanted.padded.clear();
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t extent = bound.problem.extents.at(view.dimensions[d]);
    if (extent % layout.tile(static_cast<int>(d)) != 0) return false;
    wanted.padded.push_back(extent);
  }
  return same_memory(arrangement, wanted);
}

}  // namespace

KernelChoice choose_elementary(const BoundProblem& bound, const std::string& name,
                               const PlanContext& context,
                               const std::vector<TaskTensor>& temporaries) {
  const auto at = [&](int id) -> const TaskTensor& {
    return tensor_at(id, context.tasks, temporaries);
  };
  for (const auto& narrow : narrowed(bound, at)) {
    const auto wanted = context.options.use.find(narrow.problem.family);
    const Entry* entry = wanted == context.options.use.end()
                             ? nullptr
                             : context.catalogue.find_entry(wanted->second);
    if (entry != nullptr) return choose_entry(*entry, narrow, name, context, temporaries);
  }
  return cheapest_entry(bound, name, context, temporaries, [](const Entry&) {});
}

KernelChoice choose_pack(const BoundProblem& bound, const std::string& name,
                         const PlanContext& context, const std::vector<TaskTensor>& temporaries,
                         PackEnds ends) {
  return cheapest_entry(bound, name, context, temporaries, [&](const Entry& entry) {
    for (const auto& [role, format] : entry.operands) {
      const Arrangement& arrangement = role == "dst" ? ends.to : ends.from;
      if (!format.is_any() && !lies_as(format, role, bound.operands.at(role), arrangement, bound)) {
        throw UnsupportedError("its operand " + role + " lies as " + print(arrangement) +
                               ", not as " + format.layout_text);
      }
    }
  });
}

CandidateList list_candidates(const Task& task, const PlanContext& context) {
  CandidateList list = list_within(task, context, {}, {});
  for (auto& candidate : list.candidates) settle(candidate, context);
  std::stable_sort(
      list.candidates.begin(), list.candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.estimated_us < b.estimated_us; });
  if (!list.candidates.empty()) return list;
  std::string reasons;
  for (const auto& rejection : list.rejections) {
    reasons += "\n  " + rejection.name + ": " + rejection.why;
  }
  const std::string& family = task.bound.problem.family;
  if (const std::string wanted = wanted_for(family, context); !wanted.empty()) {
    throw UsageError("--use " + family + "=" + wanted + " cannot compute " + task.name +
                     (reasons.empty() ? ": no such kernel or recipe" : reasons));
  }
  throw UnsupportedError("plan: no kernel computes " + task.name + " (" +
                         print(task.bound.problem) + ") on this device" + reasons);
}

}  // namespace morton
