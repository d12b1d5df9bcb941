#include "bp/bp_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace sidestream {

namespace {

void check_bp_file(const Settings& settings, const std::string& name, const Metadata&, const BpQuery& query) {
  if (std::filesystem::path(query.file).extension() != ".bp") {
    settings.fail(name, fmt::format("found the file name '{}', expected the ending .bp", query.file));
  }
  if (query.file.find('{') != std::string::npos) {
    settings.fail(
        name, fmt::format("found '{}', expected a name without fields: one data set holds all iterations", query.file));
  }
}

}  // namespace

OptionTable<BpQuery> bp_options() {
  return {variables_option(&BpQuery::named),
          option<OptionType::file>("file", &BpQuery::file, "Name of the data set, a folder.", {.standard = "fields.bp"})
              .then(check_bp_file),
          option("parameters", &BpQuery::parameters,
                 "Parameters of ADIOS2's engine BP5: `{NumAggregators: 4}`. ADIOS2 checks their names and values.")};
}

WriterKind bp_kind(decltype(WriterKind::create) create) {
  WriterKind kind;
  kind.name = "bp";
  kind.text =
      "Writes variables as global arrays into one BP5 data set of ADIOS2, with a step for each iteration, in builds with "
      "ADIOS2. docs/format-bp.md describes it.";
  kind.options = bp_options().declarations();
  kind.any_partials = false;
  kind.create = std::move(create);
  return kind;
}

}  // namespace sidestream
