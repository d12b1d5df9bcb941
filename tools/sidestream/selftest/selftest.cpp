// `sidestream selftest`: starts itself under mpirun, unless it is started that way, and says what hinders it.
#include <fmt/format.h>
#include <poll.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "commands.hpp"
#include "loading.hpp"
#include "selftest/checks.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

constexpr const char* processes = "3";
constexpr std::chrono::seconds limit{60};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// Number of processes that a launcher has started; 0 if none has.
int launched_processes() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "PALS_SIZE"}) {
    if (const auto size = real_of(variable(name))) return static_cast<int>(*size);
  }
  for (const char* const name : {"PMIX_RANK", "PMI_RANK", "PALS_RANKID"}) {
    if (!variable(name).empty()) return 1;
  }
  return 0;
}

bool is_open_mpi() { return selftest::mpi_library().starts_with("Open MPI"); }

/// The launcher of the MPI library that this program is linked to: a name with the library's suffix, where Debian has
/// several, comes first. Empty if there is none.
std::string find_launcher() {
  std::vector<const char*> names{"mpirun.mpich", "mpiexec.hydra", "mpiexec", "mpirun"};
  if (is_open_mpi()) names = {"mpirun.openmpi", "mpirun", "mpiexec"};
  for (const char* const name : names) {
    std::istringstream folders(variable("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string path = (fs::path(folder) / name).string();
      if (!folder.empty() && ::access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return {};
}

/// Removes the folder and its content.
struct Folder {
  std::string path;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// Its few processes run on this machine, whoever the user is and however many cores there are.
std::vector<std::string> environment_of_launcher() {
  std::vector<std::string> entries = environment_of_child();
  // The first is for Open MPI 4, the second for 5. Other libraries ignore them.
  entries.emplace_back("OMPI_MCA_rmaps_base_oversubscribe=1");
  entries.emplace_back("PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe");
  if (::geteuid() != 0) return entries;
  for (const char* const prefix : {"OMPI", "PRTE"}) {
    for (const char* const word : {"_ALLOW_RUN_AS_ROOT=1", "_ALLOW_RUN_AS_ROOT_CONFIRM=1"}) {
      entries.push_back(std::string(prefix) + word);
    }
  }
  return entries;
}

/// The usual troubles, by what MPI libraries and launchers print about them.
constexpr std::pair<const char*, const char*> troubles[] = {
    {"as root",
     "mpirun refuses to run as root; run it as a user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
    {"slots available",
     "mpirun allows fewer than 3 processes here; run it in an allocation with 3 cores, or set "
     "OMPI_MCA_rmaps_base_oversubscribe=1"},
    {"plm_rsh_agent", "Open MPI finds neither ssh nor rsh; set OMPI_MCA_plm_rsh_agent=false for one machine"},
    {"o space left on device",
     "a file system is full; look at /dev/shm, where MPI libraries have their shared "
     "memory, and at TMPDIR (df -h /dev/shm /tmp)"},
    {"shared memory", "MPI has no shared memory; look at /dev/shm (df -h /dev/shm), in a container at its size"},
    {"cannot open shared object file", "a library is missing; name its folder in LD_LIBRARY_PATH, or load its module"},
    {"ession director", "MPI cannot make its folder for temporary files; set TMPDIR to a folder that you may write to"},
};

std::string trouble_of(const std::string& printed) {
  for (const auto& [word, sentence] : troubles) {
    if (printed.find(word) != std::string::npos) return std::string(sentence) + ". ";
  }
  struct statvfs disk {};
  constexpr std::uint64_t needed = 16u << 20;
  if (::statvfs("/dev/shm", &disk) == 0 && disk.f_bavail * disk.f_frsize < needed) {
    return "/dev/shm has less than 16 MiB left, and MPI libraries have their shared memory there. ";
  }
  return {};
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t most = 1500;
  return text.size() <= most ? text : "..." + text.substr(text.size() - most);
}

/// Waits for the end of the processes. Returns how they ended, or nothing after the limit; `printed` gets their output.
std::optional<std::string> wait_for(ChildProcess& child, std::string& printed) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::optional<std::string> ended;
  for (bool last = false; !last;) {
    last = ended.has_value();
    pollfd ready{child.output(), POLLIN, 0};
    ::poll(&ready, 1, 20);
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(child.output(), bytes, sizeof bytes)) > 0;) {
      printed.append(bytes, static_cast<std::size_t>(got));
    }
    if (!ended) ended = child.ended();
    if (!ended && std::chrono::steady_clock::now() > until) return std::nullopt;
  }
  return ended;
}

std::string parent_of(const SelftestOptions& options) {
  const std::string temporary = variable("TMPDIR");
  return !options.directory.empty() ? options.directory : temporary.empty() ? "/tmp" : temporary;
}

/// Runs the checks in processes of their own, so that whatever ends them leads to a sentence.
int start_processes(const SelftestOptions& options) {
  const Folder folder{selftest::make_folder(parent_of(options))};
  const std::string report = folder.path + "/report", self = fs::read_symlink("/proc/self/exe").string();
  const std::string launcher = options.mpirun.empty() ? find_launcher() : options.mpirun;
  std::vector<std::string> words{"-n", processes, self};
  if (launcher.empty()) {
    std::cout << "There is no mpirun of " << selftest::mpi_library()
              << " in PATH, so one process checks what it can; name "
              << "it with --mpirun, or start all by the launcher of this machine: srun -n 3 sidestream selftest\n"
              << std::flush;
    words.clear();
  }
  words.insert(words.end(), {"selftest", "--directory", folder.path, "--report", report});
  ChildProcess child(launcher.empty() ? self : launcher, words, environment_of_launcher(), -1);
  std::string printed;
  const std::optional<std::string> ended = wait_for(child, printed);
  if (!ended) child.end();
  std::error_code ignored;
  const bool reported = fs::exists(report, ignored);
  if (reported) std::cout << read_text(report, "the report") << std::flush;
  if (ended && reported && ended->ends_with("status 0")) return 0;
  const std::string how = ended ? *ended : fmt::format("has not ended within {} s", limit.count());
  const bool is_reported = reported && ended && ended->ends_with("status 1");  // the report says it
  if (is_reported) return 1;
  std::cerr << fmt::format("sidestream selftest: {}'{}' {}{}", trouble_of(printed), launcher.empty() ? self : launcher,
                           how, printed.empty() ? "\n" : ". It printed:\n" + last_lines(printed));
  return 1;
}

/// Runs the checks as one of the launched processes.
int run_here(const SelftestOptions& options) {
  const int expected = launched_processes();
  int status = 0;
  const int failed = run_group("selftest", [&](MPI_Comm group, const std::function<bool()>&) {
    int size = 1, rank = 0;
    MPI_Comm_size(group, &size);
    MPI_Comm_rank(group, &rank);
    if (size == 1 && expected > 1) {
      fail(
          Code::system,
          "{} processes were started, and each is alone: this mpirun is not that of {}, which Sidestream was built with; "
          "start it with its own mpirun (--mpirun PROGRAM)",
          expected, selftest::mpi_library());
    }
    const selftest::Report report = selftest::run_checks(group, parent_of(options));
    status = report.status;
    if (rank != 0) return;
    if (options.report.empty()) std::cout << report.text << std::flush;
    if (!options.report.empty()) std::ofstream(options.report) << report.text;
  });
  return failed != 0 ? failed : status;
}

}  // namespace

int check_installation(const SelftestOptions& options) {
  return options.report.empty() && launched_processes() == 0 ? start_processes(options) : run_here(options);
}

}  // namespace sidestream
