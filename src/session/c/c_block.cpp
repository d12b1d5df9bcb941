// Blocks for analyses written in C.
#include <algorithm>
#include <cstring>

#include "session/c/c_function.hpp"
#include "session/c/c_shield.hpp"
#include "session/c/c_struct.hpp"
#include "sidestream/sidestream.h"

namespace {

const std::vector<sidestream::BlockView>* blocks_of(const sidestream_input* input, const char* variable) {
  return input ? input->blocks(variable) : nullptr;
}

/// The box round the owned points, and whether they fill it.
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
