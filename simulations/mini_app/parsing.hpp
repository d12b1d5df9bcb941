// Parsing of a mini-app's command line.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mini_app/command_line.hpp"

namespace mini_app {

/// Parses `words` with `app`, which fills `options`, and then calls `finish()`, which may throw CLI::ValidationError.
/// Every rank does so: no rank can fail by itself.
template <class Options, class Finish>
CommandLine<Options> parsed(CLI::App& app, std::vector<std::string> words, const Options& options,
                            const Finish& finish) {
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(std::move(words));
    finish();
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), 0};
  } catch (const CLI::ParseError& error) {
    const std::string& name = app.get_name();
    return {std::nullopt, name + ": " + error.what() + ". See '" + name + " --help'.\n", 2};
  }
  return {options, "", 0};
}

}  // namespace mini_app
