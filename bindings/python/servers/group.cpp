#include "group.hpp"

#include <mpi.h>

#include <array>
#include <cstring>
#include <string_view>

namespace sidestream::python {

namespace {

struct Group {
  PyObject base;
  Communicator* members;  ///< null once they are no longer lent
};

Communicator& members_of(PyObject* self) {
  Communicator* const members = reinterpret_cast<Group*>(self)->members;
  if (!members) throw Error(Code::usage, "the servers are asked for something after `combine` has returned");
  return *members;
}

PyObject* rank(PyObject* self, PyObject*) {
  return called([&] { return PyLong_FromLong(members_of(self).rank()); });
}

PyObject* size(PyObject* self, PyObject*) {
  return called([&] { return PyLong_FromLong(members_of(self).size()); });
}

/// handle(): MPI's communicator, as a number.
PyObject* handle(PyObject* self, PyObject*) {
  return called([&] {
    unsigned long long number = 0;
    static_assert(sizeof(MPI_Comm) <= sizeof number);
    std::memcpy(&number, members_of(self).native(), sizeof(MPI_Comm));
    return PyLong_FromUnsignedLongLong(number);
  });
}

PyObject* barrier(PyObject* self, PyObject*) {
  return called([&] {
    {
      Communicator& members = members_of(self);
      const Released released;
      members.barrier();
    }
    return Py_NewRef(Py_None);
  });
}

template <class T>
void reduce(Communicator& members, std::string_view how, std::span<T> values) {
  if (how == "minimum") return members.minimum(values);
  if (how == "maximum") return members.maximum(values);
  if constexpr (std::is_integral_v<T>) {
    if (how == "sum") return members.sum(values);
  }
  throw Error(Code::usage, "there is no such reduction of these numbers");
}

/// A buffer of the caller, held for the duration of a call.
class Borrowed {
 public:
  Borrowed(PyObject* object, int flags) {
    if (PyObject_GetBuffer(object, &view_, flags) != 0) fail_with_exception();
  }
  ~Borrowed() { PyBuffer_Release(&view_); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  template <class T>
  [[nodiscard]] std::span<T> as() const {
    return {static_cast<T*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(T)};
  }

 private:
  Py_buffer view_{};
};

/// reduce(how, values, real): reduces element-wise over all, in place; int64, or float64 if `real`.
PyObject* reduce_method(PyObject* self, PyObject* arguments) {
  return called([&]() -> PyObject* {
    const char* how = nullptr;
    PyObject* values = nullptr;
    int real = 0;
    if (!PyArg_ParseTuple(arguments, "sOp", &how, &values, &real)) return nullptr;
    Communicator& members = members_of(self);
    const Borrowed borrowed(values, PyBUF_WRITABLE);
    {
      const Released released;
      if (real) {
        reduce(members, how, borrowed.as<double>());
      } else {
        reduce(members, how, borrowed.as<std::int64_t>());
      }
    }
    return Py_NewRef(Py_None);
  });
}

PyObject* list_of(const std::vector<Bytes>& all) {
  Ref list(PyList_New(static_cast<Py_ssize_t>(all.size())));
  for (std::size_t n = 0; n < all.size(); ++n) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(n), bytes_object(all[n]).release());
  }
  return list.release();
}

/// gather(bytes, root): the bytes of all members on `root`, an empty list elsewhere.
PyObject* gather(PyObject* self, PyObject* arguments) {
  return called([&]() -> PyObject* {
    PyObject* mine = nullptr;
    int root = 0;
    if (!PyArg_ParseTuple(arguments, "Oi", &mine, &root)) return nullptr;
    Communicator& members = members_of(self);
    const Borrowed borrowed(mine, PyBUF_SIMPLE);
    std::vector<Bytes> all;
    {
      const Released released;
      all = members.gather(borrowed.as<const std::byte>(), root);
    }
    return list_of(all);
  });
}

PyObject* all_gather(PyObject* self, PyObject* mine) {
  return called([&] {
    Communicator& members = members_of(self);
    const Borrowed borrowed(mine, PyBUF_SIMPLE);
    std::vector<Bytes> all;
    {
      const Released released;
      all = members.all_gather(borrowed.as<const std::byte>());
    }
    return list_of(all);
  });
}

/// broadcast(bytes, root): the bytes of `root` everywhere.
PyObject* broadcast(PyObject* self, PyObject* arguments) {
  return called([&]() -> PyObject* {
    PyObject* mine = nullptr;
    int root = 0;
    if (!PyArg_ParseTuple(arguments, "Oi", &mine, &root)) return nullptr;
    Communicator& members = members_of(self);
    Bytes bytes = bytes_of(mine);
    {
      const Released released;
      members.broadcast(bytes, root);
    }
    return bytes_object(bytes).release();
  });
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

Ref make_group_type() {
  static PyMethodDef methods[] = {{"rank", rank, METH_NOARGS, nullptr},
                                  {"size", size, METH_NOARGS, nullptr},
                                  {"handle", handle, METH_NOARGS, nullptr},
                                  {"barrier", barrier, METH_NOARGS, nullptr},
                                  {"reduce", reduce_method, METH_VARARGS, nullptr},
                                  {"gather", gather, METH_VARARGS, nullptr},
                                  {"all_gather", all_gather, METH_O, nullptr},
                                  {"broadcast", broadcast, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_methods, methods}, {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)}, {0, nullptr}};
  static PyType_Spec spec{"sidestream._servers.Group", sizeof(Group), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return Ref(PyType_FromSpec(&spec));
}

Ref lend_group(PyObject* type, Communicator& members) {
  Ref object(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0));
  reinterpret_cast<Group*>(object.get())->members = &members;
  return object;
}

void end_group(PyObject* group) noexcept { reinterpret_cast<Group*>(group)->members = nullptr; }

Ref mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text_of(text.data());
}

Ref mpi_handle_bytes() { return Ref(PyLong_FromSize_t(sizeof(MPI_Comm))); }

Ref bytes_object(BytesView bytes) {
  return Ref(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size())));
}

Bytes bytes_of(PyObject* object) {
  const Borrowed borrowed(object, PyBUF_SIMPLE);
  const auto span = borrowed.as<const std::byte>();
  return {span.begin(), span.end()};
}

}  // namespace sidestream::python
