// Verifying a context: every byte is read, and each fault becomes a sentence.
#include <algorithm>

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/context.hpp"

namespace sidestream::database {

namespace {

/// Runs `work` and records the message of its exception. Returns false if it threw.
template <class Work>
bool noted(std::vector<std::string>& damages, Work&& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    damages.emplace_back(error.what());
    return false;
  }
}

}  // namespace

std::vector<std::string> verify(Context& context, int number, int shares) {
  std::vector<std::string> damages;
  const auto mine = [&](std::uint64_t bytes, std::uint64_t all) {
    // Assigns a piece by its offset among all bytes, so that consecutive pieces, adjacent in the files, have one owner.
    return static_cast<int>(static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(all, 1)) * shares);
  };
  std::uint64_t before = 0;
  for (std::size_t group = 0; group < context.groups().size(); ++group) {
    if (number == 0) noted(damages, [&] { context.check_segments(group); });
    const bool whole = noted(damages, [&] { static_cast<void>(context.pieces(group)); });
    if (!whole) continue;
    for (const PieceRow& piece : context.pieces(group).pieces) {
      const int share = std::min(mine(before, context.entry().stored), shares - 1);
      before += piece.bytes;
      if (share == number) noted(damages, [&] { context.verify(group, piece); });
    }
    context.forget_pieces(group);
  }
  return damages;
}

}  // namespace sidestream::database
