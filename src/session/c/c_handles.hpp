// What the opaque structures of analysis.h are.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "session/c/c_function.hpp"
#include "sidestream/analysis.h"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/analysis.hpp"

struct sidestream_settings {
  const sidestream::Settings* values;
  const std::vector<sidestream::Option>* options;
  std::deque<std::string>* texts;  ///< where texts that C code was given stay
};

struct sidestream_metadata {
  const sidestream::Metadata* metadata;
};

struct sidestream_selection {
  const sidestream::Metadata* metadata;
  sidestream::Selection selection;
  std::string problem;  ///< the first, in a sentence
};

struct sidestream_bytes {
  sidestream::Bytes bytes;
};

struct sidestream_results {
  sidestream::Results* results;
  sidestream::Communicator* servers;
  std::string problem{};  ///< the last, in a sentence
};
