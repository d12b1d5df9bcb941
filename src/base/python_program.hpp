// The interpreter and the Python package that belong to this library: what is written in Python runs with them.
#pragma once

#include <string>

namespace sidestream {

/// The folder that holds the package `sidestream`: of a build, of an installation, or of a package for Python. Empty if
/// there is none; an interpreter may have it installed.
[[nodiscard]] std::string python_package_folder();

/// What SIDESTREAM_PYTHON names, the one of an environment that is active, the one of the build (named by the file
/// `interpreter` beside the package), or "python3".
[[nodiscard]] std::string python_interpreter();

/// The value of PYTHONPATH with the package's folder before what it has.
[[nodiscard]] std::string python_path();

}  // namespace sidestream
