// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "api/c/handles.hpp"
#include "api/c/json_texts.hpp"
#include "api/c/versioned.hpp"
#include "morton/session.hpp"

using namespace morton;
using namespace morton::api;

struct morton_session {
  morton_session(const CompiledModel& model, const SessionOptions& options)
      : session(model, options), inputs(model.inputs()), outputs(model.outputs()) {
    for (const PortInfo& port : model.inputs()) unset.insert(port.name);
  }

  Session session;
  PortTable inputs, outputs;
  std::set<std::string> unset;  ///< inputs that have no value yet
  std::optional<Event> last;    ///< of what was enqueued last
};

namespace {

morton_session_options usual_session_options() {
  morton_session_options options{};
  options.size = sizeof options;
  return options;
}

SessionOptions::Profiling profiling_of(std::int32_t on) {
  return flag(on, "profiling") ? SessionOptions::Profiling::on : SessionOptions::Profiling::off;
}

void enqueue(morton_session& session) {
  if (!session.unset.empty()) {
    throw UsageError("session: input '" + *session.unset.begin() + "' was never set");
  }
  session.last = session.session.enqueue();
}

void wait(morton_session& session) {
  if (session.last) session.last->wait();
}

/// Before a run outputs hold whatever lay in their memory.
void require_run(const morton_session& session, const std::string& output) {
  if (!session.last) throw UsageError("session: output '" + output + "' has no value before a run");
}

/// The output's value after the last run. Of one whose extents a run finds out it is cut to them.
Tensor cut_output(morton_session& session, const std::string& name) {
  return session.session.get_output(name);
}

bool has_counts(const PortInfo& port) {
  for (const std::string& count : port.counts) {
    if (!count.empty()) return true;
  }
  return false;
}

void copy_output(morton_session& session, const std::string& name, void* data, std::size_t bytes) {
  const PortInfo* const port = session.outputs.find(name);
  if (port != nullptr) require_run(session, name);
  const std::string what = "output '" + name + "'";
  if (port != nullptr && !has_counts(*port)) {
    require_bytes(what, port->dtype, port->shape, bytes);
    require_data(data, bytes, (what + ": data").c_str());
    Tensor to = Tensor::borrow(port->dtype, port->shape, data, bytes);
    return session.session.get_output(name, to);
  }
  // An unknown name is refused here, with those that there are.
  const Tensor value = cut_output(session, name);
  require_bytes(what, port == nullptr ? value.dtype() : port->dtype,
                port == nullptr ? value.shape() : port->shape, bytes);
  require_data(data, bytes, (what + ": data").c_str());
  std::memcpy(data, value.stored(), value.bytes());
}

void tell_bytes(const Tensor& mapped, std::size_t* bytes) {
  if (bytes != nullptr) *bytes = mapped.bytes();
}

}  // namespace

morton_status morton_session_options_init(morton_session_options* options, size_t size) {
  return guarded([&] { write_versioned(options, size, usual_session_options(), "options"); });
}

morton_status morton_session_create(const morton_compiled* compiled,
                                    const morton_session_options* options,
                                    morton_session** session) {
  return hand_over(session, "session", [&] {
    const auto asked = read_versioned(options, usual_session_options(), "session options");
    const SessionOptions chosen{profiling_of(asked.profiling)};
    return new morton_session(given(compiled, "compiled").model, chosen);
  });
}

void morton_session_free(morton_session* session) { delete session; }

morton_status morton_session_set_input(morton_session* session, const char* name, const void* data,
                                       size_t bytes) {
  return guarded([&] {
    auto& to = given(session, "session");
    const std::string input = given_text(name, "name");
    const PortInfo* const port = to.inputs.find(input);
    // The session refuses an unknown name, with those that there are.
    if (port == nullptr) return to.session.set_input(input, Tensor());
    to.session.set_input(input, callers_tensor("input", *port, data, bytes));
    to.unset.erase(input);
  });
}

morton_status morton_session_run(morton_session* session) {
  return guarded([&] {
    enqueue(given(session, "session"));
    wait(*session);
  });
}

morton_status morton_session_enqueue(morton_session* session) {
  return guarded([&] { enqueue(given(session, "session")); });
}

morton_status morton_session_wait(morton_session* session) {
  return guarded([&] { wait(given(session, "session")); });
}

morton_status morton_session_get_output(morton_session* session, const char* name, void* data,
                                        size_t bytes) {
  return guarded(
      [&] { copy_output(given(session, "session"), given_text(name, "name"), data, bytes); });
}

morton_status morton_session_output_extents(morton_session* session, const char* name,
                                            int64_t* extents, size_t rank) {
  return guarded([&] {
    auto& from = given(session, "session");
    const std::string output = given_text(name, "name");
    const PortInfo* const port = from.outputs.find(output);
    const bool is_known = port != nullptr && !has_counts(*port);
    if (port != nullptr && !is_known) require_run(from, output);
    const Shape shape = is_known ? port->shape : cut_output(from, output).shape();
    if (rank != shape.size()) {
      throw UsageError("output '" + output + "': has " + std::to_string(shape.size()) +
                       " extents, got room for " + std::to_string(rank));
    }
    if (rank > 0) given(extents, "extents");
    std::copy(shape.begin(), shape.end(), extents);
  });
}

morton_status morton_session_map_input(morton_session* session, const char* name, void** data,
                                       size_t* bytes) {
  return hand_over(data, "data", [&] {
    const std::string input = given_text(name, "name");
    Tensor mapped = given(session, "session").session.map_input(input);
    session->unset.erase(input);
    tell_bytes(mapped, bytes);
    return static_cast<void*>(mapped.mutable_data());
  });
}

morton_status morton_session_map_output(morton_session* session, const char* name,
                                        const void** data, size_t* bytes) {
  return hand_over(data, "data", [&] {
    auto& from = given(session, "session");
    const std::string output = given_text(name, "name");
    if (from.outputs.find(output) != nullptr) require_run(from, output);
    const Tensor mapped = from.session.map_output(output);
    tell_bytes(mapped, bytes);
    return static_cast<const void*>(mapped.data());
  });
}

morton_status morton_session_unmap(morton_session* session) {
  return guarded([&] { given(session, "session").session.unmap(); });
}

morton_status morton_session_set_profiling(morton_session* session, int32_t on) {
  return guarded([&] { given(session, "session").session.set_profiling(profiling_of(on)); });
}

morton_status morton_session_step_times_json(morton_session* session, char** json) {
  return hand_over(json, "json", [&] {
    return handed_over(step_times_json(given(session, "session").session.step_times()));
  });
}
