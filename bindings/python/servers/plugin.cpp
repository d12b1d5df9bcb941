// The analysis `python`, declared in src/analysis/python/python.cpp: a function or a class in a file of the user's.
#include "sidestream/extend/plugin.hpp"

#include <memory>

#include "group.hpp"
#include "interpreter.hpp"
#include "runtime.hpp"

namespace sidestream::python {

namespace {

Ref texts(const std::map<std::string, std::string>& pairs) {
  Ref dict(PyDict_New());
  for (const auto& [name, value] : pairs) {
    const Ref text = text_of(value);
    if (PyDict_SetItem(dict.get(), text_of(name).get(), text.get()) != 0) fail_with_exception();
  }
  return dict;
}

Ref texts(const std::vector<std::string>& all) {
  Ref list(PyList_New(0));
  for (const std::string& one : all) {
    if (PyList_Append(list.get(), text_of(one).get()) != 0) fail_with_exception();
  }
  return list;
}

Ref events_of(std::span<const Event> events) {
  constexpr const char* scopes[] = {"server", "node", "all"};
  Ref list(PyList_New(0));
  for (const Event& event : events) {
    const Ref values = bytes_object(event.values);
    const Ref one(Py_BuildValue("(sisLsO)", event.name.c_str(), event.client, scopes[static_cast<int>(event.scope)],
                                static_cast<long long>(event.raised), std::string(name_of(event.type)).c_str(),
                                values.get()));
    if (PyList_Append(list.get(), one.get()) != 0) fail_with_exception();
  }
  return list;
}

/// One entry of the configuration. All its work is done with the interpreter's lock.
class PythonTask final : public Task {
 public:
  PythonTask(const Settings& settings, const Metadata& metadata) : files_(settings.texts("file")) {
    // Arrays that become a mesh need no file. The name has the form of arrays, and nothing is written there.
    if (files_.empty() && settings.given("makes")) files_.push_back(settings.text("makes") + ".h5");
    for (const std::string& name : settings.texts("variables")) {
      selection_.variables.emplace_back(metadata.find_variable(name)->id, settings.integer<std::int32_t>("halo"));
    }
    ensure_interpreter();
    const Gil gil;
    load(settings, metadata);
  }
  ~PythonTask() override {
    if (!Py_IsInitialized()) {  // the program's interpreter, which has ended
      static_cast<void>(entry_.release());
      return;
    }
    const Gil gil;
    entry_ = Ref();
  }
  PythonTask(const PythonTask&) = delete;
  PythonTask& operator=(const PythonTask&) = delete;

  [[nodiscard]] Selection selection() const override { return selection_; }
  [[nodiscard]] int passes() const override { return passes_; }
  [[nodiscard]] double tolerance() const override { return tolerance_; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    check_interpreter();
    const Gil gil;
    const Ref iteration = iteration_of(input.iteration), records = records_of(input, selection_);
    const Ref feedback = bytes_object(input.feedback), events = events_of(input.events);
    return bytes_of(Ref(PyObject_CallMethod(entry_.get(), "local", "OiOiiOO", iteration.get(), input.pass,
                                            feedback.get(), input.server, input.servers, records.get(), events.get()))
                        .get());
  }

  Bytes combine(const CombineInput& input) override {
    check_interpreter();
    const Gil gil;
    const Ref iteration = iteration_of(input.iteration), partials(PyList_New(0));
    for (const Bytes& partial : input.partials) {
      const Ref bytes = bytes_object(partial);
      if (PyList_Append(partials.get(), bytes.get()) != 0) fail_with_exception();
    }
    const Lending group(input.communicator);
    const Ref made(
        PyObject_CallMethod(entry_.get(), "combine", "OiOO", iteration.get(), input.pass, partials.get(), group.get()));
    add_results(input.results, files_, PyTuple_GetItem(made.get(), 1));
    return bytes_of(PyTuple_GetItem(made.get(), 0));
  }

 private:
  /// The servers, lent for the duration of a call.
  class Lending {
   public:
    explicit Lending(Communicator& members) : group_(lend_group(runtime().group_type, members)) {}
    ~Lending() { end_group(group_.get()); }
    Lending(const Lending&) = delete;
    Lending& operator=(const Lending&) = delete;
    [[nodiscard]] PyObject* get() const noexcept { return group_.get(); }

   private:
    Ref group_;
  };

  /// Loads the script; errors in an option are reported at that option.
  void load(const Settings& settings, const Metadata& metadata) {
    const Ref declarations = declarations_of(metadata);
    const Ref script = text_of(settings.text("script")), beside = text_of(settings.where().file);
    const Ref call = text_of(settings.text("call")), arguments = texts(settings.pairs("arguments"));
    const Ref variables = texts(settings.texts("variables")), files = texts(files_);
    const Ref answer(PyObject_CallMethod(runtime().serving, "load", "OOOOOOOiO", declarations.get(), script.get(),
                                         beside.get(), call.get(), arguments.get(), variables.get(), files.get(),
                                         settings.integer<int>("halo"),
                                         settings.boolean("whole") ? Py_True : Py_False));
    if (PyTuple_Check(answer.get())) {
      settings.fail(text_of(PyTuple_GetItem(answer.get(), 0)), text_of(PyTuple_GetItem(answer.get(), 1)));
    }
    passes_ = static_cast<int>(PyLong_AsLong(answer.attribute("passes").get()));
    tolerance_ = PyFloat_AsDouble(answer.attribute("tolerance").get());
    entry_ = Ref::to(answer.get());  // last: an exception here leaves nothing to be released without the lock
  }

  static void check_interpreter() {
    if (Py_IsInitialized()) return;
    throw Error(Code::analysis, "the program's Python has ended before the session was closed; close it earlier");
  }

  std::vector<std::string> files_;
  Selection selection_;
  Ref entry_;
  int passes_ = 1;
  double tolerance_ = 0;
};

}  // namespace

}  // namespace sidestream::python

SIDESTREAM_PLUGIN(registry) {
  sidestream::AnalysisKind kind;
  kind.name = "python";
  kind.create = [](const sidestream::Settings& settings, const sidestream::Metadata& metadata) {
    return std::make_unique<sidestream::python::PythonTask>(settings, metadata);
  };
  registry.add(std::move(kind));
}
