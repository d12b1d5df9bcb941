// Arrays described by a language's type, extents and strides, which are checked against the declarations.
#include <array>
#include <string>

#include "client/publisher.hpp"
#include "client/publisher_parts.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

namespace {

/// Fortran has no unsigned integers, so only the size of integers matters.
bool pass_for_each_other(Type a, Type b) {
  const bool integers = a < Type::float32 && b < Type::float32;
  return a == b || (integers && size_of(a) == size_of(b));
}

void check_type(const char* call, const Variable& variable, Type given) {
  if (pass_for_each_other(variable.type, given)) return;
  fail(Code::usage,
       "{}: the array for '{}' has elements of type {}, expected {}, as the variable is declared; pass an array of "
       "that type or declare `type: {}`",
       call, variable.name, name_of(given), name_of(variable.type), name_of(given));
}

std::string ranks_of(int axes, int components) {
  return components > 1 ? fmt::format("{}, one for the {} components", axes + 1, components)
                        : fmt::format("{}, the axes of the mesh", axes);
}

/// Checks the rank: the mesh's axes, plus one for several components. `lone`: a single component may have that axis,
/// too.
void check_rank(const char* call, const Variable& variable, int axes, int given, bool lone) {
  if (given == axes + (variable.components > 1 ? 1 : 0) || (lone && given == axes + 1)) return;
  fail(Code::usage, "{}: the array for '{}' has rank {}, expected rank {}; give it that rank", call, variable.name,
       given, ranks_of(axes, variable.components));
}

std::string product(const Index* extents, int rank) {
  std::string text;
  for (int n = 0; n < rank; ++n) text += fmt::format("{}{}", n > 0 ? " x " : "", extents[n]);
  return text;
}

/// Axis of the array for i, j, k and component; -1: none. Throws if the number of axes is wrong.
std::array<int, 4> axes_of(const ProgramArray& array, const Variable& variable, int axes) {
  check_rank("publish", variable, axes, array.rank, true);
  std::array<int, 4> found{-1, -1, -1, -1};
  if (array.rank > axes) found[3] = array.component_axis < 0 ? axes : array.component_axis;
  if (found[3] > axes) {
    fail(Code::usage,
         "publish: the components of '{}' are axis {} of an array of rank {}, counted from 0; name one of its axes",
         variable.name, array.component_axis, array.rank);
  }
  for (int n = 0, a = 0; n < array.rank; ++n) {
    if (n != found[3]) found[static_cast<std::size_t>(a++)] = n;
  }
  return found;
}

void check_extents(const ProgramArray& array, const BlockRecord& record, const std::string& name,
                   const std::array<int, 4>& axes) {
  std::array<Index, 4> expected{};
  bool same = true, none = false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] < 0) continue;
    const auto n = static_cast<std::size_t>(axes[a]);
    expected[n] = a < 3 ? record.box.extent(static_cast<int>(a)) : record.components;
    same = same && array.extents[n] == expected[n];
    none = none || array.extents[n] == 0;
  }
  if (same || (none && record.bytes == 0)) return;  // without values any shape is right
  fail(Code::usage,
       "publish: the array for '{}' on block {} is {}, expected {}: the allocated box is {}{}; pass the section that "
       "covers this box, or say with set_allocated what the array covers",
       name, record.block.id, product(array.extents, array.rank), product(expected.data(), array.rank),
       text_of(record.box), record.components > 1 ? fmt::format(" with {} components", record.components) : "");
}

/// Strides in elements, for i, j, k and component. Axes with at most one index get the strides of a contiguous array.
std::array<Index, 4> strides_of(const ProgramArray& array, const std::array<int, 4>& axes,
                                const std::array<Index, 4>& packed) {
  std::array<Index, 4> strides = packed;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto n = static_cast<std::size_t>(axes[a]);
    if (axes[a] >= 0 && array.extents[n] > 1) strides[a] = array.strides[n];
  }
  return strides;
}

void check_components(const Variable& variable, std::size_t arrays) {
  if (static_cast<std::int64_t>(arrays) == variable.components) return;
  fail(Code::usage,
       "publish_components: {} arrays for '{}', expected {}, one of each component; pass so many, or declare "
       "`components: {}`",
       arrays, variable.name, variable.components, arrays);
}

/// Hint about other points of the block that match this number of values.
std::string other_points(const Variable& variable, const BlockRecord& record, std::uint64_t count, int components) {
  const Block& block = record.block;
  if (variable.role == Role::connectivity) return "; they are the `corners` of the block's lengths";
  if (variable.role == Role::faces) return "; they are the `faces` of the block's lengths";
  const auto is = [&](Index points) { return count == static_cast<std::uint64_t>(points * components); };
  if (record.components > components) return "";  // an array for only one of the components
  if (components > 1 && count * static_cast<std::uint64_t>(components) == record.bytes / size_of(variable.type)) {
    return "; so many would be one of its components";
  }
  if (block.is_list()) {
    if (is(block.cells.hi[0])) return "; so many would be its cells: is the centering right?";
    if (is(block.lengths.points)) return "; so many would be its points: is the centering right?";
    return block.cells.hi[0] == block.lengths.points ? ""
                                                     : "; were set_block_list's numbers of points and cells exchanged?";
  }
  if (is(record.points().count())) return "; so many would be the block without what set_allocated adds";
  for (const Centering other : {Centering::cell, Centering::node}) {
    if (other != variable.centering && is(points_of(other, block.cells).count())) {
      return fmt::format("; so many would be right with `centering: {}`", name_of(other));
    }
  }
  return "";
}

}  // namespace

void Publisher::check_values(const char* call, const Slot& slot, Type type, std::size_t count, int components) const {
  const BlockRecord& record = slot.record;
  const Variable& variable = metadata_.variables[static_cast<std::size_t>(record.variable)];
  check_type(call, variable, type);
  const auto arrays = static_cast<std::uint64_t>(record.components / components);
  const std::uint64_t expected = record.bytes / size_of(variable.type) / arrays;
  if (count == expected) return;
  fail(
      Code::usage,
      "{}: the array for '{}' on block {} has {} values, expected {}: the allocated box is {} of points at {}s{}{}; pass "
      "the array that was declared, or declare what is passed",
      call, variable.name, record.block.id, count, expected, text_of(record.box),
      sidestream::name_of(variable.centering, metadata_.mesh_of(variable).dimensions),
      components > 1 ? fmt::format(" with {} components", components) : "",
      other_points(variable, record, count, components));
}

Taken Publisher::publish(std::string_view name, std::int64_t id, const Values& values) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    Slot& slot = find(name, id, "publish").slot;
    return or_mark_unsent(slot, [&] {
      check_values("publish", slot, values.type, values.count, slot.record.components);
      return publish(slot, {values.data, nullptr});
    });
  });
}

Taken Publisher::publish(std::int64_t handle, const Values& values) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    Slot& slot = slot_of(handle);
    return or_mark_unsent(slot, [&] {
      check_values("publish", slot, values.type, values.count, slot.record.components);
      return publish(slot, {values.data, nullptr});
    });
  });
}

Taken Publisher::publish_components(std::string_view name, std::int64_t id, std::span<const Values> components) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    Slot& slot = find(name, id, "publish_components").slot;
    return or_mark_unsent(slot, [&] {
      std::vector<const void*> data;
      for (const Values& one : components) {
        check_values("publish_components", slot, one.type, one.count, 1);
        data.push_back(one.data);
      }
      check_components(metadata_.variables[static_cast<std::size_t>(slot.record.variable)], data.size());
      return publish(slot, ValuesAt{nullptr, nullptr, data});
    });
  });
}

void* Publisher::alloc_values(std::string_view name, std::int64_t id, Type type, std::size_t count) {
  return timed(&IterationTiming::publish, [&]() -> void* {
    if (transport_) transport_->prefetch();
    Slot& slot = find(name, id, "alloc").slot;
    return or_mark_unsent(slot, [&] {
      check_values("alloc", slot, type, count, slot.record.components);
      return alloc(slot);
    });
  });
}

Taken Publisher::publish(std::string_view name, std::int64_t id, const ProgramArray& array) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    const auto [variable, slot] = find(name, id, "publish");
    return or_mark_unsent(slot, [&, &variable = variable, &slot = slot] {
      const BlockRecord& record = slot.record;
      check_type("publish", variable, array.type);
      const std::array<int, 4> axes = axes_of(array, variable, metadata_.mesh_of(variable).index_dimensions());
      check_extents(array, record, variable.name, axes);
      const std::array<Index, 4> packed = packed_strides(record.box, record.components, record.order);
      const std::array<Index, 4> strides = strides_of(array, axes, packed);
      return publish(slot, {array.data, strides == packed ? nullptr : &strides});
    });
  });
}

/// Interleaves the arrays: components of a point are contiguous in the buffer.
void Publisher::copy_components(const BlockRecord& record, const ValuesAt& values, std::byte* to) {
  const std::array<Index, 4> own = values.strides ? *values.strides : packed_strides(record.box, 1, record.order);
  const std::array<Index, 4> together = packed_strides(record.box, record.components, record.order);
  for (std::size_t c = 0; c < values.components.size(); ++c) {
    std::byte* const first = to + c * size_of(record.type);
    copy_box({values.components[c], record.type, MemorySpace::host, record.box, 1, own},
             {first, record.type, MemorySpace::host, record.box, 1, together}, record.box);
  }
}

namespace {

/// Strides of an array with one component of the variable. Throws if it differs from the declaration.
std::array<Index, 4> strides_of_component(const ProgramArray& array, const Variable& variable,
                                          const BlockRecord& record, int mesh_axes) {
  constexpr const char* call = "publish_components";
  check_type(call, variable, array.type);
  Variable one = variable;
  one.components = 1;
  check_rank(call, one, mesh_axes, array.rank, false);
  const std::array<int, 4> axes = axes_of(array, one, mesh_axes);
  check_extents(array, record, variable.name, axes);
  return strides_of(array, axes, packed_strides(record.box, 1, record.order));
}

}  // namespace

Taken Publisher::publish(std::string_view name, std::int64_t id, std::span<const void* const> components,
                         const ProgramArray* of_each) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    const auto [variable, slot] = find(name, id, "publish_components");
    return or_mark_unsent(slot, [&, &variable = variable, &slot = slot] {
      check_components(variable, components.size());
      std::array<Index, 4> strides{};
      if (of_each) {
        strides = strides_of_component(*of_each, variable, slot.record, metadata_.mesh_of(variable).index_dimensions());
      }
      return publish(slot, ValuesAt{nullptr, of_each ? &strides : nullptr, components});
    });
  });
}

ArrayView Publisher::alloc(std::string_view name, std::int64_t id, Type type, int rank) {
  return timed(&IterationTiming::publish, [&] {
    if (transport_) transport_->prefetch();
    const auto [variable, slot] = find(name, id, "alloc");
    return or_mark_unsent(slot, [&, &variable = variable, &slot = slot] {
      check_type("alloc", variable, type);
      const int axes = metadata_.mesh_of(variable).index_dimensions();
      check_rank("alloc", variable, axes, rank, false);
      return slot.record.view(alloc(slot));
    });
  });
}

}  // namespace sidestream
