// Wrong uses of the calls that declare meshes and their blocks get a code and a sentence.
#include <doctest/doctest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "support/ranks.hpp"

namespace {

const char* const configuration =
    "placement: inline\n"
    "meshes:\n"
    "  boxes: {size: [4, 4], refinement: [2], fixed: true}\n"
    "  lists: {type: unstructured, coordinates: x, connectivity: l, offsets: o, types: k}\n"
    "  dots: {type: points, coordinates: y}\n"
    "variables:\n"
    "  t: {mesh: boxes, centering: node}\n"
    "  x: {mesh: lists, components: 3}\n"
    "  l: {mesh: lists, type: int32}\n"
    "  o: {mesh: lists, type: int32}\n"
    "  k: {mesh: lists, type: uint8}\n"
    "  y: {mesh: dots, components: 3}\n"
    "output: {directory: mesh-calls-results, existing: replace, timings: false}\n";

struct Fixture {
  sidestream_session* session = nullptr;
  int rank = 0;
  explicit Fixture(const char* text = configuration) {
    MPI_Comm_rank(sidestream::testing::test_ranks(), &rank);
    REQUIRE(sidestream_open_text(sidestream::testing::test_ranks(), text, &session) == SIDESTREAM_OK);
  }
  ~Fixture() {
    if (session) sidestream_close(&session);
  }
  void start() {
    const std::int64_t lo[3] = {0, 0, 0}, hi[3] = {rank == 0 ? 4 : 0, rank == 0 ? 4 : 0, rank == 0 ? 1 : 0};
    CHECK(sidestream_set_block(session, "boxes", rank, lo, hi) == SIDESTREAM_OK);
    REQUIRE_MESSAGE(sidestream_start(session) == SIDESTREAM_OK, sidestream_message(session));
  }
  void refused(int code, int expected, const std::string& words) const {
    CHECK(code == expected);
    CAPTURE(sidestream_message(session));
    CHECK(std::string(sidestream_message(session)).find(words) != std::string::npos);
  }
};

constexpr int usage = SIDESTREAM_ERROR_USAGE;
const std::int64_t zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, nine[3] = {9, 8, 1};

}  // namespace

TEST_CASE("blocks of the wrong kind, level or place") {
  Fixture f;
  f.start();
  f.refused(sidestream_set_block(f.session, "lists", 1, zero, one), usage, "are lists; call set_block_list");
  f.refused(sidestream_set_block_list(f.session, "boxes", 1, 1, 1, 0, 0, nullptr), usage, "are boxes; call set_block");
  f.refused(sidestream_set_block_list(f.session, "lists", 1, 1, -1, 0, 0, nullptr), usage, "expected 0 or more");
  f.refused(sidestream_set_block_list(f.session, "dots", 1, 3, 2, 0, 0, nullptr), usage, "as many cells as points");
  f.refused(sidestream_set_block_on_level(f.session, "boxes", 1, 2, zero, one), usage,
            "is on level 2, expected 0 to 1");
  f.refused(sidestream_set_block_on_level(f.session, "boxes", 1, -1, zero, one), usage, "is on level -1");
  f.refused(sidestream_set_block_on_level(f.session, "boxes", 1, 1, zero, nine), usage, "[0, 8) x [0, 8) x [0, 1)");
  f.refused(sidestream_set_block(f.session, "boxes", 7, zero, one), usage, "declared fixed");
  f.refused(sidestream_remove_block(f.session, "boxes", f.rank), usage, "declared fixed");
  const double bounds[6] = {0, 0, 0, 1, 1, 1}, turned[6] = {0, 1, 0, 1, 0, 1};
  f.refused(sidestream_set_block_bounds(f.session, "boxes", f.rank, bounds), usage, "follows from their indices");
  f.refused(sidestream_set_block_bounds(f.session, "lists", 99, bounds), usage, "is not declared by this client");
  f.refused(sidestream_set_block_list(f.session, "lists", 1, 1, 1, 1, 0, turned), usage, "1 to 0 on axis 1");
}

TEST_CASE("lists of blocks that cannot be") {
  Fixture f;
  f.start();
  const std::int64_t ids[2] = {f.rank, 7}, same[2] = {7, 7}, more[2] = {3, 4}, less[2] = {3, -1};
  const std::int64_t lo[6] = {0, 0, 0, 0, 0, 0},
                     hi[6] = {f.rank == 0 ? 4 : 0, f.rank == 0 ? 4 : 0, f.rank == 0, 1, 1, 1};
  const std::int64_t out[6] = {9, 8, 1, 9, 9, 1};
  const int levels[2] = {2, 0};
  const auto boxes = [&](std::int64_t count, const std::int64_t* blocks, const int* on, const std::int64_t* high) {
    return sidestream_replace_blocks(f.session, "boxes", count, blocks, on, lo, high);
  };
  CHECK_MESSAGE(boxes(1, ids, nullptr, hi) == SIDESTREAM_OK, sidestream_message(f.session));  // as it is
  f.refused(boxes(0, nullptr, nullptr, nullptr), usage, "declared fixed");
  f.refused(boxes(2, ids, nullptr, hi), usage, "declared fixed");
  f.refused(boxes(2, same, nullptr, hi), usage, "block 7 of the mesh 'boxes' is twice in the list");
  f.refused(boxes(2, ids, levels, hi), usage, "is on level 2, expected 0 to 1");
  f.refused(boxes(1, ids, nullptr, out), usage, "expected a box inside the mesh");
  f.refused(boxes(-1, ids, nullptr, hi), usage, "found -1 blocks");
  f.refused(boxes(1, nullptr, nullptr, hi), usage, "blocks is NULL");
  f.refused(sidestream_replace_blocks(f.session, "dots", 1, ids, nullptr, lo, hi), usage,
            "replace_blocks: blocks of the mesh 'dots', which is points, are lists; call replace_block_lists");
  f.refused(sidestream_replace_block_lists(f.session, "boxes", 1, ids, more, nullptr, nullptr, nullptr, nullptr), usage,
            "replace_block_lists: blocks of the mesh 'boxes', which is uniform, are boxes; call replace_blocks");
  f.refused(sidestream_replace_block_lists(f.session, "dots", 2, ids, less, nullptr, nullptr, nullptr, nullptr), usage,
            "expected 0 or more");
  f.refused(sidestream_replace_blocks(f.session, "boxes2", 0, nullptr, nullptr, nullptr, nullptr), usage,
            "the mesh 'boxes2' is not declared (did you mean 'boxes'?)");
  CHECK(sidestream_end_iteration(f.session, 0, 0) == SIDESTREAM_REFUSED);
  CHECK(sidestream_replace_block_lists(f.session, "dots", 1, &ids[0], more, nullptr, nullptr, nullptr, nullptr) ==
        SIDESTREAM_OK);
  const double y[9] = {};
  CHECK(sidestream_publish_values(f.session, "y", f.rank, SIDESTREAM_FLOAT64, y, 9) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(f.session, 1, 1) == SIDESTREAM_OK);
}

TEST_CASE("ghosts around a 2-D block are taken, around lists refused") {
  Fixture f;
  f.start();
  if (f.rank == 0) {
    const std::int64_t lo[3] = {-2, -2, 0}, hi[3] = {7, 7, 1};
    CHECK_MESSAGE(sidestream_set_allocated(f.session, "t", 0, lo, hi) == SIDESTREAM_OK, sidestream_message(f.session));
  }
  CHECK(sidestream_set_block_list(f.session, "lists", f.rank, 4, 1, 4, 0, nullptr) == SIDESTREAM_OK);
  const std::int64_t hi[3] = {9, 1, 1};
  f.refused(sidestream_set_allocated(f.session, "x", f.rank, zero, hi), usage, "is a list and has nothing around it");
}

TEST_CASE("meshes declared by calls") {
  Fixture f;
  const std::int64_t size[3] = {4, 4, 4}, wrong[3] = {2, 0, 2};
  const int periodic[3] = {0, 0, 1};
  CHECK(sidestream_add_curvilinear_mesh(f.session, "c", 2, size, "p") == SIDESTREAM_OK);
  f.refused(sidestream_add_curvilinear_mesh(f.session, "c", 2, size, "p"), usage, "declared twice");
  f.refused(sidestream_add_points_mesh(f.session, "d", 4, "p"), usage, "has 4 dimensions");
  f.refused(sidestream_set_periodic(f.session, "c", periodic), usage, "axis 2 of the mesh 'c' of 2 dimensions");
  f.refused(sidestream_set_refinement(f.session, "c", 1, wrong), usage, "the ratio 0 along axis 1");
  f.refused(sidestream_set_refinement(f.session, "c", 1, size), usage, "the ratio 4 along axis 2");
  f.refused(sidestream_set_mesh_array(f.session, "c", static_cast<sidestream_role>(13), "p"), usage, "role 13");
  const double origin[3] = {0, 0, 0}, flat[3] = {1, 0, 1};
  f.refused(sidestream_add_octree_mesh(f.session, "o", 3, size, origin, flat, "r"), usage, "of the size 0 on axis 1");
  f.refused(sidestream_add_octree_mesh(f.session, "o", 3, wrong, origin, origin, "r"), usage, "has 2 root cells");
  f.refused(sidestream_start(f.session), SIDESTREAM_ERROR_CONFIGURATION, "there is no variable 'p'");
}

TEST_CASE("owned points of a mesh that no call declares as a whole, or that cannot have them") {
  Fixture f;
  const std::int64_t size[3] = {4, 4, 4};
  f.refused(sidestream_set_owned_points(f.session, "blocks"), usage, "no call has declared the mesh 'blocks'");
  CHECK(sidestream_add_curvilinear_mesh(f.session, "c", 2, size, "p") == SIDESTREAM_OK);
  f.refused(sidestream_set_owned_points(f.session, "c"), usage, "expected a uniform or rectilinear one");
}

TEST_CASE("a change of a mesh that only the configuration declares") {
  Fixture f;
  CHECK(sidestream_set_fixed(f.session, "lists") == SIDESTREAM_OK);  // blocks may still describe a mesh of that name
  f.refused(sidestream_start(f.session), usage, "set_fixed: the mesh 'lists' is declared by no call and no block");
}

TEST_CASE("a role that does not fit") {
  Fixture f;
  CHECK(sidestream_set_mesh_array(f.session, "lists", SIDESTREAM_POINT_GHOSTS, "l") == SIDESTREAM_OK);
  f.refused(sidestream_start(f.session), SIDESTREAM_ERROR_CONFIGURATION, "'l' is the connectivity of the mesh 'lists'");
}

TEST_CASE("cells of a tree may be given as its points too") {
  Fixture f(
      "placement: inline\n"
      "meshes: {tree: {type: octree, size: [2, 1], refined: r}}\n"
      "variables: {r: {mesh: tree, type: uint8}, t: {mesh: tree}}\n"
      "analyses: [statistics: {variable: t}]\n"
      "output: {directory: mesh-calls-results, existing: replace, timings: false}\n");
  const std::uint8_t refined[6] = {1, 0, 0, 0, 0, 0};
  const double values[6] = {9, 1, 2, 3, 4, 5};
  for (const std::int64_t points : {6, 0}) {
    CHECK(sidestream_set_block_list(f.session, "tree", f.rank, points, 6, 0, 0, nullptr) == SIDESTREAM_OK);
    CHECK(sidestream_publish(f.session, "r", f.rank, refined) == SIDESTREAM_OK);
    CHECK(sidestream_publish(f.session, "t", f.rank, values) == SIDESTREAM_OK);
    CHECK(sidestream_end_iteration(f.session, 0, 0) == SIDESTREAM_OK);
  }
  const char* const other = "as many points or none";
  f.refused(sidestream_set_block_list(f.session, "tree", f.rank, 3, 6, 0, 0, nullptr), usage, other);
  f.refused(sidestream_set_block_list(f.session, "tree", f.rank, 1, 1, 0, 0, nullptr), usage, "2 root cells");
  sidestream_account account{};
  account.struct_size = sizeof account;
  CHECK(sidestream_close_with_account(&f.session, &account) == SIDESTREAM_OK);
  CHECK(account.delivered == 2);
  CHECK(account.failed == 0);
}
