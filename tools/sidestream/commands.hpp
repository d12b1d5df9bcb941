// The sub-commands of `sidestream`.
#pragma once

#include <mpi.h>
#include <cstdint>
#include <functional>
#include <string>

#include "check_options.hpp"
#include "session/serving/endpoint_group.hpp"

namespace sidestream {

/// `sidestream endpoint`: runs the analyses of a configuration in a job of its own. Calls MPI_Init and MPI_Finalize;
/// returns the exit status.
int endpoint(EndpointOptions options);

// `sidestream serve`: server processes of the placement `sidecar`.

struct ServeOptions {
  std::string file, directory;
  double wait = 60;
};

/// Initialises MPI, serves, finalises. SIGTERM, SIGINT and SIGUSR1 make the group leave after the iteration that it is
/// at. Returns the exit status; says on standard error what went wrong.
[[nodiscard]] int serve(const ServeOptions& options);

// `sidestream set`: a person changes a parameter of a running session.

struct SetOptions {
  std::string name, value;
  std::string directory = ".";
  double wait = 60;  ///< seconds
};

/// The answer, with 0 if the change was accepted and 1 if not; without a name the parameters that there are.
struct SetAnswer {
  std::string text;
  int status = 0;
};
/// Throws Error if there is no such session, or no answer.
[[nodiscard]] SetAnswer set_parameter(const SetOptions& options);

// The command `export`, which is written in Python: the libraries of the formats are.

struct ExportOptions {
  std::string directory, target;
  std::string variables, iterations, cycles, time_units;  ///< empty: not given
  bool uncompressed = false;
};

/// Becomes `python -m sidestream export ...`, with the package that was built along with this program: does not return
/// if there is an interpreter. Throws Error(system) if there is none.
[[noreturn]] void export_database(const ExportOptions& options);

// `sidestream plan`: which blocks would move to which server, without a run.

struct PlanOptions {
  CheckOptions program;
  std::string metadata;     ///< a file, or `grid:64x64x64/2x2x2`
  int servers = 0;          ///< 0: what the configuration says
  std::string partitioner;  ///< a name or a map in YAML; empty: what the configuration says
  bool table = false;       ///< a line for each server
};

/// Evaluates what every analysis and output needs, applies the partitioner and says what moves. Throws Error(usage) for
/// wrong arguments, other errors for a wrong configuration or metadata.
[[nodiscard]] std::string plan(const PlanOptions& options);

// A command that runs as a group of MPI processes: `serve`, `endpoint`.

/// Initialises MPI, runs `work` on all processes of the group and finalises MPI. `stop` says whether a signal has asked
/// the group to leave. Returns the exit status: 1 if `work` threw, whose message, the same on all, rank 0 prints.
[[nodiscard]] int run_group(const char* command,
                            const std::function<void(MPI_Comm group, const std::function<bool()>& stop)>& work);

// `sidestream check`: whether a configuration is right, and what it will do.

/// Reads and checks the file as a session would, without MPI and without writing anything; returns the
/// summary. Throws Error(usage) for wrong arguments, other errors for a wrong configuration.
[[nodiscard]] std::string check(const CheckOptions& options);

/// Warns if a run with this configuration would be refused now, since its output directory holds an earlier one.
void check_directory(const CheckOptions& options);

// `sidestream reference NAME`: a part of the manual.

/// What the manual has under a heading: of a section, a kind of analysis or of output, a partitioner, or under
/// "options" those that every analysis and output has; several where the name is that of several. Throws Error(usage)
/// with the names there are if it is none.
[[nodiscard]] std::string reference_part(const std::string& manual, const std::string& name);

// Databases for people: what is in them, whether it is whole, and removing what is not wanted.

struct DatabaseOptions {
  std::string directory;
  std::int64_t cycle = 0;  ///< of `info`
  bool has_cycle = false;
  std::int64_t keep = -1;  ///< of `prune`; negative: all contexts
  bool look = false;       ///< of `prune`: change nothing
  bool lost = false;       ///< of `prune`: delete whole contexts too that no slot names
};

/// What to print, and the exit status. Throw Error.
struct DatabaseAnswer {
  std::string text;
  int status = 0;
};
[[nodiscard]] DatabaseAnswer list_database(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer describe_context(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer verify_database(const DatabaseOptions& options);
[[nodiscard]] DatabaseAnswer prune_database(const DatabaseOptions& options);

}  // namespace sidestream
