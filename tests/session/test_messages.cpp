// Messages of sessions of one program: each goes to the file of its own session, from every thread and placement.
#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// An analysis that fails in each iteration, and takes longer than its limit in the first one.
class Failing final : public Task {
 public:
  explicit Failing(std::int32_t variable) : variable_(variable) {}
  [[nodiscard]] Selection selection() const override {
    Selection all;
    all.variables.push_back({variable_});
    return all;
  }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    if (input.iteration.index == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    throw Error(Code::analysis, "planned failure 0");
  }
  Bytes combine(const CombineInput&) override { return {}; }

 private:
  std::int32_t variable_;
};

Session opened(const std::string& name, const std::string& placement, const std::string& more = "") {
  Session session = Session::open_text(
      testing::test_ranks(), "placement: " + placement + "\noutput: {directory: messages-" + name +
                                 ", existing: replace, timings: false" + more + "}\nmeshes: {line: {size: [64]}}\n" +
                                 "variables: {v: {mesh: line}}\nanalyses:\n  - failing: {name: failing-" + name +
                                 ", variable: v, limit: 0.1 s}\n");
  Option variable{"variable", OptionType::variable};
  variable.required = true;
  session.registry().add(AnalysisKind{"failing", "Fails.", {variable}, [](const Settings& s, const Metadata& m) {
                                        return std::make_unique<Failing>(m.find_variable(s.text("variable"))->id);
                                      }});
  return session;
}

int rank_in_test() {
  int rank = 0;
  MPI_Comm_rank(testing::test_ranks(), &rank);
  return rank;
}

/// A client's work, an iteration of each session in turn.
void publish_in_turn(const std::vector<Session*>& sessions) {
  int rank = 0, size = 1;
  MPI_Comm_rank(sessions[0]->comm(), &rank);
  MPI_Comm_size(sessions[0]->comm(), &size);
  const Index lo = 64 * rank / size, hi = 64 * (rank + 1) / size;
  const std::vector<double> values(static_cast<std::size_t>(hi - lo), 1.0);
  for (Session* session : sessions) session->set_block("line", rank, Box{{lo, 0, 0}, {hi, 1, 1}});
  for (Session* session : sessions) session->start();
  for (int it = 0; it < 3; ++it) {
    for (Session* session : sessions) {
      static_cast<void>(session->publish("v", rank, values));
      static_cast<void>(session->end_iteration(it, it));
    }
  }
}

std::string content(const std::string& name) {
  std::ifstream in("messages-" + name + "/messages.txt");
  return {std::istreambuf_iterator<char>(in), {}};
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

void check_own(const std::string& name, const std::string& other, const std::string& role) {
  if (rank_in_test() != 0) return;
  const std::string text = content(name);
  CAPTURE(text);
  CHECK(count(text, " error " + role) == 2);
  CHECK(count(text, ": iteration 0: failing-" + name + ": planned failure 0\n") == 1);
  CHECK(count(text, "iterations 0 to 2: failed like iteration 0 in 3 cases: failing-" + name) == 1);
  CHECK(count(text, "'failing-" + name + "' has been at work for") >= 1);  // said by a thread
  CHECK(count(text, "failing-" + other) == 0);
}

}  // namespace

TEST_CASE("two sessions at once write their messages apart") {
  Session a = opened("a", "inline"), b = opened("b", "inline");
  publish_in_turn({&a, &b});
  static_cast<void>(b.close());
  static_cast<void>(a.close());
  check_own("a", "b", "client");
  check_own("b", "a", "client");
}

TEST_CASE("servers write the messages of their session, and clients theirs") {
  int size = 1;
  MPI_Comm_size(testing::test_ranks(), &size);
  if (size == 1) return;
  const std::map<std::string, std::string> placements{{"cores", "{mode: cores, buffer: 8 MiB}"},
                                                      {"nodes", "{mode: nodes, servers: 1, buffer: 8 MiB}"}};
  for (const auto& [name, placement] : placements) {
    CAPTURE(name);
    std::optional<Session> session(opened(name, placement));
    if (session->is_server()) {
      session->serve();
    } else {
      publish_in_turn({&*session});
    }
    static_cast<void>(session->close());
    check_own(name, "a", "server");
    if (rank_in_test() != 0) continue;
    const std::string text = content(name);
    CAPTURE(text);
    CHECK(count(text, "placement " + name + ":") == 1);  // said while it was opened, by rank 0
  }
}

TEST_CASE("the level of the file is chosen, and a run that replaces another has none of its messages") {
  for (const std::string level : {"none", "error"}) {
    Session session = opened("chosen", "inline", ", messages: " + level);
    publish_in_turn({&session});
    static_cast<void>(session.close());
    if (rank_in_test() != 0) continue;
    const std::string text = content("chosen");
    CAPTURE(text);
    CHECK(std::filesystem::exists("messages-chosen/messages.txt") == (level == "error"));
    CHECK(count(text, " error ") == (level == "error" ? count(text, "\n") : 0));
  }
  Session session = opened("chosen", "inline", ", messages: none");
  publish_in_turn({&session});
  static_cast<void>(session.close());
  if (rank_in_test() == 0) CHECK_FALSE(std::filesystem::exists("messages-chosen/messages.txt"));
}
