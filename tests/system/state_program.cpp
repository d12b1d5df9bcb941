// A simulation that changes what belongs to its process: STATE [WHEN:FILE]...
//
// It runs one session after the other. WHEN is when it changes its locale, rounding mode, traps, working directory and
// standard streams: `never`, `before` or `after` it opens the session of FILE. With `limit` it instead lowers the limit
// on the size of files after the start. All is restored when a session is closed. Values are the same with every
// rounding mode. A report is in the file STATE, because there may be no standard output.
#include <fcntl.h>
#include <fenv.h>
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>
#include <sidestream/sidestream.hpp>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Decimal commas, and points between thousands, as in a named locale, which may not be installed.
class Commas final : public std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

class ChangedState {
 public:
  explicit ChangedState(int rank) : folder_(fs::current_path()), locale_(std::locale()) {
    fegetenv(&arithmetic_);
    has_locale_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
    const std::string named(std::setlocale(LC_ALL, nullptr));
    std::locale::global(std::locale(std::locale(), new Commas));
    std::setlocale(LC_ALL, named.c_str());
    const fs::path mine = folder_ / "elsewhere" / std::to_string(rank);
    fs::create_directories(mine);
    fs::current_path(mine);
    for (int n = 0; n < 3; ++n) {
      streams_[static_cast<std::size_t>(n)] = fcntl(n, F_DUPFD_CLOEXEC, 100);
      close(n);
    }
    fesetround(FE_UPWARD);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  }
  /// True if the state is still as this object made it.
  [[nodiscard]] bool is_kept() const {
    return fegetround() == FE_UPWARD && (fegetexcept() & FE_DIVBYZERO) != 0 && fcntl(1, F_GETFD) < 0 &&
           fs::current_path() != folder_ && *std::localeconv()->decimal_point == (has_locale_ ? ',' : '.');
  }
  [[nodiscard]] bool has_locale() const noexcept { return has_locale_; }
  ~ChangedState() {
    fesetenv(&arithmetic_);
    for (int n = 0; n < 3; ++n) {
      dup2(streams_[static_cast<std::size_t>(n)], n);
      close(streams_[static_cast<std::size_t>(n)]);
    }
    fs::current_path(folder_);
    std::locale::global(locale_);
    std::setlocale(LC_ALL, "C");
  }
  ChangedState(const ChangedState&) = delete;
  ChangedState& operator=(const ChangedState&) = delete;

 private:
  fs::path folder_;
  std::locale locale_;
  fenv_t arithmetic_{};
  std::array<int, 3> streams_{};
  bool has_locale_ = false;
};

/// An analysis that lowers the limit on the size of files, on servers, after the start.
class Lower final : public sidestream::Task {
 public:
  explicit Lower(std::int32_t variable) : variable_(variable) {}
  [[nodiscard]] sidestream::Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] sidestream::Bytes local(const sidestream::LocalInput&) override {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
    return {};
  }
  sidestream::Bytes combine(const sidestream::CombineInput&) override { return {}; }

 private:
  std::int32_t variable_;
};

void register_lower(sidestream::Registry& registry) {
  sidestream::Option variable{"variable", sidestream::OptionType::variable};
  variable.required = true;
  registry.add(sidestream::AnalysisKind{
      "lower", "Lowers the limit.", {variable}, [](const sidestream::Settings& s, const sidestream::Metadata& m) {
        return std::make_unique<Lower>(m.find_variable(s.text("variable"))->id);
      }});
}

/// Restores the limit of the program's start.
void raise_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

constexpr sidestream::Index n = 16;

/// Values are eighths, which are exact with every rounding mode.
double value(sidestream::Index i, sidestream::Index j, sidestream::Index k, long step) {
  return 0.125 * static_cast<double>((3 * i + 5 * j + 7 * k + 11 * step) % 64 + 1);
}

void simulate(sidestream::Session& session, long steps) {
  int rank = 0, size = 1;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  const sidestream::Box mine{{0, 0, n * rank / size}, {n, n, n * (rank + 1) / size}};
  session.set_block("grid", rank, mine);
  session.start();
  std::vector<double> values(static_cast<std::size_t>(mine.count()));
  for (long step = 0; step < steps; ++step) {
    double* at = values.data();
    for (auto k = mine.lo[2]; k < mine.hi[2]; ++k) {
      for (sidestream::Index j = 0; j < n; ++j) {
        for (sidestream::Index i = 0; i < n; ++i) *at++ = value(i, j, k, step);
      }
    }
    static_cast<void>(session.publish("a", rank, values));
    static_cast<void>(session.end_iteration(10 * step, 0.25 * static_cast<double>(step)));
  }
}

/// Runs a session; returns one line about it.
std::string run(const std::string& when, const std::string& file, int rank) {
  std::optional<ChangedState> changed;
  if (when == "before") changed.emplace(rank);
  std::string line = when + ":" + fs::path(file).filename().string();
  try {
    sidestream::Session session = sidestream::Session::open(MPI_COMM_WORLD, file);
    if (when == "after") changed.emplace(rank);
    register_lower(session.registry());
    if (session.is_server()) {
      session.serve();
    } else {
      simulate(session, 2);
    }
    const sidestream::Account account = session.close();
    line += " delivered=" + std::to_string(account.delivered) + " failed=" + std::to_string(account.failed);
  } catch (const sidestream::Error& error) {
    line += std::string(" error: ") + error.what();
  }
  raise_limit();
  if (changed && !changed->is_kept()) line += " the state was changed";
  if (changed && !changed->has_locale()) line += " no-locale";
  struct sigaction of_files {};
  sigaction(SIGXFSZ, nullptr, &of_files);
  if (of_files.sa_handler != SIG_DFL) line += " the disposition of SIGXFSZ was changed";
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string report;
  for (int a = 2; a < argc; ++a) {
    const std::string word = argv[a];
    const auto colon = word.find(':');
    report += run(word.substr(0, colon), word.substr(colon + 1), rank) + "\n";
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::ofstream(std::string(argv[1]) + "-" + std::to_string(rank)) << report;
  MPI_Finalize();
  return 0;
}
