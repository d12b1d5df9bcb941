// The servers of an analysis, for Python.
#pragma once

#include "reference.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::python {

/// Makes the type; once, when the module is.
[[nodiscard]] Ref make_group_type();

/// An object with the collectives of `members`, which are lent to it until end_group. They give the interpreter's lock
/// away while they wait.
[[nodiscard]] Ref lend_group(PyObject* type, Communicator& members);
void end_group(PyObject* group) noexcept;

/// Of the MPI that this was built with, as MPI_Get_library_version says; and the bytes of its handles.
[[nodiscard]] Ref mpi_library();
[[nodiscard]] Ref mpi_handle_bytes();

[[nodiscard]] Ref bytes_object(BytesView bytes);
/// A copy of what an object with the buffer protocol holds.
[[nodiscard]] Bytes bytes_of(PyObject* object);

}  // namespace sidestream::python
