// Publishing by handle, and arrays that do not vary in time in the smallest buffer that a session starts with.
#include <doctest/doctest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

constexpr Index cells = 20'000;

std::string configuration(const std::string& placement) {
  return "placement: {" + placement +
         "}\nmeshes: {line: {type: uniform, size: [40000]}}\n"
         "variables: {v: {mesh: line}, once: {mesh: line, time_varying: false}}\n"
         "output: {directory: publishing-results, existing: replace, timings: false}\n"
         "analyses: [statistics: {variable: v}, statistics: {name: still, variable: once, file: still.csv}]\n";
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

const char* const placements[] = {"mode: inline", "mode: cores", "mode: nodes, servers: 1"};

/// The last number of a sentence, which tells how much is needed.
std::int64_t last_number(const std::string& sentence) {
  std::int64_t number = 0;
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    if (sentence[at] < '0' || sentence[at] > '9' || (at > 0 && sentence[at - 1] >= '0' && sentence[at - 1] <= '9')) {
      continue;
    }
    const long long one = std::stoll(sentence.substr(at));
    if (one > number) number = one;
  }
  return number;
}

/// Publishes both variables in each of five iterations. Throws if starting throws.
void publish_all(const std::string& text) {
  Session session = Session::open_text(testing::test_ranks(), text);
  if (session.is_server()) {
    session.serve();
    session.close();
    return;
  }
  const int rank = rank_in(session.comm());
  session.set_block("line", rank, Box{{rank * cells, 0, 0}, {(rank + 1) * cells, 1, 1}});
  session.start();
  std::vector<double> values(static_cast<std::size_t>(cells));
  for (int step = 0; step < 5; ++step) {
    std::fill(values.begin(), values.end(), step);
    CHECK(session.publish("v", rank, values) == Taken::yes);
    CHECK(session.publish("once", rank, values) == Taken::yes);
    CHECK(session.end_iteration(step, step) == Taken::yes);
  }
  const Account account = session.close();
  CHECK(account.delivered == 5);
}

}  // namespace

TEST_CASE("an array that does not vary in time is replaced in the smallest buffer that a session starts with") {
  for (const char* placement : placements) {
    CAPTURE(placement);
    std::int64_t bytes = 64 * 1024;
    bool started = false;
    for (int tries = 0; tries < 5 && !started; ++tries) {
      try {
        publish_all(configuration(std::string(placement) + ", buffer: " + std::to_string(bytes)));
        started = true;
      } catch (const Error& e) {
        REQUIRE(e.code() == Code::full);
        REQUIRE(last_number(e.what()) > bytes);
        bytes = last_number(e.what());
      }
    }
    CHECK(started);
  }
}

TEST_CASE("a handle publishes what its name does, until its block is removed") {
  for (const char* placement : placements) {
    CAPTURE(placement);
    Session session = Session::open_text(testing::test_ranks(), configuration(placement));
    if (session.is_server()) {
      session.serve();
      session.close();
      continue;
    }
    const int rank = rank_in(session.comm());
    session.set_block("line", rank, Box{{rank * cells, 0, 0}, {(rank + 1) * cells, 1, 1}});
    session.start();
    const std::vector<double> values(static_cast<std::size_t>(cells), 1.0);
    const Handle v = session.handle("v", rank), once = session.handle("once", rank);
    CHECK(session.handle("v", rank) == v);
    CHECK(session.publish({v, once}, {values, values}) == Taken::yes);
    CHECK_THROWS_WITH_AS(session.publish(v, values), doctest::Contains("published already"), Error);
    CHECK(session.end_iteration(0, 0) == Taken::refused);
    CHECK(session.refusal().find("published already") != std::string::npos);
    CHECK(session.publish(v, values) == Taken::yes);
    CHECK(session.end_iteration(1, 1) == Taken::yes);
    CHECK(session.refusal().empty());
    session.remove_block("line", rank);
    CHECK_THROWS_WITH_AS(session.publish(v, values), doctest::Contains("removed"), Error);
    CHECK_THROWS_WITH_AS(session.publish(Handle{99}, values), doctest::Contains("never given"), Error);
    CHECK(session.end_iteration(2, 2) == Taken::refused);
    const Account account = session.close();
    CHECK(account.delivered == 1);
    CHECK(account.refused == 2);
  }
}

/// All are tried, because nobody would miss an array that is kept from iteration to iteration.
TEST_CASE("all of several handles are tried, and the first that fails is said") {
  Session session = Session::open_text(testing::test_ranks(), configuration("mode: inline"));
  const int rank = rank_in(session.comm());
  session.set_block("line", rank, Box{{rank * cells, 0, 0}, {(rank + 1) * cells, 1, 1}});
  session.start();
  const std::vector<double> values(static_cast<std::size_t>(cells), 1.0);
  const Handle v = session.handle("v", rank), once = session.handle("once", rank);
  CHECK_THROWS_WITH_AS(session.publish({Handle{99}, v, Handle{98}, once}, {values, values, values, values}),
                       doctest::Contains("99"), Error);
  CHECK_THROWS_WITH_AS(session.publish(once, values), doctest::Contains("published already"), Error);
  CHECK(session.end_iteration(0, 0) == Taken::refused);
  CHECK(session.publish(v, values) == Taken::yes);
  CHECK(session.end_iteration(1, 1) == Taken::yes);
  CHECK(session.close().delivered == 1);
}

TEST_CASE("handles in C") {
  sidestream_session* session = nullptr;
  REQUIRE(sidestream_open_text(testing::test_ranks(), configuration("mode: inline").c_str(), &session) ==
          SIDESTREAM_OK);
  const int rank = rank_in(sidestream_comm(session));
  const std::int64_t lo[3] = {rank * cells, 0, 0}, hi[3] = {(rank + 1) * cells, 1, 1};
  REQUIRE(sidestream_set_block(session, "line", rank, lo, hi) == SIDESTREAM_OK);
  REQUIRE(sidestream_start(session) == SIDESTREAM_OK);
  const std::vector<double> values(static_cast<std::size_t>(cells), 1.0);
  sidestream_handle handles[2] = {-1, -1};
  CHECK(sidestream_get_handle(session, "v", rank, &handles[0]) == SIDESTREAM_OK);
  CHECK(sidestream_get_handle(session, "once", rank, &handles[1]) == SIDESTREAM_OK);
  const void* data[2] = {values.data(), values.data()};
  CHECK(sidestream_publish_handles(session, 2, handles, data) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(session, 0, 0) == SIDESTREAM_OK);
  CHECK(sidestream_publish_handle(session, 77, data[0]) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_end_iteration(session, 1, 0) == SIDESTREAM_REFUSED);
  CHECK(std::string(sidestream_message(session)).find("never given") != std::string::npos);
  const sidestream_handle wrong[3] = {77, handles[1], 78};
  const void* const same[3] = {values.data(), values.data(), values.data()};
  CHECK(sidestream_publish_handles(session, 3, wrong, same) == SIDESTREAM_ERROR_USAGE);
  CHECK(std::string(sidestream_message(session)).find("77") != std::string::npos);
  CHECK(sidestream_publish_handle(session, handles[1], values.data()) ==
        SIDESTREAM_ERROR_USAGE);  // it was published above
  CHECK(sidestream_end_iteration(session, 2, 0) == SIDESTREAM_REFUSED);
  CHECK(sidestream_publish_handles(session, 1, nullptr, data) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_publish_handles(nullptr, 1, nullptr, nullptr) == SIDESTREAM_ERROR_USAGE);
  sidestream_account account{};
  account.struct_size = sizeof account;
  CHECK(sidestream_close_with_account(&session, &account) == SIDESTREAM_OK);
  CHECK(account.delivered == 1);
}
