// The sub-commands of `sidestream`.
#pragma once

#include <mpi.h>
#include <cstdint>
#include <functional>
#include <string>

#include "check_options.hpp"
#include "session/serving/attached_groups.hpp"

namespace sidestream {

/// `sidestream endpoint`: runs the analyses of a configuration in a job of its own. Calls MPI_Init and MPI_Finalize;
/// returns the exit status.
int endpoint(EndpointOptions options);

// `sidestream serve`: server processes of the placement `sidecar`.

struct ServeOptions {
  std::string file, directory;
  double wait = 60;
};

/// Initialises MPI, serves, and finalises MPI. On SIGTERM, SIGINT and SIGUSR1 the group leaves after the current
/// iteration. Returns the exit status; prints errors on standard error.
[[nodiscard]] int serve(const ServeOptions& options);

// `sidestream set`: changes a parameter of a running session.

struct SetOptions {
  std::string name, value;
  std::string directory = ".";
  double wait = 60;  ///< seconds
};

/// The answer, with status 0 if the change was accepted and 1 if not. Without a name it lists the parameters.
struct SetAnswer {
  std::string text;
  int status = 0;
};
/// Throws Error if there is no such session, or no answer.
[[nodiscard]] SetAnswer set_parameter(const SetOptions& options);

// The command `export`, which is written in Python like the libraries of the formats.

struct ExportOptions {
  std::string directory, target;
  std::string variables, iterations, cycles, time_units;  ///< empty: not given
  bool uncompressed = false;
};

/// Replaces this process by `python -m sidestream export ...`, with the package built along with this program. Does not
/// return if there is an interpreter; throws Error(system) if not.
[[noreturn]] void export_database(const ExportOptions& options);

// `sidestream plan`: predicts which blocks would move to which server, without a run.

struct PlanOptions {
  CheckOptions program;
  std::string metadata;     ///< a file, or `grid:64x64x64/2x2x2`
  int servers = 0;          ///< 0: as in the configuration
  std::string partitioner;  ///< a name or a map in YAML; empty: as in the configuration
  bool table = false;       ///< true for a line per server
};

/// Evaluates the needs of every analysis and output, applies the partitioner and reports the moved blocks. Throws
/// Error(usage) for wrong arguments, other errors for a wrong configuration or metadata.
[[nodiscard]] std::string plan(const PlanOptions& options);

// Commands that run as a group of MPI processes: `serve`, `endpoint`.

/// Initialises MPI, runs `work` on all processes of the group and finalises MPI. `stop` is true once a signal has asked
/// the group to leave. Returns the exit status: 1 if `work` threw; rank 0 prints the message, which is the same on all.
[[nodiscard]] int run_group(const char* command,
                            const std::function<void(MPI_Comm group, const std::function<bool()>& stop)>& work);

// `sidestream check`: checks a configuration and summarises it.

/// Reads and checks the file as a session would, without MPI and without writing files; returns the summary. Throws
/// Error(usage) for wrong arguments, other errors for a wrong configuration.
[[nodiscard]] std::string check(const CheckOptions& options);

/// Warns if a run with this configuration would be refused now because its output directory holds an earlier one.
void check_directory(const CheckOptions& options);

// `sidestream reference NAME`: a part of the manual.

/// The manual's text under a heading: a section, a kind of analysis or output, a partitioner, or "options" for those of
/// every analysis and output. Several texts if several have that name. Throws Error(usage) with the known names if none
/// has.
[[nodiscard]] std::string reference_part(const std::string& manual, const std::string& name);

// Commands on databases: content, verification, and removal of contexts.

struct DatabaseOptions {
  std::string directory;
  std::int64_t cycle = 0;  ///< for `info`
  bool has_cycle = false;
  std::int64_t keep = -1;  ///< for `prune`; negative: all contexts
  bool look = false;       ///< for `prune`: true to change nothing
  bool lost = false;       ///< for `prune`: true to delete complete contexts, too, that no slot names
};

/// The text to print, and the exit status. The functions throw Error.
struct DatabaseAnswer {
  std::string text;
  int status = 0;
};
[[nodiscard]] DatabaseAnswer list_database(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer describe_context(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer verify_database(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer prune_database(const DatabaseOptions& options);

}  // namespace sidestream
