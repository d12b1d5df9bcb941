#include "visualisation/render/line_pieces.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::rendering {

std::vector<Piece> pieces_of_lines(const streamlines::Query& query, const CombineInput& input) {
  if (input.local == nullptr) {
    fail(Code::configuration,
         "found stream lines in a picture with 'forward: partials', where servers have no blocks to trace them in; "
         "choose another placement, or leave 'streamlines' out");
  }
  const streamlines::Lines lines = streamlines::trace(query, *input.local, input.communicator);
  if (input.communicator.rank() != 0) return {};
  const std::size_t count = sampling::value_count(query.values, input.metadata);
  Piece piece;
  piece.data.resize(count);
  for (std::size_t n = 0; n < lines.vertices.size(); ++n) {
    streamlines::Place at = lines.vertices[n].at;
    if (query.dimensions < 3) at[2] = query.flat;
    piece.points.push_back(at);
    for (std::size_t c = 0; c < count; ++c) piece.data[c].push_back(lines.values[n * count + c]);
  }
  piece.lines = streamlines::segments_of(lines);
  std::vector<Piece> pieces;
  pieces.push_back(std::move(piece));
  return pieces;
}

}  // namespace sidestream::rendering
