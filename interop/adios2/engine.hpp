// An engine for ADIOS2 that publishes what a program puts, instead of writing files.
#pragma once

#include <adios2/plugin/PluginEngineInterface.h>

#include <memory>
#include <set>
#include <string>

#include "arrays/feed.hpp"

#if !defined(ADIOS2_PLUGIN_ENGINE_INTERFACE) || ADIOS2_PLUGIN_ENGINE_INTERFACE < 2
#error "ADIOS2 2.12 or later is needed: earlier plug-ins derive from classes that are not installed"
#endif

namespace sidestream::adios2_engine {

/// The engine of one Open. No function throws, but a span put that no memory can be given for; what is left out is said
/// on standard error, each sentence once.
class Engine final : public adios2::plugin::PluginEngineInterface {
 public:
  /// Collective over the ranks that open.
  Engine(adios2::IO io, const std::string& name, adios2::Mode mode);

  adios2::StepStatus BeginStep(adios2::StepMode mode, float timeout) override;
  void EndStep() override;
  [[nodiscard]] size_t CurrentStep() const override { return step_; }
  void PerformPuts() override;
  void DoClose(int transport) override;

#define SIDESTREAM_PUT(T)                                                                                \
  void DoPutSync(adios2::Variable<T> v, const T* values) override { put(v, values, arrays::Read::now); } \
  void DoPutDeferred(adios2::Variable<T> v, const T* values) override { put(v, values, arrays::Read::later); }
  ADIOS2_FOREACH_STDTYPE_1ARG(SIDESTREAM_PUT)
#undef SIDESTREAM_PUT
#define SIDESTREAM_SPAN(T)                                                                                       \
  void DoPut(adios2::Variable<T> v, adios2::Variable<T>::Span& span, bool initialise, const T& value) override { \
    put_span(v, span, initialise, value);                                                                        \
  }
  ADIOS2_FOREACH_PRIMITIVE_STDTYPE_1ARG(SIDESTREAM_SPAN)
#undef SIDESTREAM_SPAN

 private:
  template <class T>
  void put(adios2::Variable<T>& variable, const T* values, arrays::Read when);
  template <class T, class Span>
  void put_span(adios2::Variable<T>& variable, Span& span, bool initialise, const T& value);
  /// Describes a variable's part; false, with a sentence, if it is no array of numbers in this machine's memory.
  template <class T>
  bool describe(adios2::Variable<T>& variable, arrays::Part& part);
  [[nodiscard]] std::string parameter(const std::string& key, const std::string& otherwise) const;
  void read_parameters();

  std::unique_ptr<arrays::Feed> feed_;  ///< null: nothing is published
  std::string time_name_;
  bool column_ = false;  ///< the program lists axes from the fastest to the slowest, as Fortran does
  size_t step_ = 0;
  double time_ = 0;
  bool has_time_ = false;       ///< a single value has told the time of this step
  std::string iteration_;       ///< of openPMD, in this step
  std::set<std::string> seen_;  ///< names of arrays, until the ranks agree
};

}  // namespace sidestream::adios2_engine
