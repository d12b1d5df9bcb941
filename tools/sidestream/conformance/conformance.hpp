// `sidestream conformance`: checks the contracts of analyses, outputs and partitioners.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

#include "check_options.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream::conformance {

/// Findings, the same on all processes. Rank 0 prints each at once, so that the check at fault is known after a crash.
class Findings {
 public:
  explicit Findings(Communicator& servers) : servers_(servers) {}
  /// Collective: runs one check, which passes if `work` returns an empty text on all processes. An exception is a
  /// failure, too.
  void check(const std::string& task, const std::string& what, const std::function<std::string()>& work);
  void skip(const std::string& task, const std::string& why);
  [[nodiscard]] int failures() const noexcept { return failures_; }
  [[nodiscard]] int passed() const noexcept { return passed_; }

 private:
  void say(const std::string& text) const;
  Communicator& servers_;
  int failures_ = 0, passed_ = 0;
};

/// The data that a suite needs for one entry of the configuration. One suite at a time uses the communicator.
struct Subject {
  const TaskConfig& task;
  const Metadata& metadata;
  const Registry& registry;
  Communicator& servers;
};

/// Collective: runs work that communicates only through the communicator that it gets. If it throws on one process, it
/// ends on all with the same message, as on servers.
void guarded(Communicator& servers, const std::function<void(Communicator& servers)>& work);

void check_analysis(const Subject& subject, Findings& report);
/// Writes into subfolders of `directory`, which is empty before and after.
void check_writer(const Subject& subject, const std::string& directory, Findings& report);
void check_partitioner_kind(const PartitionerKind& kind, const Settings& settings, const Metadata& metadata,
                            Findings& report);

/// Collective over `servers`. Runs all suites on the analyses, outputs and the partitioner of the file; prints the
/// report on rank 0. Returns the exit status: 0 if every contract holds. Throws for a wrong configuration.
[[nodiscard]] int run(const CheckOptions& options, MPI_Comm servers);

}  // namespace sidestream::conformance

namespace sidestream {

/// The command: calls MPI_Init and MPI_Finalize; returns the exit status.
[[nodiscard]] int check_conformance(const CheckOptions& options);

}  // namespace sidestream
