#include "storage/writers/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/data/file_pattern.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"
#include "storage/codecs/codecs.hpp"

namespace sidestream {

std::vector<std::int32_t> chosen_variables(const NamedVariables& named, const Metadata& metadata) {
  std::vector<std::int32_t> ids;
  if (!named) {
    for (const Variable& variable : metadata.variables) {
      if (metadata.is_published(variable)) ids.push_back(variable.id);
    }
    return ids;
  }
  for (const Variable& variable : *named) ids.push_back(variable.id);
  return with_mesh_arrays(std::move(ids), metadata);
}

void check_named_variables(const Settings& settings, const char* option, const OptionPairs& values,
                           const std::vector<std::string>& known) {
  for (const auto& [name, value] : values) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    settings.fail(option, fmt::format("found '{}', expected a variable of this output: {}; {}", name, listed(known),
                                      suggestion(name, known, "correct it")));
  }
}

Selection selection_of(const std::vector<std::int32_t>& variables) {
  Selection selection;
  for (const std::int32_t id : variables) selection.variables.emplace_back(id).completed = false;
  return selection;
}

OptionTable<Compression> compression_options(const std::vector<std::pair<std::string, Packer>>& names,
                                             const std::string& text) {
  std::vector<std::pair<std::string, Packer>> choices{{"none", Packer::none}};
  choices.insert(choices.end(), names.begin(), names.end());
  return OptionTable<Compression>{
      option<OptionType::choice>("compression", &Compression::by, text, {.standard = "none", .choices = choices}),
      option("level", &Compression::level, "Level of the compression: 1 is fast, 9 is small.",
             {.standard = 1, .minimum = 1, .maximum = 9})}
      .then([](const auto& options, const Settings& settings, const Metadata&, Compression& compression) {
        if (compression.by == Packer::zstd && !zstd_of_level(1)) {
          options.fail(settings, &Compression::by,
                       "found 'zstd', but this build of Sidestream has no zstd; choose another compression");
        }
        if (compression.used()) return;
        compression.level = 0;
        if (!options.given(settings, &Compression::level)) return;
        options.fail(settings, &Compression::level,
                     "found 'level' without 'compression', which does nothing; choose a compression or remove it");
      });
}

void check_file_option(const Settings& settings, const std::string& file, const std::vector<std::string>& endings) {
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
