// Calls of sidestream.h that publish several things at once.
#include <string>
#include <vector>

#include "session/c/c_session.hpp"

// C says no types here: these calls are the ones that C++ warns of.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using sidestream::code_of;
using sidestream::guarded;
using sidestream::need;
using sidestream::publishing;
using sidestream::Session;

namespace {

/// Tries all, and keeps the first code that is not SIDESTREAM_OK with its sentence.
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
  return std::vector<const void*>(components, components + count);  // braces would list two pointers
}

}  // namespace

extern "C" {

int sidestream_publish_handles(sidestream_session* session, int count, const sidestream_handle* handles,
                               const void* const* data) {
  const int usable = guarded(session, "publish_handles", [&](Session&) {
    if (count > 0) need(handles, "publish_handles", "handles"), need(data, "publish_handles", "data");
  });
  if (usable != SIDESTREAM_OK) return usable;
  return publish_each(session, count, [&](int n) { return sidestream_publish_handle(session, handles[n], data[n]); });
}

int sidestream_publish_block(sidestream_session* session, int64_t block, int count, const char* const* variables,
                             const void* const* data) {
  const int usable = guarded(session, "publish_block", [&](Session&) {
    if (count > 0) need(variables, "publish_block", "variables"), need(data, "publish_block", "data");
  });
  if (usable != SIDESTREAM_OK) return usable;
  return publish_each(session, count, [&](int n) { return sidestream_publish(session, variables[n], block, data[n]); });
}

int sidestream_publish_components(sidestream_session* session, const char* variable, int64_t block, int count,
                                  const void* const* components) {
  return publishing(session, "publish_components", [&](Session& s) {
    need(variable, "publish_components", "variable");
    return code_of(s.publish_components(variable, block, listed(count, components)));
  });
}

int sidestream_publish_component_arrays(sidestream_session* session, const char* variable, int64_t block,
                                        sidestream_type type, int count, const void* const* components, int rank,
                                        const int64_t* extents, const int64_t* strides) {
  return publishing(session, "publish_components", [&](Session& s) {
    need(variable, "publish_components", "variable");
    if (rank > 0) need(extents, "publish_components", "extents"), need(strides, "publish_components", "strides");
    const sidestream::ProgramArray of_each{
        sidestream::type_of("publish_components", type), nullptr, rank, extents, strides, -1};
    return code_of(s.publish_components(variable, block, listed(count, components), of_each));
  });
}

}  // extern "C"
