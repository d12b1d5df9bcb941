// The servers of an analysis, for Python.
#pragma once

#include "reference.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::python {

/// Makes the type, once, together with the module.
[[nodiscard]] Ref make_group_type();

/// An object with the collectives of `members`, which are lent to it until end_group. They release the interpreter's
/// lock while they wait.
[[nodiscard]] Ref lend_group(PyObject* type, Communicator& members);
void end_group(PyObject* group) noexcept;

/// The MPI that this was built with, as MPI_Get_library_version describes it; and the size of its handles in bytes.
[[nodiscard]] Ref mpi_library();
[[nodiscard]] Ref mpi_handle_bytes();

[[nodiscard]] Ref bytes_object(BytesView bytes);
/// A copy of the content of an object with the buffer protocol.
[[nodiscard]] Bytes bytes_of(PyObject* object);

}  // namespace sidestream::python
