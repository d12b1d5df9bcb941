#include "conformance/conformance.hpp"

#include <fmt/format.h>

#include <stdlib.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "commands.hpp"
#include "config/options/document.hpp"
#include "conformance/sample.hpp"
#include "loading.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::conformance {

namespace {

/// The first non-empty text in the order of processes, on all.
std::string first_of(Communicator& servers, const std::string& mine) {
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
    if (!bytes.empty()) return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  return {};
}

/// Creates a temporary folder with a new name. Throws Error(file).
std::string new_folder() {
  std::error_code error;  // TMPDIR may not be a folder
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = parent / ("sidestream-conformance-" + std::string(6, 'X'));  // required by mkdtemp
  if (error || !mkdtemp(name.data())) {
    fail(Code::file, "cannot make a folder for temporary files ({}); set TMPDIR to a folder that can be written",
         error ? system_text(error.value()) : system_text(errno));
  }
  return name;
}

/// An empty folder that rank 0 creates and all know. Removed with this object, however the checks end.
class Scratch {
 public:
  explicit Scratch(MpiCommunicator& servers) {
    run_collectively(servers, [&] {
      if (servers.rank() == 0) mine_ = new_folder();
    });
    path_ = first_of(servers, mine_);
  }
  ~Scratch() {
    std::error_code ignored;
    if (!mine_.empty()) std::filesystem::remove_all(mine_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string mine_, path_;
};

void check_all(const Config& config, const Registry& registry, MpiCommunicator& servers, const std::string& folder,
               Findings& report) {
  for (const TaskConfig& task : config.tasks) {
    if (task.uses >= 0) {
      report.skip(task.name, "it uses a mesh that an analysis makes, of which there are no sample data");
      continue;
    }
    const Subject subject{task, config.metadata, registry, servers};
    if (task.writer) {
      check_writer(subject, folder + "/" + task.name, report);
    } else {
      check_analysis(subject, report);
    }
  }
  const PlacementConfig& placement = config.opening.placement;
  if (placement.mode != PlacementMode::nodes) return;
  check_partitioner_kind(registry.partitioners().at(placement.partitioner), placement.partitioner_settings,
                         config.metadata, report);
}

}  // namespace

void Findings::say(const std::string& text) const {
  if (servers_.rank() == 0) std::cout << text << std::flush;
}

void Findings::check(const std::string& task, const std::string& what, const std::function<std::string()>& work) {
  say(fmt::format("{}: {} ... ", task, what));
  std::string wrong;
  try {
    wrong = work();
  } catch (const std::exception& error) {
    wrong = fmt::format("it failed: {}", error.what());
  } catch (...) {
    wrong = "it threw something that is no std::exception";
  }
  wrong = first_of(servers_, wrong);
  say(wrong.empty() ? "ok\n" : fmt::format("FAILED: {}\n", wrong));
  ++(wrong.empty() ? passed_ : failures_);
}

void Findings::skip(const std::string& task, const std::string& why) {
  say(fmt::format("{}: not checked, because {}\n", task, why));
}

void guarded(Communicator& servers, const std::function<void(Communicator& servers)>& work) {
  GuardedCommunicator guard(servers);
  const std::string failure = guard.attempt([&] { work(guard); });
  if (!failure.empty()) throw Error(Code::analysis, failure);
}

int run(const CheckOptions& options, MPI_Comm comm) {
  MpiCommunicator servers(comm);
  Registry registry;
  Config config;
  run_collectively(servers, [&] {
    const auto document =
        with_declarations(parse_document(read_text(options.file, "the configuration"), options.file), options);
    registry = all_kinds(read_opening(*document), *document, options);
    config = read_config(*document, registry, parse_values(options), parse_declarations(options));
    const std::string why = unsuitable(config.metadata);
    if (!why.empty()) fail(Code::configuration, "{}: there are no sample data: {}", options.file, why);
  });
  const Scratch scratch(servers);
  Findings report(servers);
  check_all(config, registry, servers, scratch.path(), report);
  servers.barrier();
  if (servers.rank() == 0) {
    std::cout << fmt::format("{} checks passed, {} failed\n", report.passed(), report.failures()) << std::flush;
  }
  return report.failures() > 0 ? 1 : 0;
}

}  // namespace sidestream::conformance

namespace sidestream {

int check_conformance(const CheckOptions& options) {
  int status = 0;
  const int failed = run_group(
      "conformance", [&](MPI_Comm group, const std::function<bool()>&) { status = conformance::run(options, group); });
  return failed ? failed : status;
}

}  // namespace sidestream
