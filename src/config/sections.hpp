// Every option of the configuration that does not belong to a kind of task, declared once.
#pragma once

#include <string>
#include <vector>

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

}  // namespace sidestream
