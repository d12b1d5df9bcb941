#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_long_option(const std::string& word) { return word.size() > 2 && word.compare(0, 2, "--") == 0; }

/// Describes an unknown option, with those of the command or, before a command, of `app`.
std::string wrong_option(const std::string& word, const CLI::App& app, const std::string& owner) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = options_of(app);
  if (!is_long_option(name) || contains(known, name)) return {};
  return fmt::format("found the unknown option '{}'{}, expected one of {}; {}", name, owner, listed(known),
                     suggestion(name, known, "correct or remove it"));
}

}  // namespace

std::string typing_error(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = nullptr;
  for (const std::string& word : words) {
    if (word == "--") break;  // no options follow
    if (!command && !word.empty() && word.front() != '-') {
      const std::vector<std::string> known = commands_of(app);
      if (!contains(known, word)) {
        return fmt::format("found the unknown command '{}', expected one of {}; {}", word, listed(known),
                           suggestion(word, known, "'sidestream --help' says what each does"));
      }
      command = app.get_subcommand(word);
      continue;
    }
    const std::string wrong = command ? wrong_option(word, *command, fmt::format(" of '{}'", command->get_name()))
                                      : wrong_option(word, app, "");
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace sidestream
