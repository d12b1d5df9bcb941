#include "storage/writers/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data/mesh_arrays.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream {

Option variables_option() {
  Option option;
  option.name = "variables";
  option.type = OptionType::variable;
  option.list = true;
  option.text = "The variables to write; if left out all published ones, without derived ones.";
  return option;
}

std::vector<std::int32_t> chosen_variables(const Settings& settings, const Metadata& metadata) {
  std::vector<std::int32_t> ids;
  if (!settings.has("variables")) {
    for (const Variable& variable : metadata.variables) {
      if (!variable.derived()) ids.push_back(variable.id);
    }
    return ids;
  }
  for (const std::string& name : settings.texts("variables")) {
    const Variable* variable = metadata.find_variable(name);
    if (variable == nullptr) settings.fail("variables", fmt::format("there is no variable '{}'", name));
    ids.push_back(variable->id);
  }
  return with_mesh_arrays(std::move(ids), metadata);
}

Selection selection_of(const std::vector<std::int32_t>& variables) {
  Selection selection;
  for (const std::int32_t id : variables) selection.variables.push_back({id, 0});
  return selection;
}

std::vector<Option> compression_options(const std::string& name, const std::string& text) {
  Option compression{.name = "compression", .type = OptionType::choice, .default_value = "none"};
  compression.choices = {"none", name};
  compression.text = text;
  Option level{.name = "level", .type = OptionType::integer, .default_value = "1"};
  level.minimum = 1;
  level.maximum = 9;
  level.text = "Level of the compression: 1 is fast, 9 is small.";
  return {compression, level};
}

int compression_level(const Settings& settings) {
  if (settings.text("compression") != "none") return settings.integer<int>("level");
  if (settings.given("level")) {
    settings.fail("level",
                  "found 'level' without 'compression', which does nothing; choose a compression or remove it");
  }
  return 0;
}

void check_file_option(const Settings& settings, const std::vector<std::string>& endings) {
  const std::string& file = settings.text("file");
  if (std::find(endings.begin(), endings.end(), std::filesystem::path(file).extension()) == endings.end()) {
    settings.fail("file", fmt::format("the file name '{}' must end in {}", file, fmt::join(endings, " or ")));
  }
  if (!names_iteration(file)) {
    settings.fail("file", fmt::format("the file name '{}' is the same in every iteration, so that each would overwrite "
                                      "the one before; add {{index:05}}, {{cycle:06}} or {{time:.4}}",
                                      file));
  }
  if (file.find("{server") != std::string::npos) {
    settings.fail("file",
                  fmt::format("the file name '{}' names {{server}}; leave it out: this file is for all servers, "
                              "and the servers' own files are named after it",
                              file));
  }
}

}  // namespace sidestream
