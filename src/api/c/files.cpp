// SPDX-License-Identifier: Apache-2.0
#include "morton/files.hpp"

#include <cstring>

#include "api/c/handles.hpp"
#include "api/c/versioned.hpp"

using namespace morton;
using namespace morton::api;

namespace {

void show_tensor(const NamedTensor& from, morton_tensor* to) {
  morton_tensor view{};
  view.name = from.name.c_str();
  view.type = type_of(from.tensor.dtype());
  view.rank = from.tensor.shape().size();
  view.extents = from.tensor.shape().data();
  view.data = from.tensor.data();
  view.bytes = from.tensor.bytes();
  write_versioned(to, view, "tensor");
}

NamedTensor read_view(const morton_tensor& from) {
  const morton_tensor view = read_versioned(&from, morton_tensor{}, "tensor");
  const std::string name = view.name == nullptr ? "" : view.name;
  return {name, callers_tensor("tensor '" + name + "'", dtype_of(view.type),
                               shape_of(view.extents, view.rank), view.data, view.bytes)};
}

/// The size of the structs in an array of them, which is what the first one says.
std::size_t stride_of(const morton_tensor* tensors) { return given(tensors, "tensors").size; }

}  // namespace

morton_status morton_tensors_read(const char* path, morton_tensors** tensors) {
  return hand_over(tensors, "tensors",
                   [&] { return new morton_tensors{read_tensors(given_text(path, "path"))}; });
}

void morton_tensors_free(morton_tensors* tensors) { delete tensors; }

size_t morton_tensors_count(const morton_tensors* tensors) {
  return tensors == nullptr ? 0 : tensors->tensors.size();
}

morton_status morton_tensors_at(const morton_tensors* tensors, size_t index,
                                morton_tensor* tensor) {
  return guarded([&] {
    const auto& all = given(tensors, "tensors").tensors;
    if (index >= all.size()) {
      throw UsageError("index " + std::to_string(index) + ": there are " +
                       std::to_string(all.size()) + " tensors");
    }
    show_tensor(all[index], tensor);
  });
}

morton_status morton_tensors_find(const morton_tensors* tensors, const char* name,
                                  morton_tensor* tensor) {
  return guarded([&] {
    const std::string wanted = given_text(name, "name");
    std::string known;
    for (const NamedTensor& one : given(tensors, "tensors").tensors) {
      if (one.name == wanted) return show_tensor(one, tensor);
      known += (known.empty() ? "" : ", ") + ("'" + one.name + "'");
    }
    throw UsageError("tensor '" + wanted + "': there is none of this name; there are " + known);
  });
}

morton_status morton_tensors_write(const char* path, const morton_tensor* tensors, size_t count) {
  return guarded([&] {
    std::vector<NamedTensor> all;
    const std::size_t stride = count > 0 ? stride_of(tensors) : 0;
    const auto* bytes = reinterpret_cast<const char*>(tensors);
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(read_view(*reinterpret_cast<const morton_tensor*>(bytes + i * stride)));
    }
    write_tensors(given_text(path, "path"), all);
  });
}

morton_status morton_image_to_input(const morton_tensor* image, const int64_t* extents, size_t rank,
                                    float* to, size_t bytes) {
  return guarded([&] {
    const Shape shape = shape_of(extents, rank);
    const Tensor input = image_to_input(read_view(given(image, "image")).tensor, shape);
    require_bytes("input", DType::f32, shape, bytes);
    require_data(to, bytes, "to");
    std::memcpy(to, input.data(), bytes);
  });
}
