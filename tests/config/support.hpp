// Kinds to write configurations for, and functions to look at the error of a configuration.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "config/config.hpp"

namespace sidestream::testing {

/// Registers an analysis `probe` with an option of every type, and the analyses `histogram` and `volume`. Also
/// registers the output `hdf5`, the formats `.csv` and `.vtp`, and the partitioner `block`. None of them does anything.
[[nodiscard]] Registry fake_registry();

/// Parameters: $n is 8, $h is 0.5, $half is 2.5.
[[nodiscard]] Parameters some_parameters();

/// Reads a configuration as a session would, under the name run.yaml.
[[nodiscard]] Config read(const std::string& text, const Metadata& declared = {});

/// The options of the first task.
[[nodiscard]] Settings first_task(const std::string& text);

/// A configuration with mesh `grid` (8 x 8 x 8), variables `temperature` and `pressure`, and one analysis
/// `probe` whose options are `options`; the first of them is at line 4, column 13.
[[nodiscard]] std::string probe(const std::string& options);

/// The message of the error that read(text) throws, or "no error". Fails the test if the error's code is not
/// `configuration`.
[[nodiscard]] std::string error_of(const std::string& text, const Metadata& declared = {});

/// A wrong configuration, the place of the mistake, and two parts of the message.
struct BadCase {
  std::string text;
  std::string place;    ///< line:column
  std::string problem;  ///< part of the message: what was found and expected
  std::string remedy;   ///< part of the message: what to do
};

/// Checks that the message of error_of(bad.text) begins with the place and contains the rest.
void check_bad(const BadCase& bad, const Metadata& declared = {});

}  // namespace sidestream::testing
