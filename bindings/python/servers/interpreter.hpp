// The interpreter of analyses: the program's, or one that is started here.
#pragma once

namespace sidestream::python {

/// Starts an interpreter if there is none. It uses the environment of the interpreter SIDESTREAM_PYTHON, or the
/// environment VIRTUAL_ENV; otherwise that of the build. It is never ended: NumPy cannot be loaded a second time. The
/// caller does not hold the lock afterwards, unless it did before. Throws Error(system) with the reason if it cannot be
/// started, or has another version than this was built for.
void ensure_interpreter();

/// True if ensure_interpreter started it.
[[nodiscard]] bool started_here() noexcept;

}  // namespace sidestream::python
