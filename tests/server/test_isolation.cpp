// An isolated analysis gets the same input as `local` here, through bytes and copies, or in shared memory.
#include <array>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>
#include "server/isolation/input_bytes.hpp"

using namespace sidestream;

namespace {

const Box whole{{0, 0, 0}, {4, 3, 2}};

/// An array view with its memory; each value depends on its position.
struct Stored {
  std::vector<double> memory;
  ArrayView view;
};

Stored stored(const Box& box, int components, const std::array<Index, 4>& strides, std::size_t room, Index first) {
  Stored made;
  made.memory.resize(room);
  std::iota(made.memory.begin(), made.memory.end(), 100.0);
  made.view = {made.memory.data() + first, Type::float64, MemorySpace::host, box, components, strides};
  return made;
}

void check_same(const ArrayView& here, const ArrayView& there) {
  REQUIRE(there.box == here.box);
  REQUIRE(there.components == here.components);
  for (Index k = here.box.lo[2]; k < here.box.hi[2]; ++k) {
    for (Index j = here.box.lo[1]; j < here.box.hi[1]; ++j) {
      for (Index i = here.box.lo[0]; i < here.box.hi[0]; ++i) {
        for (int c = 0; c < here.components; ++c) {
          CHECK(*there.at<double>(i, j, k, c) == *here.at<double>(i, j, k, c));
        }
      }
    }
  }
}

/// The input as a worker has it: copies lie elsewhere, and shared memory has another address.
struct Sent {
  Sent(const LocalInput& input, std::span<const SharedObject> objects) {
    PlacedValues values(objects);
    message = bytes_of(input, values);
    copied.resize(values.bytes());
    values.copy(copied.data());
    if (!objects.empty()) shared.assign(objects[0].data, objects[0].data + objects[0].bytes);
  }
  [[nodiscard]] ReceivedInput receive(const Metadata& metadata) const {
    const std::array<const std::byte*, 2> places{copied.data(), shared.data()};
    return {message, metadata, places};
  }
  Bytes message, copied, shared;
};

Metadata two_variables() {
  Metadata metadata;
  metadata.variables.resize(2);
  return metadata;
}

}  // namespace

TEST_CASE("arrays with gaps, backwards, with components, without points") {
  std::vector<Stored> all;
  all.push_back(stored(whole, 1, {1, 4, 12, 0}, 24, 0));      // dense, i fastest
  all.push_back(stored(whole, 1, {6, 2, 1, 0}, 24, 0));       // dense, k fastest
  all.push_back(stored(whole, 1, {3, 20, 100, 0}, 300, 5));   // gaps
  all.push_back(stored(whole, 2, {-2, -8, -24, 1}, 48, 46));  // backwards, from the last element
  all.push_back(stored(whole, 3, {1, 4, 12, 24}, 72, 0));     // components in separate planes
  all.push_back(stored({{0, 0, 0}, {0, 3, 2}}, 1, {1, 0, 0, 0}, 1, 0));
  std::vector<std::vector<BlockView>> blocks(2);
  for (std::size_t n = 0; n < all.size(); ++n) {
    BlockView& view = blocks[0].emplace_back();
    view.block.id = static_cast<std::int64_t>(n);
    view.points = all[n].view.box;
    view.owned = {view.points, whole};
    view.array = all[n].view;
  }
  blocks[0][1].ghosts = all[0].view;  // the same array as that of another block, copied once
  blocks[0][2].halo.push_back({whole, all[4].view});
  blocks[0][3].covered = {whole};
  blocks[0][3].absent = {whole, whole};
  std::vector<EntryViews> entries(1);
  entries[0] = {0, {&blocks[0], nullptr}};
  const Metadata metadata = two_variables();
  const Iteration iteration{7, 70, 0.5};
  LocalInput input{iteration, metadata, blocks, {}};
  input.entries = entries;
  const Sent sent(input, {});
  const std::size_t bytes_of_all = (24 + 24 + 24 + 48 + 72) * sizeof(double);
  CHECK(sent.copied.size() >= bytes_of_all);
  CHECK(sent.copied.size() < bytes_of_all + 6 * 64);
  const ReceivedInput received = sent.receive(metadata);
  const std::vector<BlockView>& there = received.input().of(0);
  REQUIRE(there.size() == all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    CHECK(there[n].block == blocks[0][n].block);
    CHECK(there[n].owned == blocks[0][n].owned);
    check_same(blocks[0][n].array, there[n].array);
  }
  check_same(all[0].view, there[1].ghosts);
  CHECK(there[0].ghosts.data == nullptr);
  check_same(all[4].view, there[2].halo.at(0).array);
  CHECK(there[3].covered == blocks[0][3].covered);
  CHECK(there[3].absent == blocks[0][3].absent);
  CHECK(received.input().iteration.cycle == 70);
}

TEST_CASE("what lies in shared memory is not copied") {
  const Stored inside = stored(whole, 1, {1, 4, 12, 0}, 64, 8), outside = stored(whole, 1, {1, 4, 12, 0}, 24, 0);
  std::vector<std::vector<BlockView>> blocks(2);
  blocks[0].emplace_back().array = inside.view;
  blocks[1].emplace_back().array = outside.view;
  std::vector<EntryViews> entries{{0, {&blocks[0], nullptr}}, {1, {nullptr, &blocks[1]}}};
  const Metadata metadata = two_variables();
  const Iteration iteration;
  LocalInput input{iteration, metadata, blocks, {}};
  input.entries = entries;
  const auto* const data = reinterpret_cast<const std::byte*>(inside.memory.data());
  const SharedObject object{0, data, inside.memory.size() * sizeof(double), 0};
  const Sent sent(input, std::span(&object, 1));
  CHECK(sent.copied.size() == 24 * sizeof(double));
  const ReceivedInput received = sent.receive(metadata);
  check_same(inside.view, received.input().at(0).at(0).array);
  check_same(outside.view, received.input().at(1).at(0).array);
}

TEST_CASE("pieces, events, feedback, the catalogue; nothing of what nobody selected") {
  const Stored values = stored(whole, 1, {1, 4, 12, 0}, 24, 0);
  std::vector<std::vector<BlockView>> blocks(2), piece(1);
  blocks[1].emplace_back().array = values.view;  // of another analysis
  piece[0].emplace_back().array = values.view;
  std::vector<EntryViews> entries{{0, {&piece[0], nullptr}}, {0, {&piece[0], nullptr}}};
  const std::vector<Event> events{{"poke", 3, EventScope::node, 5, Type::int16, Bytes(6)}, {"meet", -1}};
  const Bytes feedback(5, std::byte{9});
  Catalogue catalogue;
  catalogue.global = true;
  catalogue.blocks.resize(3);
  const Metadata metadata = two_variables();
  const Iteration iteration;
  LocalInput input{iteration, metadata, blocks, 2, feedback, &catalogue, entries, 1, 4, events};
  const Sent sent(input, {});
  const ReceivedInput received = sent.receive(metadata);
  const LocalInput& there = received.input();
  CHECK(there.of(1).empty());
  check_same(values.view, there.at(1).at(0).array);
  CHECK(&there.at(0) == &there.at(1));
  CHECK(there.pass == 2);
  CHECK(there.server == 1);
  CHECK(there.servers == 4);
  CHECK(Bytes(there.feedback.begin(), there.feedback.end()) == feedback);
  REQUIRE(there.catalogue);
  CHECK(there.catalogue->blocks.size() == 3);
  REQUIRE(there.events.size() == 2);
  CHECK(there.events[0].count() == 3);
  CHECK(there.events[0].scope == EventScope::node);
  CHECK(there.events[1].client == -1);
}
