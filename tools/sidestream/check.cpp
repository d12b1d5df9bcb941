#include "check.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/fail.hpp"
#include "config/document.hpp"
#include "config/plugin_loader.hpp"
#include "config/split.hpp"
#include "data/file_pattern.hpp"
#include "kinds.hpp"
#include "summary.hpp"

namespace sidestream {

namespace {

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  // Opening a folder succeeds, reading it does not.
  const bool empty = stream.good() && stream.peek() == std::ifstream::traits_type::eof() && errno == 0;
  if (!stream || (!empty && !(text << stream.rdbuf()))) {
    fail(Code::configuration, "cannot read the configuration '{}': {}; check the path", path,
         errno != 0 ? std::strerror(errno) : "unknown reason");
  }
  return text.str();
}

/// A folder for writers to be made with and not used.
class DryDirectory final : public OutputDirectory {
 public:
  explicit DryDirectory(std::string root) : root_(std::move(root)) {}
  [[nodiscard]] std::string path(const std::string& pattern, const Iteration& iteration, int server) const override {
    return root_ + "/" + expand_pattern(pattern, iteration, server);
  }
  [[nodiscard]] std::string temporary(const std::string& path) const override { return path + ".partial"; }
  void commit(const std::string&) const override {}
  void discard(const std::string&) const noexcept override {}
  [[nodiscard]] const std::string& provenance() const noexcept override { return provenance_; }

 private:
  std::string root_, provenance_ = "sidestream check";
};

/// An analysis as sidestream_register_function makes it, without the function.
AnalysisKind stand_in(const std::string& name) {
  AnalysisKind kind;
  kind.name = name;
  Option variables{.name = "variables", .type = OptionType::variable, .list = true, .required = true};
  variables.least_entries = 1;
  kind.options = {variables};
  kind.create = [](const Settings&, const Metadata&) { return std::unique_ptr<Analysis>(); };
  return kind;
}

/// Making the tasks runs the checks that only they can do.
void make_tasks(const Config& config, const Registry& registry) {
  const auto directory = std::make_shared<DryDirectory>(config.opening.directory);
  for (const TaskConfig& task : config.tasks) {
    if (task.writer) {
      static_cast<void>(registry.writers().at(task.kind).create(task.settings, config.metadata, directory));
    } else {
      static_cast<void>(registry.analyses().at(task.kind).create(task.settings, config.metadata));
    }
  }
}

}  // namespace

std::string check(const CheckOptions& options) {
  const Parameters parameters = parse_values(options);
  const Metadata declared = parse_declarations(options);
  const auto document = parse_document(read_file(options.file), options.file);
  const OpeningConfig opening = read_opening(*document);
  const int nodes = opening.placement.pretend_nodes > 0 ? opening.placement.pretend_nodes : options.nodes;
  if (options.ranks > 0) check_split(opening.placement, options.ranks, options.ranks / nodes);
  Registry registry = built_in_kinds();
  for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry);
  for (const std::string& name : options.functions) registry.add(stand_in(name));
  const Config config = read_config(*document, registry, parameters, declared);
  make_tasks(config, registry);
  return summary(options, config, registry, nodes);
}

}  // namespace sidestream
