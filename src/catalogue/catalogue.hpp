// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "layout/arrangement.hpp"
#include "morton/dtype.hpp"
#include "problems/family.hpp"

namespace morton {
class JsonReader;
}

namespace morton::catalogue {

/// The data format that a kernel demands of one operand, or leaves in its result.
struct OperandFormat {
  /// As written: "any", "unbound", a layout's text, or one with expressions over tunables in
  /// braces, such as "R_*_{TILE_N}_R".
  std::string layout_text = "any";
  /// Leading dimensions of the operand that the layout's text does not name: whole loops around it.
  int outer = 0;
  /// The parsed layout of a text without braces; unset otherwise. `layout_of` serves both.
  std::optional<Layout> layout;
  std::vector<DType> types;  ///< that the tensor may have
  /// Element type in memory where it is not the tensor's own: packing converts, and the plan takes
  /// the kernel only where that precision is asked for.
  std::optional<DType> stored;
  /// Of inputs: what the kernel needs the padding to hold. Of dst: what it leaves there.
  PaddingContents padding = PaddingContents::undefined;
  MemoryKind memory = MemoryKind::buffer;
  int image_rows = 0, image_texels = 0;  ///< see Arrangement
  /// True when the kernel reaches the operand through accessors although its layout is stated.
  bool has_accessors = false;

  /// True when the kernel takes the operand wherever it lies, and dst is left where its readers
  /// want it.
  [[nodiscard]] bool is_any() const { return layout_text == "any" || is_unbound(); }
  /// True when the kernel walks the memory of src and dst alike, padding included: both lie in the
  /// same arrangement, whichever it is (R17, section 9.2). Otherwise generated accessors reach an
  /// operand of any layout.
  [[nodiscard]] bool is_unbound() const { return layout_text == "unbound"; }
};

/// The layout that `format` demands of an operand with these dimensions under these values of the
/// tunables. Throws ModelError where the text does not parse with them, InternalError for "any".
[[nodiscard]] Layout layout_of(const OperandFormat& format, std::span<const std::string> dimensions,
                               const Environment& tunables);

/// A value that is compiled into a kernel and may be tuned.
struct Tunable {
  std::vector<std::int64_t> values;
  /// Used where no tuned value is known: one of `values`, or a rule over facts of the device
  /// ("8*device.lanes"). A rule stands for the largest of `values` that it reaches, else the least.
  Expression standard;
  /// Over tunables and facts of the device: where it is 0, tuning does not try the values.
  Expression tried = 1;
};

/// What tuning data knows a version of a kernel by.
struct EntryDigest {
  /// Of the kernel's code and of its declaration's values (catalogue/entry_digest.hpp): what new
  /// records hold.
  std::string kernel;
  /// Of the declaration and the program's text, byte for byte: what records hold that were written
  /// before there was the other.
  std::string files;

  /// Whether a record with this digest is of this version.
  [[nodiscard]] bool is(std::string_view recorded) const {
    return recorded == kernel || recorded == files;
  }
};

/// One kernel: a function, the formats it demands, and how it is launched. Read from
/// src/kernels/<family>/<name>.json (schema in docs/how_to/add_a_kernel.md).
struct Entry {
  enum class Edges : std::uint8_t {
    pad,    ///< every padded element is computed: operands are padded to `align`
    guard,  ///< the kernel stops at the logical extents
  };
  /// Where it was declared.
  struct Origin {
    std::string file;      ///< its JSON file, for messages
    std::string batch_of;  ///< of many products: the entry of one, whose text it runs
  };
  /// The text that it is built from.
  struct Program {
    std::string source_file;  ///< "gemm/morton_4_2.cl", for messages
    std::string source;  ///< its text, behind the shared ones that it includes (shared_text.hpp)
    std::vector<std::string> includes;      ///< files of shared texts: "shared/vectors.clh"
    std::vector<std::string> shared_names;  ///< of functions and types in them
    std::string code;  ///< the same without comments (bare_code), to search and to compare
    std::vector<std::string> uses;  ///< optional definitions that it asks for: "STORE4_dst"
    bool copies_meanwhile = false;  ///< to local memory, as it works: cp.async of PTX
    EntryDigest digest;
    std::string function;
    /// False where the text may define names besides its function's: then each instance is a
    /// program of its own.
    bool is_shared = true;
  };
  /// Instead of a program: the library (library.hpp) and what of it is called. Such an entry has no
  /// arguments, ranges or tunables; its operands are dense.
  struct Call {
    std::string library, routine;
    /// It adds to what dst holds, so it carries a leading sum of the epilogue, whose addend it is
    /// given in dst's shape (plan/search/entry_candidate.hpp).
    bool adds_to_start = false;
  };
  /// How far its operands are padded.
  struct Padding {
    Edges edges = Edges::guard;
    std::map<std::string, Expression> align;  ///< by problem dimension, over tunables
  };
  struct Launch {
    /// Kernel arguments in order: operand names, extents ("M"), padded extents ("M_pad"), structure
    /// that is not compiled in ("KH"), or "elements_dst" (elements of dst in memory, padding
    /// included).
    std::vector<std::string> arguments;
    /// Of an entry with a generic form (catalogue/generic.hpp): structure that is an argument
    /// there.
    std::optional<std::vector<std::string>> generic;
    std::vector<Expression> global, local;  ///< one to three dimensions
    /// What shapes an untuned work-group: its standard alone, or the extents too. Of those with as
    /// many work-items as the standard one, `fewest_idle` is that whose groups cover dst with the
    /// fewest work-items beyond it (A16).
    enum class WorkGroup : std::uint8_t { standard, fewest_idle } work_group = WorkGroup::standard;
    Expression local_memory_bytes;
  };
  /// How sums are rounded (docs/numerics.md).
  struct Sums {
    /// Terms that are added up before the sum is rounded toward zero, as tensor cores do; 0 where
    /// sums are rounded to nearest after each term.
    std::int64_t terms_per_truncation = 0;
    /// Most terms that are added up in f16 before that is added to a sum in f32; 0 where all sums
    /// are in f32.
    std::int64_t terms_in_f16 = 0;
  };
  /// What the cost model rests on.
  struct Cost {
    Expression flop, bytes;  ///< `bytes` unset (0) means each operand once
    Expression work;  ///< operations that it takes, those on padding and repeated ones included
    /// Share of the device's arithmetic peak that is reached where nothing is tuned, by class of
    /// device (`classes_of`): the cost model's first guess.
    std::map<std::string, double> efficiency;
    /// An operand whose rows the kernel reads in pieces, empty where there is none; and the
    /// elements of a piece, far from the one before, 0 where they follow each other.
    std::string in_pieces = {};
    Expression piece;
    double building_us = 0.0;  ///< that counts for each use, where a plan is to answer at once
  };

  std::string name;  ///< "gemm.morton_4_2"
  Family family;     ///< the problem that it solves
  Origin origin;
  Program program;
  Call call;
  std::map<std::string, OperandFormat> operands;
  Padding padding;
  Launch launch;
  std::map<std::string, Tunable> tunables;
  std::vector<Expression> require;
  bool carries_epilogue = false;
  /// Considered only where PlanOptions::use, or a recipe's step, names it.
  bool where_named = false;
  Sums sums;
  Cost cost;

  /// Whether its kernel takes what it computes, and where its operands lie, as data: an argument
  /// `work` (source/work_program.hpp).
  [[nodiscard]] MORTON_FOR_TOOLS bool takes_work() const;
  /// Whether its text asks for that optional definition ("uses").
  [[nodiscard]] bool uses(std::string_view definition) const;
};

/// One operand of a recipe's step: what it is bound to, and through which coordinates.
struct RecipeOperand {
  std::string target;                   ///< an operand of the recipe's problem, or a temporary
  std::vector<Expression> coordinates;  ///< one for each dimension of the target
  /// Coordinates may leave the target: they then read `outside`, or are not written.
  bool bounded = false;
  double outside = 0.0;
};

/// A sub-problem of a recipe, which the planner solves as it solves any other.
struct RecipeStep {
  Family family;
  std::string kernel;  ///< the entry or recipe that must solve it; empty: whichever is best
  std::map<std::string, Expression> extents;    ///< over the recipe's names
  std::map<std::string, Expression> structure;  ///< likewise
  std::map<std::string, RecipeOperand> operands;
};

/// Repetition of a recipe's steps over parts of a long dimension, so that temporaries stay within
/// the workspace limit. Steps that use neither name run once.
struct RecipeSlabs {
  Expression extent;   ///< of the whole dimension
  std::string start;   ///< name of a slab's first element
  std::string length;  ///< name of its number of elements
};

/// A way to solve a problem in several steps. The epilogue of the problem goes to the step that
/// writes its dst.
struct Recipe {
  std::string name;
  Family family;
  std::string file;
  bool where_named = false;  ///< as an entry's
  /// Of one that adds numbers before they are multiplied: the fewest significant bits of what lies
  /// in memory with which it is exact enough; 0: any, and its temporaries are not rounded.
  int significant_bits = 0;
  /// Name -> the values that the plan tries, all of them unless one is set.
  std::map<std::string, std::vector<std::int64_t>> tunables;
  /// Name -> a size over the problem's extents and structure and the tunables, for steps to use.
  std::map<std::string, Expression> sizes;
  std::vector<Expression> require;  ///< over the same, the sizes, and facts of the device
  /// Name -> extents of a tensor that lives only inside the recipe; its consumer dictates its
  /// format.
  std::map<std::string, std::vector<Expression>> temporaries;
  std::optional<RecipeSlabs> slabs;
  std::vector<RecipeStep> steps;
};

/// A kernel of R17's library of which nothing but its text is stated.
struct UnstatedKernel {
  std::string why;  ///< no problem can be given to it
  /// The kernel as one of that family, by what R17 takes for granted of such kernels
  /// (r17_restrictions.hpp). Throws ModelError where its text takes other parameters.
  std::function<Entry(Family family)> by_convention;
};

/// All kernels and recipes that can be chosen from. A value: reading it again gives another one.
class Catalogue {
 public:
  /// Those built into the library, which a process reads once, when they are first asked for; or
  /// from MORTON_KERNEL_DIR when that is set, read anew each time.
  [[nodiscard]] MORTON_FOR_TOOLS static std::shared_ptr<const Catalogue> shared();
  /// A copy of `shared`, to which files may be added.
  [[nodiscard]] static Catalogue standard() { return *shared(); }
  /// Every <family>/<name>.json below `folder`, with the .cl and .clh files that they name.
  [[nodiscard]] static Catalogue from_folder(const std::filesystem::path& folder);
  /// Adds a user's entry or recipe file, or a kernel library of R17
  /// (CompileOptions::catalogue_files); its .cl and .clh files lie beneath its folder, or a .clh
  /// among those built in. An entry whose name is taken replaces nothing: ModelError.
  MORTON_FOR_TOOLS void add_file(const std::filesystem::path& json);
  /// Adds from text; `read_source` gives the text of a .cl or .clh named in it.
  void add_text(std::string_view json, const std::string& file,
                const std::function<std::string(const std::string&)>& read_source);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<Recipe>& recipes() const { return recipes_; }
  /// Kernels of libraries that no problem can be given to, by name, and why.
  [[nodiscard]] const std::map<std::string, UnstatedKernel>& left_out() const { return left_out_; }
  /// Makes entries of those that `use` (family -> name) names, by R17's conventions for kernels of
  /// that family; leaves them where the family has none. Throws ModelError where a kernel takes
  /// other arguments.
  MORTON_FOR_TOOLS void take_by_convention(const std::map<std::string, std::string>& use);
  [[nodiscard]] MORTON_FOR_TOOLS const Entry* find_entry(std::string_view name) const;
  [[nodiscard]] MORTON_FOR_TOOLS const Recipe* find_recipe(std::string_view name) const;

 private:
  void add_library(const JsonReader& reader,
                   const std::function<std::string(const std::string&)>& read_source);
  [[nodiscard]] bool is_taken(const std::string& name) const;
  friend std::shared_ptr<const Catalogue> generic_forms(const Catalogue& catalogue);

  std::vector<Entry> entries_;  ///< sorted by name
  std::vector<Recipe> recipes_;
  std::map<std::string, UnstatedKernel> left_out_;
};

/// True for a kernel that packs between matrices (D0, D1) one of which must lie in a certain
/// layout.
[[nodiscard]] bool packs_one_layout(const Entry& entry);

/// The value of each tunable where nothing is tuned, on the device with these facts
/// (environment_of).
[[nodiscard]] MORTON_FOR_TOOLS Environment standard_tunables(const Entry& entry,
                                                             const Environment& device);
/// Likewise on a device of which nothing is known.
[[nodiscard]] MORTON_FOR_TOOLS Environment standard_tunables(const Entry& entry);

/// The names that the expressions of `global`, `local_memory_bytes`, `require` and `cost` may use:
/// the family's extents ("M"), padded extents ("M_pad"), "elements_dst", structure, tunables and
/// device facts; in the file also its `sizes`. `align`, `local` and layouts may use tunables only.
/// Checked when an entry is read; an unknown name is a ModelError that lists the known ones.
[[nodiscard]] std::vector<std::string> known_names(const Entry& entry);

}  // namespace morton::catalogue
