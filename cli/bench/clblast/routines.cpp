// SPDX-License-Identifier: Apache-2.0
#include "bench/clblast/routines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "bench/peers/clblast_parameters.hpp"

namespace morton::cli {
namespace {

using Size = std::size_t;
using Routine = ClblastCall::Routine;

// Of clblast_c.h.
constexpr int kRowMajorLayout = 101;
constexpr int kNotTransposed = 111;
constexpr int kCrossCorrelation = 151;
using Scopy = int(Size n, cl_mem x, Size, Size, cl_mem y, Size, Size, cl_command_queue*, void*);
using Sim2col = int(int mode, Size channels, Size height, Size width, Size kernel_h, Size kernel_w,
                    Size, Size, Size, Size, Size, Size, cl_mem image, Size, cl_mem columns, Size,
                    cl_command_queue*, void*);
using Sgemv = int(int layout, int transposed, Size m, Size n, float alpha, cl_mem a, Size, Size,
                  cl_mem x, Size, Size, float beta, cl_mem y, Size, Size, cl_command_queue*, void*);
using Sgemm = int(int layout, int, int, Size m, Size n, Size k, float alpha, cl_mem a, Size, Size,
                  cl_mem b, Size, Size, float beta, cl_mem c, Size, Size, cl_command_queue*, void*);
using SgemmBatched = int(int layout, int, int, Size m, Size n, Size k, const float* alphas,
                         cl_mem a, const Size*, Size, cl_mem b, const Size*, Size,
                         const float* betas, cl_mem c, const Size*, Size, Size count,
                         cl_command_queue*, void*);
using TempSize = int(int layout, int, int, Size m, Size n, Size k, Size, Size, Size, Size, Size,
                     Size, cl_command_queue*, Size* bytes);

/// Larger squares are not looked at for the switch.
constexpr std::int64_t kLargestSquare = 1 << 14;
/// Elements of a result that are compared.
constexpr std::int64_t kCompared = 300;

/// From -3 to 3: sums of products are exact.
float value_at(std::int64_t at, std::uint64_t operand) {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(at) + 1 + operand * 7919) * 2654435761U;
  return static_cast<float>((mixed >> 16U) % 7U) - 3.0F;
}

/// Where each matrix of a batch begins.
std::vector<Size> offsets_of(std::int64_t batch, std::int64_t elements) {
  std::vector<Size> offsets;
  for (std::int64_t b = 0; b < batch; ++b) offsets.push_back(static_cast<Size>(b * elements));
  return offsets;
}

double product_at(const ClblastCall& call, std::int64_t at) {
  const std::int64_t b = at / (call.m * call.n);
  const std::int64_t row = at / call.n % call.m;
  double sum = 0.0;
  for (std::int64_t k = 0; k < call.k; ++k) {
    sum += static_cast<double>(value_at((b * call.m + row) * call.k + k, 0)) *
           static_cast<double>(value_at((b * call.k + k) * call.n + at % call.n, 1));
  }
  return sum;
}

/// Rows are channels and places of the window, columns places of the image.
double column_at(const ClblastCall& call, std::int64_t at) {
  const std::int64_t places = call.square - call.window + 1;
  const std::int64_t x = at % places, y = at / places % places;
  const std::int64_t row = at / (places * places);
  const std::int64_t window_x = row % call.window, window_y = row / call.window % call.window;
  const std::int64_t channel = row / (call.window * call.window);
  return value_at((channel * call.square + y + window_y) * call.square + x + window_x, 0);
}

}  // namespace

std::vector<std::vector<std::int64_t>> ClblastCall::extents() const {
  const std::int64_t places = square - window + 1;
  if (routine == Routine::copy) return {{m}, {m}};
  if (routine == Routine::im2col) {
    return {{channels, square, square}, {channels, window, window, places, places}};
  }
  return {{batch, m, k}, {batch, k, n}, {batch, m, n}};
}

std::vector<std::int64_t> ClblastCall::elements() const {
  std::vector<std::int64_t> counts;
  for (const auto& operand : extents()) {
    std::int64_t count = 1;
    for (const std::int64_t extent : operand) count *= extent;
    counts.push_back(count);
  }
  return counts;
}

std::optional<std::int64_t> ClblastCall::largest_bytes() const {
  std::int64_t largest = 0;
  for (const auto& operand : extents()) {
    std::int64_t bytes = sizeof(float);
    for (const std::int64_t extent : operand) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
    }
    largest = std::max(largest, bytes);
  }
  return largest;
}

double ClblastCall::flop() const {
  if (routine == Routine::copy || routine == Routine::im2col) return 0.0;
  return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

double ClblastCall::bytes() const {
  double sum = 0.0;
  for (const auto& operand : extents()) {
    double bytes = sizeof(float);
    for (const std::int64_t extent : operand) bytes *= static_cast<double>(extent);
    sum += bytes;
  }
  return sum;
}

double ClblastCall::expected(std::int64_t at) const {
  if (routine == Routine::copy) return value_at(at, 0);
  return routine == Routine::im2col ? column_at(*this, at) : product_at(*this, at);
}

ClblastRoutines::ClblastRoutines(const Device& device, const std::string& folder,
                                 const std::string& parameters)
    : library_("clblast", {{"libclblast.so.1"}, folder, "install Debian's package libclblast1"}),
      memory_(device),
      queue_(memory_.make_queue()) {
  if (!parameters.empty()) override_by_file(library_, memory_.device_id(), parameters);
}

void ClblastRoutines::prepare(const ClblastCall& call) {
  call_ = call;
  operands_.clear();
  const std::vector<std::int64_t> elements = call.elements();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::vector<float> values(static_cast<Size>(elements[i]));
    operands_.push_back(memory_.allocate(values.size() * sizeof(float)));
    if (i + 1 < elements.size()) {
      for (Size at = 0; at < values.size(); ++at) {
        values[at] = value_at(static_cast<std::int64_t>(at), i);
      }
    }
    // What is written begins as zeros: xGEMV reads what it multiplies by zero.
    DeviceMemory::write(queue_, operands_.back(), std::as_bytes(std::span(values)));
  }
}

void ClblastRoutines::enqueue() {
  cl_command_queue queue = queue_.get();
  const auto m = static_cast<Size>(call_.m), n = static_cast<Size>(call_.n);
  const auto k = static_cast<Size>(call_.k);
  const auto buffer = [&](Size i) { return operands_[i].get(); };
  const auto call = [&](const char* name, auto* function, auto... arguments) {
    library_.load(name, function);
    require_clblast(function(arguments..., &queue, nullptr), name);
  };
  constexpr int kPlain = kNotTransposed;
  if (call_.routine == Routine::copy) {
    call("CLBlastScopy", static_cast<Scopy*>(nullptr), m, buffer(0), Size{0}, Size{1}, buffer(1),
         Size{0}, Size{1});
  } else if (call_.routine == Routine::im2col) {
    const auto square = static_cast<Size>(call_.square), window = static_cast<Size>(call_.window);
    call("CLBlastSim2col", static_cast<Sim2col*>(nullptr), kCrossCorrelation,
         static_cast<Size>(call_.channels), square, square, window, window, Size{0}, Size{0},
         Size{1}, Size{1}, Size{1}, Size{1}, buffer(0), Size{0}, buffer(1), Size{0});
  } else if (call_.routine == Routine::gemv) {
    call("CLBlastSgemv", static_cast<Sgemv*>(nullptr), kRowMajorLayout, kPlain, m, k, 1.0F,
         buffer(0), Size{0}, k, buffer(1), Size{0}, Size{1}, 0.0F, buffer(2), Size{0}, Size{1});
  } else if (call_.routine == Routine::gemm) {
    call("CLBlastSgemm", static_cast<Sgemm*>(nullptr), kRowMajorLayout, kPlain, kPlain, m, n, k,
         1.0F, buffer(0), Size{0}, k, buffer(1), Size{0}, n, 0.0F, buffer(2), Size{0}, n);
  } else {
    const auto batch = static_cast<Size>(call_.batch);
    const std::vector<float> alphas(batch, 1.0F), betas(batch, 0.0F);
    const auto lhs = offsets_of(call_.batch, call_.m * call_.k);
    const auto rhs = offsets_of(call_.batch, call_.k * call_.n);
    const auto dst = offsets_of(call_.batch, call_.m * call_.n);
    call("CLBlastSgemmBatched", static_cast<SgemmBatched*>(nullptr), kRowMajorLayout, kPlain,
         kPlain, m, n, k, alphas.data(), buffer(0), lhs.data(), k, buffer(1), rhs.data(), n,
         betas.data(), buffer(2), dst.data(), n, batch);
  }
}

void ClblastRoutines::finish() { DeviceMemory::finish(queue_); }

std::string ClblastRoutines::complaint() {
  const std::int64_t count = call_.elements().back();
  std::vector<float> values(static_cast<Size>(count));
  DeviceMemory::read(queue_, operands_.back(), std::as_writable_bytes(std::span(values)));
  // A step that is odd visits all residues; the last element is always among them.
  const std::int64_t step = std::max<std::int64_t>(count / kCompared, 1) | 1;
  for (std::int64_t at = count - 1; at >= 0; at -= step) {
    const double got = values[static_cast<Size>(at)];
    if (got == call_.expected(at)) continue;
    return fmt::format("wrong result: element {} is {}, expected {}", at, got, call_.expected(at));
  }
  return "";
}

bool ClblastRoutines::is_direct(std::int64_t m, std::int64_t n, std::int64_t k) {
  TempSize* temp_size = nullptr;
  library_.load("CLBlastSGemmTempBufferSize", temp_size);
  cl_command_queue queue = queue_.get();
  Size bytes = 0;
  const auto rows = static_cast<Size>(m), columns = static_cast<Size>(n);
  const auto terms = static_cast<Size>(k);
  require_clblast(temp_size(kRowMajorLayout, kNotTransposed, kNotTransposed, rows, columns, terms,
                            0, terms, 0, columns, 0, columns, &queue, &bytes),
                  "CLBlastSGemmTempBufferSize");
  return bytes == 0;
}

std::int64_t ClblastRoutines::least_indirect() {
  // Odd sizes 2 i + 1: the least that is not direct.
  std::int64_t direct = -1, indirect = kLargestSquare / 2;
  while (indirect - direct > 1) {
    const std::int64_t middle = (direct + indirect) / 2;
    const std::int64_t size = 2 * middle + 1;
    (is_direct(size, size, size) ? direct : indirect) = middle;
  }
  const std::int64_t odd = 2 * indirect + 1;
  if (odd < 3 || odd > kLargestSquare) return odd;
  // CLBlast compares m n k with the cube of its parameter; this lies between those of odd - 1, odd.
  return is_direct(odd - 2, odd, odd) ? odd : odd - 1;
}

void ClblastRoutines::set_least_indirect(std::int64_t size) {
  const ClblastParameters switch_at{
      {"GemmRoutine", {{"XGEMM_MIN_INDIRECT_SIZE", static_cast<Size>(size)}}}};
  override_parameters(library_, memory_.device_id(), switch_at, "bench clblast");
}

}  // namespace morton::cli
