#include "part.hpp"

#include <cstring>
#include <limits>

namespace sidestream::arrays {

namespace {

/// Bytes of an array that can be addressed.
constexpr Index most_bytes = Index{1} << 48;

std::string list_of(const std::vector<Index>& numbers) {
  std::string text = "[";
  for (const Index n : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

/// Copies the values of the axes from `axis` on.
std::byte* pack_axis(const Part& part, std::size_t axis, const std::byte* from, std::byte* to) {
  const std::size_t size = size_of(part.type);
  const Index stride = part.strides[axis];
  if (axis + 1 == part.count.size() && stride == static_cast<Index>(size)) {
    std::memcpy(to, from, static_cast<std::size_t>(part.count[axis]) * size);
    return to + static_cast<std::size_t>(part.count[axis]) * size;
  }
  for (Index n = 0; n < part.count[axis]; ++n, from += stride) {
    if (axis + 1 < part.count.size()) {
      to = pack_axis(part, axis + 1, from, to);
    } else {
      std::memcpy(to, from, size);
      to += size;
    }
  }
  return to;
}

}  // namespace

std::size_t Part::values() const noexcept {
  std::size_t product = 1;
  for (const Index n : count) product *= static_cast<std::size_t>(n);
  return product;
}

std::string problem_of(const Part& part) {
  const std::string where = "array '" + part.name + "': ";
  const std::size_t axes = part.count.size();
  if (axes == 0) return where + "found a single value, expected an array";
  const bool other_axes = part.is_global() && (part.shape.size() != axes || part.start.size() != axes);
  if (other_axes || (!part.strides.empty() && part.strides.size() != axes)) {
    return where + "found shape " + list_of(part.shape) + ", start " + list_of(part.start) + " and count " +
           list_of(part.count) + ", expected as many axes in each";
  }
  Index left = most_bytes / static_cast<Index>(size_of(part.type));
  for (std::size_t a = 0; a < axes; ++a) {
    const Index room = part.is_global() ? part.shape[a] : most_bytes;
    const Index start = part.is_global() ? part.start[a] : 0;
    if (room < 0 || start < 0 || part.count[a] < 0 || start > room || part.count[a] > room - start) {
      return where + "found start " + list_of(part.start) + " and count " + list_of(part.count) +
             ", expected a part of the shape " + list_of(part.shape);
    }
    if (part.count[a] > 0) left /= part.count[a];
  }
  if (left == 0) return where + "found count " + list_of(part.count) + ", expected at most 2^48 bytes";
  if (part.data == nullptr && part.values() > 0) return where + "found no address, expected the values";
  return "";
}

std::vector<std::byte> packed(const Part& part) {
  std::vector<std::byte> all(part.bytes());
  if (all.empty()) return all;
  if (part.strides.empty()) {
    std::memcpy(all.data(), part.data, all.size());
  } else {
    (void)pack_axis(part, 0, part.data, all.data());
  }
  return all;
}

}  // namespace sidestream::arrays
