// A block's values, lent to Python for the duration of a call.
#pragma once

#include "reference.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream::python {

/// Makes the type, once, together with the module.
[[nodiscard]] Ref make_lent_type();

/// A read-only object with the buffer protocol over `array`. docs/python.md describes its axes: first the `axes` axes
/// of the mesh, of which the last one is i in order `column` and k in order `row`; then the component, if there are
/// several. The object counts its users. The caller calls its `end` while the values still exist; after that it gives
/// nothing. `view` provides `gather`; null: none.
[[nodiscard]] Ref lend(PyObject* type, const ArrayView& array, int axes, Order order, const BlockView* view);

}  // namespace sidestream::python
