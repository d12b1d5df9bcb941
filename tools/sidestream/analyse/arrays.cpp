#include "analyse/arrays.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::analysing {

namespace {

/// Adds the values of a term to `sum`.
void add_term(const hdf5::InputFile& file, const Term& term, const hdf5::Part& part, std::vector<double>& sum) {
  if (term.array.empty()) {
    for (double& value : sum) value += term.number * term.scale;
    return;
  }
  std::vector<double> values(sum.size());
  file.read(term.array, part, Type::float64, std::as_writable_bytes(std::span(values)));
  for (std::size_t n = 0; n < sum.size(); ++n) {
    sum[n] += values[n] == term.missing ? std::numeric_limits<double>::quiet_NaN() : values[n] * term.scale;
  }
}

/// Reads the values of one component, contiguous.
void read_component(const StoredValues& from, std::size_t component, const hdf5::Part& part, Type type,
                    std::span<std::byte> out) {
  const std::vector<Term>& terms = from.components[component];
  const bool is_as_stored = terms.size() == 1 && !terms[0].missing && !terms[0].array.empty() && terms[0].scale == 1;
  if (is_as_stored) return from.file->read(terms[0].array, part, type, out);
  std::vector<double> sum(out.size() / size_of(type), 0.0);
  for (const Term& term : terms) add_term(*from.file, term, part, sum);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t n = 0; n < sum.size(); ++n) {
      const T value = static_cast<T>(sum[n]);
      std::memcpy(out.data() + n * sizeof(T), &value, sizeof(T));
    }
  });
}

/// Interleaves the values of component `c` of `of` with the others.
void interleave(std::span<const std::byte> values, std::size_t width, std::size_t c, std::size_t of,
                std::span<std::byte> out) {
  for (std::size_t n = 0; n < values.size() / width; ++n) {
    std::memcpy(out.data() + (n * of + c) * width, values.data() + n * width, width);
  }
}

}  // namespace

std::int32_t ArraysSnapshot::add(Mesh mesh) {
  mesh.id = static_cast<std::int32_t>(metadata_.meshes.size());
  metadata_.meshes.push_back(std::move(mesh));
  return metadata_.meshes.back().id;
}

std::int32_t ArraysSnapshot::add(Variable variable) {
  variable.id = static_cast<std::int32_t>(metadata_.variables.size());
  Mesh& mesh = metadata_.meshes.at(static_cast<std::size_t>(variable.mesh));
  if (variable.role != Role::none) mesh.arrays[static_cast<std::size_t>(variable.role)] = variable.id;
  metadata_.variables.push_back(std::move(variable));
  return metadata_.variables.back().id;
}

std::size_t ArraysSnapshot::add(const Block& block) {
  blocks_.push_back(block);
  return blocks_.size() - 1;
}

void ArraysSnapshot::add(std::int32_t variable, std::size_t block, StoredValues values) {
  values_.insert_or_assign({variable, block}, std::move(values));
}

void ArraysSnapshot::read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) {
  const StoredValues& from = values_.at({variable, block});
  const Variable& of = metadata_.variables[static_cast<std::size_t>(variable)];
  const Box points = of.points(part);
  const int dimensions = metadata_.mesh_of(of).index_dimensions();
  hdf5::Part where;
  for (int n = 0; n < dimensions; ++n) {
    const int axis = of.order == Order::column ? dimensions - 1 - n : n;
    where.start.push_back(static_cast<hsize_t>(points.lo[axis] - from.first[axis]));
    where.size.push_back(static_cast<hsize_t>(points.extent(axis)));
  }
  const auto components = static_cast<std::size_t>(of.components);
  if (from.together) {
    where.start.push_back(0);
    where.size.push_back(components);
  }
  if (from.together || components == 1) return read_component(from, 0, where, of.type, out);
  Bytes values(out.size() / components);
  for (std::size_t c = 0; c < components; ++c) {
    read_component(from, c, where, of.type, values);
    interleave(values, size_of(of.type), c, components, out);
  }
}

PointBlocks add_points(ArraysSnapshot& snapshot, std::int32_t mesh, Index count) {
  constexpr Index most_blocks = 256, least_points = Index{1} << 15;
  const Index number = std::clamp<Index>(count / least_points, 1, most_blocks);
  PointBlocks found;
  for (Index n = 0; n < number; ++n) {
    const Index first = count * n / number, points = count * (n + 1) / number - first;
    Block block;
    block.id = n;
    block.mesh = mesh;
    block.space = IndexSpace::list;
    block.cells = list_box(points);
    block.lengths.points = points;
    found.blocks.push_back(snapshot.add(block));
    found.first.push_back(first);
  }
  found.first.push_back(count);
  return found;
}

Box box_of(const hdf5::Extents& extents, int dimensions, Order order) {
  Box box{{0, 0, 0}, {1, 1, 1}};
  for (int n = 0; n < dimensions; ++n) {
    const int axis = order == Order::column ? dimensions - 1 - n : n;
    box.hi[axis] = static_cast<Index>(extents.at(static_cast<std::size_t>(n)));
  }
  return box;
}

}  // namespace sidestream::analysing
