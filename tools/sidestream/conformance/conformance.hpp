// `sidestream conformance`: whether analyses, outputs and partitioners keep their contracts.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "check_options.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream::conformance {

/// What was found, the same on all processes; rank 0 prints it as it comes, so that a crash has a name.
class Findings {
 public:
  explicit Findings(Communicator& servers) : servers_(servers) {}
  /// One check, collective: passed if `work` returns nothing wrong on any process. What it throws is wrong too.
  void check(const std::string& task, const std::string& what, const std::function<std::string()>& work);
  void skip(const std::string& task, const std::string& why);
  [[nodiscard]] int failures() const noexcept { return failures_; }
  [[nodiscard]] int passed() const noexcept { return passed_; }

 private:
  void say(const std::string& text) const;
  Communicator& servers_;
  int failures_ = 0, passed_ = 0;
};

/// Everything that a suite needs of one entry of the configuration. The communicator is used by one suite at a time.
struct Subject {
  const TaskConfig& task;
  const Metadata& metadata;
  const Registry& registry;
  Communicator& servers;
};

/// Collective: runs what communicates, through the communicator that it gets alone. If it throws on one process, it
/// ends on all with its sentence, as on servers.
void guarded(Communicator& servers, const std::function<void(Communicator& servers)>& work);

void check_analysis(const Subject& subject, Findings& report);
/// Writes into folders of its own below `directory`, which is empty before and after.
void check_writer(const Subject& subject, const std::string& directory, Findings& report);
void check_partitioner_kind(const PartitionerKind& kind, const Settings& settings, const Metadata& metadata,
                            Findings& report);

/// Runs all suites on the analyses, outputs and the partitioner of the file; prints the report on rank 0. Returns the
/// exit status: 0 if every contract holds. Collective over `servers`. Throws for a wrong configuration.
[[nodiscard]] int run(const CheckOptions& options, MPI_Comm servers);

}  // namespace sidestream::conformance

namespace sidestream {

/// The command: between MPI_Init and MPI_Finalize, which it calls; returns the exit status.
[[nodiscard]] int check_conformance(const CheckOptions& options);

}  // namespace sidestream
