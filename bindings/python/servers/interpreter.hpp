// The interpreter of analyses: the program's, or one that is started here.
#pragma once

namespace sidestream::python {

/// Starts an interpreter if there is none: the `python3` of the environment that SIDESTREAM_PYTHON (an interpreter) or
/// VIRTUAL_ENV names, otherwise that of the build. It is never ended: NumPy cannot be loaded a second time. The caller
/// does not hold the lock afterwards, unless it did before. Throws Error(system) with the reason if it cannot be
/// started, or has another version than this was built for.
void ensure_interpreter();

/// True if ensure_interpreter started it.
[[nodiscard]] bool started_here() noexcept;

}  // namespace sidestream::python
