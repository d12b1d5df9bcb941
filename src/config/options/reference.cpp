// The reference manual, generated from the declarations of options.
#include <fmt/format.h>

#include "config/config.hpp"
#include "config/options/option_text.hpp"
#include "config/sections.hpp"

namespace sidestream {

namespace {

/// Escapes '|', which would end the cell of the table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped.empty() ? " " : escaped;
}

std::string default_text(const Option& option) {
  if (option.required) return "**required**";
  return option.default_value.empty() ? "" : fmt::format("`{}`", option.default_value);
}

/// Adds one row per option; nested ones follow, with their path of names.
void add_rows(std::string& manual, const std::vector<Option>& options, const std::string& path) {
  for (const Option& option : options) {
    const bool one_of = option.type == OptionType::one_of;
    const std::string name = path + option.name;
    manual += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, cell(type_text(option)), cell(default_text(option)),
                          cell(range_text(option)), cell(option.text));
    if (option.type == OptionType::map || one_of) add_rows(manual, option.options, name + (option.list ? "[]." : "."));
  }
}

void add_table(std::string& manual, const std::vector<Option>& options) {
  manual += options.empty() ? "No options of its own.\n\n" : table_text(options) + "\n";
}

void add_section(std::string& manual, const Section& section) {
  // The documentation test learns from this comment how to run the example; readers do not see it.
  const std::string how =
      section.name == "plugins"
          ? "not run: there is no such library"
          : fmt::format("run: part-of=reference-{}.yaml ranks=4 set=nx=8 set=ny=8 set=nz=8 set=h=1", section.name);
  manual +=
      fmt::format("## {}\n\n{}\n\n<!-- {} -->\n```yaml\n{}\n```\n\n", section.name, section.text, how, section.example);
  if (section.form == SectionForm::tasks) {
    manual +=
        fmt::format("The kinds are described under [{}](#{}).\n\n", section.name == "analyses" ? "Analyses" : "Outputs",
                    section.name == "analyses" ? "kinds-of-analyses" : "kinds-of-outputs");
  } else if (section.form == SectionForm::named) {
    add_table(manual, section.options);
  } else if (!section.options.empty()) {
    const Option& option = section.options.front();
    add_table(manual, option.type == OptionType::map ? option.options : section.options);
  }
}

template <class Kinds>
void add_kinds(std::string& manual, const Kinds& kinds, const char* title) {
  manual += fmt::format("## {}\n\n", title);
  for (const auto& [name, kind] : kinds) {
    manual += fmt::format("### {}\n\n{}\n\n", name, kind.text);
    add_table(manual, kind.options);
  }
}

template <class Kinds>
void add_names(std::string& manual, const Kinds& kinds, const char* title, const char* column) {
  manual += fmt::format("## {}\n\n| {} | meaning |\n|---|---|\n", title, column);
  for (const auto& [name, kind] : kinds) manual += fmt::format("| `{}` | {} |\n", name, cell(kind.text));
  manual += "\n";
}

constexpr const char* introduction =
    "# Reference of the configuration\n\n"
    "Made by `sidestream reference` from the declarations that the parser uses. The configuration is a YAML "
    "file; its "
    "path is given to the program and the environment variable `SIDESTREAM_CONFIG` replaces it. `sidestream "
    "check FILE` "
    "says what is wrong with a file and what it will do. All sections are optional.\n\n"
    "**Numbers** may be expressions of parameters, `$nx / 2`, with + - * / and parentheses; whole numbers "
    "stay whole. The "
    "options under `placement`, `output` and `drain_limit` are needed before the program sets parameters and "
    "may use "
    "those under `parameters` only. **Amounts of memory** are numbers with a unit: `64 MiB`, `2 GB`, "
    "`1048576`. **File "
    "names** are relative to `output.directory` and may name the iteration: `{index}`, `{cycle}`, `{time}`, "
    "`{server}`, "
    "with a width as in `{cycle:06}` or digits after the point as in `{time:.4}`; `{{` and `}}` stand for "
    "braces. **A list** "
    "of one entry may be written without brackets. For `true` and `false` one may write `yes` and `no`.\n\n";

}  // namespace

std::string table_text(const std::vector<Option>& options) {
  std::string table = "| option | type | default | range | meaning |\n|---|---|---|---|---|\n";
  add_rows(table, options, "");
  return table;
}

std::string reference_manual(const Registry& registry) {
  std::string manual = introduction;
  for (const Section& section : sections()) add_section(manual, section);
  manual += "## Options of every analysis and output\n\n";
  add_table(manual, task_options());
  add_kinds(manual, registry.analyses(), "Kinds of analyses");
  add_kinds(manual, registry.writers(), "Kinds of outputs");
  add_names(manual, registry.formats(), "Formats of results", "ending");
  add_kinds(manual, registry.partitioners(), "Partitioners");
  manual.erase(manual.find_last_not_of('\n') + 2);
  return manual;
}

}  // namespace sidestream
