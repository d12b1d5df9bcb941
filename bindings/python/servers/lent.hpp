// A block's values, lent to Python for the duration of a call.
#pragma once

#include "reference.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream::python {

/// Makes the type, once, together with the module.
[[nodiscard]] Ref make_lent_type();

/// An object with the buffer protocol over `array`, read-only, with the axes that docs/python.md describes: those of
/// the mesh, `axes` of them, the last one i in order `column` and k in order `row`; then the component, if there are
/// several. It counts its users and gives nothing once its `end` has been called, which the caller does while the
/// values still exist. `view` provides `gather`; null: none.
[[nodiscard]] Ref lend(PyObject* type, const ArrayView& array, int axes, Order order, const BlockView* view);

}  // namespace sidestream::python
