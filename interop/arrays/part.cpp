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

/// An axis of two arrays in memory.
struct Axis {
  Index count, from, to;  ///< the last two: distances in bytes
};

/// The axes of a copy, the slowest first. Those that memory has without gaps become one with the next slower one.
std::vector<Axis> axes_of(const Part& from, const Part& to) {
  const std::vector<Index> source = strides_of(from), target = strides_of(to);
  const auto size = static_cast<Index>(size_of(from.type));
  std::vector<Axis> axes{{1, size, size}};
  for (std::size_t a = 0; a < from.count.size(); ++a) {
    const Axis next{from.count[a], source[a], target[a]};
    Axis& last = axes.back();
    if (next.count == 1) continue;
    if (last.count == 1) {
      last = next;
    } else if (last.from == next.from * next.count && last.to == next.to * next.count) {
      last = {last.count * next.count, next.from, next.to};
    } else {
      axes.push_back(next);
    }
  }
  return axes;
}

template <std::size_t Size>
void copy_row(const Axis& axis, const std::byte* from, std::byte* to) {
  for (Index n = 0; n < axis.count; ++n, from += axis.from, to += axis.to) std::memcpy(to, from, Size);
}

void copy_row(const Axis& axis, std::size_t size, const std::byte* from, std::byte* to) {
  const auto gapless = static_cast<Index>(size);
  if (axis.from == gapless && axis.to == gapless) {
    std::memcpy(to, from, static_cast<std::size_t>(axis.count) * size);
  } else if (size == 8) {
    copy_row<8>(axis, from, to);
  } else if (size == 4) {
    copy_row<4>(axis, from, to);
  } else if (size == 2) {
    copy_row<2>(axis, from, to);
  } else {
    copy_row<1>(axis, from, to);
  }
}

/// Copies the values of the axes from `n` on.
void copy_axes(const std::vector<Axis>& axes, std::size_t n, std::size_t size, const std::byte* from, std::byte* to) {
  if (n + 1 == axes.size()) return copy_row(axes[n], size, from, to);
  for (Index i = 0; i < axes[n].count; ++i, from += axes[n].from, to += axes[n].to) {
    copy_axes(axes, n + 1, size, from, to);
  }
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

std::vector<Index> strides_of(const Part& part) {
  if (!part.strides.empty()) return part.strides;
  std::vector<Index> strides(part.count.size(), static_cast<Index>(size_of(part.type)));
  for (std::size_t a = strides.size(); a-- > 1;) strides[a - 1] = strides[a] * part.count[a];
  return strides;
}

void copy_values(const Part& from, const Part& to) {
  if (from.values() == 0) return;
  copy_axes(axes_of(from, to), 0, size_of(from.type), from.data, const_cast<std::byte*>(to.data));
}

std::vector<std::byte> packed(const Part& part) {
  std::vector<std::byte> all(part.bytes());
  Part contiguous = part;
  contiguous.data = all.data();
  contiguous.strides.clear();
  copy_values(part, contiguous);
  return all;
}

}  // namespace sidestream::arrays
