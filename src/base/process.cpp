#include "base/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/process_status.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"

extern char** environ;

namespace sidestream {

namespace {

/// Attributes and file actions for posix_spawn.
class Preparation {
 public:
  Preparation() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Preparation() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

std::string text_of_status(int status) {
  if (WIFSIGNALED(status)) return "was ended by " + name_of_signal(WTERMSIG(status));
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

std::string name_of_signal(int number) {
  constexpr std::array<std::pair<int, const char*>, 18> names{{{SIGHUP, "SIGHUP"},
                                                               {SIGINT, "SIGINT"},
                                                               {SIGQUIT, "SIGQUIT"},
                                                               {SIGILL, "SIGILL"},
                                                               {SIGTRAP, "SIGTRAP"},
                                                               {SIGABRT, "SIGABRT"},
                                                               {SIGBUS, "SIGBUS"},
                                                               {SIGFPE, "SIGFPE"},
                                                               {SIGKILL, "SIGKILL"},
                                                               {SIGSEGV, "SIGSEGV"},
                                                               {SIGPIPE, "SIGPIPE"},
                                                               {SIGALRM, "SIGALRM"},
                                                               {SIGTERM, "SIGTERM"},
                                                               {SIGUSR1, "SIGUSR1"},
                                                               {SIGUSR2, "SIGUSR2"},
                                                               {SIGXCPU, "SIGXCPU"},
                                                               {SIGXFSZ, "SIGXFSZ"},
                                                               {SIGSYS, "SIGSYS"}}};
  for (const auto& [signal, name] : names) {
    if (signal == number) return name;
  }
  return fmt::format("signal {}", number);
}

std::vector<std::string> environment_of_child() {
  constexpr std::array launchers{"OMPI_COMM_WORLD_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                 "OMPI_UNIVERSE_",   "PMIX_",          "PMI_",         "HYDI_",
                                 "MPI_LOCAL"};
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text(*entry);
    const bool theirs =
        std::any_of(launchers.begin(), launchers.end(), [&](const char* prefix) { return text.rfind(prefix, 0) == 0; });
    if (!theirs) entries.push_back(text);
  }
  return entries;
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, int socket) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(Code::system, "cannot make a pipe: {}", system_text(errno));
  output_ = Descriptor(above_standard(ends[0]));
  const Descriptor theirs(above_standard(ends[1]));
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  Preparation prepared;
  posix_spawn_file_actions_addopen(&prepared.files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&prepared.files, theirs.get(), 1);
  posix_spawn_file_actions_adddup2(&prepared.files, theirs.get(), 2);
  // This comes last: one of the others may be number 3.
  if (socket >= 0) posix_spawn_file_actions_adddup2(&prepared.files, socket, 3);
  std::vector<char*> words{const_cast<char*>(program.c_str())}, variables;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  for (const std::string& entry : environment) variables.push_back(const_cast<char*>(entry.c_str()));
  variables.push_back(nullptr);
  const int error =
      posix_spawnp(&id_, program.c_str(), &prepared.files, &prepared.attributes, words.data(), variables.data());
  if (error != 0) fail(Code::system, "cannot start '{}': {}", program, system_text(error));
}

ChildProcess::~ChildProcess() {
  try {
    end();
  } catch (...) {
    // The child has been killed; there is no memory for a sentence about it.
  }
}

std::optional<std::string> ChildProcess::ended() {
  if (how_) return how_;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (info.si_pid != id_) return how_;
    kill(-id_, SIGKILL);  // its process group, before its id can be reused
    int status = 0;
    if (waitpid(id_, &status, 0) == id_) how_ = text_of_status(status);
  }
  // The program ignores SIGCHLD, or has waited for children that are not its own.
  if (!how_ && errno == ECHILD && kill(id_, 0) != 0) how_ = "has ended; the program itself has taken its status";
  return how_;
}

void ChildProcess::ask_to_end() noexcept {
  if (!how_) kill(id_, SIGABRT);
}

std::string ChildProcess::end() {
  if (!how_) {
    kill(-id_, SIGKILL);
    kill(id_, SIGKILL);
  }
  for (Backoff backoff(std::chrono::microseconds(50), std::chrono::milliseconds(5)); !ended(); backoff.pause()) {
  }
  return *how_;
}

namespace {

std::uint64_t whole_at(const char* text) noexcept {
  while (*text == ' ') ++text;
  std::uint64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

}  // namespace

ProcessStatus process_status(int pid) noexcept {
  char path[32], text[1024] = "";
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (!file) return {};
  const std::size_t got = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[got] = 0;
  // The program's name is in parentheses and may contain anything.
  const char* at = std::strrchr(text, ')');
  if (!at || !at[1]) return {};
  at += 2;
  ProcessStatus status;
  status.state = *at;
  constexpr int words_to_start = 19;
  for (int n = 0; at && n < words_to_start; ++n) at = std::strchr(at + 1, ' ');
  if (at) status.start = whole_at(at);
  return status;
}

}  // namespace sidestream
