// Calls of sidestream.h that publish several things at once.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "session/c/c_analysis.hpp"
#include "session/c/c_session.hpp"
#include "sidestream/sidestream.h"

// These calls take no C++ types, which the C++ interface marks as deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using sidestream::code_of;
using sidestream::guarded;
using sidestream::need;
using sidestream::publishing;
using sidestream::Session;

namespace {

/// Publishes each entry, and returns the first code that is not SIDESTREAM_OK, with its message.
template <class Publish>
int publish_each(sidestream_session* session, int count, Publish&& publish) {
  int code = SIDESTREAM_OK;
  std::string first;
  for (int n = 0; n < count; ++n) {
    const int one = publish(n);
    if (code != SIDESTREAM_OK || one == SIDESTREAM_OK) continue;
    code = one;
    first.swap(session->message);
  }
  if (code != SIDESTREAM_OK) session->message.swap(first);
  return code;
}

std::vector<const void*> listed(int count, const void* const* components) {
  if (count <= 0) return {};
  need(components, "publish_components", "components");
  return std::vector<const void*>(components, components + count);  // braces would make a list of two pointers
}

}  // namespace

extern "C" {

int sidestream_publish_handles(sidestream_session* session, int count, const sidestream_handle* handles,
                               const void* const* data) {
  const int usable = guarded(session, "publish_handles", {}, [&](Session&) {
    if (count > 0) need(handles, "publish_handles", "handles"), need(data, "publish_handles", "data");
  });
  if (usable != SIDESTREAM_OK) return usable;
  return publish_each(session, count, [&](int n) { return sidestream_publish_handle(session, handles[n], data[n]); });
}

int sidestream_publish_block(sidestream_session* session, int64_t block, int count, const char* const* variables,
                             const void* const* data) {
  const int usable = guarded(session, "publish_block", {}, [&](Session&) {
    if (count > 0) need(variables, "publish_block", "variables"), need(data, "publish_block", "data");
  });
  if (usable != SIDESTREAM_OK) return usable;
  return publish_each(session, count, [&](int n) { return sidestream_publish(session, variables[n], block, data[n]); });
}

int sidestream_publish_components(sidestream_session* session, const char* variable, int64_t block, int count,
                                  const void* const* components) {
  return publishing(session, "publish_components", {{variable, "variable"}}, [&](Session& s) {
    return code_of(s.publish_components(variable, block, listed(count, components)));
  });
}

int sidestream_publish_component_arrays(sidestream_session* session, const char* variable, int64_t block,
                                        sidestream_type type, int count, const void* const* components, int rank,
                                        const int64_t* extents, const int64_t* strides) {
  return publishing(session, "publish_components", {{variable, "variable"}}, [&](Session& s) {
    if (rank > 0) need(extents, "publish_components", "extents"), need(strides, "publish_components", "strides");
    const sidestream::ProgramArray of_each{
        sidestream::type_of("publish_components", type), nullptr, rank, extents, strides, -1};
    return code_of(s.publish_components(variable, block, listed(count, components), of_each));
  });
}

}  // extern "C"

// Events for analyses written in C.
extern "C" {

int64_t sidestream_input_events(const sidestream_input* input) {
  return input && input->local ? static_cast<int64_t>(input->local->events.size()) : 0;
}

int sidestream_input_event(const sidestream_input* input, int64_t n, sidestream_event* event) {
  if (!event || n < 0 || n >= sidestream_input_events(input)) return SIDESTREAM_ERROR_USAGE;
  const sidestream::Event& found = input->local->events[static_cast<std::size_t>(n)];
  sidestream_event whole{};
  whole.name = found.name.c_str();
  whole.client = found.client;
  whole.scope = static_cast<sidestream_scope>(found.scope);
  whole.raised = found.raised;
  whole.type = static_cast<sidestream_type>(found.type);
  whole.count = static_cast<int64_t>(found.count());
  whole.values = found.values.data();
  sidestream::fill(*event, whole);
  return SIDESTREAM_OK;
}
}

// Blocks for analyses written in C.
namespace {

const std::vector<sidestream::BlockView>* blocks_of(const sidestream_input* input, const char* variable) {
  return input ? input->blocks(variable) : nullptr;
}

/// The bounding box of the owned points. `is_box`: true if they fill it.
sidestream::Box bound(const std::vector<sidestream::Box>& owned, bool& is_box) {
  is_box = owned.size() <= 1;
  if (owned.empty()) return {};
  sidestream::Box all = owned.front();
  for (const sidestream::Box& box : owned) {
    for (int a = 0; a < 3; ++a) {
      all.lo[a] = std::min(all.lo[a], box.lo[a]);
      all.hi[a] = std::max(all.hi[a], box.hi[a]);
    }
  }
  return all;
}

}  // namespace

extern "C" {

int64_t sidestream_input_index(const sidestream_input* input) { return input->iteration->index; }
int64_t sidestream_input_cycle(const sidestream_input* input) { return input->iteration->cycle; }
double sidestream_input_time(const sidestream_input* input) { return input->iteration->time; }

int64_t sidestream_input_blocks(const sidestream_input* input, const char* variable) {
  const auto* blocks = blocks_of(input, variable);
  return blocks ? static_cast<int64_t>(blocks->size()) : 0;
}

int sidestream_input_block(const sidestream_input* input, const char* variable, int64_t n, sidestream_block* block) {
  const auto* blocks = blocks_of(input, variable);
  if (!blocks || !block || n < 0 || n >= static_cast<int64_t>(blocks->size())) return SIDESTREAM_ERROR_USAGE;
  const sidestream::BlockView& view = (*blocks)[static_cast<std::size_t>(n)];
  bool is_box = true;
  sidestream::Box owned;
  const int code = sidestream::shielded(nullptr, [&] {
    owned = bound(view.counted(), is_box);
    return static_cast<int>(SIDESTREAM_OK);
  });
  if (code != SIDESTREAM_OK) return code;
  sidestream_block whole{};
  whole.block = view.block.id;
  whole.level = view.block.level;
  whole.client = view.block.client;
  whole.type = static_cast<sidestream_type>(view.array.type);
  whole.components = view.array.components;
  whole.owned_is_box = is_box;
  for (int a = 0; a < 3; ++a) {
    whole.owned_lo[a] = owned.lo[a];
    whole.owned_hi[a] = owned.hi[a];
    whole.lo[a] = view.array.box.lo[a];
    whole.hi[a] = view.array.box.hi[a];
  }
  std::copy(view.array.strides.begin(), view.array.strides.end(), whole.strides);
  whole.data = view.array.data;
  sidestream::fill(*block, whole);
  return SIDESTREAM_OK;
}

}  // extern "C"
