// The `sidestream` command. Exit status: 0 for success, 1 for errors, 2 for wrong arguments.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <optional>

#include "commands.hpp"
#include "conformance/conformance.hpp"
#include "loading.hpp"
#include "sidestream/version.h"
#include "translate/translation.hpp"

namespace {

constexpr int success = 0, failure = 1, wrong_usage = 2;

/// Adds the options with which `check` and `plan` learn about the program.
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

void add_check(CLI::App& app, sidestream::CheckOptions& options) {
  CLI::App* check = app.add_subcommand("check", "Check a configuration and describe what it does");
  check->add_option("--ranks", options.ranks, "Number of MPI ranks of the job; checks that clients remain")
      ->check(CLI::Range(1, 1 << 30));
  check->add_option("--nodes", options.nodes, "Number of nodes they run on (default 1)")->check(CLI::Range(1, 1 << 30));
  add_program(*check, options);
}

CLI::App* add_plan(CLI::App& app, sidestream::PlanOptions& options) {
  CLI::App* plan = app.add_subcommand("plan", "Predict which blocks would move to which server, without a run");
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
  return plan;
}

CLI::App* add_endpoint(CLI::App& app, sidestream::AttachOptions& options) {
  CLI::App* endpoint =
      app.add_subcommand("endpoint", "Run the analyses of a simulation with `placement: job`; under mpirun, one group");
  endpoint->add_option("FILE", options.file, "The configuration, the simulation's or one of its own")->required();
  endpoint->add_option("--stream", options.stream, "Name of the stream to read, instead of placement.stream.name");
  endpoint->add_option("--from", options.from, "Directory of the stream, instead of placement.stream.directory");
  endpoint->add_option("--directory", options.directory, "Directory of the results, instead of output.directory");
  endpoint->add_option("--wait", options.wait, "Seconds to wait for the simulation (default 300)")
      ->check(CLI::NonNegativeNumber);
  return endpoint;
}

CLI::App* add_serve(CLI::App& app, sidestream::AttachOptions& options) {
  CLI::App* serve =
      app.add_subcommand("serve", "Serve a simulation with `placement: sidecar`; under mpirun, one group");
  serve->add_option("FILE", options.file, "The configuration of the simulation")->required();
  serve->add_option("--wait", options.wait, "Seconds to wait for the simulation (default 60)")
      ->check(CLI::NonNegativeNumber);
  serve->add_option("--directory", options.directory, "Directory of the results, instead of the simulation's");
  return serve;
}

CLI::App* add_set(CLI::App& app, sidestream::SetOptions& options) {
  CLI::App* set = app.add_subcommand("set", "Change a parameter of a running simulation, see `steering:`");
  set->add_option("NAME", options.name, "The parameter; without it, all are listed with their values");
  set->add_option("VALUE", options.value, "The new value");
  set->add_option("--directory", options.directory, "The output directory of the session (default: this one)");
  set->add_option("--wait", options.wait,
                  "Seconds to wait for the answer, which comes at the end of an iteration (default 60)")
      ->check(CLI::NonNegativeNumber);
  return set;
}

CLI::App* add_ask(CLI::App& app, sidestream::AskOptions& options) {
  CLI::App* ask = app.add_subcommand(
      "ask", "Ask a running simulation for an analysis that is not in its configuration, see `live:`");
  ask->add_option(
      "ANALYSIS", options.analysis,
      "An entry of `analyses:` on one line, whose files are in the folder `asked`. With `every` it goes on, "
      "otherwise it runs once. Without it, what may be asked is printed");
  ask->add_option("--end", options.end, "Name of an analysis that goes on, and is to end");
  ask->add_option("--directory", options.directory, "The output directory of the session (default: this one)");
  ask->add_option("--wait", options.wait,
                  "Seconds to wait for the answer, which may come at the end of an iteration only (default 60)")
      ->check(CLI::NonNegativeNumber);
  return ask;
}

CLI::App* add_groups(CLI::App& app, sidestream::GroupsOptions& options) {
  CLI::App* groups = app.add_subcommand(
      "groups", "Choose the number of servers of each of `placement.groups` from timings of earlier runs");
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
  return groups;
}

CLI::App* add_advise(CLI::App& app, sidestream::AdviseOptions& options) {
  CLI::App* advise = app.add_subcommand(
      "advise", "Choose the placement and how many ranks serve, from timings of earlier runs with any placements");
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
  return advise;
}

CLI::App* add_conformance(CLI::App& app, sidestream::CheckOptions& options) {
  CLI::App* conformance = app.add_subcommand(
      "conformance",
      "Check that the analyses, outputs and the partitioner of a configuration, including plug-ins, keep their "
      "contracts; under mpirun each process is a server");
  add_program(*conformance, options);
  return conformance;
}

CLI::App* add_scale(CLI::App& app, sidestream::ScaleOptions& options) {
  CLI::App* scale = app.add_subcommand(
      "simulate-scale", "Predict large jobs from small runs and a machine's numbers: splits, ways to write, endpoints");
  scale->add_option("FILE", options.file, "Numbers of the machine and the program, YAML")->required();
  scale->add_option("--tables", options.tables, "Write tables of curves into this directory, for `sidestream plot`");
  return scale;
}

CLI::App* add_replay(CLI::App& app, sidestream::ReplayOptions& options) {
  CLI::App* replay = app.add_subcommand(
      "replay",
      "Publish the content of a database as a simulation does, to try analyses and outputs; under mpirun, as its job");
  replay->add_option("DIRECTORY", options.directory, "The directory of the database")->required();
  replay->add_option("FILE", options.file, "The configuration; meshes and variables are those of the database")
      ->required();
  replay->add_option("--set", options.values, "NAME=VALUE: what $NAME is in the configuration; may be repeated")
      ->allow_extra_args(false);
  replay->add_option("--coarsen", options.coarsen, "Number of cells along each axis that become one")
      ->check(CLI::PositiveNumber);
  replay->add_option("--refine", options.refine, "Number of cells along each axis that one cell becomes")
      ->check(CLI::PositiveNumber);
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
      ->check(CLI::PositiveNumber);
  replay->add_option("--pace", options.pace, "Seconds from one iteration to the next (default 0: as fast as possible)")
      ->check(CLI::NonNegativeNumber);
  replay->add_flag("--compute", options.compute,
                   "Compute between iterations, as a simulation does, instead of sleeping");
  return replay;
}

CLI::App* add_analyse(CLI::App& app, sidestream::AnalyseOptions& options) {
  CLI::App* analyse = app.add_subcommand(
      "analyse",
      "Run the analyses of a configuration on files, after the run: databases, plotfiles of AMReX, HDF5, openPMD; "
      "under mpirun, together");
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
  analyse->add_option("--set", options.values, "NAME=VALUE: what $NAME is in the configuration; may be repeated")
      ->allow_extra_args(false);
  analyse->add_option("--periodic", options.periodic,
                      "Axes along which meshes are periodic, if the file does not tell: xyz");
  analyse->add_flag("!--no-outputs", options.outputs, "Run only analyses, not the tasks under 'outputs:'");
  return analyse;
}

/// The four commands on databases.
struct DatabaseCommands {
  sidestream::DatabaseOptions options;
  const CLI::App *list = nullptr, *info = nullptr, *verify = nullptr, *prune = nullptr;

  void add(CLI::App& app) {
    const auto command = [&](const char* name, const char* text) {
      CLI::App* made = app.add_subcommand(name, text);
      made->add_option("DIRECTORY", options.directory, "The directory of a database, written by the output 'database'")
          ->required();
      return made;
    };
    list = command("ls", "List the contexts of a database, a line each");
    CLI::App* describe = command("info", "Describe a context of a database: the newest one");
    describe->add_option("--cycle", options.cycle, "The context of this cycle instead")
        ->each([this](const std::string&) { options.has_cycle = true; });
    info = describe;
    verify = command("verify", "Read and check a whole database; exit status 1 if something is damaged");
    CLI::App* remove =
        command("prune", "Delete files that no context of a database uses, and contexts beyond the newest");
    remove
        ->add_option("--keep", options.keep,
                     "Number of newest contexts to keep; others are removed (default: none are removed)")
        ->check(CLI::NonNegativeNumber);
    remove->add_flag("--dry-run", options.look, "Only print what would be done");
    remove->add_flag("--lost", options.lost, "Delete also files of whole contexts that the file 'contexts' has lost");
    prune = remove;
  }
  /// The answer of the given command; nothing if it is another one.
  [[nodiscard]] std::optional<sidestream::Answer> answer() const {
    if (list->parsed()) return list_database(options);
    if (info->parsed()) return describe_context(options);
    if (verify->parsed()) return verify_database(options);
    if (prune->parsed()) return prune_database(options);
    return std::nullopt;
  }
};

CLI::App* add_import(CLI::App& app, sidestream::ImportOptions& options) {
  CLI::App* command = app.add_subcommand(
      "import",
      "Make a database from another code's files: outputs of RAMSES, plotfiles of AMReX; under mpirun, together");
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
  return command;
}

struct TranslateOptions {
  std::string format, file, output;
};

CLI::App* add_translate(CLI::App& app, TranslateOptions& options) {
  CLI::App* translate = app.add_subcommand("translate",
                                           "Translate another system's configuration to ours; parts without a "
                                           "counterpart are reported");
  translate->add_option("SYSTEM", options.format, "damaris or sensei")->required();
  translate->add_option("FILE", options.file, "Its configuration, XML")->required();
  translate->add_option("--output", options.output, "Write to this file instead of standard output");
  return translate;
}

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

int translate(const TranslateOptions& options) {
  const sidestream::Translation made = sidestream::translate(options.format, options.file);
  std::cerr << made.remarks;
  return print(made.configuration, options.output);
}

/// True on one process. Under mpirun all processes find the same mistake before MPI could tell them apart, so the
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
      "served died; 2 if these arguments are wrong. What is wrong is said on standard error in one sentence.");
  sidestream::CheckOptions options;
  add_check(app, options);
  sidestream::PlanOptions plan_options;
  const CLI::App* plan = add_plan(app, plan_options);
  sidestream::AttachOptions endpoint_options;
  endpoint_options.wait = 300;
  const CLI::App* endpoint = add_endpoint(app, endpoint_options);
  sidestream::AttachOptions serve_options;
  const CLI::App* serve = add_serve(app, serve_options);
  sidestream::SetOptions set_options;
  const CLI::App* set = add_set(app, set_options);
  sidestream::AskOptions ask_options;
  const CLI::App* ask = add_ask(app, ask_options);
  sidestream::CheckOptions conformance_options;
  const CLI::App* conformance = add_conformance(app, conformance_options);
  sidestream::GroupsOptions groups_options;
  const CLI::App* groups = add_groups(app, groups_options);
  sidestream::AdviseOptions advise_options;
  const CLI::App* advise = add_advise(app, advise_options);
  sidestream::ScaleOptions scale_options;
  const CLI::App* scaled = add_scale(app, scale_options);
  sidestream::ReplayOptions replay_options;
  const CLI::App* replay = add_replay(app, replay_options);
  sidestream::AnalyseOptions analyse_options;
  const CLI::App* analysed = add_analyse(app, analyse_options);
  DatabaseCommands databases;
  databases.add(app);
  sidestream::add_python_commands(app);
  sidestream::ImportOptions import_options;
  const CLI::App* imported = add_import(app, import_options);
  TranslateOptions translate_options;
  const CLI::App* translation = add_translate(app, translate_options);
  sidestream::SelftestOptions selftest_options;
  const CLI::App* selftest = sidestream::add_selftest(app, selftest_options);
  std::string records, output, part;
  const CLI::App* mapping = sidestream::add_hdf5_map(app, records);
  CLI::App* reference = app.add_subcommand("reference", "Print the manual of the configuration, Markdown");
  reference->add_option("PART", part,
                        "Print only this part: a section, or a kind of analysis or output, such as render");
  reference->add_option("--output", output, "Write to this file instead of standard output");
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
  if (endpoint->parsed()) return sidestream::endpoint(endpoint_options);
  if (serve->parsed()) return sidestream::serve(serve_options);
  if (replay->parsed()) return sidestream::replay(replay_options);
  if (analysed->parsed()) return sidestream::analyse(analyse_options);
  if (imported->parsed()) return sidestream::import_files(import_options);
  if (selftest->parsed()) return sidestream::selftest_command(selftest_options);
  if (conformance->parsed()) return sidestream::check_conformance(conformance_options);
  if (reference->parsed()) {
    const std::string manual = sidestream::reference_manual(sidestream::kinds_with_modules());
    return print(part.empty() ? manual : sidestream::reference_part(manual, part), output);
  }
  if (groups->parsed()) return print(sidestream::groups(groups_options), "");
  if (advise->parsed()) return print(sidestream::advise(advise_options), "");
  sidestream::become_python_command(app);
  if (translation->parsed()) return translate(translate_options);
  std::optional<sidestream::Answer> answer = databases.answer();
  if (scaled->parsed()) answer = sidestream::simulate_scale(scale_options);
  if (set->parsed()) answer = sidestream::set_parameter(set_options);
  if (mapping->parsed()) answer = sidestream::draft_hdf5_map(records);
  if (ask->parsed()) answer = sidestream::ask_for_analysis(ask_options);
  if (answer) {
    std::cout << answer->text << std::flush;
    return std::cout ? answer->status : failure;
  }
  std::cout << (plan->parsed() ? sidestream::plan(plan_options) : sidestream::check(options)) << std::flush;
  if (!plan->parsed()) sidestream::check_directory(options);
  return std::cout ? success : failure;
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
