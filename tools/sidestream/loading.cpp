#include "loading.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/paths.hpp"
#include "config/group_sizes.hpp"
#include "config/groups.hpp"
#include "session/opening/modules.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream {

namespace {

/// A folder for writers that are created but not used.
class NullDirectory final : public OutputDirectory {
 public:
  explicit NullDirectory(std::string root) : root_(std::move(root)) {}
  [[nodiscard]] std::string path(const std::string& pattern, const Iteration& iteration, int server) const override {
    return root_ + "/" + expand_pattern(pattern, iteration, server);
  }
  [[nodiscard]] std::string temporary(const std::string& path) const override { return path + ".partial"; }
  void commit(const std::string&) const override {}
  void discard(const std::string&) const noexcept override {}
  [[nodiscard]] const std::string& provenance() const noexcept override { return provenance_; }

 private:
  std::string root_, provenance_ = "sidestream";
};

/// An analysis as sidestream_register_function makes it, without the function.
AnalysisKind stand_in(const std::string& name) {
  AnalysisKind kind;
  kind.name = name;
  Option variables{.name = "variables", .type = OptionType::variable, .list = true, .required = true};
  variables.least_entries = 1;
  kind.options = {variables};
  kind.create = [](const Settings&, const Metadata&) { return std::unique_ptr<Task>(); };
  return kind;
}

}  // namespace

std::string read_text(const std::string& path, const char* what) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  // Opening a folder succeeds; reading it fails.
  const bool empty = stream.good() && stream.peek() == std::ifstream::traits_type::eof() && errno == 0;
  if (!stream || (!empty && !(text << stream.rdbuf()))) {
    fail(Code::configuration, "cannot read {} '{}': {}; check the path", what, path,
         errno != 0 ? system_text(errno) : "unknown reason");
  }
  return text.str();
}

Registry all_kinds(const OpeningConfig& opening, const Document& document, const CheckOptions& options) {
  Registry registry = built_in_kinds();
  if (opening.placement.mode == PlacementMode::job) load_streams("job", document, working_directory(), registry);
  ModuleFiles modules = load_plugins(opening, document, working_directory(), registry);
  for (const std::string& name : options.functions) registry.add(stand_in(name));
  add_needed_modules(modules, document, registry);
  // As in a run: servers of a sidecar have no output for streams.
  if (opening.placement.mode != PlacementMode::sidecar) add_stream_outputs(registry, std::make_shared<StreamContext>());
  return registry;
}

std::shared_ptr<const OutputDirectory> null_directory(const std::string& root) {
  return std::make_shared<NullDirectory>(root);
}

void settle_groups(Config& config, int servers, int nodes) {
  PlacementConfig& placement = config.opening.placement;
  if (placement.groups.empty() || servers_of(placement.groups) > 0) return;
  const MeasuredCosts costs = read_costs(read_text(placement.measured, "the measurements"), placement.measured);
  const std::vector<GroupedTask> tasks = grouped(config.tasks);
  if (servers > 0) {
    choose_sizes(placement.groups, tasks, costs, servers, nodes);
  } else {
    static_cast<void>(costs_by_group(placement.groups, tasks, costs));
  }
}

Registry built_in_kinds() {
  Registry registry;
  register_built_in(registry);
  return registry;
}

Registry kinds_with_modules() {
  Registry registry = built_in_kinds();
  for (const std::string& file : find_modules(working_directory()).files) {
    try {
      add_modules({file}, registry);
    } catch (const Error& error) {
      log::warning("{}", error.what());
    }
  }
  add_stream_outputs(registry, std::make_shared<StreamContext>());
  return registry;
}

}  // namespace sidestream
