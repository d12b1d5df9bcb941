#include "commands.hpp"

#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <thread>

#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "data/relation_text.hpp"
#include "pieces.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/sidestream.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/database/layout.hpp"

namespace sidestream {

namespace {

// The iterations of a database in sequence.

class StoredIterations {
 public:
  /// Collective. Throws the same Error(file) on all if there is none, or one has other meshes or variables than the
  /// first.
  StoredIterations(Communicator& clients, const std::string& directory);

  [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }
  /// Metadata of the first context, with the declared relations between its variables.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  /// Cycle and time of iteration `n`. After the last context, it continues with the first one at later times.
  [[nodiscard]] Iteration at(std::size_t n) const;
  /// Not collective; throws Error(file). Valid until the next call.
  [[nodiscard]] database::Context& open(std::size_t number);

 private:
  std::string directory_;
  std::vector<database::Entry> entries_;
  Metadata metadata_;
  std::unique_ptr<database::Context> context_;
  std::size_t number_ = 0;
};

bool same(const Metadata& a, const Metadata& b) {
  const auto like_mesh = [](const Mesh& x, const Mesh& y) {
    return x.name == y.name && x.kind() == y.kind() && x.cells == y.cells && x.arrays == y.arrays;
  };
  const auto like_variable = [](const Variable& x, const Variable& y) {
    return x.name == y.name && x.mesh == y.mesh && x.type == y.type && x.centering == y.centering &&
           x.components == y.components && x.order == y.order;
  };
  return std::equal(a.meshes.begin(), a.meshes.end(), b.meshes.begin(), b.meshes.end(), like_mesh) &&
         std::equal(a.variables.begin(), a.variables.end(), b.variables.begin(), b.variables.end(), like_variable);
}

/// Relations of a variable whose names are all known: the output may only have a part of the declared variables.
VariableRelations kept_of(VariableRelations relations, const Variable& variable, const Metadata& metadata) {
  const auto keep = [&](auto part) {
    VariableRelations only;
    only.*part = relations.*part;
    const std::vector<std::string> names = named_in(variable.name, only);
    const bool known = std::all_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return metadata.find_variable(name) != nullptr; });
    if (!known) (relations.*part).clear();
  };
  keep(&VariableRelations::parent);
  keep(&VariableRelations::equals);
  keep(&VariableRelations::opposite);
  keep(&VariableRelations::divergence_free);
  if (relations.opposite.empty()) relations.divergence_free.clear();
  return relations;
}

StoredIterations::StoredIterations(Communicator& clients, const std::string& directory) : directory_(directory) {
  run_collectively(clients, [&] {
    entries_ = database::read_journal(directory).contexts;
    if (entries_.empty()) fail(Code::file, "the database '{}' has no context; there is nothing to replay", directory);
    metadata_ = open(0).metadata();
    const database::Schema& schema = open(0).schema();
    for (Variable& variable : metadata_.variables) {
      variable.relations = kept_of(schema.relations_of(static_cast<std::size_t>(variable.id)), variable, metadata_);
    }
    for (std::size_t n = 1; n < entries_.size(); ++n) {
      if (same(open(n).metadata(), metadata_)) continue;
      fail(Code::file,
           "'{}': the context of cycle {} has other meshes or variables than that of cycle {}; one replay has one set",
           directory, entries_[n].iteration.cycle, entries_[0].iteration.cycle);
    }
  });
}

Iteration StoredIterations::at(std::size_t n) const {
  Iteration then = entries_[n % entries_.size()].iteration;
  const Iteration &first = entries_.front().iteration, &last = entries_.back().iteration;
  const auto round = static_cast<std::int64_t>(n / entries_.size());
  const bool several = entries_.size() > 1;
  const std::int64_t step = several ? std::max<std::int64_t>(1, entries_[1].iteration.cycle - first.cycle) : 1;
  const double pause = several ? entries_[1].iteration.time - first.time : 1;
  then.cycle += round * (last.cycle - first.cycle + step);
  then.time += static_cast<double>(round) * (last.time - first.time + pause);
  return then;
}

database::Context& StoredIterations::open(std::size_t number) {
  if (!context_ || number != number_) {
    context_ = std::make_unique<database::Context>(directory_, entries_.at(number));
    number_ = number;
  }
  return *context_;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void set_value(Session& session, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    fail(Code::usage, "--set: found '{}', expected NAME=VALUE", text);
  }
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  const char* end = value.data() + value.size();
  std::int64_t whole = 0;
  if (std::from_chars(value.data(), end, whole).ptr == end) return session.set(name, whole);
  double real = 0;
  if (std::from_chars(value.data(), end, real).ptr != end) {
    fail(Code::usage, "--set: found '{}' for ${}, expected a number", value, name);
  }
  session.set(name, real);
}

/// Waits until the next iteration begins, asleep or computing like a simulation.
void pass_time(Clock::time_point until, bool compute) {
  if (!compute) return std::this_thread::sleep_until(until);
  std::vector<double> values(std::size_t{1} << 18, 1.0);
  while (Clock::now() < until) {
    for (double& value : values) value = value * 0.999 + 0.5;
  }
}

/// Statistics of a client.
struct Replayed {
  std::int64_t iterations = 0;
  std::uint64_t bytes = 0;
  std::vector<double> inside{};  ///< seconds of each iteration spent in Sidestream
  double all = 0;
};

Interpolation interpolation_of(const std::string& name) {
  return name == "linear"         ? Interpolation::linear
         : name == "conservative" ? Interpolation::conservative
                                  : Interpolation::pick;
}

class Client {
 public:
  Client(const ReplayOptions& options, Session& session)
      : options_(options),
        session_(session),
        clients_(MpiCommunicator::over(session.comm())),
        stored_(*clients_, options.directory),
        replayer_(stored_.metadata(), {options.coarsen, options.refine, interpolation_of(options.interpolate)},
                  options.blocks == "stored", {clients_->rank(), clients_->size()}) {}

  Replayed run(const std::function<bool()>& stop) {
    run_collectively(*clients_, [&] {
      for (const std::string& value : options_.values) set_value(session_, value);
      replayer_.declare(session_);
      replayer_.read(stored_.open(0), session_);
    });
    session_.start();
    Replayed done;
    const auto count = options_.iterations > 0 ? options_.iterations : static_cast<std::int64_t>(stored_.count());
    const auto start = Clock::now();
    for (std::int64_t n = 0; n < count && !stops(stop()); ++n) iterate(n, start, done);
    done.all = seconds_since(start);
    return done;
  }
  /// Combines the statistics of all clients: sums and extremes.
  void gather(Replayed& done) {
    std::int64_t bytes = static_cast<std::int64_t>(done.bytes);
    clients_->sum(std::span(&bytes, 1));
    done.bytes = static_cast<std::uint64_t>(bytes);
    clients_->maximum(std::span(done.inside));
    clients_->maximum(std::span(&done.all, 1));
  }
  [[nodiscard]] bool speaks() const { return clients_->rank() == 0; }

 private:
  /// True if any client was asked to stop.
  bool stops(bool mine) {
    std::int64_t any = mine ? 1 : 0;
    clients_->maximum(std::span(&any, 1));
    return any != 0;
  }

  void iterate(std::int64_t n, Clock::time_point start, Replayed& done) {
    const auto number = static_cast<std::size_t>(n) % stored_.count();
    if (n > 0) run_collectively(*clients_, [&] { replayer_.read(stored_.open(number), session_); });
    pass_time(start + std::chrono::duration_cast<Clock::duration>(
                          std::chrono::duration<double>(options_.pace * static_cast<double>(n))),
              options_.compute);
    const Iteration then = stored_.at(static_cast<std::size_t>(n));
    double inside = 0;
    run_collectively(*clients_, [&] {
      const auto begin = Clock::now();
      replayer_.publish(session_);
      inside = seconds_since(begin);
    });
    // With `on_error: stop` clients may learn of a failure at different times; they leave together.
    run_collectively(*clients_, [&] {
      const auto begin = Clock::now();
      session_.end_iteration(then.cycle, then.time);
      inside += seconds_since(begin);
    });
    done.inside.push_back(inside);
    done.bytes += replayer_.bytes();
    ++done.iterations;
  }

  const ReplayOptions& options_;
  Session& session_;
  std::unique_ptr<MpiCommunicator> clients_;
  StoredIterations stored_;
  Replayer replayer_;
};

std::string sentence(Replayed done) {
  std::sort(done.inside.begin(), done.inside.end());
  const double median = done.inside.empty() ? 0 : done.inside[done.inside.size() / 2];
  const double most = done.inside.empty() ? 0 : done.inside.back();
  return fmt::format(
      "replayed {} iterations, {:.1f} MiB, in {:.2f} s; of each in Sidestream {:.2f} ms (median), {:.2f} ms (most)\n",
      done.iterations, static_cast<double>(done.bytes) / (1 << 20), done.all, 1e3 * median, 1e3 * most);
}

}  // namespace

int replay(const ReplayOptions& options) {
  int lost = 0;
  const int status = run_group("replay", [&](MPI_Comm group, const std::function<bool()>& stop) {
    Session session = Session::open(group, options.file);
    Replayed done;
    bool speaks = false;
    if (session.is_server()) {
      session.serve();
    } else {
      Client client(options, session);
      done = client.run(stop);
      client.gather(done);
      speaks = client.speaks();
    }
    const Account account = session.close();
    if (account.refused + account.failed + account.unknown > 0) lost = 1;
    if (!speaks) return;
    std::cout << sentence(done) << std::flush;
    if (lost != 0) {
      std::cerr << fmt::format("sidestream replay: {} iterations were refused, {} failed, {} are unknown\n",
                               account.refused, account.failed, account.unknown);
    }
  });
  return status != 0 ? status : lost;
}

}  // namespace sidestream
