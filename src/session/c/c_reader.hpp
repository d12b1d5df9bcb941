// The objects behind the handles of reader.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "session/c/c_stored.hpp"
#include "sidestream/reader.h"
#include "sidestream/reader.hpp"

namespace sidestream {

/// Lists that a description of a mesh points to.
struct MeshLists {
  std::vector<int64_t> ratios;
  std::vector<double> times;
};

}  // namespace sidestream

struct sidestream_context {
  sidestream::StoredContext context;
  std::string message{};                                  ///< of the last error
  std::map<std::int32_t, sidestream::MeshLists> lists{};  ///< by mesh
  std::map<std::string, std::string> codecs{};            ///< by variable
  sidestream::StoredTree tree{};                          ///< that was asked for last
};

struct sidestream_cells {
  sidestream::Cells cells;
};

namespace sidestream {

template <class Work>
int of_context(sidestream_context* handle, const char* call, Work&& work) noexcept {
  if (!handle) {
    return shielded(&message_without_session(),
                    [&]() -> int { fail(Code::usage, "{}: the context is NULL; open one first", call); });
  }
  return shielded(&handle->message, [&] {
    work(handle->context);
    return static_cast<int>(SIDESTREAM_OK);
  });
}

}  // namespace sidestream
