// The `sidestream` command. Exit status: 0 for success, 1 for errors, 2 for wrong arguments.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <utility>

#include "commands.hpp"
#include "conformance/conformance.hpp"
#include "loading.hpp"
#include "scale/stated.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/version.h"
#include "translate/translation.hpp"

namespace {

constexpr int success = 0, failure = 1, wrong_usage = 2;

using sidestream::Work;

/// Prints to a file, or to standard output if its name is empty.
int print(const std::string& text, const std::string& output) {
  if (output.empty()) {
    std::cout << text << std::flush;
    return std::cout ? success : failure;
  }
  std::ofstream file(output, std::ios::binary);
  file << text << std::flush;
  if (file) return success;
  std::cerr << "sidestream: cannot write '" << output << "'; check the path\n";
  return failure;
}

// The exit status of a command, after printing its result.
int shown(int status) { return status; }
int shown(const std::string& text) { return print(text, ""); }
int shown(const sidestream::Answer& answer) { return print(answer.text, "") == success ? answer.status : failure; }

/// Returns the options of a command, which live as long as it. If it is given, `work` becomes `run` with them.
template <class Options, class Run>
Options& options_of(CLI::App& command, Work& work, Run run) {
  const auto options = std::make_shared<Options>();
  command.callback([=, &work] { work = [=] { return shown(run(*options)); }; });
  return *options;
}

// CLI11's own checks print the largest double with all of its digits.
CLI::Validator number_that(const char* expected, bool (*suits)(double)) {
  const auto check = [=](const std::string& text) {
    const std::optional<double> value = sidestream::real_of(text);
    return value && suits(*value) ? std::string() : "found '" + text + "', expected a number " + expected;
  };
  return CLI::Validator(check, "");
}
CLI::Validator number_from_zero() {
  return number_that("of 0 or more", [](double value) { return value >= 0; });
}
CLI::Validator positive_number() {
  return number_that("above 0", [](double value) { return value > 0; });
}

/// Adds the options of `check` and `plan` that describe the program.
void add_program(CLI::App& command, sidestream::CheckOptions& options) {
  command.add_option("FILE", options.file, "The configuration, YAML")->required();
  command.add_option("--set", options.values, "NAME=VALUE: the program's value of $NAME; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--mesh", options.meshes,
                  "NAME=NXxNYxNZ, or NAME={OPTIONS} as under meshes: a mesh that the program declares by calls")
      ->allow_extra_args(false);
  command
      .add_option("--variable", options.variables,
                  "NAME=MESH, or NAME={OPTIONS} as under variables: a variable that the program declares by calls")
      ->allow_extra_args(false);
  command.add_option("--declared", options.declared,
                     "Declarations by calls of the program: a file with 'meshes' and 'variables', such as one of "
                     "the output 'metadata' of a first run");
  command.add_option("--function", options.functions, "NAME: an analysis that is a function of the program")
      ->allow_extra_args(false);
  // Makes `--set nx=64 ny=32` work as expected.
  command.add_option("VALUES", options.more_values, "More NAME=VALUE");
}

void add_check(CLI::App& app, Work& work) {
  CLI::App* check = app.add_subcommand("check", "Check a configuration and describe what it does");
  auto& options = options_of<sidestream::CheckOptions>(*check, work, [](const sidestream::CheckOptions& given) {
    const auto configuration = sidestream::configuration_of(given);
    const int status = print(sidestream::check(given, configuration), "");
    sidestream::check_directory(given, *configuration);
    return status;
  });
  check->add_option("--ranks", options.ranks, "Number of MPI ranks of the job; checks that clients remain")
      ->check(CLI::Range(1, 1 << 30));
  check->add_option("--nodes", options.nodes, "Number of nodes they run on (default 1)")->check(CLI::Range(1, 1 << 30));
  add_program(*check, options);
}

void add_plan(CLI::App& app, Work& work) {
  CLI::App* plan = app.add_subcommand("plan", "Predict which blocks would move to which server, without a run");
  auto& options = options_of<sidestream::PlanOptions>(*plan, work, sidestream::plan);
  plan->add_option("--metadata", options.metadata,
                   "Meshes and blocks: a file of the output 'metadata', or MESH:NXxNYxNZ/PXxPYxPZ for a mesh of NX "
                   "x NY x NZ cells in PX x PY x PZ blocks")
      ->required();
  plan->add_option("--servers", options.servers, "Number of servers (default: as in the configuration)")
      ->check(CLI::Range(1, 1 << 20));
  plan->add_option("--partitioner", options.partitioner,
                   "Partitioner instead of the configuration's: a name, or '{NAME: {OPTION: VALUE}}'");
  plan->add_flag("--table", options.table, "Add a line for each server");
  add_program(*plan, options.program);
}

void add_endpoint(CLI::App& app, Work& work) {
  CLI::App* endpoint =
      app.add_subcommand("endpoint", "Run the analyses of a simulation with `placement: job`; under mpirun, one group");
  auto& options = options_of<sidestream::AttachOptions>(*endpoint, work, sidestream::endpoint);
  options.wait = 300;
  endpoint->add_option("FILE", options.file, "The configuration, the simulation's or one of its own")->required();
  endpoint->add_option("--stream", options.stream, "Name of the stream to read, instead of placement.stream.name");
  endpoint->add_option("--from", options.from, "Directory of the stream, instead of placement.stream.directory");
  endpoint->add_option("--directory", options.directory, "Directory of the results, instead of output.directory");
  endpoint->add_option("--wait", options.wait, "Seconds to wait for the simulation (default 300)")
      ->check(number_from_zero());
}

void add_serve(CLI::App& app, Work& work) {
  CLI::App* serve =
      app.add_subcommand("serve", "Serve a simulation with `placement: sidecar`; under mpirun, one group");
  auto& options = options_of<sidestream::AttachOptions>(*serve, work, sidestream::serve);
  serve->add_option("FILE", options.file, "The configuration of the simulation")->required();
  serve->add_option("--wait", options.wait, "Seconds to wait for the simulation (default 60)")
      ->check(number_from_zero());
  serve->add_option("--directory", options.directory, "Directory of the results, instead of the simulation's");
}

void add_set(CLI::App& app, Work& work) {
  CLI::App* set = app.add_subcommand("set", "Change a parameter of a running simulation, see `steering:`");
  auto& options = options_of<sidestream::SetOptions>(*set, work, sidestream::set_parameter);
  set->add_option("NAME", options.name, "The parameter; without it, all are listed with their values");
  set->add_option("VALUE", options.value, "The new value");
  set->add_option("--directory", options.directory, "The output directory of the session (default: this one)");
  set->add_option("--wait", options.wait,
                  "Seconds to wait for the answer, which comes at the end of an iteration (default 60)")
      ->check(number_from_zero());
}

void add_ask(CLI::App& app, Work& work) {
  CLI::App* ask = app.add_subcommand(
      "ask", "Ask a running simulation for an analysis that is not in its configuration, see `live:`");
  auto& options = options_of<sidestream::AskOptions>(*ask, work, sidestream::ask_for_analysis);
  ask->add_option(
      "ANALYSIS", options.analysis,
      "An entry of `analyses:` on one line, whose files are in the folder `asked`. With `every` it goes on, "
      "otherwise it runs once. Without it, what may be asked is printed");
  ask->add_option("--end", options.end, "Name of an analysis that goes on, and is to end");
  ask->add_option("--directory", options.directory, "The output directory of the session (default: this one)");
  ask->add_option("--wait", options.wait,
                  "Seconds to wait for the answer, which may come at the end of an iteration only (default 60)")
      ->check(number_from_zero());
}

void add_groups(CLI::App& app, Work& work) {
  CLI::App* groups = app.add_subcommand(
      "groups", "Choose the number of servers of each of `placement.groups` from timings of earlier runs");
  auto& options = options_of<sidestream::GroupsOptions>(*groups, work, sidestream::groups);
  groups->add_option("RUN", options.runs, "Output directory of a run; several with different numbers of servers")
      ->required();
  groups->add_option("--servers", options.servers, "Number of servers to divide")
      ->required()
      ->check(CLI::Range(1, 1 << 12));
  groups
      ->add_option("--group", options.groups,
                   "NAME=TASK,TASK: a group and its tasks; may be repeated (default: as in the first run's "
                   "configuration, or each task a group)")
      ->allow_extra_args(false);
  groups->add_option("--output", options.output, "Write the costs to this file, for `placement.measured`");
}

void add_advise(CLI::App& app, Work& work) {
  CLI::App* advise = app.add_subcommand(
      "advise", "Choose the placement and how many ranks serve, from timings of earlier runs with any placements");
  auto& options = options_of<sidestream::AdviseOptions>(*advise, work, sidestream::advise);
  advise->add_option("RUN", options.runs, "Output directory of a run; several with different splits tell more")
      ->required();
  advise->add_option("--ranks", options.ranks, "Number of MPI ranks of the job to come, servers included")
      ->required()
      ->check(CLI::Range(1, 1 << 16));
  advise->add_option("--nodes", options.nodes, "Number of nodes they run on (default 1)")
      ->check(CLI::Range(1, 1 << 16));
  advise->add_option("--iterations", options.iterations, "Iterations of that job (default: as in the longest run)")
      ->check(CLI::Range(1, 1 << 30));
  advise->add_option("--output", options.output,
                     "Write a configuration to run: that of the first run, with the placement of the advice");
  advise->add_option("--table", options.table, "Write all splits with their times, CSV; `sidestream plot` draws it");
}

void add_conformance(CLI::App& app, Work& work) {
  CLI::App* conformance = app.add_subcommand(
      "conformance",
      "Check that the analyses, outputs and the partitioner of a configuration, including plug-ins, keep their "
      "contracts; under mpirun each process is a server");
  auto& options = options_of<sidestream::CheckOptions>(*conformance, work, sidestream::check_conformance);
  add_program(*conformance, options);
}

void add_scale(CLI::App& app, Work& work) {
  CLI::App* scale = app.add_subcommand(
      "simulate-scale", "Predict large jobs from small runs and a machine's numbers: splits, ways to write, endpoints");
  auto& options = options_of<sidestream::ScaleOptions>(*scale, work, sidestream::simulate_scale);
  scale->add_option("FILE", options.file, "Numbers of the machine and the program, YAML")->required();
  scale->add_option("--tables", options.tables, "Write tables of curves into this directory, for `sidestream plot`");
}

void add_replay(CLI::App& app, Work& work) {
  CLI::App* replay = app.add_subcommand(
      "replay",
      "Publish the content of a database as a simulation does, to try analyses and outputs; under mpirun, as its job");
  auto& options = options_of<sidestream::ReplayOptions>(*replay, work, sidestream::replay);
  replay->add_option("DIRECTORY", options.directory, "The directory of the database")->required();
  replay->add_option("FILE", options.file, "The configuration; meshes and variables are those of the database")
      ->required();
  replay->add_option("--set", options.values, "NAME=VALUE: the value of $NAME in the configuration; may be repeated")
      ->allow_extra_args(false);
  replay->add_option("--coarsen", options.coarsen, "Number of cells along each axis that become one")
      ->check(positive_number());
  replay->add_option("--refine", options.refine, "Number of cells along each axis that one cell becomes")
      ->check(positive_number());
  replay
      ->add_option("--interpolate", options.interpolate,
                   "Values at another resolution: pick (default): stored ones; linear; conservative: with the means of "
                   "cells")
      ->check(CLI::IsMember({"pick", "linear", "conservative"}));
  replay->add_option("--blocks", options.blocks, "divided: boxes anew among the ranks (default); stored: as they were")
      ->check(CLI::IsMember({"divided", "stored"}));
  replay
      ->add_option("--iterations", options.iterations,
                   "Number of iterations, beginning again with the first (default: each context once)")
      ->check(positive_number());
  replay->add_option("--pace", options.pace, "Seconds from one iteration to the next (default 0: as fast as possible)")
      ->check(number_from_zero());
  replay->add_flag("--compute", options.compute,
                   "Compute between iterations, as a simulation does, instead of sleeping");
}

void add_analyse(CLI::App& app, Work& work) {
  CLI::App* analyse = app.add_subcommand(
      "analyse",
      "Run the analyses of a configuration on files, after the run: databases, plotfiles of AMReX, HDF5, openPMD; "
      "under mpirun, together");
  auto& options = options_of<sidestream::AnalyseOptions>(*analyse, work, sidestream::analyse);
  analyse->add_option("FILE", options.sources.files, "Files, directories, or patterns in quotes: 'plt*'")->required();
  analyse->add_option("--config", options.config,
                      "The configuration of the simulation; without it the content of the files is listed");
  analyse->add_option("--describe", options.sources.describe,
                      "Description of HDF5 files of other programs: which array is which variable, YAML");
  analyse
      ->add_option("--units", options.sources.units, "Units of openPMD files: SI (default), or stored, as in the file")
      ->check(CLI::IsMember({"SI", "stored"}));
  analyse->add_flag("--skip-damaged", options.sources.skip_damaged,
                    "Skip files that cannot be read, with a message; the exit status is 1 then");
  analyse->add_option("--directory", options.directory, "Directory of the results, instead of output.directory");
  analyse->add_option(
      "--iterations", options.sources.iterations,
      "Counted from 0 over all files: numbers, FROM:TO or FROM:TO:STEP (3,10:20,100::10; default: all)");
  analyse->add_option("--cycles", options.sources.cycles, "Numbers of cycles, in the same form");
  analyse->add_option("--set", options.values, "NAME=VALUE: the value of $NAME in the configuration; may be repeated")
      ->allow_extra_args(false);
  analyse->add_option("--periodic", options.periodic,
                      "Axes along which meshes are periodic, if the file does not tell: xyz");
  analyse->add_flag("!--no-outputs", options.outputs, "Run only analyses, not the tasks under 'outputs:'");
}

/// The four commands on databases.
void add_databases(CLI::App& app, Work& work) {
  using Options = sidestream::DatabaseOptions;
  const auto add = [&](const char* name, const char* text, auto run) -> std::pair<CLI::App&, Options&> {
    CLI::App* made = app.add_subcommand(name, text);
    auto& options = options_of<Options>(*made, work, run);
    made->add_option("DIRECTORY", options.directory, "The directory of a database, written by the output 'database'")
        ->required();
    return {*made, options};
  };
  add("ls", "List the contexts of a database, a line each", sidestream::list_database);
  const auto [info, described] =
      add("info", "Describe a context of a database: the newest one", sidestream::describe_context);
  info.add_option("--cycle", described.cycle, "The context of this cycle instead");
  add("verify", "Read and check a whole database; exit status 1 if something is damaged", sidestream::verify_database);
  const auto [prune, options] =
      add("prune", "Delete files that no context of a database uses, and contexts beyond the newest",
          sidestream::prune_database);
  prune
      .add_option("--keep", options.keep,
                  "Number of newest contexts to keep; others are removed (default: none are removed)")
      ->check(number_from_zero());
  prune.add_flag("--dry-run", options.dry_run, "Only print what would be done");
  prune.add_flag("--lost", options.lost, "Delete also files of whole contexts that the file 'contexts' has lost");
}

void add_import(CLI::App& app, Work& work) {
  CLI::App* command = app.add_subcommand(
      "import",
      "Make a database from another code's files: outputs of RAMSES, plotfiles of AMReX; under mpirun, together");
  auto& options = options_of<sidestream::ImportOptions>(*command, work, sidestream::import_files);
  command->add_option("FORMAT", options.format, "ramses or amrex")
      ->required()
      ->check(CLI::IsMember({"ramses", "amrex"}));
  command->add_option("DIRECTORY", options.directory, "output_NNNNN of RAMSES, or a plotfile")->required();
  command->add_option("TARGET", options.target, "The database; if it exists, a context is added")->required();
  command
      ->add_option("--codec", options.codec, "Codecs for values, as in a configuration; none: no codec (default: auto)")
      ->allow_extra_args(false)
      ->delimiter(',');
  command->add_flag("!--no-prune", options.prune, "Also store cells of RAMSES' domains that other domains own");
  command->add_flag("!--no-fsync", options.flush, "Do not wait for the disk");
}

struct TextOptions {
  std::string of, file, output;  ///< a system or a part; what is read; the file to write
};

void add_translate(CLI::App& app, Work& work) {
  CLI::App* translate = app.add_subcommand("translate",
                                           "Translate another system's configuration to ours; parts without a "
                                           "counterpart are reported");
  auto& options = options_of<TextOptions>(*translate, work, [](const TextOptions& given) {
    const sidestream::Translation made = sidestream::translate(given.of, given.file);
    std::cerr << made.remarks;
    return print(made.configuration, given.output);
  });
  translate->add_option("SYSTEM", options.of, "ascent, damaris or sensei")->required();
  translate->add_option("FILE", options.file, "Its configuration: XML, or YAML or JSON of Ascent's actions")
      ->required();
  translate->add_option("-o,--output", options.output, "Write to this file instead of standard output");
}

void add_hdf5_map(CLI::App& app, Work& work) {
  CLI::App* command = app.add_subcommand(
      "hdf5-map",
      "Draft the mapping for a program that writes HDF5 or netCDF-4, from what was recorded of a first run");
  auto& folder = options_of<std::string>(*command, work, sidestream::draft_hdf5_map);
  command->add_option("RECORD", folder, "The folder that SIDESTREAM_HDF5_RECORD named in that run")->required();
}

void add_selftest(CLI::App& app, Work& work) {
  CLI::App* command = app.add_subcommand(
      "selftest", "Check this installation: small runs, and reading back what they wrote; by itself or under mpirun");
  auto& options = options_of<sidestream::SelftestOptions>(*command, work, sidestream::check_installation);
  command->add_option("--directory", options.directory,
                      "Folder for files, which are removed again; all nodes must share it (default: TMPDIR, or /tmp)");
  command->add_option("--mpirun", options.mpirun, "The program that starts processes (default: that of MPI in PATH)");
  command->add_option("--report", options.report)->group("");  // for the processes that it starts
}

void add_reference(CLI::App& app, Work& work) {
  CLI::App* reference = app.add_subcommand("reference", "Print the manual of the configuration, Markdown");
  auto& options = options_of<TextOptions>(*reference, work, [](const TextOptions& given) {
    const std::string manual =
        sidestream::reference_manual(sidestream::kinds_with_modules()) + sidestream::scale_manual();
    return print(given.of.empty() ? manual : sidestream::reference_part(manual, given.of), given.output);
  });
  reference->add_option(
      "PART", options.of,
      "Print only this part: a section, a kind of analysis or output such as render, or simulate-scale");
  reference->add_option("--output", options.output, "Write to this file instead of standard output");
}

/// True on one process. Under mpirun all processes find the same mistake before MPI could distinguish them, so the
/// launcher's rank is used.
bool speaks_for_all() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char* rank = std::getenv(name);
    if (rank && std::string(rank) != "0") return false;
  }
  return true;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Sidestream: checks configurations, plans what moves, serves simulations and prints the manual of the options",
      "sidestream");
  app.set_version_flag("--version", std::string("sidestream " SIDESTREAM_VERSION "\n") + sidestream::built_parts());
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 if all went well; 1 if a configuration is wrong, something failed, or a simulation that was\n"
      "served died; 2 if these arguments are wrong. Errors are printed on standard error, in one sentence.");
  Work work;
  for (const auto add : {add_check, add_plan, add_endpoint, add_serve, add_set, add_ask, add_conformance, add_groups,
                         add_advise, add_scale, add_replay, add_analyse, add_databases, sidestream::add_python_commands,
                         add_import, add_translate, add_hdf5_map, add_selftest, add_reference}) {
    add(app, work);
  }
  const std::string wrong = sidestream::typing_error(app, {argv + 1, argv + argc});
  if (!wrong.empty()) {
    if (speaks_for_all()) std::cerr << "sidestream: " << wrong << '\n';
    return wrong_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && !speaks_for_all()) return wrong_usage;
    return app.exit(error) == 0 ? success : wrong_usage;
  }
  return work();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const sidestream::Error& error) {
    std::cerr << "sidestream: " << error.what() << '\n';
    return error.code() == sidestream::Code::usage ? wrong_usage : failure;
  } catch (const std::bad_alloc&) {
    std::cerr << "sidestream: the memory of this machine does not suffice for what was asked; ask for fewer blocks, "
                 "servers or values, or raise the limit (ulimit -v)\n";
    return failure;
  } catch (const std::exception& error) {
    std::cerr << "sidestream: " << error.what() << '\n';
    return failure;
  }
}
