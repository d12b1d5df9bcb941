// A small simulation for the system tests: known fields on a mesh of three dimensions, divided as the options tell,
// with its own analyses that sleep or fail. Prints one line with the account of each client. Exits with 1 after it has
// printed an error.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "program.hpp"
#include "sleep.hpp"

using sidestream::Box;
using sidestream::Index;

namespace {

/// A field with structure in every direction, which depends only on the position and the time.
double field(double x, double y, double z, double time) {
  return std::sin(6.3 * x + time) * std::cos(4.1 * y) + 0.7 * std::sin(5.2 * z - 0.5 * time) + 0.1 * x * y;
}

/// Waits in one iteration until a file exists. Fails if it does not come.
class Await final : public sidestream::Task {
 public:
  Await(std::int64_t at, std::string file, std::int32_t variable)
      : at_(at), file_(std::move(file)), variable_(variable) {}
  [[nodiscard]] sidestream::Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] sidestream::Bytes local(const sidestream::LocalInput& input) override {
    constexpr int tries = 6000;
    for (int n = 0; input.iteration.index == at_ && access(file_.c_str(), F_OK) != 0; ++n) {
      if (n == tries) throw sidestream::Error(sidestream::Code::analysis, "the file " + file_ + " does not come");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {};
  }
  sidestream::Bytes combine(const sidestream::CombineInput&) override { return {}; }

 private:
  std::int64_t at_;
  std::string file_;
  std::int32_t variable_;
};

/// Fails in one iteration, or in all if it is -1, on the server that has block 0. `how` chooses an Error, another
/// exception, or a failure in `combine`.
class Fail final : public sidestream::Task {
 public:
  Fail(std::int64_t at, std::string how, std::int32_t variable) : at_(at), how_(std::move(how)), variable_(variable) {}
  [[nodiscard]] sidestream::Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] sidestream::Bytes local(const sidestream::LocalInput& input) override {
    const auto& blocks = input.of(variable_);
    if (!is_at(input.iteration) || how_ == "combine" || blocks.empty() || blocks.front().block.id != 0) return {};
    if (how_ == "odd") throw 42;
    throw sidestream::Error(sidestream::Code::analysis, "planned failure");
  }
  sidestream::Bytes combine(const sidestream::CombineInput& input) override {
    if (how_ == "combine" && is_at(input.iteration)) throw std::runtime_error("planned failure in combine");
    return {};
  }

 private:
  [[nodiscard]] bool is_at(const sidestream::Iteration& iteration) const { return at_ == -1 || iteration.index == at_; }

  std::int64_t at_;
  std::string how_;
  std::int32_t variable_;
};

/// Gives all blocks to the last server. Refuses plans, except the first, in which a block has no cost.
sidestream::PartitionerKind costed() {
  sidestream::PartitionerKind kind;
  kind.name = "costed";
  kind.text = "Wants costs.";
  kind.wants_cost = [](const sidestream::Settings&) { return true; };
  kind.plan = [plans = 0](const sidestream::PlanInput& input, const sidestream::Settings&) mutable {
    sidestream::Plan plan;
    plans += !input.blocks.empty();
    for (std::size_t b = 0; b < input.blocks.size(); ++b) {
      if (plans > 1 && !(input.blocks[b].cost > 0)) {
        throw sidestream::Error(sidestream::Code::analysis, "a block without a cost");
      }
      plan.pieces.push_back({static_cast<std::int64_t>(b), input.servers - 1, 0, input.blocks[b].block.cells});
    }
    return plan;
  };
  return kind;
}

/// Gives all blocks to the first server. Refuses plans with more values than those of t.
sidestream::PartitionerKind light() {
  sidestream::PartitionerKind kind;
  kind.name = "light";
  kind.text = "Wants few values.";
  kind.plan = [](const sidestream::PlanInput& input, const sidestream::Settings&) {
    constexpr std::uint64_t most = 12;  // bytes of a cell; t has 8, and p at least as many more
    sidestream::Plan plan;
    for (std::size_t b = 0; b < input.blocks.size(); ++b) {
      const sidestream::Box& cells = input.blocks[b].block.cells;
      if (input.blocks[b].bytes > most * static_cast<std::uint64_t>(cells.count())) {
        throw sidestream::Error(sidestream::Code::analysis, "too many values");
      }
      plan.pieces.push_back({static_cast<std::int64_t>(b), 0, 0, cells});
    }
    return plan;
  };
  return kind;
}

void register_kinds(sidestream::Registry& registry) {
  registry.add(costed());
  registry.add(light());
  using sidestream::Option;
  using sidestream::OptionType;
  Option variable{"variable", OptionType::variable};
  variable.required = true;
  add_sleep(registry);
  Option at{"at", OptionType::integer};
  at.required = true;
  Option file{"path", OptionType::text};
  file.required = true;
  registry.add(sidestream::AnalysisKind{
      "await", "Waits.", {variable, at, file}, [](const sidestream::Settings& s, const sidestream::Metadata& m) {
        return std::make_unique<Await>(s.integer("at"), s.text("path"), m.find_variable(s.text("variable"))->id);
      }});
  Option how{"how", OptionType::text};
  how.default_value = "error";
  registry.add(sidestream::AnalysisKind{
      "fail", "Fails.", {variable, at, how}, [](const sidestream::Settings& s, const sidestream::Metadata& m) {
        return std::make_unique<Fail>(s.integer("at"), s.text("how"), m.find_variable(s.text("variable"))->id);
      }});
}

/// One block's arrays: t (cells, double, column order, ghosts) and p (nodes, float, 2 components, row order).
struct Piece {
  std::int64_t id;
  Box cells, allocated;
  std::vector<double> t;
  std::vector<float> p;
};

class Field {
 public:
  Field(const Options& options, sidestream::Session& session, int rank, int size)
      : options_(options),
        n_(options.number("grid", 20)),
        ghosts_(options.number("ghosts", 0)),
        right_(options.number("right", 0) != 0),
        rank_(rank),
        size_(size),
        session_(session) {
    session.set("n", static_cast<std::int64_t>(n_));
    session.set("h", 1.0 / static_cast<double>(n_));
    if (options.number("filled", 0)) session.set_attribute("t", "ghosts", "filled");
    arrange(0);
  }

  /// Divides the mesh among the clients. With `moving` every second step has another division: blocks appear, vanish,
  /// grow, and go from one client to another. With `gap` nobody has a part of the mesh in odd steps. True if anything
  /// has changed.
  bool arrange(long step) {
    const long more = options_.number("moving", 0) ? step / 2 % 3 : 0;
    const long per_client = options_.number("blocks", 1) + more, empty = options_.number("empty", -1);
    const Index first = options_.number("gap", 0) && step % 2 ? n_ / 4 : 0;
    if (std::pair(per_client, first) == layout_) return false;
    layout_ = {per_client, first};
    std::vector<long> owners;  // owner of each slab, uneven if the number does not divide
    for (int r = 0; r < size_; ++r) {
      // The first owner changes with the layout, so that a block with the same id goes to another client.
      for (long b = 0; b < per_client && r != empty; ++b) owners.push_back((r + more) % size_);
    }
    std::vector<Piece> old;
    old.swap(pieces);
    const long slabs = static_cast<long>(owners.size());
    const Index left = n_ - first;
    for (long b = 0; b < slabs; ++b) {
      if (owners[static_cast<std::size_t>(b)] != rank_) continue;
      // Ids run against the direction of the slabs, so that ownership of shared nodes does not follow the position.
      add(slabs - 1 - b, Box{{0, 0, first + left * b / slabs}, {n_, n_, first + left * (b + 1) / slabs}});
    }
    declare(old);
    return true;
  }

  void compute(double time) {
    for (Piece& piece : pieces) {
      fill(piece, piece.t.data(), time);
      fill_nodes(piece, time);
    }
  }

  void fill(const Piece& piece, double* t, double time) const {
    const double h = 1.0 / static_cast<double>(n_);
    for (Index k = piece.allocated.lo[2]; k < piece.allocated.hi[2]; ++k) {
      for (Index j = piece.allocated.lo[1]; j < piece.allocated.hi[1]; ++j) {
        for (Index i = piece.allocated.lo[0]; i < piece.allocated.hi[0]; ++i) {
          // Ghosts hold nonsense that nothing may read, unless they are to be right.
          const bool right = right_ || piece.cells.contains(sidestream::Index3{i, j, k});
          *t++ = right ? field((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h, time) : 1e30;
        }
      }
    }
  }

  /// Values of the variable that does not vary with time, for a version of it.
  [[nodiscard]] std::vector<double> still(const Piece& piece, long version) const {
    Piece owned{piece.id, piece.cells, piece.cells, {}, {}};
    std::vector<double> values(static_cast<std::size_t>(piece.cells.count()));
    fill(owned, values.data(), 0.3 * static_cast<double>(version));
    return values;
  }

  /// Two clients declare the same block after the start, for two steps, with different sizes and values.
  void repeat_block(long step) {
    const long at = options_.number("repeat_at", -1);
    if (at < 0 || rank_ > 1) return;
    constexpr std::int64_t id = 1000;
    const Box mine{{0, 0, rank_ == 0 ? 0 : 1}, {n_, n_, rank_ == 0 ? 1 : n_}};
    if (step == at + 2) session_.remove_block("grid", id);
    if (step == at) session_.set_block("grid", id, mine);
    if (step < at || step >= at + 2) return;
    const std::vector<double> values(static_cast<std::size_t>(mine.count()), 1);
    session_.publish("t", id, values);
  }

  std::vector<Piece> pieces;

 private:
  void declare(const std::vector<Piece>& old) {
    for (const Piece& piece : old) {
      const auto same = [&](const Piece& p) { return p.id == piece.id; };
      if (std::none_of(pieces.begin(), pieces.end(), same)) session_.remove_block("grid", piece.id);
    }
    for (const Piece& piece : pieces) {
      session_.set_block("grid", piece.id, piece.cells);
      session_.set_allocated("t", piece.id, piece.allocated);
    }
  }

  void add(std::int64_t id, const Box& cells) {
    Piece piece{id, cells, cells.empty() ? cells : sidestream::grown(cells, ghosts_), {}, {}};
    piece.t.resize(static_cast<std::size_t>(piece.allocated.count()));
    Box nodes = cells;
    for (auto& h : nodes.hi) ++h;
    piece.p.resize(cells.empty() ? 0 : static_cast<std::size_t>(nodes.count()) * 2);
    pieces.push_back(std::move(piece));
  }

  void fill_nodes(Piece& piece, double time) const {
    if (piece.cells.empty()) return;
    const double h = 1.0 / static_cast<double>(n_);
    float* p = piece.p.data();
    for (Index i = piece.cells.lo[0]; i <= piece.cells.hi[0]; ++i) {
      for (Index j = piece.cells.lo[1]; j <= piece.cells.hi[1]; ++j) {
        for (Index k = piece.cells.lo[2]; k <= piece.cells.hi[2]; ++k) {
          *p++ = static_cast<float>(field(i * h, j * h, k * h, time));
          *p++ = static_cast<float>(i + 2 * j + 3 * k);
        }
      }
    }
  }

  const Options& options_;
  Index n_, ghosts_;
  bool right_;  ///< ghosts hold right values
  int rank_, size_;
  std::pair<long, Index> layout_{-1, -1};
  sidestream::Session& session_;
};

/// True if all clients go on. They stop when a file exists, if one is named, or when one of them has heard of a
/// failure, which others may hear of later. This keeps clients in step, as an exchange of ghosts would. Otherwise,
/// under `skip`, a client that refuses would get ever further ahead of one that publishes.
bool goes_on(const Options& options, MPI_Comm comm, bool failed) {
  const auto until = options.values.find("until");
  if (until == options.values.end()) return !failed;
  int on = !failed && access(until->second.c_str(), F_OK) != 0;
  MPI_Allreduce(MPI_IN_PLACE, &on, 1, MPI_INT, MPI_MIN, comm);
  return on != 0;
}

/// Waits until a file exists, for a minute at most.
void wait_for_file(const std::string& file) {
  constexpr int tries = 6000;
  for (int n = 0; n < tries && access(file.c_str(), F_OK) != 0; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void run(sidestream::Session& session, const Options& options) {
  int rank = 0, size = 1;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  Field field(options, session, rank, size);
  // A program may have a forgotten barrier in which servers take part.
  if (options.number("world", 0)) MPI_Barrier(MPI_COMM_WORLD);
  session.start();
  const long steps = options.number("steps", 3), pause = options.number("pause_ms", 0);
  const long first = options.number("first", 0);    // first step, with its cycle and time, for a run that resumes
  const long repeat = options.number("repeat", 1);  // steps with the same cycle
  const bool in_place = options.number("in_place", 0) != 0;
  const bool still = options.number("still", 0) != 0;  // sometimes publish s, which does not vary with time
  // In this step the second client's publication of s fails. It publishes s two steps later.
  const long fails_at = rank == 1 ? options.number("still_fails_at", -1) : -1;
  long refused = 0;
  std::optional<sidestream::Error> failure;
  for (long step = 0; step < steps && goes_on(options, session.comm(), failure.has_value()); ++step) {
    const double time = 0.1 * static_cast<double>(step + first);
    const bool anew = field.arrange(step) || step == 0;
    field.compute(time);
    bool taken = true;
    for (Piece& piece : field.pieces) {
      if (in_place) {
        double* const t = session.alloc<double>("t", piece.id, piece.t.size());
        if (t) {
          field.fill(piece, t, time);
          session.commit("t", piece.id);
          session.clear("t", piece.id);
        } else {
          taken = false;
        }
      } else {
        taken &= session.publish("t", piece.id, piece.t) == sidestream::Taken::yes;
      }
      // No client publishes it then, and the variable is absent.
      if (step != options.number("without_p_at", -1)) {
        taken &= session.publish("p", piece.id, piece.p) == sidestream::Taken::yes;
      }
      if (still && (anew || step % 3 == 2 || (fails_at >= 0 && step == fails_at + 2))) {
        const auto values = field.still(piece, (step + 1) / 3);
        try {
          const double* data = step == fails_at ? nullptr : values.data();
          taken &= session.publish("s", piece.id, data, values.size()) == sidestream::Taken::yes;
        } catch (const sidestream::Error& e) {
          std::printf("planned: %s\n", e.what());
        }
      }
    }
    field.repeat_block(step);
    if (pause) usleep(static_cast<useconds_t>(pause * 1000));
    if (step == options.number("gate_at", -1)) wait_for_file(options.text("gate"));
    if (options.number("die_at", -1) == step && rank == 0) raise(SIGKILL);
    if (step == options.number("signal_at", -1)) session.signal("burst");
    // Times differ as with rounding on each rank.
    const double mine = rank > 0 && options.number("nudge", 0) ? std::nextafter(time, 1e9) : time;
    try {
      taken &= session.end_iteration(10 * (step / repeat + first), mine) == sidestream::Taken::yes;
    } catch (const sidestream::Error& e) {
      failure = e;
    }
    refused += !taken;
  }
  if (failure) throw *failure;
  if (options.number("forget", 0)) {  // as in a program that does not know that it should close
    std::printf("forgets to close\n");
    static_cast<void>(new sidestream::Session(std::move(session)));
    return;
  }
  const sidestream::Account a = session.close();
  std::printf(
      "account rank=%d iterations=%ld delivered=%ld refused=%ld failed=%ld unknown=%ld absent=%ld dropped=%ld here=%ld\n",
      rank, a.iterations, a.delivered, a.refused, a.failed, a.unknown, a.absent_blocks, a.dropped, refused);
}

}  // namespace

int main(int argc, char** argv) {
  // As in a simulation that wants placement `nodes` to move data while it computes.
  int provided = MPI_THREAD_SINGLE;
  const char* level = std::getenv("FIELD_PROGRAM_THREADS");
  MPI_Init_thread(&argc, &argv, level && std::string(level) == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                  &provided);
  const int status = run_in_turn(argc, argv, [](int count, char** arguments, MPI_Comm comm) {
    return run_session(
        Options(count, arguments), comm, [](sidestream::Session& session) { register_kinds(session.registry()); }, run);
  });
  MPI_Finalize();
  return status;
}
