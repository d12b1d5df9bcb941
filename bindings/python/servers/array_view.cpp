#include "array_view.hpp"

#include <array>

namespace sidestream::python {

namespace {

constexpr int most_axes = 4;

/// Allocated, and therefore zeroed, by Python.
struct Lent {
  PyObject base;
  const void* data;
  const BlockView* view;
  int rank;
  std::array<Py_ssize_t, most_axes> shape, strides;
  Py_ssize_t item_bytes, bytes;
  std::array<char, 2> format;
  Py_ssize_t users;
  bool ended;
};

Lent& self_of(PyObject* self) { return *reinterpret_cast<Lent*>(self); }

constexpr const char* has_ended =
    "the call that lent this array has ended, and the simulation has its memory again; keep a copy (array.copy())";

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  Lent& lent = self_of(self);
  buffer->obj = nullptr;
  if (lent.ended) return PyErr_SetString(PyExc_BufferError, has_ended), -1;
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    return PyErr_SetString(PyExc_BufferError, "blocks are the simulation's, and read-only here"), -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    return PyErr_SetString(PyExc_BufferError, "blocks are arrays with strides; use numpy.asarray"), -1;
  }
  buffer->buf = const_cast<void*>(lent.data);
  buffer->obj = Py_NewRef(self);
  buffer->len = lent.bytes;
  buffer->itemsize = lent.item_bytes;
  buffer->readonly = 1;
  buffer->ndim = lent.rank;
  buffer->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? lent.format.data() : nullptr;
  buffer->shape = lent.shape.data();
  buffer->strides = lent.strides.data();
  buffer->suboffsets = nullptr;
  buffer->internal = nullptr;
  ++lent.users;
  return 0;
}

void release_buffer(PyObject* self, Py_buffer*) { --self_of(self).users; }

PyObject* end(PyObject* self, PyObject*) {
  self_of(self).ended = true;
  self_of(self).view = nullptr;
  return PyLong_FromSsize_t(self_of(self).users);
}

Box box_of(const long long* lo, const long long* hi) { return {{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}}; }

/// gather(lo, hi, component, out): writes the doubles of the box to `out`, i fastest. Returns the number of missing
/// points.
PyObject* gather(PyObject* self, PyObject* arguments) {
  return called([&]() -> PyObject* {
    long long lo[3], hi[3];
    int component = 0;
    Py_buffer out{};
    if (!PyArg_ParseTuple(arguments, "(LLL)(LLL)iw*", lo, lo + 1, lo + 2, hi, hi + 1, hi + 2, &component, &out)) {
      return nullptr;
    }
    const Lent& lent = self_of(self);
    const Box region = box_of(lo, hi);
    PyObject* result = nullptr;
    if (!lent.view) {
      PyErr_SetString(PyExc_BufferError, has_ended);
    } else if (component < 0 || component >= lent.view->array.components ||
               out.len != static_cast<Py_ssize_t>(sizeof(double)) * region.count()) {
      PyErr_SetString(PyExc_ValueError, "gather: no such component, or `out` is not as large as the box");
    } else {
      result = PyLong_FromLongLong(lent.view->gather(region, component, static_cast<double*>(out.buf)));
    }
    PyBuffer_Release(&out);
    return result;
  });
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

char letter_of(Type type) {
  constexpr char letters[] = {'b', 'h', 'i', 'q', 'B', 'H', 'I', 'Q', 'f', 'd'};
  return letters[static_cast<int>(type)];
}

}  // namespace

Ref make_lent_type() {
  static PyMethodDef methods[] = {
      {"end", end, METH_NOARGS, nullptr}, {"gather", gather, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_methods, methods},
                                {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                                {0, nullptr}};
  static PyType_Spec spec{"sidestream._servers.Lent", sizeof(Lent), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return Ref(PyType_FromSpec(&spec));
}

Ref lend(PyObject* type, const ArrayView& array, int axes, Order order, const BlockView* view) {
  static const double nothing = 0;  // address of an empty array
  Ref object(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0));
  Lent& lent = self_of(object.get());
  lent.data = array.data ? array.data : &nothing;
  lent.view = view;
  lent.item_bytes = lent.bytes = static_cast<Py_ssize_t>(size_of(array.type));
  lent.format = {letter_of(array.type), '\0'};
  const auto add = [&](Index extent, Index stride) {
    const auto n = static_cast<std::size_t>(lent.rank++);
    lent.shape[n] = extent;
    lent.strides[n] = stride * lent.item_bytes;
    lent.bytes *= extent;
  };
  for (int n = 0; n < axes; ++n) {
    const int axis = order == Order::column ? axes - 1 - n : n;
    add(array.box.extent(axis), array.strides[static_cast<std::size_t>(axis)]);
  }
  if (array.components > 1) add(array.components, array.strides[3]);
  return object;
}

}  // namespace sidestream::python
