// What an analysis written as C functions gets.
#pragma once

#include "sidestream/extend/analysis.hpp"

/// Valid during one callback. In `combine` there are no blocks.
struct sidestream_input {
  const sidestream::Iteration* iteration;
  const sidestream::Metadata* metadata;
  const sidestream::LocalInput* local;      ///< null in combine
  const sidestream::CombineInput* combine;  ///< null in local
};
