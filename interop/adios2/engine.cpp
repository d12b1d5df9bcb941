#include "engine.hpp"

#include <algorithm>
#include <charconv>
#include <complex>
#include <sidestream/error.hpp>
#include <sidestream/values.hpp>
#include <stdexcept>
#include <type_traits>

#include "conventions.hpp"
#include "memory.hpp"
#include "span.hpp"

namespace sidestream::adios2_engine {

namespace {

const char* const our_parameters[] = {"Configuration", "Arrays", "Ranks", "Time", "Order"};

std::vector<Index> indices(const adios2::Dims& dims, bool reversed) {
  std::vector<Index> all;
  for (const std::size_t n : dims) all.push_back(static_cast<Index>(std::min<std::size_t>(n, std::size_t{1} << 62)));
  if (reversed) std::reverse(all.begin(), all.end());
  return all;
}

/// The ranks that open the engine. ADIOS2 does not tell a plug-in which these are: all, this one, or those from FIRST
/// to LAST.
std::unique_ptr<interop::Ranks> ranks_of(const std::string& text) {
  if (text == "world") return std::make_unique<interop::Ranks>(-1);
  int first = interop::Ranks::this_rank(), last = first;
  if (text == "self") return std::make_unique<interop::Ranks>(first, last + 1);
  const char* const end = text.data() + text.size();
  const auto begin = std::from_chars(text.data(), end, first);
  const bool dash = begin.ec == std::errc() && begin.ptr != end && *begin.ptr == '-';
  if (!dash || std::from_chars(begin.ptr + 1, end, last).ptr != end) {
    throw Error(Code::usage, "parameter Ranks: found '" + text + "', expected world, self, or FIRST-LAST");
  }
  return std::make_unique<interop::Ranks>(first, last + 1);
}

/// True for types of numbers that Sidestream has.
template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && sizeof(T) <= 8;

}  // namespace

Engine::Engine(adios2::IO io, const std::string& name, adios2::Mode mode) : PluginEngineInterface(io, name, mode) {
  interop::Sentences sentences;
  if (mode != adios2::Mode::Write && mode != adios2::Mode::Append) {
    sentences.say("ADIOS2 opened the engine for reading; it only writes, so there are no steps");
    return;
  }
  try {
    read_parameters();
  } catch (const std::exception& error) {
    sentences.say(std::string("the engine for ADIOS2: ") + error.what() + "; nothing is published");
  }
}

std::string Engine::parameter(const std::string& key, const std::string& otherwise) const {
  const auto all = m_IO.Parameters();
  const auto found = all.find(key);
  return found == all.end() ? otherwise : found->second;
}

void Engine::read_parameters() {
  const std::string order = parameter("Order", "row");
  if (order != "row" && order != "column") {
    throw Error(Code::usage, "parameter Order: found '" + order + "', expected row, or column (Fortran)");
  }
  column_ = order == "column";
  time_name_ = parameter("Time", "");
  feed_ = std::make_unique<arrays::Feed>(ranks_of(parameter("Ranks", "world")), parameter("Configuration", ""),
                                         parameter("Arrays", ""));
  for (const auto& [key, value] : m_IO.Parameters()) {
    const bool ours = std::find(std::begin(our_parameters), std::end(our_parameters), key) != std::end(our_parameters);
    if (ours || key == "PluginName" || key == "PluginLibrary" || key == "verbose") continue;
    feed_->say_first("parameter '" + key +
                     "' of the engine is not used; Configuration, Arrays, Ranks, Time and Order are");
  }
}

adios2::StepStatus Engine::BeginStep(adios2::StepMode, float) {
  const bool reads = m_OpenMode != adios2::Mode::Write && m_OpenMode != adios2::Mode::Append;
  return reads ? adios2::StepStatus::EndOfStream : adios2::StepStatus::OK;
}

void Engine::PerformPuts() {
  if (feed_) feed_->flush();
}

void Engine::EndStep() {
  if (feed_ == nullptr) return;
  if (feed_->unknown()) feed_->suggest(conventions(m_IO, seen_));
  if (!feed_->unknown()) seen_.clear();
  if (!has_time_) time_ = openpmd_time(m_IO, iteration_).value_or(static_cast<double>(step_));
  feed_->end_step(static_cast<std::int64_t>(step_), time_);
  ++step_;
  has_time_ = false;
  iteration_.clear();
}

void Engine::DoClose(int transport) {
  if (feed_ == nullptr || transport != -1) return;
  if (feed_->has_parts()) EndStep();  // of a program without steps, or in the middle of one
  feed_->close();
}

template <class T>
bool Engine::describe(adios2::Variable<T>& variable, arrays::Part& part) {
  const std::string name = variable.Name();
  if constexpr (!is_number<T>) {
    feed_->say_first("variable '" + name + "': found the type " + variable.Type() +
                     ", expected integers or real numbers of at most 8 bytes; it is left out");
    return false;
  } else {
    if (variable.GetMemorySpace() != adios2::MemorySpace::Detect &&
        variable.GetMemorySpace() != adios2::MemorySpace::Host) {
      feed_->say("variable '" + name + "': found memory of a GPU, expected memory of the host; it is left out");
      return false;
    }
    part.name = plain_name(name);
    part.type = Element<T>::type;
    part.count = indices(variable.Count(), column_);
    if (variable.ShapeID() == adios2::ShapeID::GlobalArray) {
      part.shape = indices(variable.Shape(), column_);
      part.start = indices(variable.Start(), column_);
    }
    if (feed_->unknown()) seen_.insert(name);
    if (const std::string iteration = iteration_of(name); !iteration.empty()) iteration_ = iteration;
    return true;
  }
}

template <class T>
void Engine::put(adios2::Variable<T>& variable, const T* values, arrays::Read when) {
  if (feed_ == nullptr) return;
  try {
    const adios2::ShapeID shape = variable.ShapeID();
    if (shape == adios2::ShapeID::GlobalValue || shape == adios2::ShapeID::LocalValue) {
      if (time_name_.empty()) time_name_ = time_name(m_IO);
      if constexpr (std::is_arithmetic_v<T>) {
        if (variable.Name() == time_name_) {
          time_ = static_cast<double>(*values);
          has_time_ = true;
          return;
        }
      }
      return feed_->say_first("variable '" + variable.Name() + "': left out, like all single values but '" +
                              time_name_ + "'");
    }
    arrays::Part part;
    if (!describe(variable, part)) return;
    MemoryBox box = memory_box(variable);
    if (column_) {
      std::reverse(box.start.begin(), box.start.end());
      std::reverse(box.size.begin(), box.size.end());
    }
    part.data = reinterpret_cast<const std::byte*>(values) + lay_out(part, box);
    feed_->put(part, when);
  } catch (const std::exception& error) {
    feed_->say(error.what());
  }
}

template <class T, class Span>
void Engine::put_span(adios2::Variable<T>& variable, Span& span, bool initialise, const T& value) {
  if constexpr (!is_number<T>) {
    throw std::runtime_error("Sidestream: variable '" + variable.Name() + "' has a type without spans: use Put");
  } else {
    arrays::Part part;
    std::byte* memory = nullptr;
    if (feed_ != nullptr && describe(variable, part)) memory = feed_->lend(part);
    if (memory == nullptr || !point_span(span, memory, part.values())) {
      throw std::runtime_error("Sidestream: variable '" + variable.Name() +
                               "': this ADIOS2 lets no plug-in give memory for a span: use Put with a pointer");
    }
    if (initialise) std::fill_n(reinterpret_cast<T*>(memory), part.values(), value);
  }
}

}  // namespace sidestream::adios2_engine

#define SIDESTREAM_VISIBLE __attribute__((visibility("default")))

extern "C" {
/// Three arguments, in MPI programs too: the part of ADIOS2 that calls it is built without MPI.
SIDESTREAM_VISIBLE adios2::plugin::PluginEngineInterface* EngineCreate(adios2::IO io, const std::string& name,
                                                                       const adios2::Mode mode) {
  return new sidestream::adios2_engine::Engine(io, name, mode);
}

SIDESTREAM_VISIBLE void EngineDestroy(adios2::plugin::PluginEngineInterface* engine) { delete engine; }
}
