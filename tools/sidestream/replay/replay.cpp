#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <thread>

#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "pieces.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/sidestream.hpp"
#include "stored.hpp"

namespace sidestream {

namespace {

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

class Client {
 public:
  Client(const ReplayOptions& options, Session& session)
      : options_(options),
        session_(session),
        clients_(MpiCommunicator::over(session.comm())),
        stored_(*clients_, options.directory),
        replayer_(stored_.metadata(), {options.coarsen, options.refine}, options.blocks == "stored",
                  {clients_->rank(), clients_->size()}) {}

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
      std::cerr << fmt::format("sidestream replay: {} iterations were refused, {} failed, of {} nothing is known\n",
                               account.refused, account.failed, account.unknown);
    }
  });
  return status != 0 ? status : lost;
}

}  // namespace sidestream
