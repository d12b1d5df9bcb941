// Every option of the configuration that does not belong to a kind of task, declared once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options/read_settings.hpp"
#include "data/steering.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// How the content of a section is laid out.
enum class SectionForm {
  option,  ///< one value, described by `options[0]`
  named,   ///< a map from names the user chooses to maps of `options`
  tasks,   ///< a list of tasks: kinds of analyses or outputs
};

/// One key at the top of the file.
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

/// What every entry under `analyses:` and `outputs:` has besides its own options.
[[nodiscard]] const std::vector<Option>& task_options();

// The section `placement`: where the work runs.

[[nodiscard]] Section placement_section();
}  // namespace sidestream

// The section `steering`, and what may be set of it.
namespace sidestream {

[[nodiscard]] Section steering_section();
/// Throws Error(configuration).
[[nodiscard]] std::vector<SteeredParameter> read_steering(const Document& document, const ReadContext& context);

/// The number of the parameter of that name. Throws Error(usage) with the names that there are.
[[nodiscard]] std::size_t find_steered(const std::vector<SteeredParameter>& all, std::string_view name);
/// Throws Error(usage) if the parameter takes no such value: of another type, or out of its range.
void check_steered(const SteeredParameter& parameter, const SteeredParameter::Value& value);
/// The value that a person wrote. Throws Error(usage) if it is none, or one that the parameter does not take.
[[nodiscard]] SteeredParameter::Value parse_steered(const SteeredParameter& parameter, std::string_view text);

}  // namespace sidestream
