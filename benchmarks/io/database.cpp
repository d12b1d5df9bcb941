#include "database.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace io {

namespace {

std::string configuration(const Options& options, const std::string& folder, const std::string& placement) {
  std::string text = fmt::format(
      "placement: {}\n"
      "meshes: {{grid: {{type: uniform, size: [{}, {}, {}]}}}}\n"
      "output: {{directory: '{}', existing: replace}}\n"
      "variables:\n",
      placement, options.grid[0], options.grid[1], options.grid[2], folder);
  for (int v = 0; v < options.variables; ++v) text += fmt::format("  field{}: {{mesh: grid}}\n", v);
  text += "outputs:\n";
  for (const Sync sync : {Sync::no, Sync::yes}) {
    text += fmt::format("  - database: {{directory: {0}, on: {0}, fsync: {1}{2}{3}{4}{5}}}\n", name_of(sync),
                        sync == Sync::yes, options.codec.empty() ? "" : ", codec: ", options.codec,
                        options.database.empty() ? "" : ", ", options.database);
  }
  return text;
}

class DatabaseMethod final : public Method {
 public:
  explicit DatabaseMethod(Stream& stream) : stream_(stream) {}
  void write(const Fields& fields, int step, Sync sync) override {
    ++contexts_[static_cast<std::size_t>(sync)];
    stream_.publish(fields, step, name_of(sync));
  }
  void wait(const Fields&, int, Sync sync) override {
    stream_.wait_for(sync, contexts_[static_cast<std::size_t>(sync)]);
  }
  [[nodiscard]] bool writes_behind() const override { return stream_.writes_behind(); }
  [[nodiscard]] bool appends() const override { return true; }

 private:
  Stream& stream_;
  int contexts_[2] = {0, 0};
};

}  // namespace

Stream::Stream(MPI_Comm comm, const Options& options, std::string folder, const std::string& placement)
    : folder_(std::move(folder)),
      session_(sidestream::Session::open_text(comm, configuration(options, folder_, placement))),
      writes_behind_(placement.find("inline") == std::string::npos),
      shown_(options.codec.empty() && options.database.find("hdf5: false") == std::string::npos) {}

void Stream::start(const Fields& fields) {
  session_.set_block("grid", fields.rank, {fields.box.lo, fields.box.hi});
  session_.start();
}

void Stream::publish(const Fields& fields, int step, const char* event) {
  for (std::size_t v = 0; v < fields.values.size(); ++v) {
    session_.publish(fields.names[v], fields.rank, fields.values[v]);
  }
  if (event != nullptr && fields.rank == 0) session_.signal(event);
  session_.end_iteration(step, step);
}

void Stream::wait_for(Sync sync, int contexts) const {
  namespace fs = std::filesystem;
  constexpr std::uintmax_t slot = 256;
  const std::string folder = database(sync);
  const fs::path shown = fmt::format("{}/context-{:06}.h5", folder, contexts);
  std::error_code none;
  // Polling must not take the core from writers.
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::microseconds(100)); };
  const auto size = [&] {
    const std::uintmax_t bytes = fs::file_size(folder + "/contexts", none);
    return none ? 0 : bytes;
  };
  while (size() < (static_cast<std::uintmax_t>(contexts) + 1) * slot) pause();
  while (shown_ && !fs::exists(shown, none)) pause();
}

void Stream::close() {
  const sidestream::Account account = session_.close();
  if (account.refused + account.failed + account.unknown > 0) {
    throw Error(fmt::format("of {} iterations {} were refused, {} failed; see the messages above", account.iterations,
                            account.refused, account.failed));
  }
}

std::unique_ptr<Method> database_method(Stream& stream) { return std::make_unique<DatabaseMethod>(stream); }

}  // namespace io
