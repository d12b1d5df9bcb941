// Whether what a step says can be believed: whoever can write a stream's directory can write anything into a step.
#pragma once

#include <cstddef>
#include <string>

#include "sidestream/data/metadata.hpp"
#include "transport/staging/format.hpp"

namespace sidestream::staging {

/// Throws Error(file) unless every field of the step that anything is computed from agrees with the declarations of
/// the stream and with the other fields: ids are those of declared things, blocks lie in their mesh and are there once,
/// an array has the type, components and points that its variable has on its block, and as many bytes. What is only
/// shown or compared (cycle, time, clients, extremes) may be anything. `path` is for the sentence.
void check_step(const StepIndex& step, const Metadata& declared, const std::string& path);

}  // namespace sidestream::staging
