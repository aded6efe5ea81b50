// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "bench/peers/peer.hpp"
#include "bench/peers/shared_library.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

// Of cublas_api.h and cuda_runtime_api.h.
constexpr int kCublasPlain = 0;
constexpr int kCublasTransposed = 1;
constexpr int kDefaultMath = 0;  ///< no TF32
constexpr int kToDevice = 1;
constexpr int kToHost = 2;
using Handle = void*;
using CublasSgemm = int(Handle, int trans_a, int trans_b, int m, int n, int k, const float* alpha,
                        const float* a, int lda, const float* b, int ldb, const float* beta,
                        float* c, int ldc);

constexpr const char* kRemedy =
    "install NVIDIA's CUDA 12 or 13 and name its folder of libraries by --peer-folder or "
    "LD_LIBRARY_PATH";

struct Calls {
  int (*set_device)(int);
  int (*count_devices)(int*);
  int (*bus_id_of)(char*, int length, int device);
  int (*allocate)(void**, std::size_t);
  int (*release)(void*);
  int (*copy)(void*, const void*, std::size_t, int kind);
  int (*synchronize)();
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*version)(Handle, int*);
  int (*set_math)(Handle, int);
  CublasSgemm* sgemm;
};

Calls load_calls(const SharedLibrary& runtime, const SharedLibrary& blas) {
  Calls calls{};
  runtime.load("cudaSetDevice", calls.set_device);
  runtime.load("cudaGetDeviceCount", calls.count_devices);
  runtime.load("cudaMalloc", calls.allocate);
  runtime.load("cudaFree", calls.release);
  runtime.load("cudaMemcpy", calls.copy);
  runtime.load("cudaDeviceSynchronize", calls.synchronize);
  runtime.load("cudaDeviceGetPCIBusId", calls.bus_id_of);
  blas.load("cublasCreate_v2", calls.create);
  blas.load("cublasDestroy_v2", calls.destroy);
  blas.load("cublasGetVersion_v2", calls.version);
  blas.load("cublasSetMathMode", calls.set_math);
  blas.load("cublasSgemm_v2", calls.sgemm);
  return calls;
}

void require_success(int status, const char* call) {
  if (status == 0) return;
  throw DeviceError(fmt::format("cublas: {} returned status {}", call, status));
}

class CuBlas : public Peer {
 public:
  explicit CuBlas(const PeerRequest& request)
      : runtime_("cublas", {{"libcudart.so.13", "libcudart.so.12"}, request.folder, kRemedy}),
        blas_("cublas", {{"libcublas.so.13", "libcublas.so.12"}, request.folder, kRemedy}),
        calls_(load_calls(runtime_, blas_)),
        shape_(request.shape) {
    choose_device(request.device);
    require_success(calls_.create(&handle_), "cublasCreate");
    require_success(calls_.set_math(handle_, kDefaultMath), "cublasSetMathMode");
    for (std::size_t i = 0; i < request.sets; ++i) {
      sets_.push_back({allocate(shape_.m * shape_.k), allocate(shape_.k * shape_.n),
                       allocate(shape_.m * shape_.n)});
    }
  }
  CuBlas(const CuBlas&) = delete;
  CuBlas& operator=(const CuBlas&) = delete;
  ~CuBlas() override {
    for (const Operands& set : sets_) {
      for (float* memory : {set.lhs, set.rhs, set.dst}) calls_.release(memory);
    }
    if (handle_ != nullptr) calls_.destroy(handle_);
  }

  [[nodiscard]] std::string version() const override {
    int version = 0;
    require_success(calls_.version(handle_, &version), "cublasGetVersion");
    // 120304 is 12.3.4.
    return fmt::format("cuBLAS {}.{}.{}, f32 without TF32, on the GPU {}", version / 10000,
                       version / 100 % 100, version % 100, bus_id_);
  }
  [[nodiscard]] Place place() const override { return Place::same_processor; }
  [[nodiscard]] AfterCall after_call() const override { return AfterCall::idle; }

  void set_inputs(const Tensor& lhs, const Tensor& rhs) override {
    for (const Operands& set : sets_) {
      require_success(calls_.copy(set.lhs, lhs.data(), lhs.bytes(), kToDevice), "cudaMemcpy");
      require_success(calls_.copy(set.rhs, rhs.data(), rhs.bytes(), kToDevice), "cudaMemcpy");
    }
  }

  // Its matrices are column-major: what it sees is dst transposed = rhs transposed * lhs
  // transposed, each as it lies.
  void enqueue(std::size_t set) override {
    using Order = GemmShape::Order;
    const float one = 1.0F;
    const float zero = 0.0F;
    const auto m = static_cast<int>(shape_.m);
    const auto n = static_cast<int>(shape_.n);
    const auto k = static_cast<int>(shape_.k);
    const bool lhs_plain = shape_.lhs == Order::plain;
    const bool rhs_plain = shape_.rhs == Order::plain;
    const Operands& operands = sets_[set];
    require_success(
        calls_.sgemm(handle_, rhs_plain ? kCublasPlain : kCublasTransposed,
                     lhs_plain ? kCublasPlain : kCublasTransposed, n, m, k, &one, operands.rhs,
                     rhs_plain ? n : k, operands.lhs, lhs_plain ? k : m, &zero, operands.dst, n),
        "cublasSgemm");
  }

  void wait() override { require_success(calls_.synchronize(), "cudaDeviceSynchronize"); }

  [[nodiscard]] Tensor result(std::size_t set) override {
    Tensor dst = Tensor::allocate(DType::f32, {shape_.m, shape_.n});
    require_success(calls_.copy(dst.mutable_data(), sets_[set].dst, dst.bytes(), kToHost),
                    "cudaMemcpy");
    return dst;
  }

 private:
  struct Operands {
    float *lhs, *rhs, *dst;
  };

  /// CUDA's number of the OpenCL device: the only GPU there is, since neither tells the other's
  /// name for it.
  void choose_device(const Device& device) {
    const Json facts = Json::parse(device.json());
    if (facts.value("kind", "") != "gpu" ||
        facts.value("vendor", "").find("NVIDIA") == std::string::npos) {
      throw UsageError(
          fmt::format("--peer cublas: it computes on NVIDIA's GPUs, and the device is "
                      "{}; choose one with --device",
                      device.description()));
    }
    int count = 0;
    require_success(calls_.count_devices(&count), "cudaGetDeviceCount");
    if (count != 1) {
      throw UsageError(
          fmt::format("--peer cublas: CUDA sees {} GPUs, and which of them is the "
                      "device is not known; leave one in CUDA_VISIBLE_DEVICES",
                      count));
    }
    require_success(calls_.set_device(0), "cudaSetDevice");
    std::array<char, 32> bus_id{};
    require_success(calls_.bus_id_of(bus_id.data(), static_cast<int>(bus_id.size()), 0),
                    "cudaDeviceGetPCIBusId");
    bus_id_ = bus_id.data();
  }

  [[nodiscard]] float* allocate(std::int64_t elements) const {
    void* memory = nullptr;
    require_success(calls_.allocate(&memory, static_cast<std::size_t>(elements) * sizeof(float)),
                    "cudaMalloc");
    return static_cast<float*>(memory);
  }

  SharedLibrary runtime_, blas_;
  Calls calls_;
  GemmShape shape_;
  std::string bus_id_;
  Handle handle_ = nullptr;
  std::vector<Operands> sets_;
};

}  // namespace

std::unique_ptr<Peer> open_cublas(const PeerRequest& request) {
  return std::make_unique<CuBlas>(request);
}

}  // namespace morton::cli
