// The interface between this library and the package `sidestream`.
#pragma once

#include <string>

#include "reference.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::python {

/// The two modules. They live as long as the process: the interpreter is never ended either.
struct Runtime {
  PyObject* serving;     ///< sidestream.serving.entry: the part that is written in Python
  PyObject* lent_type;   ///< see array_view.hpp
  PyObject* group_type;  ///< see group.hpp
};

/// Makes the module `sidestream._servers` and imports `sidestream.serving.entry`, once per process. Needs the lock.
/// Throws Error(system) if that is missing, lacks a dependency, or belongs to another version.
[[nodiscard]] const Runtime& runtime();

/// Meshes and variables by name, as dicts that serving/entry.py turns into objects.
[[nodiscard]] Ref declarations_of(const Metadata& metadata);

/// The input of `local` for the selected variables, one dict for each block of each. Values are lent until
/// serving/entry.py ends it.
[[nodiscard]] Ref records_of(const LocalInput& input, const Selection& selection);

/// (index, cycle, time)
[[nodiscard]] Ref iteration_of(const Iteration& iteration);

/// Adds the results that serving/entry.py made to their files: a list of (number of the file, kind, contents...).
void add_results(Results& results, const std::vector<std::string>& files, PyObject* made);

}  // namespace sidestream::python
