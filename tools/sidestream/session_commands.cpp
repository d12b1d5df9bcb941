// Commands that work with a running session: `serve`, `endpoint`, `set`.
#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <iostream>

#include "commands.hpp"
#include "session/serving/attached_groups.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "storage/files/mailbox.hpp"

namespace sidestream {

namespace {

// A signal handler may only write to a variable of this type.
volatile sig_atomic_t asked_to_leave = 0;

void leave(int) { asked_to_leave = 1; }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = leave;
  // mpirun forwards SIGUSR1; on the other two it ends the job a second later.
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaction(signal, &action, nullptr);
}

}  // namespace

int run_group(const char* command, const std::function<void(MPI_Comm group, const std::function<bool()>& stop)>& work) {
  int provided = 0;
  // Threads of Sidestream and of ADIOS2 do not call MPI.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  catch_signals();  // after MPI, which may have set handlers of its own
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    work(MPI_COMM_WORLD, [] { return asked_to_leave != 0; });
  } catch (const std::exception& error) {
    if (rank == 0) std::cerr << "sidestream " << command << ": " << error.what() << std::endl;
    status = 1;
  }
  MPI_Finalize();
  return status;
}

int serve(AttachOptions options) {
  return run_group("serve", [&](MPI_Comm group, const std::function<bool()>& stop) {
    options.stop = stop;
    serve_sidecar(group, options);
  });
}

int endpoint(AttachOptions options) {
  return run_group("endpoint", [&](MPI_Comm group, const std::function<bool()>& stop) {
    options.stop = stop;
    run_endpoint(group, options);
  });
}

Answer set_parameter(const SetOptions& options) {
  if (options.name.empty()) return {record_in(steering_mailbox, options.directory), 0};
  if (options.value.empty()) {
    fail(Code::usage,
         "set: '{}' has no value; write 'sidestream set {} VALUE', or no name for a list of the parameters",
         options.name, options.name);
  }
  const std::string sentence = ask_run(steering_mailbox, options.directory, options.name, options.value, options.wait);
  return {sentence + "\n", sentence.compare(0, 9, "accepted:") == 0 ? 0 : 1};
}

Answer ask_for_analysis(const AskOptions& options) {
  if (!options.analysis.empty() && !options.end.empty()) {
    fail(Code::usage, "ask: found an analysis and --end, expected one of them; give two commands");
  }
  if (options.analysis.empty() && options.end.empty()) return {record_in(request_mailbox, options.directory), 0};
  const bool ends = !options.end.empty();
  std::string text = ends ? options.end : options.analysis;
  std::replace(text.begin(), text.end(), '\n', ' ');  // a request is one line; braces say where maps end
  const std::string sentence =
      ask_run(request_mailbox, options.directory, ends ? "end" : "analysis", text, options.wait);
  const bool well = sentence.starts_with("accepted:") || sentence.starts_with("delivered:");
  return {sentence + "\n", well ? 0 : 1};
}

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_long_option(const std::string& word) { return word.size() > 2 && word.compare(0, 2, "--") == 0; }

/// Describes an unknown option, with those of the command or, before a command, of `app`.
std::string wrong_option(const std::string& word, const CLI::App& app, const std::string& owner) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = options_of(app);
  if (!is_long_option(name) || contains(known, name)) return {};
  return fmt::format("found the unknown option '{}'{}, expected one of {}; {}", name, owner, listed(known),
                     suggestion(name, known, "correct or remove it"));
}

}  // namespace

std::string typing_error(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = nullptr;
  for (const std::string& word : words) {
    if (word == "--") break;  // no options follow
    if (!command && !word.empty() && word.front() != '-') {
      const std::vector<std::string> known = commands_of(app);
      if (!contains(known, word)) {
        return fmt::format("found the unknown command '{}', expected one of {}; {}", word, listed(known),
                           suggestion(word, known, "'sidestream --help' says what each does"));
      }
      command = app.get_subcommand(word);
      continue;
    }
    const std::string wrong = command ? wrong_option(word, *command, fmt::format(" of '{}'", command->get_name()))
                                      : wrong_option(word, app, "");
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace sidestream
