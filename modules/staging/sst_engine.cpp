// Engine `sst`: ADIOS2's Sustainable Staging Transport. Part of the build if ADIOS2 was found.
//
// SST's writers wait for a reader in Open, in Close and when the queue is full, and SST drops steps with a message on
// standard error. So the queue is unlimited but holds at most one step. The writers' coordinator knows whether there is
// a reader and whether it has the step. SST admits a late reader only when the writers end a step, so they end empty
// steps while they wait for it.
#include <adios2.h>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "staging/stream_data_engine.hpp"

namespace sidestream::staging {

namespace {

constexpr const char* number_variable = "iteration";
constexpr std::int64_t empty_step = -1;

std::string contact_name(std::int64_t epoch) { return fmt::format("sst-{}", epoch); }
std::string connected_name(std::int64_t epoch) { return fmt::format("sst-connected-{}", epoch); }
std::string values_name(std::int32_t variable) { return fmt::format("values-{}", variable); }

/// A connection of ADIOS2, with the objects that it needs.
struct Line {
  Line(const BulkSetup& setup, EngineParameters defaults)
      : adios(*static_cast<MPI_Comm*>(setup.group.native())), io(adios.DeclareIO("stream")) {
    io.SetEngine("SST");
    for (const auto& [name, value] : setup.parameters) defaults[name] = value;
    io.SetParameters(defaults);
  }
  adios2::ADIOS adios;
  adios2::IO io;
  adios2::Engine engine;
};

/// Defines each block as an array of bytes (k, j, i, point), so that readers can ask for parts.
adios2::Dims extents(const StepRecord& record, const Box& box) {
  const auto extent = [&](int axis) { return static_cast<std::size_t>(box.extent(axis)); };
  return {extent(2), extent(1), extent(0), size_of(record.type) * static_cast<std::size_t>(record.components)};
}

class SstWriter final : public BulkWriter {
 public:
  explicit SstWriter(const BulkSetup& setup)
      : setup_(setup), folder_(setup.folder), rank_(setup.group.rank()), size_(setup.group.size()) {}

  ~SstWriter() override {
    try {
      hang_up();
    } catch (const std::exception& e) {
      log::warning("closing a stream: {}", e.what());
    }
  }

  void put(const StepIndex& step, std::span<Outgoing> mine, std::int64_t epoch,
           const std::function<bool()>& alive) override {
    if (epoch != epoch_ || !line_) dial(epoch);
    if (!connected_ && !await_reader(alive)) return;  // it died: the offer sees that too
    std::vector<Bytes> packed;
    line_->engine.BeginStep();
    put_number(step.iteration.index);
    for (const Outgoing& one : mine) put_values(one, packed);
    line_->engine.EndStep();
    sent_ = step.iteration.index;
  }

  void forget(std::int64_t iteration, bool acknowledged) noexcept override {
    if (acknowledged) answered_ = iteration;
  }

 private:
  /// Opens a connection for the reader of `epoch`. The previous connection's reader died or was given up. Closing that
  /// connection could wait for ever, so it stays open, with the step that it holds.
  void dial(std::int64_t epoch) {
    if (line_) static_cast<void>(line_.release());
    epoch_ = epoch;
    connected_ = false;
    sent_ = answered_ = empty_step;
    line_ = std::make_unique<Line>(
        setup_, EngineParameters{{"RendezvousReaderCount", "0"}, {"QueueLimit", "0"}, {"DataTransport", "WAN"}});
    line_->engine = line_->io.Open(folder_.path(contact_name(epoch)), adios2::Mode::Write);
  }

  bool await_reader(const std::function<bool()>& alive) {
    for (Backoff backoff(std::chrono::microseconds(100), std::chrono::milliseconds(20));; backoff.pause()) {
      std::int64_t verdict = 0;  // 1: connected, 2: it died
      if (rank_ == 0) verdict = folder_.text(connected_name(epoch_)) ? 1 : alive() ? 0 : 2;
      setup_.group.maximum(std::span(&verdict, 1));
      connected_ = verdict == 1;
      if (verdict != 0) return connected_;
      line_->engine.BeginStep();
      put_number(empty_step);
      line_->engine.EndStep();
    }
  }

  void put_number(std::int64_t number) {
    if (rank_ != 0) return;
    auto variable = line_->io.InquireVariable<std::int64_t>(number_variable);
    if (!variable) variable = line_->io.DefineVariable<std::int64_t>(number_variable);
    line_->engine.Put(variable, number, adios2::Mode::Sync);
  }

  void put_values(const Outgoing& one, std::vector<Bytes>& packed) {
    const StepRecord& record = *one.record;
    const std::string name = values_name(record.variable);
    auto variable = line_->io.InquireVariable<std::uint8_t>(name);
    if (!variable) variable = line_->io.DefineVariable<std::uint8_t>(name, {}, {}, {1, 1, 1, 1});
    variable.SetSelection({{}, extents(record, record.points)});
    const void* values = one.array.data;
    if (!(one.array.box == record.points) ||
        one.array.strides != packed_strides(record.points, record.components, Order::column)) {
      packed.emplace_back(record.bytes);
      pack(one.array, record.points, Order::column, packed.back());
      values = packed.back().data();
    }
    line_->engine.Put(variable, static_cast<const std::uint8_t*>(values), adios2::Mode::Deferred);
  }

  /// Closes the connection. Closing waits until the reader has released every step, so it is only safe if the reader
  /// said so.
  void hang_up() {
    if (!line_) return;
    if (connected_ && sent_ == answered_) {
      line_->engine.Close();
      line_.reset();
    } else {
      static_cast<void>(line_.release());
    }
    if (rank_ == 0) folder_.clear({"sst-"});
  }

  BulkSetup setup_;
  Folder folder_;
  int rank_, size_;
  std::unique_ptr<Line> line_;
  std::int64_t epoch_ = 0, sent_ = empty_step, answered_ = empty_step;
  bool connected_ = false;
};

class SstReader final : public BulkReader {
 public:
  explicit SstReader(const BulkSetup& setup) : setup_(setup), folder_(setup.folder) {}

  ~SstReader() override {
    try {
      if (line_) line_->engine.Close();
    } catch (const std::exception& e) {
      log::warning("closing a stream: {}", e.what());
    }
  }

  void connect(std::int64_t epoch) override { epoch_ = epoch; }

  /// Waits for the file with the writers' address, which they create when they have something to send.
  [[nodiscard]] bool ready() const override { return line_ != nullptr; }
  void prepare() override {
    std::int64_t there = setup_.group.rank() == 0 && folder_.text(contact_name(epoch_) + ".sst");
    setup_.group.maximum(std::span(&there, 1));
    if (there) open();
  }

  void begin(const StepIndex& step) override {
    step_ = &step;
    const double began = now();
    for (;;) {
      const float left = static_cast<float>(setup_.limit - (now() - began));
      const auto status =
          left > 0 ? line_->engine.BeginStep(adios2::StepMode::Read, left) : adios2::StepStatus::NotReady;
      if (status != adios2::StepStatus::OK) {
        fail(Code::file, "the values of iteration {} did not come over SST within {:.0f} s", step.iteration.index,
             setup_.limit);
      }
      std::int64_t number = empty_step;
      const auto variable = line_->io.InquireVariable<std::int64_t>(number_variable);
      if (variable) line_->engine.Get(variable, number, adios2::Mode::Sync);
      if (number == step.iteration.index) break;
      line_->engine.EndStep();
    }
    open_ = true;
    number_blocks();
  }

  void read(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      const StepRecord& record = *piece.record;
      auto variable = line_->io.InquireVariable<std::uint8_t>(values_name(record.variable));
      if (!variable || !open_) fail(Code::file, "the stream holds no values of variable {}", record.variable);
      variable.SetBlockSelection(block_numbers_[static_cast<std::size_t>(&record - step_->records.data())]);
      const auto from = [&](int axis) {
        return static_cast<std::size_t>(piece.points.lo[axis] - record.points.lo[axis]);
      };
      variable.SetSelection({{from(2), from(1), from(0), 0}, extents(record, piece.points)});
      line_->engine.Get(variable, reinterpret_cast<std::uint8_t*>(piece.to), adios2::Mode::Deferred);
    }
    if (!pieces.empty()) line_->engine.PerformGets();
  }

  void end() override {
    if (!open_) return;
    open_ = false;
    line_->engine.EndStep();
  }

 private:
  void open() {
    line_ = std::make_unique<Line>(
        setup_, EngineParameters{{"SpeculativePreloadMode", "OFF"},
                                 {"DataTransport", "WAN"},
                                 {"OpenTimeoutSecs", std::to_string(static_cast<int>(setup_.limit))}});
    line_->engine = line_->io.Open(folder_.path(contact_name(epoch_)), adios2::Mode::Read);
    if (setup_.group.rank() == 0) folder_.put(connected_name(epoch_), std::string_view("connected\n"));
  }

  /// Numbers blocks as ADIOS2 does: through all writers in the order of their calls.
  void number_blocks() {
    std::map<std::int32_t, std::size_t> counts;
    block_numbers_.clear();
    for (const StepRecord& record : step_->records) block_numbers_.push_back(counts[record.variable]++);
  }

  BulkSetup setup_;
  Folder folder_;
  std::unique_ptr<Line> line_;
  std::int64_t epoch_ = 0;
  const StepIndex* step_ = nullptr;
  std::vector<std::size_t> block_numbers_;
  bool open_ = false;
};

}  // namespace

void add_sst_engine(std::map<std::string, BulkEngine>& engines) {
  engines["sst"] = {[](const BulkSetup& setup) { return std::make_unique<SstWriter>(setup); },
                    [](const BulkSetup& setup) { return std::make_unique<SstReader>(setup); }};
}

}  // namespace sidestream::staging
