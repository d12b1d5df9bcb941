#include "memory.hpp"

#include <adios2/cxx/ADIOS.h>
#include <malloc.h>

#include <array>
#include <optional>
#include <sidestream/error.hpp>

namespace sidestream::adios2_engine {

namespace {

/// A list of numbers as it lies in memory: begin, end, and end of its room.
using List = std::array<std::size_t, 3>;
constexpr std::size_t lists_bytes = 2 * sizeof(List);

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::byte* from) { return {from, from + malloc_usable_size(const_cast<std::byte*>(from))}; }

/// True if a list at `at` was empty before, and now has two numbers.
bool has_filled(const Bytes& before, const Bytes& now, std::size_t at) {
  List empty{}, filled{};
  std::memcpy(empty.data(), before.data() + at, sizeof(List));
  std::memcpy(filled.data(), now.data() + at, sizeof(List));
  return empty == List{} && filled[0] != 0 && filled[1] - filled[0] == 2 * sizeof(std::size_t);
}

bool has(const std::byte* list, std::size_t first, std::size_t second) {
  return *reinterpret_cast<const adios2::Dims*>(list) == adios2::Dims{first, second};
}

/// The place of the two lists in a variable.
std::optional<std::size_t> find_lists() {
  static_assert(sizeof(adios2::Dims) == sizeof(List));
  adios2::ADIOS adios;
  adios2::Variable<double> variable =
      adios.DeclareIO("memory").DefineVariable<double>("memory", {64, 64}, {0, 0}, {2, 2});
  const std::byte* inside = nullptr;
  std::memcpy(&inside, &variable, sizeof(inside));
  const Bytes before = bytes_of(inside);
  variable.SetMemorySelection({{3, 5}, {11, 13}});
  const Bytes now = bytes_of(inside);
  for (std::size_t at = 0; at + lists_bytes <= now.size(); at += sizeof(std::size_t)) {
    if (!has_filled(before, now, at) || !has_filled(before, now, at + sizeof(List))) continue;
    if (has(inside + at, 3, 5) && has(inside + at + sizeof(List), 11, 13)) return at;
  }
  return std::nullopt;
}

std::vector<Index> indices(const std::byte* list) {
  std::vector<Index> all;
  for (const std::size_t n : *reinterpret_cast<const adios2::Dims*>(list)) all.push_back(static_cast<Index>(n));
  return all;
}

}  // namespace

MemoryBox memory_box(const void* inside) {
  static const std::optional<std::size_t> place = find_lists();
  if (!place) return {};
  const std::byte* const lists = static_cast<const std::byte*>(inside) + *place;
  return {indices(lists), indices(lists + sizeof(List))};
}

Index lay_out(arrays::Part& part, const MemoryBox& box) {
  if (box.size.empty()) return 0;
  const std::size_t axes = part.count.size();
  Index stride = static_cast<Index>(size_of(part.type)), offset = 0;
  part.strides.assign(axes, 0);
  for (std::size_t a = axes; a-- > 0;) {
    const bool known = box.size.size() == axes && box.start.size() == axes;
    if (!known || box.start[a] < 0 || box.start[a] > box.size[a] - part.count[a]) {
      throw Error(Code::usage, "variable '" + part.name +
                                   "': the selection in memory does not hold the part that is put, expected an array "
                                   "with as many axes around it; it is left out");
    }
    part.strides[a] = stride;
    offset += box.start[a] * stride;
    stride *= box.size[a];
  }
  return offset;
}

}  // namespace sidestream::adios2_engine
