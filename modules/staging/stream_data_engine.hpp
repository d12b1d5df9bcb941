// The contract of engines, which move the values of a stream. Engines do not know when readers come and go, a step's
// content, or answers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "sidestream/data/array.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/options.hpp"
#include "staging/folder.hpp"
#include "staging/format.hpp"

namespace sidestream::staging {

/// Names and values whose meaning only the engine knows.
using EngineParameters = std::map<std::string, std::string>;

/// The arguments of an engine. References must outlive the engine.
struct BulkSetup {
  const Folder& folder;
  Communicator& group;  ///< all writers, or all readers
  EngineParameters parameters;
  double limit = 60;  ///< seconds to wait for the other side
};

/// One record of this writer: `points` of the array.
struct Outgoing {
  StepRecord* record;  ///< `put` fills in offset and checksum, if the engine has them
  ArrayView array;
};

/// The writers' end.
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;
  /// Makes this writer's values readable for the reader of `epoch`. Called again, with the next epoch, if another
  /// reader takes over. Collective. Throws Error on some or all members, and never while others wait for this one.
  /// `alive` is called on rank 0 during waits; false ends them.
  virtual void put(const StepIndex& step, std::span<Outgoing> mine, std::int64_t epoch,
                   const std::function<bool()>& alive) = 0;
  /// Frees a step that is no longer needed. `acknowledged`: its reader reported that it is done with the step;
  /// otherwise the reader may be gone and still hold it. Not collective.
  virtual void forget(std::int64_t iteration, bool acknowledged) noexcept = 0;
};

/// Values that a reader wants: `points` of a record, contiguous, in column order.
struct Piece {
  const StepRecord* record;
  Box points;
  std::byte* to;
};

/// The readers' end.
class BulkReader {
 public:
  virtual ~BulkReader() = default;
  /// Connects as the reader of `epoch`, if the engine has connections. Collective, once.
  virtual void connect(std::int64_t epoch) = 0;
  /// True if steps can be begun, the same on every reader. Until then the reader calls `prepare` (collective)
  /// repeatedly.
  [[nodiscard]] virtual bool ready() const { return true; }
  virtual void prepare() {}
  /// Begins the step that the following reads refer to. Collective.
  virtual void begin(const StepIndex& step) = 0;
  /// Reads values of the step. Not collective. Throws Error(file) if values are missing or damaged.
  virtual void read(std::span<const Piece> pieces) = 0;
  /// Releases the step. Collective.
  virtual void end() = 0;
};

/// An engine by its two ends.
struct BulkEngine {
  std::function<std::unique_ptr<BulkWriter>(const BulkSetup&)> writer;
  std::function<std::unique_ptr<BulkReader>(const BulkSetup&)> reader;
};

/// The engines of this build by name: `files`, and `sst` if it was built with ADIOS2.
[[nodiscard]] std::map<std::string, BulkEngine> bulk_engines();
/// Throws if the settings ask for an engine that this build lacks; `auto` is never refused.
void check_engine(const Settings& settings, const std::string& engine);
/// The engine that `auto` selects in this build.
[[nodiscard]] std::string best_engine();

/// Moves values by files in the directory; engines.cpp.
[[nodiscard]] BulkEngine files_engine();
/// Adds `sst`. Only builds with ADIOS2 have it.
void add_sst_engine(std::map<std::string, BulkEngine>& engines);

}  // namespace sidestream::staging
