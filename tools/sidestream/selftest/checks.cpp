// A simulation of a few hundred cells runs once per placement, with every kind of result. Its values are known: reading
// the files back must give them exactly, and both placements must give the same bytes.
#include "selftest/checks.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/reader.hpp"
#include "sidestream/sidestream.hpp"
#include "sidestream/version.h"
#include "storage/formats/csv.hpp"
#include "storage/hdf5/input.hpp"

namespace sidestream::selftest {

namespace fs = std::filesystem;

namespace {

constexpr Index nx = 12, ny = 10, nz = 7;
constexpr Index cells = nx * ny * nz;
constexpr int iterations = 3;

/// The value in a cell: another one in each, and all sums are exact.
double value_of(Index i, Index j, Index k, int iteration) {
  return static_cast<double>(i + 100 * j + 10000 * k + 1000000 * iteration);
}

/// All values of an iteration, i fastest.
std::vector<double> values_of(Index first_k, Index last_k, int iteration) {
  std::vector<double> values;
  for (Index k = first_k; k < last_k; ++k)
    for (Index j = 0; j < ny; ++j)
      for (Index i = 0; i < nx; ++i) values.push_back(value_of(i, j, k, iteration));
  return values;
}

std::string configuration(const std::string& placement, const std::string& directory, bool pictures) {
  std::string text = fmt::format(
      "placement: {}\noutput: {{directory: '{}', fsync: no}}\n"
      "meshes: {{grid: {{size: [{}, {}, {}], spacing: [1, 1, 1]}}}}\nvariables: {{field: {{mesh: grid}}}}\n"
      "analyses:\n  - statistics: {{variable: field}}\n",
      placement, directory, nx, ny, nz);
  if (pictures) {
    text +=
        "  - render: {isosurface: {variable: field, values: [30000, 1030000, 2030000]}, size: [64, 48], "
        "file: 'picture-{cycle}.png'}\n";
  }
  return text + "outputs:\n  - hdf5: {file: 'fields-{cycle}.h5'}\n  - database: {directory: data, kind: post}\n";
}

/// The client's part of the run. With more clients than planes some have none.
void publish_all(Session& session) {
  int rank = 0, size = 1;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  const Index first = nz * rank / size, last = nz * (rank + 1) / size;
  if (last > first) session.set_block("grid", rank, Box{{0, 0, first}, {nx, ny, last}});
  session.start();
  for (int n = 0; n < iterations; ++n) {
    if (last > first) session.publish("field", rank, values_of(first, last, n));
    session.end_iteration(n, 0.5 * n);
  }
}

/// Collective. Nothing on servers: clients have the account.
std::optional<Account> simulate(MPI_Comm comm, const std::string& text) {
  Session session = Session::open_text(comm, text);
  const bool serves = session.is_server();
  serves ? session.serve() : publish_all(session);
  const Account account = session.close();
  return serves ? std::nullopt : std::optional(account);
}

void expect(bool well, const std::string& what) {
  if (!well) fail(Code::internal, "{}", what);
}

void expect_delivered(const std::optional<Account>& of_client) {
  const Account account = of_client.value_or(Account{.iterations = iterations, .delivered = iterations});
  expect(account.iterations == iterations && account.delivered == iterations && account.failed == 0,
         fmt::format("of {} iterations {} were delivered, {} refused, {} failed", account.iterations, account.delivered,
                     account.refused, account.failed));
}

void expect_values(const std::vector<double>& found, int iteration, const std::string& where) {
  const std::vector<double> expected = values_of(0, nz, iteration);
  const auto [one, other] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (one == found.end() && other == expected.end()) return;
  fail(Code::internal, "{}: in iteration {} value {} is not the one that was published", where, iteration,
       one - found.begin());
}

std::string check_table(const std::string& folder) {
  const std::string path = folder + "/statistics.csv", text = read_text(path, "the table");
  const std::vector<CsvRecord> rows = parse_csv(text);
  expect(rows.size() == iterations + 1, fmt::format("'{}' has {} rows", path, rows.size()));
  for (int n = 0; n < iterations; ++n) {
    const std::vector<double> values = values_of(0, nz, n);
    double sum = 0;
    for (const double value : values) sum += value;
    const std::map<std::string, double> known{
        {"count", cells}, {"minimum", values.front()}, {"maximum", values.back()}, {"sum", sum}};
    for (const auto& [name, value] : known) {
      const auto& names = rows[0].fields;
      const auto column = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      const std::vector<std::string>& row = rows[static_cast<std::size_t>(n) + 1].fields;
      const std::string found = column < row.size() ? row[column] : "";
      expect(real_of(found) == value,
             fmt::format("'{}': in iteration {} {} is '{}', expected {}", path, n, name, found, value));
    }
  }
  return fmt::format("statistics of {} iterations are exact", iterations);
}

std::string check_hdf5(const std::string& folder) {
  for (int n = 0; n < iterations; ++n) {
    const hdf5::InputFile file(fmt::format("{}/fields-{}.h5", folder, n));
    std::vector<double> values(static_cast<std::size_t>(cells));
    file.read("/variables/field", {{0, 0, 0}, {nz, ny, nx}}, Type::float64, std::as_writable_bytes(std::span(values)));
    expect_values(values, n, file.path());
  }
  return fmt::format("{} files hold what was published", iterations);
}

std::string check_database(const std::string& folder) {
  const Reader reader = Reader::open(folder + "/data");
  expect(reader.contexts().size() == iterations, fmt::format("the database has {} contexts", reader.contexts().size()));
  for (int n = 0; n < iterations; ++n) {
    StoredContext context = reader.open_context(n);
    std::vector<double> values(static_cast<std::size_t>(cells));
    const Box all{{0, 0, 0}, {nx, ny, nz}};
    context.read_box("field", 0, all, all, values.data());
    expect_values(values, n, folder + "/data");
  }
  return fmt::format("{} contexts hold what was published, checksums are right", iterations);
}

std::string check_picture(const std::string& folder) {
  for (int n = 0; n < iterations; ++n) {
    const std::string path = fmt::format("{}/picture-{}.png", folder, n), bytes = read_text(path, "the picture");
    // After the signature: a length, the word IHDR, width and height.
    const std::string expected("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x30", 24);
    expect(bytes.starts_with(expected), fmt::format("'{}' is no picture of 64 x 48 pixels", path));
  }
  return fmt::format("{} pictures were rendered", iterations);
}

std::string check_same(const std::string& one, const std::string& other) {
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(one)) {
    const std::string name = entry.path().filename();
    if (name != "statistics.csv" && entry.path().extension() != ".png") continue;
    expect(read_text(entry.path(), "the result") == read_text(other + "/" + name, "the result"),
           fmt::format("'{}' differs from that of the run before", name));
    ++files;
  }
  return fmt::format("tables and pictures of both placements have the same bytes ({} files)", files);
}

/// Runs checks in turn, and keeps the lines about them.
class Checks {
 public:
  explicit Checks(MPI_Comm comm) : world_(comm), nodes_(count_nodes()) {}

  /// Collective. The folder is rank 0's; the others must see it.
  void use(const std::string& parent) {
    run_collectively(world_, [&] {
      if (world_.rank() == 0) folder_ = make_folder(parent);
    });
    share_text(world_, folder_);
    run_collectively(world_, [&] {
      if (::access(folder_.c_str(), W_OK) == 0) return;
      fail(Code::system,
           "process {} of {} does not see the folder '{}'; name one that all nodes share with --directory",
           world_.rank(), world_.size(), folder_);
    });
  }
  void run() {
    const bool pictures = has_pictures();
    const std::string alone = folder_ + "/inline", apart = folder_ + "/cores";
    const std::string processes = fmt::format("{} process{}", world_.size(), world_.size() == 1 ? "" : "es");
    if (simulates("inline", "inline", alone, pictures, processes + ", no servers")) read_back(alone, pictures);
    if (world_.size() < 2 * nodes_) {
      leave_out("cores", "it needs two processes on each node; run it with mpirun -n 2");
      return;
    }
    const std::string split = fmt::format("{}, of which {} serve{}", processes, nodes_, nodes_ == 1 ? "s" : "");
    if (simulates("cores", "{mode: cores, per_node: 1}", apart, pictures, split)) {
      check("same", [&] { return check_same(alone, apart); });
    }
  }
  void clean() {
    world_.barrier();
    std::error_code ignored;
    if (world_.rank() == 0 && !folder_.empty()) fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] Report report(double seconds) const;

 private:
  [[nodiscard]] int count_nodes() {
    const std::unique_ptr<MpiCommunicator> node = world_.split_by_node();
    std::int64_t nodes = node->rank() == 0 ? 1 : 0;
    world_.sum(std::span(&nodes, 1));
    return static_cast<int>(nodes);
  }
  [[nodiscard]] bool has_pictures() {
    std::int64_t with = 1;
    run_collectively(world_, [&] { with = kinds_with_modules().analyses().contains("render") ? 1 : 0; });
    world_.minimum(std::span(&with, 1));
    return with != 0;
  }
  /// Collective. True if the run went well.
  bool simulates(const char* name, const std::string& placement, const std::string& folder, bool pictures,
                 const std::string& split) {
    return check(name, true, [&] {
      expect_delivered(simulate(world_.comm(), configuration(placement, folder, pictures)));
      return fmt::format("{} iterations of {} values were delivered: {}", iterations, cells, split);
    });
  }
  void read_back(const std::string& folder, bool pictures) {
    check("table", [&] { return check_table(folder); });
    check("hdf5", [&] { return check_hdf5(folder); });
    check("database", [&] { return check_database(folder); });
    if (!pictures) return leave_out("picture", "the module visualisation is not there, see sidestream --version");
    check("picture", [&] { return check_picture(folder); });
  }
  /// Collective: `work` on rank 0, or on all.
  bool check(const char* name, const std::function<std::string()>& work) { return check(name, false, work); }
  bool check(const char* name, bool everywhere, const std::function<std::string()>& work) {
    std::string text;
    try {
      run_collectively(world_, [&] {
        if (everywhere || world_.rank() == 0) text = work();
      });
    } catch (const std::exception& error) {
      checks_.push_back({Check::State::failed, name, error.what()});
      return false;
    }
    checks_.push_back({Check::State::passed, name, text});
    return true;
  }
  void leave_out(const char* name, const char* why) { checks_.push_back({Check::State::left_out, name, why}); }

  MpiCommunicator world_;
  int nodes_;
  std::string folder_;
  std::vector<Check> checks_;
};

Report Checks::report(double seconds) const {
  constexpr const char* words[] = {"passed", "FAILED", "left out"};
  int counts[3] = {0, 0, 0};
  Report report{fmt::format("sidestream " SIDESTREAM_VERSION " with {}: {} process{} on {} node{}\n", mpi_library(),
                            world_.size(), world_.size() == 1 ? "" : "es", nodes_, nodes_ == 1 ? "" : "s")};
  for (const Check& check : checks_) {
    const auto state = static_cast<std::size_t>(check.state);
    ++counts[state];
    report.text += fmt::format("{:<9} {:<9} {}\n", words[state], check.name, check.text);
  }
  report.text +=
      fmt::format("{} passed, {} failed, {} left out, in {:.1f} s\n", counts[0], counts[1], counts[2], seconds);
  report.status = counts[1] > 0 ? 1 : 0;
  return report;
}

}  // namespace

std::string make_folder(const std::string& parent) {
  std::string name = (fs::path(parent) / "sidestream-selftest-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    fail(Code::system, "cannot make a folder in '{}': {}; name another one with --directory", parent,
         system_text(errno));
  }
  return name;
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name = name.substr(0, name.find_first_of(",\n"));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

Report run_checks(MPI_Comm comm, const std::string& parent) {
  const auto start = std::chrono::steady_clock::now();
  Checks checks(comm);
  checks.use(parent);
  checks.run();
  checks.clean();
  return checks.report(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace sidestream::selftest
