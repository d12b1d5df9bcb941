#include "commands.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/fail.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// The folder that holds the package, seen from this program: of a build, of an installation, of a package for Python.
std::string package_folder() {
  for (const fs::path& own : own_folders()) {
    if (own.empty()) continue;
    for (const char* folder :
         {"../bindings/python", SIDESTREAM_LIBRARIES_FROM_PROGRAMS "/sidestream/python", "../.."}) {
      std::error_code ignored;
      const fs::path found = (own / folder).lexically_normal();
      if (fs::is_regular_file(found / "sidestream" / "exporting.py", ignored)) return found.string();
    }
  }
  return {};
}

std::string interpreter() {
  const std::string named = variable("SIDESTREAM_PYTHON"), environment = variable("VIRTUAL_ENV");
  if (!named.empty()) return named;
  return environment.empty() ? "python3" : environment + "/bin/python";
}

std::vector<std::string> words_of(const ExportOptions& options, const std::string& python) {
  std::vector<std::string> words{python, "-m", "sidestream", "export"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + "=" + value);
  };
  add("--variables", options.variables);
  add("--iterations", options.iterations);
  add("--cycles", options.cycles);
  add("--time-units", options.time_units);
  if (options.uncompressed) words.emplace_back("--uncompressed");
  words.insert(words.end(), {"--", options.directory, options.target});
  return words;
}

}  // namespace

void export_database(const ExportOptions& options) {
  const std::string folder = package_folder(), python = interpreter(), before = variable("PYTHONPATH");
  if (!folder.empty()) ::setenv("PYTHONPATH", (before.empty() ? folder : folder + ":" + before).c_str(), 1);
  std::vector<std::string> words = words_of(options, python);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(python.c_str(), arguments.data());
  fail(Code::system,
       "export: it is written in Python, and '{}' cannot be run ({}); name an interpreter with NumPy and h5py in "
       "SIDESTREAM_PYTHON",
       python, system_text(errno));
}

}  // namespace sidestream
