// Sessions of programs that use AMReX: what is refused, on every rank and with a sentence, and the variables of a class
// Amr. The stand-in of 3 dimensions; see stand_in/boxes.hpp.
#define AMREX_USE_GPU  // arrays in memory of the host are published in builds for GPUs, too
#include <doctest/doctest.h>
#include <mpi.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "moving.hpp"
#include "sidestream/amrex.hpp"
#include "stand_in/amrex.hpp"
#include "support/ranks.hpp"

using sidestream::AmrexGhosts;
using sidestream::AmrexSession;
using sidestream::Error;
using sidestream::Session;
using sidestream::Taken;

namespace {

/// Initialises the stand-in on the ranks of the test, with an open session whose tasks are given.
class Program {
 public:
  explicit Program(const std::string& name, const std::string& tasks = "")
      : side(Session::open_text(sidestream::testing::test_ranks(),
                                "placement: {mode: inline}\noutput: {directory: amrex-" + name +
                                    ", existing: replace, timings: false}\n" + tasks)) {
    int argc = 0;
    char** argv = nullptr;
    amrex::Initialize(argc, argv, false, side.comm());
  }
  ~Program() { amrex::Finalize(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  AmrexSession side;
};

/// The sentence that a call throws; empty if it does not.
template <class F>
std::string sentence(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == sidestream::Code::usage);
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

amrex::Geometry geometry(int coordinates = 0, amrex::Real low = 0, int cells = 8) {
  return {moving::cube(0, cells - 1), amrex::RealBox({low, 0, 0}, {low + 1, 1, 1}), coordinates, {0, 0, 0}};
}

/// One level of two boxes, the first of which is on rank `first`.
struct Level {
  explicit Level(int first = 0) : owners({first, amrex::ParallelDescriptor::NProcs() - 1}) {
    const amrex::Box both[] = {{amrex::IntVect(0), {3, 7, 7}}, {{4, 0, 0}, amrex::IntVect(7)}};
    boxes = amrex::BoxArray(both, 2);
  }
  [[nodiscard]] amrex::MultiFab array(int components = 1, int ghosts = 0, const amrex::MFInfo& info = {}) const {
    return {boxes, owners, components, ghosts, info};
  }
  amrex::BoxArray boxes;
  amrex::DistributionMapping owners;
};

}  // namespace

TEST_CASE("wrong fields are refused before anything is declared") {
  Program program("fields");
  const Level level;
  const amrex::MultiFab two = level.array(2);
  AmrexSession& side = program.side;
  CHECK(has(sentence([&] { side.publish(two, {"a", "b", "c"}, geometry(), 0, 0); }), "'c' is component 2"));
  CHECK(has(sentence([&] { side.publish(two, {"a", "b"}, geometry(1), 0, 0); }), "cylindrical (r, z)"));
  CHECK(has(sentence([&] { side.publish(two, {"a", "b"}, geometry(2), 0, 0); }), "spherical"));
  CHECK(has(sentence([&] { side.publish(amrex::MultiFab(), {"a"}, geometry(), 0, 0); }), "is not defined"));
  const amrex::Vector<const amrex::MultiFab*> arrays{&two};
  CHECK(has(sentence([&] { side.publish(2, arrays, {"a"}, {geometry()}, 0, {0}, {}); }), "1 arrays for 2 levels"));
  CHECK(has(sentence([&] { side.publish(0, arrays, {"a"}, {geometry()}, 0, {0}, {}); }), "1 arrays for 0 levels"));
  CHECK(has(sentence([&] { side.publish(1, arrays, {"a"}, {}, 0, {0}, {}); }), "0 geometries"));
  CHECK(has(sentence([&] { side.publish(1, arrays, {"a"}, {geometry()}, 0, {}, {}); }), "number of the step"));
  const auto fields = [&] { return sidestream::amrex_fields(two, {"a"}, geometry()); };
  CHECK(has(sentence([&] { side.publish_items(0, 0, fields(), fields()); }), "'a' is published twice"));
  CHECK(side.publish(two, {"a", "b"}, geometry(), 0, 7) == Taken::yes);
  CHECK(side.close().delivered == 1);
}

TEST_CASE("what changes after the first publication is refused, and iterations go on") {
  Program program("changes", "analyses:\n  - statistics: {variable: a}\n");
  const Level level;
  const amrex::MultiFab one = level.array();
  AmrexSession& side = program.side;
  side.publish(one, {"a"}, geometry(), 0, 0);
  CHECK(has(sentence([&] { side.publish(one, {"new"}, geometry(), 1, 1); }), "'new' is new"));
  CHECK(has(sentence([&] { side.publish(one, {"a"}, geometry(0, 0.5), 1, 1); }), "meshes neither move"));
  CHECK(has(sentence([&] { side.publish(one, {"a"}, geometry(0, 0, 16), 1, 1); }), "has another size"));
  const amrex::iMultiFab marks(level.boxes, level.owners, 1, 0);
  CHECK(has(sentence([&] { side.publish(marks, {"a"}, geometry(), 1, 1); }), "has another mesh, type"));
  const amrex::MultiFab nodes(amrex::convert(level.boxes, amrex::IntVect(1)), level.owners, 1, 0);
  CHECK(has(sentence([&] { side.publish(nodes, {"a"}, geometry(), 1, 1); }), "centering"));
  const auto elsewhere = sidestream::amrex_fields(one, {"a"}, geometry()).on("other");
  CHECK(has(sentence([&] { side.publish_items(1, 1, elsewhere); }), "the mesh 'other' is new"));
  const amrex::Vector<const amrex::MultiFab*> two{&one, &one};
  CHECK(has(sentence([&] {
              side.publish(2, two, {"a"}, {geometry(), geometry()}, 1, {1}, {amrex::IntVect(2)});
            }),
            "has 2 levels, but was declared with at most 1"));
  CHECK(side.publish(one, {"a"}, geometry(), 1, 1) == Taken::yes);
  CHECK(side.publish_items(2, 2) == Taken::yes);  // nothing this time
  CHECK(side.close().delivered == 3);
}

TEST_CASE("fields of one mesh have the same boxes, others a mesh of their own") {
  Program program("boxes");
  const Level level, moved(amrex::ParallelDescriptor::NProcs() - 1);
  const amrex::MultiFab here = level.array();
  const auto a = sidestream::amrex_fields(here, {"a"}, geometry());
  const amrex::Box whole = moving::cube(0, 7);
  const amrex::MultiFab other(amrex::BoxArray(&whole, 1), amrex::DistributionMapping({0, 0}), 1, 0);
  const auto b = sidestream::amrex_fields(other, {"b"}, geometry());
  CHECK(has(sentence([&] { program.side.publish_items(0, 0, a, b); }), "'b' has other boxes"));
  const amrex::MultiFab there = moved.array();
  const auto c = sidestream::amrex_fields(there, {"c"}, geometry());
  const std::string found = sentence([&] { program.side.publish_items(0, 0, a, c); });
  CHECK(has(found, "boxes on other ranks") == (amrex::ParallelDescriptor::NProcs() > 1));
  if (!found.empty()) {
    const auto apart = sidestream::amrex_fields(there, {"c"}, geometry()).on("apart");
    CHECK(program.side.publish_items(0, 0, a, apart) == Taken::yes);
  }
  CHECK(program.side.close().delivered == 1);
}

TEST_CASE("an error on one rank ends its iteration, too") {
  Program program("outside", "analyses:\n  - statistics: {variable: a}\n");
  Level level;
  const amrex::MultiFab good = level.array();
  program.side.publish(good, {"a"}, geometry(), 0, 0);
  // The last rank has a box beyond the mesh.
  const amrex::Box both[] = {{amrex::IntVect(0), {3, 7, 7}}, {{4, 0, 0}, {9, 7, 7}}};
  level.boxes = amrex::BoxArray(both, 2);
  const amrex::MultiFab bad = level.array();
  const bool last = amrex::ParallelDescriptor::MyProc() == amrex::ParallelDescriptor::NProcs() - 1;
  CHECK(has(sentence([&] { program.side.publish(bad, {"a"}, geometry(), 1, 1); }), "inside the mesh") == last);
  CHECK(program.side.publish(good, {"a"}, geometry(), 2, 2) == Taken::yes);
  const auto account = program.side.close();
  CHECK(account.iterations == 3);
  CHECK(account.delivered >= 2);
}

TEST_CASE("ghosts may come and go") {
  Program program("ghosts", "analyses:\n  - statistics: {variable: a}\n");
  AmrexSession& side = program.side;
  for (int step = 0; step < 6; ++step) {
    const Level level(step % 2 == 0 ? 0 : amrex::ParallelDescriptor::NProcs() - 1);
    const amrex::MultiFab array = level.array(1, step % 3);
    auto fields = sidestream::amrex_fields(array, {"a"}, geometry());
    CHECK(side.publish_items(step, step, fields.with(step % 4 == 3 ? AmrexGhosts::left_out : AmrexGhosts::given)) ==
          Taken::yes);
  }
  CHECK(side.close().delivered == 6);
}

TEST_CASE("arrays in the memory of a GPU are refused") {
  Program program("gpu");
  AmrexSession& side = program.side;
  const Level level;
  const amrex::MultiFab device = level.array(1, 0, amrex::MFInfo().SetArena(amrex::The_Device_Arena()));
  CHECK(has(sentence([&] { side.publish(device, {"a"}, geometry(), 0, 0); }), "The_Pinned_Arena"));
  using Moving = amrex::ParticleContainer<0, 0, 0, 0, amrex::DeviceArenaAllocator>;
  const Moving particles({}, {level.owners}, {level.boxes}, {});
  CHECK(has(sentence([&] { side.publish_items(0, 0, sidestream::amrex_particles(particles, "p")); }), "PinnedArena"));
  const int waits = amrex::Gpu::waits();
  const amrex::MultiFab host = level.array();
  CHECK(side.publish(host, {"a"}, geometry(), 0, 0) == Taken::yes);
  CHECK(amrex::Gpu::waits() == waits + 1);
  CHECK(side.close().delivered == 1);
}

TEST_CASE("particles need a name for each component, or none") {
  Program program("particles");
  const moving::Fields fields(3);
  moving::Mixed mixed({}, fields.ranks, fields.boxes, {});
  const auto with = [&](const amrex::Vector<std::string>& reals, const amrex::Vector<std::string>& integers) {
    return sentence(
        [&] { program.side.publish_items(0, 0, sidestream::amrex_particles(mixed, "p", reals, integers)); });
  };
  CHECK(has(with({"a"}, {}), "have 3 real components and 1 names"));
  CHECK(has(with({}, {"a", "b", "c"}), "have 2 int components and 3 names"));
  CHECK(with({}, {}).empty());
  CHECK(program.side.close().delivered == 1);
}

namespace {

/// The sums of the values that an analysis of the test saw on this rank, by variable, iteration and block.
using Seen = std::map<std::string, std::map<std::int64_t, std::map<std::int64_t, double>>>;

class Watch final : public sidestream::Task {
 public:
  Watch(Seen& seen, const sidestream::Variable& variable) : seen_(seen), variable_(variable) {}
  [[nodiscard]] sidestream::Selection selection() const override { return {{{variable_.id, 0}}}; }
  [[nodiscard]] sidestream::Bytes local(const sidestream::LocalInput& input) override {
    for (const sidestream::BlockView& view : input.of(variable_.id)) {
      double sum = 0;
      for (const sidestream::Box& box : view.owned) {
        std::vector<double> values(static_cast<std::size_t>(box.count()));
        view.gather(box, 0, values.data());
        sum = std::accumulate(values.begin(), values.end(), sum);
      }
      seen_[variable_.name][input.iteration.index][view.block.id] = sum;
    }
    return {};
  }
  sidestream::Bytes combine(const sidestream::CombineInput&) override { return {}; }

 private:
  Seen& seen_;
  sidestream::Variable variable_;
};

void watch(Session& session, Seen& seen) {
  using namespace sidestream;
  Option variable{"variable", OptionType::variable};
  variable.required = true;
  session.registry().add(AnalysisKind{"watch", "Watches.", {variable}, [&seen](const Settings& s, const Metadata& m) {
                                        return std::make_unique<Watch>(seen, *m.find_variable(s.text("variable")));
                                      }});
}

/// The sum of a component over each box of this rank, by the number that the block has.
std::map<std::int64_t, double> sums(const moving::Fields& fields, int component, int step) {
  std::map<std::int64_t, double> found;
  std::int64_t block = 0;
  for (int l = 0; l < fields.levels; ++l) {
    const auto level = static_cast<std::size_t>(l);
    for (int n = 0; n < fields.boxes[level].size(); ++n, ++block) {
      if (fields.ranks[level][n] != amrex::ParallelDescriptor::MyProc()) continue;
      amrex::LoopOnCpu(fields.boxes[level][n], [&](int i, int j, int k) {
        const int first = moving::first_cell * (1 << l), at[] = {i - first, j - first, k - first};
        found[block] += moving::value(component, l, step, at);
      });
    }
  }
  return found;
}

/// A hierarchy with the fields' boxes: states with two ghosts, and derived values of components 5 and 6.
void fill(amrex::Amr& amr, const moving::Fields& fields, int step) {
  amr.steps = step;
  amr.levels.clear();
  for (int l = 0; l < fields.levels; ++l) {
    const auto level = static_cast<std::size_t>(l);
    amr.levels.push_back(std::make_unique<amrex::AmrLevel>(fields.boxes[level], fields.ranks[level]));
    amrex::AmrLevel& made = *amr.levels.back();
    made.states.emplace_back(fields.boxes[level], fields.ranks[level], 3, 2);
    moving::fill(made.states.back(), l, step, 0);
    made.on_derive = [l, step](const std::string& name, amrex::Real, amrex::MultiFab& to, int first) {
      CHECK(name == "motion");
      CHECK(first == 0);
      moving::fill(to, l, step, 5);
    };
  }
}

}  // namespace

TEST_CASE("the variables of a class Amr are those of its plotfiles") {
  const std::map<std::string, int> components{{"density", 0}, {"energy", 2}, {"speed", 5}, {"angle", 6}};
  std::string tasks = "analyses:\n";
  for (const auto& [name, component] : components) tasks += "  - watch: {variable: " + name + "}\n";
  amrex::AmrLevel::descriptors().types = {amrex::StateDescriptor({"density", "hidden", "energy"})};
  amrex::AmrLevel::derived().records = {{"unused", {"unused"}}, {"motion", {"speed", "angle"}}};
  amrex::Amr::plot_variables() = {"density", "energy"};
  amrex::Amr::derive_plot_variables() = {"motion"};
  Program program("amr", tasks);
  Seen seen;
  watch(program.side.session(), seen);
  amrex::Amr amr(moving::geometries(), moving::ratios());
  for (int step = 1; step < 6; ++step) {
    const moving::Fields fields(step);
    fill(amr, fields, step);
    CHECK(program.side.publish(amr) == Taken::yes);
    for (const auto& [name, component] : components) CHECK(seen[name][step - 1] == sums(fields, component, step));
  }
  CHECK(program.side.close().delivered == 5);
}
