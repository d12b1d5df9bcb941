#include "commands.hpp"

#include <vector>

#include "python_command.hpp"

namespace sidestream {

namespace {

std::vector<std::string> words_of(const ExportOptions& options) {
  std::vector<std::string> words;
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

void export_database(const ExportOptions& options) { become_python("export", words_of(options), "NumPy and h5py"); }

}  // namespace sidestream
