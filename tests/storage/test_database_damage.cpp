// Flips bytes of a small database, and cuts files off; in `make test-all` each byte, and at each length. Contexts that
// are reported as whole have their values, and lost ones are named.
#include <doctest/doctest.h>

#include <fstream>

#include "inspection/inspection.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/support/small_database.hpp"
#include "support/scratch.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr std::size_t contexts = 3;

struct Stored {
  explicit Stored(const std::vector<std::string>& codecs) {
    MpiCommunicator alone(MPI_COMM_SELF);
    database::StoringOptions options;
    options.directory = scratch.path;
    options.max_file_size = 1 << 20;
    options.show = options.flush = false;
    SmallDatabase database(alone, options, codecs);
    for (std::size_t cycle = 0; cycle < contexts; ++cycle) database.store(static_cast<std::int64_t>(cycle));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return scratch.path + "/" + name; }
  /// The bytes of the segment that contexts use, by the specification.
  [[nodiscard]] std::vector<bool> used(std::size_t size) const {
    std::vector<bool> bytes(size);
    const auto mark = [&](std::uint64_t from, std::uint64_t count) {
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count, true);
    };
    for (const database::Entry& entry : database::read_journal(scratch.path).contexts) {
      database::Context context(scratch.path, entry);
      mark(entry.record.offset, entry.record.size);
      for (const database::GroupEntry& group : context.groups()) {
        mark(group.offset, group.blocks * 144 + group.pieces * 40 + group.chunks * 16);
      }
      for (const database::PieceRow& piece : context.pieces(0).pieces) mark(piece.offset, piece.bytes);
    }
    return bytes;
  }
  Scratch scratch;
};

/// True if reading noticed that something is wrong. Fails if reading gives out what was never stored.
bool noticed(const Stored& stored) {
  const Findings findings = read_all(stored.scratch.path, SmallDatabase::blocks_of_all(1));
  REQUIRE_FALSE(findings.wrong);
  REQUIRE(findings.damages.size() >= findings.damaged.size());
  const bool all = findings.whole.size() == contexts;
  // Missing contexts must be named, as damage or as a slot that is passed over.
  REQUIRE((all || !findings.damages.empty() || !findings.remarks.empty()));
  return !all || !findings.remarks.empty();
}

/// So many bytes further on comes the next one; over 8 of them each bit of a byte has its turn.
std::size_t step() { return test_all() ? 1 : 3; }

const char* const segment = "segment-0001-000000-0000.h5";

}  // namespace

TEST_CASE("a flipped bit anywhere is noticed where it matters") {
  for (const auto& codecs : {std::vector<std::string>{}, std::vector<std::string>{"byte-shuffle", "gzip"}}) {
    stay_in_memory();
    const Stored stored(codecs);
    for (const std::string name : {"contexts", segment}) {
      const std::string content = read_file(stored.path(name));
      const std::vector<bool> used =
          name == segment ? stored.used(content.size()) : std::vector<bool>(content.size(), true);
      for (std::size_t at = name == segment ? database::overlay_bytes : 0; at < content.size(); at += step()) {
        CAPTURE(name);
        CAPTURE(at);
        std::string changed = content;
        changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
        write_file(stored.path(name), changed);
        REQUIRE(noticed(stored) == used[at]);
      }
      write_file(stored.path(name), content);
      REQUIRE_FALSE(noticed(stored));
    }
  }
}

TEST_CASE("a file that is cut off anywhere costs what was behind") {
  stay_in_memory();
  const Stored stored({});
  for (const std::string name : {"contexts", segment}) {
    const std::string content = read_file(stored.path(name));
    const std::vector<bool> used =
        name == segment ? stored.used(content.size()) : std::vector<bool>(content.size(), true);
    std::vector<std::size_t> whole;
    for (std::size_t at = content.size(); at-- > 0;) {
      if (at % 256 != 0 && at % step() != 0) continue;  // a slot has 256 bytes
      CAPTURE(name);
      CAPTURE(at);
      write_file(stored.path(name), content.substr(0, at));
      if (at == 0 && name != segment) break;
      const Findings findings = read_all(stored.scratch.path, SmallDatabase::blocks_of_all(1));
      REQUIRE_FALSE(findings.wrong);
      if (name == segment) {
        const bool lost = std::find(used.begin() + static_cast<std::ptrdiff_t>(at), used.end(), true) != used.end();
        REQUIRE(lost == !findings.damages.empty());
      } else {
        // Nobody can tell that a slot that is completely gone was ever written. A part of a slot is named.
        REQUIRE(findings.whole.size() == std::min(contexts, (at / 256 == 0 ? 1 : at / 256) - 1));
        REQUIRE(findings.remarks.size() == (at % 256 == 0 ? 0u : 1u));
        // Files that no slot names are reported all the same.
        if (at % 256 == 0)
          REQUIRE(database::inspect(stored.scratch.path).unnamed.lost.size() == contexts + 1 - at / 256);
      }
    }
    write_file(stored.path(name), content);
  }
}
