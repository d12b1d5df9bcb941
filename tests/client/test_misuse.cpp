// Wrong uses of every call of the C interface get a code and a sentence. Nothing hangs, and an iteration in which they
// happen is refused.
#include <doctest/doctest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "support/ranks.hpp"

namespace {

const char* const configuration =
    "placement: inline\n"
    "meshes: {grid: {type: uniform, size: [$n, 4, 4]}}\n"
    "variables:\n"
    "  t: {mesh: grid}\n"
    "  once: {mesh: grid, type: int32, time_varying: false}\n"
    "events: [burst]\n"
    "output: {directory: misuse-results, existing: replace, timings: false}\n";

/// An open session on all ranks, with one block of 4 x 4 x 4 cells per rank.
struct Fixture {
  sidestream_session* session = nullptr;
  int rank = 0, size = 1;
  std::vector<double> values = std::vector<double>(64, 1.5);

  explicit Fixture(bool started = true, const char* text = configuration) {
    MPI_Comm_rank(sidestream::testing::test_ranks(), &rank);
    MPI_Comm_size(sidestream::testing::test_ranks(), &size);
    REQUIRE(sidestream_open_text(sidestream::testing::test_ranks(), text, &session) == SIDESTREAM_OK);
    sidestream_set_int(session, "n", 4 * size);
    if (!started) return;
    declare(rank, 4 * rank, 4 * rank + 4);
    REQUIRE_MESSAGE(sidestream_start(session) == SIDESTREAM_OK, sidestream_message(session));
  }
  ~Fixture() {
    if (session) sidestream_close(&session);
  }
  int declare(std::int64_t id, std::int64_t from, std::int64_t to) {
    const std::int64_t lo[3] = {from, 0, 0}, hi[3] = {to, 4, 4};
    return sidestream_set_block(session, "grid", id, lo, hi);
  }
  sidestream_account close() {
    sidestream_account account{};
    account.struct_size = sizeof account;
    CHECK(sidestream_close_with_account(&session, &account) == SIDESTREAM_OK);
    return account;
  }
  /// Checks that only the next iteration counts, after one that some rank spoilt for all.
  void check_that_only_the_next_counts() {
    CHECK(sidestream_publish(session, "t", rank, values.data()) == SIDESTREAM_OK);
    CHECK(sidestream_end_iteration(session, 1, 0.1) == SIDESTREAM_OK);
    const sidestream_account account = close();
    CHECK(account.iterations == 2);
    CHECK(account.delivered == 1);
    CHECK(account.refused == 1);
  }
  [[nodiscard]] std::string message() const { return sidestream_message(session); }
  [[nodiscard]] bool says(const char* words) const { return message().find(words) != std::string::npos; }
};

}  // namespace

TEST_CASE("a null session is an error of usage in every call") {
  CHECK(sidestream_publish(nullptr, "t", 0, nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_end_iteration(nullptr, 0, 0) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_start(nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_serve(nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_close(nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_open(sidestream::testing::test_ranks(), "x.yaml", nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(std::string(sidestream_message(nullptr)).find("NULL") != std::string::npos);
  CHECK(sidestream_is_server(nullptr) == 0);
  CHECK(sidestream_comm(nullptr) == MPI_COMM_NULL);
}

TEST_CASE("opening without a file, or with one that is not there, fails on every rank") {
  sidestream_session* session = nullptr;
  CHECK(sidestream_open(sidestream::testing::test_ranks(), "not-there.yaml", &session) ==
        SIDESTREAM_ERROR_CONFIGURATION);
  CHECK(session == nullptr);
  CHECK(std::string(sidestream_message(nullptr)).find("not-there.yaml") != std::string::npos);
  CHECK(sidestream_open(sidestream::testing::test_ranks(), nullptr, &session) == SIDESTREAM_ERROR_CONFIGURATION);
  CHECK(sidestream_open_text(sidestream::testing::test_ranks(), "placement: sideways", &session) ==
        SIDESTREAM_ERROR_CONFIGURATION);
}

TEST_CASE("names that do not exist come with a suggestion") {
  Fixture f;
  CHECK(sidestream_publish(f.session, "onec", f.rank, f.values.data()) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("did you mean 'once'"));
  CHECK(sidestream_signal(f.session, "brust") == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("did you mean 'burst'"));
  const std::int64_t box[3] = {0, 0, 0};
  CHECK(sidestream_set_block(f.session, "gird", 0, box, box) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("did you mean 'grid'"));
}

TEST_CASE("a failed publish refuses the iteration, for everybody, and the next one is taken") {
  Fixture f;
  const bool fails = f.rank == f.size - 1;
  if (fails) CHECK(sidestream_publish(f.session, "t", 77, f.values.data()) == SIDESTREAM_ERROR_USAGE);
  const int own = sidestream_publish(f.session, "t", f.rank, f.values.data());
  CHECK(own == (fails ? SIDESTREAM_REFUSED : SIDESTREAM_OK));
  CHECK(sidestream_end_iteration(f.session, 0, 0) == (fails ? SIDESTREAM_REFUSED : SIDESTREAM_OK));
  f.check_that_only_the_next_counts();
}

TEST_CASE("arguments that are wrong in themselves refuse the iteration too") {
  // Values that real mistakes give: a product of extents that overflowed, a constant of another library.
  const auto wrong_type = static_cast<sidestream_type>(99);
  for (int kind = 0; kind < 6; ++kind) {
    CAPTURE(kind);
    Fixture f;
    sidestream_handle handle{};
    REQUIRE(sidestream_get_handle(f.session, "t", f.rank, &handle) == SIDESTREAM_OK);
    void* place = nullptr;
    const std::int64_t extents[4] = {4, 4, 4, 1}, strides[4] = {1, 4, 16, 64};
    const double* const v = f.values.data();
    const auto call = [&] {
      if (kind == 0) return sidestream_publish_values(f.session, "t", f.rank, SIDESTREAM_FLOAT64, v, -5);
      if (kind == 1) return sidestream_publish_values(f.session, "t", f.rank, wrong_type, v, 64);
      if (kind == 2) return sidestream_publish_handle_values(f.session, handle, SIDESTREAM_FLOAT64, v, -5);
      if (kind == 3) return sidestream_alloc_values(f.session, "t", f.rank, wrong_type, 64, &place);
      if (kind == 4) return sidestream_publish_array(f.session, "t", f.rank, wrong_type, v, 3, extents, strides, -1);
      return sidestream_publish_values(f.session, "t", f.rank, SIDESTREAM_FLOAT64, v, 63);
    };
    if (f.rank == f.size - 1) {
      CHECK(call() == SIDESTREAM_ERROR_USAGE);
      CHECK(f.says(kind == 5 ? "has 63 values, expected 64" : kind == 0 || kind == 2 ? "-5" : "the type is 99"));
    } else {
      sidestream_publish(f.session, "t", f.rank, f.values.data());
    }
    sidestream_end_iteration(f.session, 0, 0);
    f.check_that_only_the_next_counts();
  }
}

TEST_CASE("publishing twice, a null pointer, an unknown block") {
  Fixture f;
  CHECK(sidestream_publish(f.session, "t", f.rank, nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("null pointer"));
  sidestream_end_iteration(f.session, 0, 0);
  CHECK(sidestream_publish(f.session, "t", f.rank, f.values.data()) == SIDESTREAM_OK);
  CHECK(sidestream_publish(f.session, "t", f.rank, f.values.data()) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("published already"));
  sidestream_end_iteration(f.session, 1, 0);
  CHECK(sidestream_publish(f.session, "t", 1000, f.values.data()) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("set_block"));
  CHECK(sidestream_publish(f.session, nullptr, 0, f.values.data()) == SIDESTREAM_ERROR_USAGE);
}

TEST_CASE("alloc, commit and clear in the wrong order") {
  Fixture f;
  CHECK(sidestream_commit(f.session, "t", f.rank) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("call alloc first"));
  CHECK(sidestream_clear(f.session, "t", f.rank) == SIDESTREAM_ERROR_USAGE);
  sidestream_end_iteration(f.session, 0, 0);
  void* data = nullptr;
  CHECK(sidestream_alloc(f.session, "t", f.rank, &data) == SIDESTREAM_OK);
  REQUIRE(data != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
  CHECK(sidestream_alloc(f.session, "t", f.rank, &data) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("commit or clear"));
  CHECK(sidestream_publish(f.session, "t", f.rank, f.values.data()) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_commit(f.session, "t", f.rank) == SIDESTREAM_OK);
  CHECK(sidestream_commit(f.session, "t", f.rank) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_clear(f.session, "t", f.rank) == SIDESTREAM_OK);
  sidestream_end_iteration(f.session, 1, 0);
}

TEST_CASE("declaring after the start, serving on a client, starting twice") {
  Fixture f;
  CHECK(sidestream_set_int(f.session, "m", 3) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("frozen"));
  const std::int64_t size[3] = {2, 2, 2};
  const double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1};
  CHECK(sidestream_add_uniform_mesh(f.session, "late", 3, size, origin, spacing) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_add_variable(f.session, "late", "grid", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN) ==
        SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_serve(f.session) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("client"));
  CHECK(sidestream_start(f.session) == SIDESTREAM_ERROR_USAGE);
}

TEST_CASE("wrong meshes and variables are refused when they are declared") {
  Fixture f(false);
  const std::int64_t size[3] = {2, 0, 2};
  const double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1}, negative[3] = {1, -1, 1};
  CHECK(sidestream_add_uniform_mesh(f.session, "m", 3, size, origin, spacing) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_add_uniform_mesh(f.session, "m", 4, size, origin, spacing) == SIDESTREAM_ERROR_USAGE);
  const std::int64_t good[3] = {2, 2, 2};
  CHECK(sidestream_add_uniform_mesh(f.session, "m", 3, good, origin, negative) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_add_uniform_mesh(f.session, "m", 3, good, nullptr, spacing) == SIDESTREAM_ERROR_USAGE);
  const double falling[3] = {0, 2, 1};
  const double* axes[3] = {falling, falling, falling};
  CHECK(sidestream_add_rectilinear_mesh(f.session, "r", 3, good, axes) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_add_variable(f.session, "v", "grid", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 0, SIDESTREAM_COLUMN) ==
        SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_add_variable(f.session, "v", "grid", static_cast<sidestream_type>(99), SIDESTREAM_CELL, 1,
                                SIDESTREAM_COLUMN) == SIDESTREAM_ERROR_USAGE);
}

TEST_CASE("two clients with the same block id, on every rank the same error") {
  Fixture f(false);
  f.declare(0, 4 * f.rank, 4 * f.rank + 4);
  const int code = sidestream_start(f.session);
  if (f.size == 1) {
    CHECK(code == SIDESTREAM_OK);
  } else {
    CHECK(code == SIDESTREAM_ERROR_USAGE);
    CHECK(f.says("clients 0 and 1 both declare block 0"));
  }
}

TEST_CASE("a block outside the mesh on one rank fails the start on all") {
  Fixture f(false);
  f.declare(f.rank, 4 * f.rank, 4 * f.rank + (f.rank == f.size - 1 ? 5 : 4));
  CHECK(sidestream_start(f.session) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("inside the mesh"));
  CHECK(sidestream_publish(f.session, "t", f.rank, f.values.data()) == SIDESTREAM_ERROR_USAGE);
}

TEST_CASE("parameters that differ between ranks") {
  Fixture f(false);
  sidestream_set_int(f.session, "m", f.rank);
  f.declare(f.rank, 4 * f.rank, 4 * f.rank + 4);
  const int code = sidestream_start(f.session);
  CHECK(code == (f.size == 1 ? SIDESTREAM_OK : SIDESTREAM_ERROR_USAGE));
}

TEST_CASE("closing on one rank before the start fails the others instead of hanging") {
  Fixture f(false);
  if (f.rank == 0) {
    const int code = sidestream_close(&f.session);
    CHECK(code == (f.size == 1 ? SIDESTREAM_OK : SIDESTREAM_ERROR_USAGE));
  } else {
    CHECK(sidestream_start(f.session) == SIDESTREAM_ERROR_USAGE);
    CHECK(f.says("closed on some ranks"));
  }
}

TEST_CASE("different cycles on different ranks refuse the iteration everywhere") {
  Fixture f;
  sidestream_publish(f.session, "t", f.rank, f.values.data());
  sidestream_end_iteration(f.session, f.rank, 0);
  CHECK(sidestream_end_iteration(f.session, 1, f.rank == 0 ? 0.5 : 0.25) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(f.session, 2, 1) == SIDESTREAM_OK);
  const sidestream_account account = f.close();
  // Cycles must agree; the time is that of the first client.
  CHECK(account.refused == (f.size == 1 ? 0 : 1));
  CHECK(account.delivered == (f.size == 1 ? 3 : 2));
}

TEST_CASE("a time that is no number on one rank refuses the iteration, and the next one is taken") {
  Fixture f;
  const bool wrong = f.rank == f.size - 1;
  CHECK(sidestream_publish(f.session, "t", f.rank, f.values.data()) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(f.session, 0, wrong ? 0.0 / 0.0 : 0.0) ==
        (wrong ? SIDESTREAM_ERROR_USAGE : SIDESTREAM_OK));
  if (wrong) CHECK(f.says("expected a finite number; the iteration is refused"));
  f.check_that_only_the_next_counts();
}

TEST_CASE("a box that ends before it begins") {
  Fixture f;
  CHECK(f.declare(f.rank, 4 * f.rank + 2, 4 * f.rank + 1) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("ends before it begins"));
  CHECK(sidestream_publish(f.session, "t", 99, f.values.data()) == SIDESTREAM_ERROR_USAGE);
  // The failed publish refuses its iteration, which is ended only now.
  CHECK(sidestream_end_iteration(f.session, 0, 0) == SIDESTREAM_REFUSED);
  CHECK(f.says("dropped"));
}

TEST_CASE("a block that is empty only along an axis that the mesh does not use") {
  Fixture f(false, "placement: inline\nmeshes: {grid: {type: uniform, size: [$n, 4]}}\nvariables: {t: {mesh: grid}}\n");
  const std::int64_t lo[3] = {4 * f.rank, 0, 0}, hi[3] = {4 * f.rank + 4, 4, 0};
  CHECK(sidestream_set_block(f.session, "grid", f.rank, lo, hi) == SIDESTREAM_OK);
  CHECK(sidestream_start(f.session) == SIDESTREAM_ERROR_USAGE);
  CHECK(f.says("empty along an axis that the mesh, of 2 dimensions, does not use"));
}

TEST_CASE("an account with an older, shorter struct is filled as far as it goes") {
  Fixture f;
  sidestream_end_iteration(f.session, 0, 0);
  sidestream_account account{};
  account.struct_size = offsetof(sidestream_account, delivered);
  account.delivered = -7;
  CHECK(sidestream_account_so_far(f.session, &account) == SIDESTREAM_OK);
  CHECK(account.iterations == 1);
  CHECK(account.delivered == -7);
}
