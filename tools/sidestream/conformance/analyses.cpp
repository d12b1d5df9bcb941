// Contract of every analysis: see extend/analysis.hpp and docs/writing-an-analysis.md.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>

#include "base/mpi/agree.hpp"
#include "conformance/captured.hpp"
#include "conformance/conformance.hpp"
#include "conformance/failing_memory.hpp"
#include "conformance/sample.hpp"

namespace sidestream::conformance {

namespace {

/// One analysis of the configuration, run without a session.
class Bench {
 public:
  explicit Bench(const Subject& subject)
      : subject_(subject), kind_(subject.registry.analyses().at(subject.task.kind)) {}

  [[nodiscard]] std::unique_ptr<Task> make() const { return kind_.create(subject_.task.settings, subject_.metadata); }

  /// Runs all passes of one iteration. As with forwarders, `local` may run on other objects than `combine`.
  Captured iterate(Task& combiner, std::vector<std::unique_ptr<Task>>& reducers, const Case& how,
                   const Iteration& iteration) {
    Selection selection;
    const auto groups = std::max<std::size_t>(1, reducers.size());
    const int rank = subject_.servers.rank(), size = subject_.servers.size(), all = size * static_cast<int>(groups);
    std::deque<Views> views;
    Catalogue catalogue;
    int passes = 0;
    run_collectively(subject_.servers, [&] {
      selection = combiner.selection();
      for (std::size_t g = 0; g < groups; ++g) {
        views.emplace_back(subject_.metadata, selection, how, static_cast<int>(g) * size + rank, all);
      }
      catalogue = catalogue_for(subject_.metadata, selection, how);
      passes = combiner.passes();
    });
    Captured results;
    Bytes feedback;
    for (int pass = 0; pass < passes; ++pass) {
      std::vector<Bytes> partials;
      const Bytes before = std::move(feedback);
      feedback.clear();
      const auto input = [&](std::size_t g) {
        return views[g].input(iteration, subject_.metadata, pass, before, selection.catalogue ? &catalogue : nullptr);
      };
      run_collectively(subject_.servers, [&] {
        for (std::size_t g = 0; g < groups; ++g) {
          Task& reducer = reducers.empty() ? combiner : *reducers[g];
          partials.push_back(reducer.local(input(g)));
        }
      });
      const LocalInput own = input(0);
      const LocalInput* local = reducers.empty() ? &own : nullptr;
      guarded(subject_.servers, [&](Communicator& servers) {
        feedback = combiner.combine({iteration, subject_.metadata, partials, pass, servers, results, local});
      });
      check_feedback(feedback);
    }
    return results;
  }

  /// Runs one iteration on new objects.
  Captured once(const Case& how) {
    std::vector<std::unique_ptr<Task>> reducers;
    std::unique_ptr<Task> combiner;
    run_collectively(subject_.servers, [&] {
      for (int g = 0; g < how.groups && how.groups > 1 && kind_.takes_any_partials(subject_.task.settings); ++g)
        reducers.push_back(make());
      combiner = make();
    });
    return iterate(*combiner, reducers, how, {3, 30, 0.25});
  }

 private:
  void check_feedback(const Bytes& feedback) {
    const std::vector<Bytes> all = subject_.servers.all_gather(feedback);
    if (std::all_of(all.begin(), all.end(), [&](const Bytes& one) { return one == all.front(); })) return;
    throw Error(Code::analysis, "combine returned different feedback on different servers; return the same on all");
  }

  const Subject& subject_;
  const AnalysisKind& kind_;
};

std::vector<Case> divisions() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, Index3 parts, int ghosts, int groups, bool backwards) {
    Case& one = cases.emplace_back();
    one.name = name;
    one.parts = parts;
    one.ghosts = ghosts;
    one.groups = groups;
    one.backwards = backwards;
  };
  add("two slabs", {2, 1, 1}, 0, 1, false);
  add("ghosts with wrong values", {1, 2, 1}, 2, 1, false);
  add("bricks whose ids run backwards", {2, 3, 2}, 0, 1, true);
  add("several partials, by other objects than those that combine them", {3, 1, 2}, 1, 3, false);
  add("more servers that reduce than blocks", {2, 1, 1}, 0, 5, false);
  add("slabs of one cell, and empty blocks", {1, 1, 1000}, 0, 2, false);
  return cases;
}

std::string compare(const Captured& expected, const Captured& found, double tolerance, const std::string& otherwise) {
  const std::string difference = expected.difference(found, tolerance);
  return difference.empty() ? "" : fmt::format("{} than {}", difference, otherwise);
}

/// Runs `local` with each allocation failing in turn; it must throw or succeed, and work afterwards.
std::string fail_allocations(Bench& bench, const Subject& subject, const Case& how, const Captured& expected) {
  const auto analysis = bench.make();
  const Views views(subject.metadata, analysis->selection(), how, subject.servers.rank(), subject.servers.size());
  const Catalogue catalogue = catalogue_for(subject.metadata, analysis->selection(), how);
  const bool asks = analysis->selection().catalogue;
  const Iteration iteration{2, 20, 0.125};
  constexpr long most = 1 << 20;
  for (long n = 0; n < most; n += 1 + n / 4) {
    FailingMemory failing(n);
    try {
      static_cast<void>(analysis->local(views.input(iteration, subject.metadata, 0, {}, asks ? &catalogue : nullptr)));
      if (!failing.failed()) break;
    } catch (const std::exception&) {
      // expected: the server reports it
    }
  }
  std::vector<std::unique_ptr<Task>> none;
  return compare(expected, bench.iterate(*analysis, none, how, {3, 30, 0.25}), analysis->tolerance(),
                 "before the iteration whose memory failed");
}

}  // namespace

void check_analysis(const Subject& subject, Findings& report) {
  const std::string& name = subject.task.name;
  Bench bench(subject);
  const double tolerance = bench.make()->tolerance();
  Case whole;
  whole.name = "one block";
  Captured expected;
  report.check(name, "one block", [&]() -> std::string {
    expected = bench.once(whole);
    return {};
  });
  for (const Case& how : divisions()) {
    report.check(name, how.name, [&] { return compare(expected, bench.once(how), tolerance, "from one block"); });
  }
  report.check(name, "the same object again, in later iterations", [&] {
    const auto analysis = bench.make();
    std::vector<std::unique_ptr<Task>> none;
    static_cast<void>(bench.iterate(*analysis, none, whole, {3, 30, 0.25}));
    return compare(expected, bench.iterate(*analysis, none, whole, {3, 30, 0.25}), tolerance, "the first time");
  });
  report.check(name, "no block delivered", [&]() -> std::string {
    Case how;
    how.nothing = true;
    static_cast<void>(bench.once(how));
    return {};
  });
  report.check(name, "NaN, infinities and the greatest numbers", [&] {
    Case one = whole, two = divisions()[2];
    one.odd_values = two.odd_values = true;
    return compare(bench.once(one), bench.once(two), tolerance, "from one block");
  });
  report.check(name, "memory that ends in `local`", [&] { return fail_allocations(bench, subject, whole, expected); });
}

}  // namespace sidestream::conformance
