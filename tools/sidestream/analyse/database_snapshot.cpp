// Contexts of databases.
#include <algorithm>
#include <map>

#include "analyse/sources.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::analysing {

namespace {

class DatabaseSnapshot final : public Snapshot {
 public:
  DatabaseSnapshot(const std::string& directory, const database::Entry& entry) : context_(directory, entry) {}

  [[nodiscard]] const Metadata& metadata() const override { return context_.metadata(); }

  [[nodiscard]] const std::vector<Block>& blocks() override {
    if (!blocks_.empty()) return blocks_;
    for (std::size_t group = 0; group < context_.groups().size(); ++group) {
      const std::vector<Block>& of_group = context_.blocks(group);
      for (std::size_t n = 0; n < of_group.size(); ++n) {
        blocks_.push_back(of_group[n]);
        places_.push_back({group, static_cast<std::uint32_t>(n)});
      }
    }
    return blocks_;
  }

  [[nodiscard]] bool has(std::int32_t variable, std::size_t block) override {
    return piece(variable, block) != nullptr;
  }

  void read(std::int32_t variable, std::size_t block, const Block& part, std::span<std::byte> out) override {
    if (part.is_list() || part.cells == blocks_[block].cells) {
      return database::read_piece(context_, places_[block].group, *piece(variable, block), out);
    }
    const Variable& of = metadata().variables[static_cast<std::size_t>(variable)];
    const Box points = of.points(part);
    const database::Target target{out.data(), points, packed_strides(points, of.components, of.order)};
    const auto missing = database::read_box(context_, static_cast<std::uint32_t>(variable), part.level, points, target);
    if (missing > 0) fail(Code::internal, "analyse: {} points of '{}' are in no block", missing, of.name);
  }

 private:
  struct Place {
    std::size_t group = 0;
    std::uint32_t row = 0;
  };
  [[nodiscard]] const database::PieceRow* piece(std::int32_t variable, std::size_t block) {
    const Place& place = places_.at(block);
    return context_.find(place.group, static_cast<std::uint32_t>(variable), place.row);
  }

  database::Context context_;
  std::vector<Block> blocks_;
  std::vector<Place> places_;
};

}  // namespace

StoredIterations database_iterations(const std::string& directory) {
  StoredIterations found;
  const std::vector<database::Entry> contexts = database::read_journal(directory).contexts;
  std::map<std::uint32_t, std::int64_t> first;  // first cycle of each run
  for (const database::Entry& entry : contexts) {
    const auto [at, is_new] = first.emplace(entry.run, entry.iteration.cycle);
    if (!is_new) at->second = std::min(at->second, entry.iteration.cycle);
  }
  for (const database::Entry& entry : contexts) {
    // Iterations that a later run has computed again count as that run's.
    const bool anew = std::any_of(first.begin(), first.end(), [&](const auto& run) {
      return run.first > entry.run && entry.iteration.cycle >= run.second;
    });
    if (anew) continue;
    const BytesView bytes = bytes_of(entry);
    std::string part(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    found.push_back({Format::database, directory, std::move(part), entry.iteration});
  }
  if (found.empty()) fail(Code::file, "the database '{}' has no context; there is nothing to analyse", directory);
  return found;
}

std::unique_ptr<Snapshot> open_database(const StoredIteration& iteration) {
  const std::span<const char> part(iteration.part);
  return std::make_unique<DatabaseSnapshot>(iteration.path, record_of<database::Entry>(std::as_bytes(part)));
}

}  // namespace sidestream::analysing
