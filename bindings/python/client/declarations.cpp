// Calls that declare. The Python package has padded lists to the length that C expects.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "session.hpp"

namespace sidestream_python {

namespace {

using Text = const char*;

int dimensions_of(const Numbers& size) { return static_cast<int>(size.size()); }

const double* bounds_of(const std::optional<Reals>& bounds) { return bounds ? bounds->data() : nullptr; }

void add_rectilinear_mesh(Session& session, Text name, const std::vector<Reals>& coordinates) {
  Numbers size;
  std::vector<const double*> axes;
  for (const Reals& axis : coordinates) {
    size.push_back(static_cast<std::int64_t>(axis.size()) - 1);
    axes.push_back(axis.data());
  }
  session.declare("add_rectilinear_mesh", sidestream_add_rectilinear_mesh, name, dimensions_of(size), size.data(),
                  axes.data());
}

void set_rectilinear_block(Session& session, Text mesh, std::int64_t block, const Numbers& lo, const Numbers& hi,
                           const std::vector<Reals>& nodes) {
  std::array<const double*, 3> axes{};
  for (std::size_t n = 0; n < std::min(nodes.size(), axes.size()); ++n) {
    if (static_cast<std::int64_t>(nodes[n].size()) != hi[n] - lo[n] + 1) {
      misuse("set_rectilinear_block: " + std::to_string(nodes[n].size()) + " nodes along axis " + std::to_string(n) +
             " for cells " + std::to_string(lo[n]) + " to " + std::to_string(hi[n]) +
             "; give one more than there are cells");
    }
    axes[n] = nodes[n].data();
  }
  session.declare("set_rectilinear_block", sidestream_set_rectilinear_block, mesh, block, lo.data(), hi.data(),
                  axes.data());
}

/// Lists of the arrays' lengths; the package has checked that all are equally long.
void replace_block_lists(Session& session, Text mesh, const Numbers& blocks, const Numbers& points,
                         const Numbers& cells, const Numbers& corners, const Numbers& faces,
                         const std::optional<Reals>& bounds) {
  session.declare("replace_block_lists", sidestream_replace_block_lists, mesh, static_cast<std::int64_t>(blocks.size()),
                  blocks.data(), points.data(), cells.data(), corners.data(), faces.data(), bounds_of(bounds));
}

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The package has checked that all axes are equally long, and `numbers` has an entry for each element.
void set_spectral_block(Session& session, Text mesh, std::int64_t block, int order, std::int64_t elements,
                        const std::optional<Integers>& numbers, const std::vector<Doubles>& place) {
  std::array<const double*, 3> axes{};
  for (std::size_t n = 0; n < std::min(place.size(), axes.size()); ++n) axes[n] = place[n].data();
  session.declare("set_spectral_block", sidestream_set_spectral_block, mesh, block, order, elements,
                  numbers ? numbers->data() : nullptr, axes[0], axes[1], axes[2]);
}

void add_meshes(nb::class_<Session>& session) {
  session
      .def("add_uniform_mesh",
           [](Session& s, Text name, const Numbers& size, const Reals& origin, const Reals& spacing) {
             s.declare("add_uniform_mesh", sidestream_add_uniform_mesh, name, dimensions_of(size), size.data(),
                       origin.data(), spacing.data());
           })
      .def("add_rectilinear_mesh", add_rectilinear_mesh)
      .def("add_curvilinear_mesh",
           [](Session& s, Text name, const Numbers& size, Text coordinates) {
             s.declare("add_curvilinear_mesh", sidestream_add_curvilinear_mesh, name, dimensions_of(size), size.data(),
                       coordinates);
           })
      .def("add_unstructured_mesh",
           [](Session& s, Text name, int dimensions, Text coordinates, Text connectivity, Text offsets, Text types) {
             s.declare("add_unstructured_mesh", sidestream_add_unstructured_mesh, name, dimensions, coordinates,
                       connectivity, offsets, types);
           })
      .def("add_points_mesh",
           [](Session& s, Text name, int dimensions, Text coordinates) {
             s.declare("add_points_mesh", sidestream_add_points_mesh, name, dimensions, coordinates);
           })
      .def("add_octree_mesh",
           [](Session& s, Text name, const Numbers& roots, const Reals& origin, const Reals& spacing, Text refined) {
             s.declare("add_octree_mesh", sidestream_add_octree_mesh, name, dimensions_of(roots), roots.data(),
                       origin.data(), spacing.data(), refined);
           })
      .def("add_spectral_mesh",
           [](Session& s, Text name, int dimensions, bool continuous) {
             s.declare("add_spectral_mesh", sidestream_add_spectral_mesh, name, dimensions, continuous ? 1 : 0);
           })
      .def("set_mesh_array",
           [](Session& s, Text mesh, int role, Text variable) {
             s.declare("set_mesh_array", sidestream_set_mesh_array, mesh, static_cast<sidestream_role>(role), variable);
           })
      .def("set_periodic",
           [](Session& s, Text mesh, const std::vector<int>& periodic) {
             s.declare("set_periodic", sidestream_set_periodic, mesh, periodic.data());
           })
      .def("set_refinement",
           [](Session& s, Text mesh, int steps, const Numbers& ratios) {
             s.declare("set_refinement", sidestream_set_refinement, mesh, steps, ratios.data());
           })
      .def("set_fixed", [](Session& s, Text mesh) { s.declare("set_fixed", sidestream_set_fixed, mesh); })
      .def("set_owned_points",
           [](Session& s, Text mesh) { s.declare("set_owned_points", sidestream_set_owned_points, mesh); });
}

void add_variables(nb::class_<Session>& session) {
  session
      .def("set_int",
           [](Session& s, Text name, std::int64_t value) { s.declare("set_int", sidestream_set_int, name, value); })
      .def("set_real",
           [](Session& s, Text name, double value) { s.declare("set_real", sidestream_set_real, name, value); })
      .def("add_variable",
           [](Session& s, Text name, Text mesh, int type, int centering, int components, int order) {
             s.declare("add_variable", sidestream_add_variable, name, mesh, static_cast<sidestream_type>(type),
                       static_cast<sidestream_centering>(centering), components, static_cast<sidestream_order>(order));
           })
      .def("set_variable_attribute", [](Session& s, Text variable, Text attribute, Text value) {
        s.declare("set_variable_attribute", sidestream_set_variable_attribute, variable, attribute, value);
      });
}

void add_blocks(nb::class_<Session>& session) {
  session
      .def("set_block",
           [](Session& s, Text mesh, std::int64_t block, int level, const Numbers& lo, const Numbers& hi) {
             s.declare("set_block", sidestream_set_block_on_level, mesh, block, level, lo.data(), hi.data());
           })
      .def("set_rectilinear_block", set_rectilinear_block)
      .def(
          "set_block_list",
          [](Session& s, Text mesh, std::int64_t block, std::int64_t points, std::int64_t cells, std::int64_t corners,
             std::int64_t faces, const std::optional<Reals>& bounds) {
            s.declare("set_block_list", sidestream_set_block_list, mesh, block, points, cells, corners, faces,
                      bounds_of(bounds));
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def(
          "set_block_bounds",
          [](Session& s, Text mesh, std::int64_t block, const std::optional<Reals>& bounds) {
            s.declare("set_block_bounds", sidestream_set_block_bounds, mesh, block, bounds_of(bounds));
          },
          nb::arg(), nb::arg(), nb::arg().none())
      .def("remove_block", [](Session& s, Text mesh,
                              std::int64_t block) { s.declare("remove_block", sidestream_remove_block, mesh, block); })
      .def("replace_blocks",
           [](Session& s, Text mesh, const Numbers& blocks, const std::vector<int>& levels, const Numbers& lo,
              const Numbers& hi) {
             s.declare("replace_blocks", sidestream_replace_blocks, mesh, static_cast<std::int64_t>(blocks.size()),
                       blocks.data(), levels.data(), lo.data(), hi.data());
           })
      .def("replace_block_lists", replace_block_lists, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none())
      .def("set_spectral_block", set_spectral_block, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::arg())
      .def("set_allocated", [](Session& s, Text variable, std::int64_t block, const Numbers& lo, const Numbers& hi) {
        s.declare("set_allocated", sidestream_set_allocated, variable, block, lo.data(), hi.data());
      });
}

}  // namespace

void add_declarations(nb::class_<Session>& session) {
  add_meshes(session);
  add_variables(session);
  add_blocks(session);
}

}  // namespace sidestream_python
