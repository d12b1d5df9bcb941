// All options of the configuration that do not belong to a kind of task, each declared once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options/read_settings.hpp"
#include "data/steering.hpp"
#include "sidestream/extend/option_table.hpp"

namespace sidestream {

/// Layout of a section's content.
enum class SectionForm {
  option,  ///< one value, described by `options[0]`
  named,   ///< a map from the user's names to maps of `options`
  tasks,   ///< a list of tasks: kinds of analyses or outputs
};

/// One key at the top level of the file.
struct Section {
  std::string name;
  SectionForm form = SectionForm::option;
  std::string text;     ///< for the manual
  std::string example;  ///< for the manual, YAML
  std::vector<Option> options;
};

/// All sections in the order of the manual.
[[nodiscard]] const std::vector<Section>& sections();
[[nodiscard]] const Section& section(std::string_view name);

/// Options of every entry under `analyses:` and `outputs:`, besides the options of its kind.
[[nodiscard]] const std::vector<Option>& task_options();

// Sections that other files declare.

[[nodiscard]] Section placement_section();  ///< processes that run the tasks
[[nodiscard]] Section meshes_section();
[[nodiscard]] Section variables_section();
[[nodiscard]] Section live_section();
[[nodiscard]] Section ending_section();  ///< signals and limits that end a run
[[nodiscard]] EndingConfig read_ending(const Document& document, const ReadContext& context);

// Options of sections, with the fields that they fill.

[[nodiscard]] const OptionTable<PlacementConfig>& placement_options();
[[nodiscard]] const OptionTable<OpeningConfig>& output_options();
[[nodiscard]] const OptionTable<OpeningConfig>& on_error_options();
[[nodiscard]] const OptionTable<OpeningConfig>& drain_limit_options();
[[nodiscard]] const OptionTable<Config>& steering_ahead_options();
}  // namespace sidestream

// The section `steering`, and checks of values that are set.
namespace sidestream {

[[nodiscard]] Section steering_section();
/// Throws Error(configuration).
[[nodiscard]] std::vector<SteeredParameter> read_steering(const Document& document, const ReadContext& context);

/// The index of the parameter of that name. Throws Error(usage) with the known names.
[[nodiscard]] std::size_t find_steered(const std::vector<SteeredParameter>& all, std::string_view name);
/// Throws Error(usage) if the parameter does not take the value: wrong type, or out of range.
void check_steered(const SteeredParameter& parameter, const SteeredParameter::Value& value);
/// Parses a value that a person wrote. Throws Error(usage) if it is invalid for the parameter.
[[nodiscard]] SteeredParameter::Value parse_steered(const SteeredParameter& parameter, std::string_view text);

}  // namespace sidestream
