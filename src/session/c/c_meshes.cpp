// The C interface: kinds of meshes, their arrays, and blocks.
#include <vector>

#include "session/c/c_session.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

Box box_of(const char* call, const std::int64_t* lo, const std::int64_t* hi) {
  need(lo, call, "lo");
  need(hi, call, "hi");
  return Box{{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
}

/// Converts six numbers; null: unknown.
Bounds bounds_from(const char* call, const double* bounds) {
  if (!bounds) return {};
  Bounds result{{bounds[0], bounds[1], bounds[2]}, {bounds[3], bounds[4], bounds[5]}};
  for (std::size_t a = 0; a < 3; ++a) {
    if (result.low[a] <= result.high[a]) continue;
    fail(Code::usage,
         "{}: the bounds {} to {} on axis {}, expected the lower one first (xmin, ymin, zmin, xmax, ymax, zmax)", call,
         result.low[a], result.high[a], a);
  }
  return result;
}

/// The nodes of each axis up to the first without nodes.
std::vector<std::vector<double>> nodes_from(const Box& cells, const double* const* nodes) {
  std::vector<std::vector<double>> all;
  for (std::size_t a = 0; a < 3 && nodes[a]; ++a) {
    if (cells.hi[a] <= cells.lo[a]) {
      fail(Code::usage, "set_rectilinear_block: cells {} to {} on axis {}, expected at least one", cells.lo[a],
           cells.hi[a], a);
    }
    all.emplace_back(nodes[a], nodes[a] + (cells.hi[a] - cells.lo[a] + 1));
  }
  return all;
}

/// Checks the number of blocks of a list, and that its ids are given.
void check_count(const char* call, std::int64_t count, const std::int64_t* blocks) {
  if (count < 0) fail(Code::usage, "{}: found {} blocks, expected at least 0", call, count);
  if (count > 0) need(blocks, call, "blocks");
}

std::vector<Block> boxes_from(std::int64_t count, const std::int64_t* blocks, const int* levels, const std::int64_t* lo,
                              const std::int64_t* hi) {
  constexpr const char* call = "replace_blocks";
  check_count(call, count, blocks);
  std::vector<Block> all(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < all.size(); ++n) {
    all[n].id = blocks[n];
    all[n].level = levels ? levels[n] : 0;
    all[n].cells = box_of(call, lo ? lo + 3 * n : nullptr, hi ? hi + 3 * n : nullptr);
  }
  return all;
}

std::vector<Block> lists_from(std::int64_t count, const std::int64_t* blocks, const std::int64_t* points,
                              const std::int64_t* cells, const std::int64_t* corners, const std::int64_t* faces,
                              const double* bounds) {
  constexpr const char* call = "replace_block_lists";
  check_count(call, count, blocks);
  if (count > 0) need(points, call, "points");
  std::vector<Block> all(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < all.size(); ++n) {
    all[n].id = blocks[n];
    all[n].space = IndexSpace::list;
    all[n].cells = list_box(cells ? cells[n] : points[n]);
    all[n].lengths = {points[n], corners ? corners[n] : 0, faces ? faces[n] : 0};
    all[n].bounds = bounds_from(call, bounds ? bounds + 6 * n : nullptr);
  }
  return all;
}

void check_dimensions(const char* call, int dimensions) {
  if (dimensions >= 1 && dimensions <= 3) return;
  fail(Code::usage, "{}: dimensions is {}, expected 1, 2 or 3", call, dimensions);
}

}  // namespace
}  // namespace sidestream

using sidestream::guarded;
using sidestream::need;
using sidestream::Session;

extern "C" {

int sidestream_add_curvilinear_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                    const char* coordinates) {
  return guarded(session, "add_curvilinear_mesh", {{name, "name"}, {size, "size"}, {coordinates, "coordinates"}},
                 [&](Session& s) {
                   sidestream::check_dimensions("add_curvilinear_mesh", dimensions);
                   s.add_curvilinear_mesh(name, {size, size + dimensions}, coordinates);
                 });
}

int sidestream_add_unstructured_mesh(sidestream_session* session, const char* name, int dimensions,
                                     const char* coordinates, const char* connectivity, const char* offsets,
                                     const char* types) {
  return guarded(
      session, "add_unstructured_mesh",
      {{name, "name"},
       {coordinates, "coordinates"},
       {connectivity, "connectivity"},
       {offsets, "offsets"},
       {types, "types"}},
      [&](Session& s) { s.add_unstructured_mesh(name, dimensions, coordinates, connectivity, offsets, types); });
}

int sidestream_add_points_mesh(sidestream_session* session, const char* name, int dimensions, const char* coordinates) {
  return guarded(session, "add_points_mesh", {{name, "name"}, {coordinates, "coordinates"}},
                 [&](Session& s) { s.add_points_mesh(name, dimensions, coordinates); });
}

int sidestream_add_octree_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* roots,
                               const double* origin, const double* spacing, const char* refined) {
  return guarded(session, "add_octree_mesh",
                 {{name, "name"}, {roots, "roots"}, {origin, "origin"}, {spacing, "spacing"}, {refined, "refined"}},
                 [&](Session& s) {
                   sidestream::check_dimensions("add_octree_mesh", dimensions);
                   s.add_octree_mesh(name, {roots, roots + dimensions}, {origin, origin + dimensions},
                                     {spacing, spacing + dimensions}, refined);
                 });
}

int sidestream_add_spectral_mesh(sidestream_session* session, const char* name, int dimensions, int continuous) {
  return guarded(session, "add_spectral_mesh", {{name, "name"}},
                 [&](Session& s) { s.add_spectral_mesh(name, dimensions, continuous != 0); });
}

int sidestream_set_mesh_array(sidestream_session* session, const char* mesh, sidestream_role role,
                              const char* variable) {
  return guarded(session, "set_mesh_array", {{mesh, "mesh"}, {variable, "variable"}}, [&](Session& s) {
    if (role < 1 || role >= sidestream::role_count) {
      sidestream::fail(sidestream::Code::usage, "set_mesh_array: role {} of '{}'; expected a constant of sidestream.h",
                       static_cast<int>(role), variable);
    }
    s.set_mesh_array(mesh, static_cast<sidestream::Role>(role), variable);
  });
}

int sidestream_set_periodic(sidestream_session* session, const char* mesh, const int* periodic) {
  return guarded(session, "set_periodic", {{mesh, "mesh"}, {periodic, "periodic"}}, [&](Session& s) {
    s.set_periodic(mesh, {periodic[0] != 0, periodic[1] != 0, periodic[2] != 0});
  });
}

int sidestream_set_refinement(sidestream_session* session, const char* mesh, int steps, const int64_t* ratios) {
  return guarded(session, "set_refinement", {{mesh, "mesh"}, {ratios, "ratios"}}, [&](Session& s) {
    std::vector<sidestream::Index3> all;
    for (int n = 0; n < steps; ++n) all.push_back({ratios[3 * n], ratios[3 * n + 1], ratios[3 * n + 2]});
    s.set_refinement(mesh, all);
  });
}

int sidestream_set_fixed(sidestream_session* session, const char* mesh) {
  return guarded(session, "set_fixed", {{mesh, "mesh"}}, [&](Session& s) { s.set_fixed(mesh); });
}

int sidestream_set_owned_points(sidestream_session* session, const char* mesh) {
  return guarded(session, "set_owned_points", {{mesh, "mesh"}}, [&](Session& s) { s.set_owned_points(mesh); });
}

int sidestream_set_block(sidestream_session* session, const char* mesh, int64_t block, const int64_t* lo,
                         const int64_t* hi) {
  return guarded(session, "set_block", {{mesh, "mesh"}},
                 [&](Session& s) { s.set_block(mesh, block, sidestream::box_of("set_block", lo, hi)); });
}

int sidestream_set_block_on_level(sidestream_session* session, const char* mesh, int64_t block, int level,
                                  const int64_t* lo, const int64_t* hi) {
  return guarded(session, "set_block_on_level", {{mesh, "mesh"}}, [&](Session& s) {
    s.set_block(mesh, block, sidestream::box_of("set_block_on_level", lo, hi), level);
  });
}

int sidestream_set_rectilinear_block(sidestream_session* session, const char* mesh, int64_t block, const int64_t* lo,
                                     const int64_t* hi, const double* const* nodes) {
  return guarded(session, "set_rectilinear_block", {{mesh, "mesh"}, {nodes, "nodes"}}, [&](Session& s) {
    const sidestream::Box cells = sidestream::box_of("set_rectilinear_block", lo, hi);
    s.set_rectilinear_block(mesh, block, cells, sidestream::nodes_from(cells, nodes));
  });
}

int sidestream_set_block_list(sidestream_session* session, const char* mesh, int64_t block, int64_t points,
                              int64_t cells, int64_t corners, int64_t faces, const double* bounds) {
  return guarded(session, "set_block_list", {{mesh, "mesh"}}, [&](Session& s) {
    s.set_block_list(mesh, block, cells, {points, corners, faces}, sidestream::bounds_from("set_block_list", bounds));
  });
}

int sidestream_set_block_bounds(sidestream_session* session, const char* mesh, int64_t block, const double* bounds) {
  return guarded(session, "set_block_bounds", {{mesh, "mesh"}}, [&](Session& s) {
    s.set_block_bounds(mesh, block, sidestream::bounds_from("set_block_bounds", bounds));
  });
}

int sidestream_remove_block(sidestream_session* session, const char* mesh, int64_t block) {
  return guarded(session, "remove_block", {{mesh, "mesh"}}, [&](Session& s) { s.remove_block(mesh, block); });
}

int sidestream_set_spectral_block(sidestream_session* session, const char* mesh, int64_t block, int order,
                                  int64_t elements, const int64_t* numbers, const double* x, const double* y,
                                  const double* z) {
  return guarded(session, "set_spectral_block", {{mesh, "mesh"}}, [&](Session& s) {
    s.set_spectral_block(mesh, block, order, elements, {x, y, z}, numbers);
  });
}

int sidestream_replace_blocks(sidestream_session* session, const char* mesh, int64_t count, const int64_t* blocks,
                              const int* levels, const int64_t* lo, const int64_t* hi) {
  return guarded(session, "replace_blocks", {{mesh, "mesh"}},
                 [&](Session& s) { s.replace_blocks(mesh, sidestream::boxes_from(count, blocks, levels, lo, hi)); });
}

int sidestream_replace_block_lists(sidestream_session* session, const char* mesh, int64_t count, const int64_t* blocks,
                                   const int64_t* points, const int64_t* cells, const int64_t* corners,
                                   const int64_t* faces, const double* bounds) {
  return guarded(session, "replace_block_lists", {{mesh, "mesh"}}, [&](Session& s) {
    s.replace_blocks(mesh, sidestream::lists_from(count, blocks, points, cells, corners, faces, bounds));
  });
}

int sidestream_set_allocated(sidestream_session* session, const char* variable, int64_t block, const int64_t* lo,
                             const int64_t* hi) {
  return guarded(session, "set_allocated", {{variable, "variable"}},
                 [&](Session& s) { s.set_allocated(variable, block, sidestream::box_of("set_allocated", lo, hi)); });
}

}  // extern "C"
