// The interpreter and the Python package that belong to this library and run its Python code.
#pragma once

#include <string>

namespace sidestream {

/// The folder that contains the package `sidestream`, in a build, an installation or a Python package. Empty if there
/// is none; the interpreter may still have the package installed.
[[nodiscard]] std::string python_package_folder();

/// The first of these that exists: the interpreter that SIDESTREAM_PYTHON names, that of an active environment, that of
/// the build (named by the file `interpreter` next to the package), "python3".
[[nodiscard]] std::string python_interpreter();

/// The value of PYTHONPATH with the package's folder in front.
[[nodiscard]] std::string python_path();

}  // namespace sidestream
