// The sub-commands of `sidestream`.
#pragma once

#include <mpi.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyse/sources.hpp"
#include "check_options.hpp"
#include "session/serving/attached_groups.hpp"

namespace CLI {
class App;
}

namespace sidestream {

/// The text to print, and the exit status.
struct Answer {
  std::string text;
  int status = 0;
};

// Commands that run as a group of MPI processes.

/// Initialises MPI, runs `work` on all processes of the group and finalises MPI. `stop` is true once a signal has asked
/// the group to leave. Returns the exit status: 1 if `work` threw; rank 0 prints the message, which is the same on all.
[[nodiscard]] int run_group(const char* command,
                            const std::function<void(MPI_Comm group, const std::function<bool()>& stop)>& work);

/// `sidestream endpoint`: runs the analyses of a configuration in a job of its own. Calls MPI_Init and MPI_Finalize;
/// returns the exit status.
int endpoint(AttachOptions options);

// `sidestream serve`: server processes of the placement `sidecar`.

/// Initialises MPI, serves, and finalises MPI. On SIGTERM, SIGINT and SIGUSR1 the group leaves after the current
/// iteration. Returns the exit status; prints errors on standard error.
[[nodiscard]] int serve(AttachOptions options);

// `sidestream set`: changes a parameter of a running session.

struct SetOptions {
  std::string name, value;
  std::string directory = ".";
  double wait = 60;  ///< seconds
};

/// Status 0 if the change was accepted and 1 if not. Without a name it lists the parameters. Throws Error if there is
/// no such session, or no answer.
[[nodiscard]] Answer set_parameter(const SetOptions& options);

// `sidestream ask`: asks a running session for an analysis that is not in its configuration.

struct AskOptions {
  std::string analysis;  ///< an entry of `analyses:`, on one line
  std::string end;       ///< name of an analysis that was asked for and is to end
  std::string directory = ".";
  double wait = 60;  ///< seconds
};

/// Status 0 if the analysis was delivered or continues, otherwise 1. Without an analysis it prints the possible
/// requests. Throws Error if there is no such session, or no answer.
[[nodiscard]] Answer ask_for_analysis(const AskOptions& options);

// `sidestream hdf5-map`: drafts the mapping for a program that writes HDF5.

/// The mapping's text, from a folder of records (SIDESTREAM_HDF5_RECORD). Status 1 if no dataset can be published.
/// Throws Error(file) if the folder has no records.
[[nodiscard]] Answer draft_hdf5_map(const std::string& folder);

// `sidestream plan`: predicts the blocks that each server would get, without a run.

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

// `sidestream check`: checks a configuration and summarises it.

/// Reads and parses the file, once: it may be a pipe. Throws Error(configuration).
[[nodiscard]] std::shared_ptr<const Document> configuration_of(const CheckOptions& options);

/// Checks the file's configuration as a session would, without MPI and without writing files; returns the summary.
/// Throws Error(usage) for wrong arguments, other errors for a wrong configuration.
[[nodiscard]] std::string check(const CheckOptions& options, const std::shared_ptr<const Document>& configuration);

/// Warns if a run with this configuration would be refused now because its output directory holds an earlier one.
void check_directory(const CheckOptions& options, const Document& configuration);

// `sidestream reference NAME`: a part of the manual.

/// The manual's text under a heading: a section, a kind of analysis or output, a partitioner, or "options" for those of
/// every analysis and output. Several texts if several have that name. Throws Error(usage) with the known names if none
/// has.
[[nodiscard]] std::string reference_part(const std::string& manual, const std::string& name);

// Commands on databases: content, verification, and removal of contexts.

struct DatabaseOptions {
  std::string directory;
  std::optional<std::int64_t> cycle{};  ///< for `info`
  std::int64_t keep = -1;               ///< for `prune`; negative: all contexts
  bool dry_run = false;                 ///< for `prune`: true to change nothing
  bool lost = false;                    ///< for `prune`: true to delete complete contexts, too, that no slot names
};

// The functions throw Error.
[[nodiscard]] Answer list_database(const DatabaseOptions& options);
[[nodiscard]] Answer describe_context(const DatabaseOptions& options);
[[nodiscard]] Answer verify_database(const DatabaseOptions& options);
[[nodiscard]] Answer prune_database(const DatabaseOptions& options);

// `sidestream analyse`: the analyses of a configuration on files, after the run.

struct AnalyseOptions {
  analysing::SourceOptions sources;
  std::string config;
  std::string directory;            ///< overrides output.directory if not empty
  std::vector<std::string> values;  ///< NAME=VALUE
  std::string periodic;             ///< periodic axes: xyz
  bool outputs = true;              ///< true if the outputs of the configuration run, too
};

/// Collective over all processes under mpirun. Returns the exit status.
[[nodiscard]] int analyse(const AnalyseOptions& options);

// `sidestream replay`: publishes the content of a database as a simulation would, on any number of ranks, at another
// resolution and pace. So analyses and outputs can be tried without the simulation.

struct ReplayOptions {
  std::string directory, file;
  std::vector<std::string> values;  ///< NAME=VALUE
  std::int64_t coarsen = 1, refine = 1;
  std::string interpolate = "pick";  ///< or `linear`, `conservative`
  std::string blocks = "divided";    ///< or `stored`
  std::int64_t iterations = 0;       ///< 0: each context once
  double pace = 0;                   ///< seconds between iterations
  bool compute = false;              ///< compute instead of sleeping
};

/// Collective over all processes under mpirun. Returns the exit status.
[[nodiscard]] int replay(const ReplayOptions& options);

// `sidestream import`: converts files of simulation codes to a database.

struct ImportOptions {
  std::string format;  ///< ramses, amrex
  std::string directory, target;
  std::vector<std::string> codec{"auto"};
  bool flush = true;
  bool prune = true;  ///< true if trees are stored without the parts that other domains own
};

/// Under mpirun several processes share the work. Returns the exit status; prints a summary.
[[nodiscard]] int import_files(const ImportOptions& options);

// `sidestream groups`: chooses the number of servers of each group.

struct GroupsOptions {
  std::vector<std::string> runs;    ///< output directories of earlier runs
  int servers = 0;                  ///< total number
  std::vector<std::string> groups;  ///< NAME=TASK,TASK; empty: as in the runs' configuration
  std::string output;               ///< file for `placement.measured`; empty: none
};

/// Reports measurements, sizes and predicted times. Throws Error(file) or Error(configuration).
[[nodiscard]] std::string groups(const GroupsOptions& options);

// `sidestream advise`: chooses the placement and the split of ranks.

struct AdviseOptions {
  std::vector<std::string> runs;  ///< output directories of earlier runs
  int ranks = 0, nodes = 1;       ///< of the job to come
  int iterations = 0;             ///< of the job to come; 0: as many as the longest of the runs
  std::string output;             ///< file for a configuration to run; empty: none
  std::string table;              ///< file for the table of all splits; empty: none
};

/// Reports measurements, predicted times, the choice, its reason, and the run that would tell more. Throws Error(file),
/// Error(configuration) or Error(usage).
[[nodiscard]] std::string advise(const AdviseOptions& options);

// `sidestream simulate-scale`: the model of `advise` for jobs that nobody has run.

struct ScaleOptions {
  std::string file;    ///< numbers of a machine and a program, YAML
  std::string tables;  ///< directory for tables of curves; empty: none
};

/// Checks the model against records of small runs and reports on large jobs; status 1 if a run deviates by more than is
/// allowed. Throws Error(file) or Error(configuration).
[[nodiscard]] Answer simulate_scale(const ScaleOptions& options);

// Commands written in Python, like the libraries that they use: `export`, `plot`, `record`, `trace`, `watch`.

/// The work of the command that was given; returns the exit status.
using Work = std::function<int()>;

/// Adds these commands. Their work replaces this process by `python -m sidestream COMMAND ...`, with the package built
/// along with this program; it throws Error(system) if there is no interpreter.
void add_python_commands(CLI::App& app, Work& work);

// `sidestream selftest`: checks an installation.

struct SelftestOptions {
  std::string directory;  ///< parent of the folder for files; empty: TMPDIR, or /tmp
  std::string mpirun;     ///< empty: looked up in PATH
  std::string report;     ///< file for the report; empty: standard output. Only given by the command itself
};
/// Runs the checks, under mpirun as its job, otherwise in processes that it starts and ends within a minute. Returns
/// the exit status: 1 if a check failed or could not begin. Throws Error(system).
[[nodiscard]] int check_installation(const SelftestOptions& options);

// The command line.

/// Describes the first word that is not a command of `app`, or the first unknown option of a command, with a
/// suggestion; empty if there is none. The parser itself would report what it expected next.
[[nodiscard]] std::string typing_error(const CLI::App& app, const std::vector<std::string>& words);

/// A line for each part: "with" or "without", its name and purpose; for missing ones also the reason. Generated when
/// the build is configured (cmake/PartsReport.cmake).
[[nodiscard]] const char* built_parts() noexcept;

}  // namespace sidestream
