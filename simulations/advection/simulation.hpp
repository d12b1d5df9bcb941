// The time loop and its messages.
#pragma once

#include "coupling.hpp"
#include "options.hpp"

namespace advection {

/// Collective over the coupling's communicator: runs to the end. Throws std::exception.
void simulate(const Options& options, Coupling& coupling);

}  // namespace advection
