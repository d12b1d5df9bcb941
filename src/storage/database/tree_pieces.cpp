// Values of octrees. They are cut by level, and a chunk may need others for decoding: coarser levels and companions.
//
// 1. tree: decodes the flags of refinement, which define the cuts. The trees used last are kept.
// 2. decoded: prepares a variable on a block (cuts, offsets, relations); turn_to first drops values that no other
//    variable needs.
// 3. decode: reads a chunk, checks it, and decodes it. The codec asks Cells for the values that it needs, which decodes
//    their chunks first. The depth of this recursion is limited, since relations of a forged file may form a ring.
// 4. fetch: flags are unpacked, values decoded, into the caller's memory.
// Faults are Error(file); what was decoded before remains valid.
#include "storage/database/tree_pieces.hpp"

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace {

constexpr std::size_t few_trees = 8,
                      most_cells = std::size_t{1} << 24;  ///< limit for more than few_trees trees; a cell takes 8 bytes
constexpr std::size_t most_kept = std::size_t{1} << 29;   ///< bytes of values
constexpr std::size_t most_blocks = 1024;
constexpr int most_chained = 1000;  ///< chunks that need others in a chain; files may be forged

bool is_of_tree(const std::vector<std::string>& codecs) { return codecs.size() == 1 && codecs.front() == tree_codec; }

/// Counts the depth of recursion.
class DepthGuard {
 public:
  DepthGuard(int& depth, const std::string& where) : depth_(depth) {
    if (depth_ >= most_chained)
      fail(Code::file, "{}: values that need each other to be decoded; the file is damaged", where);
    ++depth_;
  }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int& depth_;
};

}  // namespace

/// Provides values of a block, decoded on request.
class TreePieces::Cells final : public CellValues {
 public:
  Cells(TreePieces& pieces, std::size_t group, std::uint32_t block) : pieces_(pieces), group_(group), block_(block) {}

  BytesView of(const Variable& variable, std::int32_t component, Index first, Index past, Bytes& scratch) override {
    const PieceRow* piece = pieces_.context_.find(group_, static_cast<std::uint32_t>(variable.id), block_);
    const LevelCuts& cuts = pieces_.decoded(group_, *piece).cuts;
    const std::size_t element = size_of(variable.type);
    scratch.clear();
    for (Index at = first; at < past;) {
      const std::size_t chunk = cuts.chunk_of(at);
      const Index begin = cuts.cells[chunk], end = std::min(past, cuts.cells[chunk + 1]);
      const std::size_t cell = element * static_cast<std::size_t>(variable.components);
      const BytesView part =
          pieces_.values(group_, *piece, chunk)
              .subspan(static_cast<std::size_t>(at - begin) * cell, static_cast<std::size_t>(end - at) * cell);
      if (variable.components == 1 && at == first && end == past) return part;
      const std::size_t before = scratch.size();
      scratch.resize(before + static_cast<std::size_t>(end - at) * element);
      take_component(part, element, variable.components, component, std::span(scratch).subspan(before));
      at = end;
    }
    return scratch;
  }

 private:
  TreePieces& pieces_;
  std::size_t group_;
  std::uint32_t block_;
};

void TreePieces::forget() {
  blocks_.clear();
  kept_bytes_ = 0;
}

void TreePieces::drop(OfBlock& block, std::map<std::uint32_t, Decoded>::iterator at) {
  kept_bytes_ -= at->second.bytes;
  block.variables.erase(at);
}

void TreePieces::find_named() {
  named_.assign(context_.metadata().variables.size(), false);
  for (const Variable& variable : context_.metadata().variables) {
    try {
      for (const std::string& name :
           named_in(variable.name, context_.schema().relations_of(static_cast<std::size_t>(variable.id)))) {
        const Variable* const of = context_.metadata().find_variable(name);
        if (of != nullptr) named_[static_cast<std::size_t>(of->id)] = true;
      }
    } catch (const Error&) {  // invalid relations fail when their variable is read
    }
  }
}

// Drops values, except of variables that others' relations name: only these are needed again after their own turn.
void TreePieces::turn_to(const Key& key, std::uint32_t variable) {
  if (named_.empty()) find_named();
  const bool first = blocks_.empty();
  if (first || blocks_.front().key != key || read_ != variable) {
    if (!first && !named_[read_]) {
      const auto before = blocks_.front().variables.find(read_);
      if (before != blocks_.front().variables.end()) drop(blocks_.front(), before);
    }
    const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const OfBlock& of) { return of.key == key; });
    if (found == blocks_.end()) blocks_.push_front({key, {}});
    if (found != blocks_.end()) blocks_.splice(blocks_.begin(), blocks_, found);
    read_ = variable;
  }
  while (kept_bytes_ > most_kept || blocks_.size() > most_blocks) {
    OfBlock& last = blocks_.back();
    if (!last.variables.empty()) {
      drop(last, last.variables.begin());
    } else {
      blocks_.pop_back();
    }
  }
}

const ChunkRow& TreePieces::row_of(std::size_t group, const PieceRow& piece, std::size_t chunk) {
  return context_.pieces(group).chunks[piece.chunk + chunk];
}

Bytes TreePieces::stored(std::size_t group, const PieceRow& piece, const ChunkRow& row, std::uint64_t at) {
  Bytes bytes;
  context_.load(group, piece, row, at, [&]() -> std::span<std::byte> {
    bytes.resize(row.bytes);
    return bytes;
  });
  return bytes;
}

void TreePieces::unpack_flags(std::size_t group, const PieceRow& piece, const Variable& variable, BytesView packed,
                              std::span<std::byte> out) {
  const std::span<std::uint8_t> flags(reinterpret_cast<std::uint8_t*>(out.data()), out.size());
  if (variable.role == Role::refined) {
    return unpack_refined(*tree_shape(context_.metadata().mesh_of(variable)), packed, flags);
  }
  const LinkedTree& of = tree(group, piece.block);
  unpack_owned(of.shape(), of.refined(), packed, flags);
}

std::vector<std::uint8_t> TreePieces::read_flags(std::size_t group, std::uint32_t block, const Mesh& mesh) {
  const std::int32_t variable = mesh.array(Role::refined);
  const PieceRow* const piece =
      variable < 0 ? nullptr : context_.find(group, static_cast<std::uint32_t>(variable), block);
  if (piece == nullptr) {
    fail(Code::file,
         "{}: the flags of refinement of block {} of the mesh '{}' are missing, with which its values are read",
         context_.directory_, context_.blocks(group)[block].id, mesh.name);
  }
  std::vector<std::uint8_t> flags;
  if (piece->chunks > 0) {
    fetch(group, *piece, 0, [&]() -> std::span<std::byte> {
      flags.resize(context_.bytes_of(group, *piece));
      return std::as_writable_bytes(std::span(flags));
    });
    return flags;
  }
  const std::size_t count = context_.places(group, *piece).values.size() - 1;
  for (std::size_t n = 0; n < count; ++n) {
    const BytesView part = context_.chunk(group, *piece, n);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(part.data());
    flags.insert(flags.end(), bytes, bytes + part.size());
  }
  return flags;
}

LinkedTree& TreePieces::tree(std::size_t group, std::uint32_t block) {
  const Key key{group, block};
  const auto found = std::find_if(trees_.begin(), trees_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found != trees_.end()) {
    trees_.splice(trees_.begin(), trees_, found);
    return *trees_.front().tree;
  }
  const Mesh& mesh = context_.metadata().meshes[static_cast<std::size_t>(context_.blocks(group)[block].mesh)];
  if (mesh.kind() != MeshKind::octree) fail(Code::usage, "the mesh '{}' is no octree", mesh.name);
  std::unique_ptr<LinkedTree> made;
  std::vector<std::uint8_t> flags = read_flags(group, block, mesh);
  try {
    made = std::make_unique<LinkedTree>(mesh, std::move(flags));
  } catch (const Error& error) {
    fail(Code::file, "{}: {}; the file is damaged", context_.directory_, error.what());
  }
  kept_cells_ += static_cast<std::size_t>(made->cells());
  trees_.push_front({key, std::move(made)});
  while (trees_.size() > most_blocks || (trees_.size() > few_trees && kept_cells_ > most_cells)) {
    kept_cells_ -= static_cast<std::size_t>(trees_.back().tree->cells());
    trees_.pop_back();
  }
  return *trees_.front().tree;
}

std::vector<std::uint64_t> TreePieces::cuts(std::size_t group, const PieceRow& piece) {
  const Variable& variable = context_.metadata().variables[piece.variable];
  if (variable.role != Role::none) return {0, context_.bytes_of(group, piece)};
  const std::uint64_t cell = size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
  const LevelCuts cuts = cut_levels(tree(group, piece.block), cell, context_.schema().chunk);
  std::vector<std::uint64_t> values;
  for (const Index first : cuts.cells) values.push_back(static_cast<std::uint64_t>(first) * cell);
  if (cuts.chunks() != piece.chunks || values.back() != context_.bytes_of(group, piece)) {
    fail(Code::file, "{}: '{}' on block {} is cut into {} chunks, but its tree into {}; the file is damaged",
         context_.directory_, variable.name, context_.blocks(group)[piece.block].id, piece.chunks, cuts.chunks());
  }
  return values;
}

const PieceRow* TreePieces::companion(std::size_t group, std::uint32_t block, const std::string& name) {
  const Variable* const variable = context_.metadata().find_variable(name);
  if (variable == nullptr || variable->role != Role::none) return nullptr;
  const std::vector<std::string>& codecs = context_.schema().codecs[static_cast<std::size_t>(variable->id)];
  if (!codecs.empty() && !is_of_tree(codecs)) return nullptr;
  const PieceRow* const piece = context_.find(group, static_cast<std::uint32_t>(variable->id), block);
  return piece != nullptr && piece->chunks > 0 ? piece : nullptr;
}

TreePieces::Decoded& TreePieces::decoded(std::size_t group, const PieceRow& piece) {
  const Key key{group, piece.block};
  if (depth_ == 0) turn_to(key, piece.variable);
  std::map<std::uint32_t, Decoded>& variables = blocks_.front().variables;
  const auto found = variables.find(piece.variable);
  if (found != variables.end()) return found->second;
  const Variable& variable = context_.metadata().variables[piece.variable];
  Decoded made;
  static_cast<void>(cuts(group, piece));
  made.cuts =
      cut_levels(tree(group, piece.block), size_of(variable.type) * static_cast<std::uint64_t>(variable.components),
                 context_.schema().chunk);
  made.chunks.resize(made.cuts.chunks());
  made.stored.assign(1, piece.offset);
  for (std::size_t n = 0; n < made.cuts.chunks(); ++n)
    made.stored.push_back(made.stored.back() + row_of(group, piece, n).bytes);
  const auto find = [this, group, block = piece.block](const std::string& name) -> const Variable* {
    const PieceRow* const other = companion(group, block, name);
    return other == nullptr ? nullptr : &context_.metadata().variables[other->variable];
  };
  try {
    made.coding = coding_of(variable, context_.schema().relations_of(piece.variable),
                            tree(group, piece.block).shape().dimensions, find);
  } catch (const Error& error) {
    fail(Code::file, "{}: the relations of '{}' make no sense ({}); the file is damaged", context_.directory_,
         variable.name, error.what());
  }
  return variables.emplace(piece.variable, std::move(made)).first->second;
}

BytesView TreePieces::values(std::size_t group, const PieceRow& piece, std::size_t chunk) {
  Decoded& of = decoded(group, piece);
  if (of.chunks[chunk].empty()) {
    const std::uint64_t cell =
        size_of(of.coding.variable->type) * static_cast<std::uint64_t>(of.coding.variable->components);
    Bytes made(static_cast<std::size_t>(of.cuts.cells[chunk + 1] - of.cuts.cells[chunk]) * cell);
    decode(group, piece, chunk, made);
    kept_bytes_ += made.size();
    of.bytes += made.size();
    of.chunks[chunk] = std::move(made);
  }
  return of.chunks[chunk];
}

void TreePieces::decode(std::size_t group, const PieceRow& piece, std::size_t chunk, std::span<std::byte> out) {
  Decoded& of = decoded(group, piece);
  const ChunkRow& row = row_of(group, piece, chunk);
  if (row.encoded == 0) {
    if (row.bytes != out.size())
      fail(Code::file, "{}: a chunk of the wrong length in a table; the file is damaged", context_.directory_);
    return context_.load(group, piece, row, of.stored[chunk], [&] { return out; });
  }
  const DepthGuard guard(depth_, context_.directory_);
  const Bytes bytes = stored(group, piece, row, of.stored[chunk]);
  const auto lists = context_.schema().lists_of(piece.variable);
  if (row.encoded > lists.size() || !is_of_tree(lists[row.encoded - 1])) {
    return context_.packing(piece.variable).decode(row.encoded, bytes, out);
  }
  Cells cells(*this, group, piece.block);
  LinkedTree& on = tree(group, piece.block);
  decode_chunk(bytes, on, cells_of(on, of.cuts, chunk), of.coding, cells, context_.tree_codec(), out);
}

void TreePieces::fetch(std::size_t group, const PieceRow& piece, std::uint64_t number,
                       const std::function<std::span<std::byte>()>& target) {
  const Variable& variable = context_.metadata().variables[piece.variable];
  const ChunkRow& row = row_of(group, piece, number);
  if (variable.role != Role::none) {
    const std::uint64_t flags = context_.bytes_of(group, piece);
    if (row.encoded == 0 && row.bytes == flags) return context_.load(group, piece, row, piece.offset, target);
    const auto lists = context_.schema().lists_of(piece.variable);
    if (row.encoded == 0 || row.encoded > lists.size() || !is_of_tree(lists[row.encoded - 1])) {
      fail(Code::file, "{}: flags of a tree that went through codecs of values; the file is damaged",
           context_.directory_);
    }
    const Bytes packed = stored(group, piece, row, piece.offset);
    return unpack_flags(group, piece, variable, packed, target());
  }
  Decoded& of = decoded(group, piece);
  if (of.chunks[number].empty() && row.encoded != 0 && is_of_tree(context_.schema().codecs[piece.variable])) {
    static_cast<void>(values(group, piece, number));  // finer levels are decoded with the chunk
  }
  if (of.chunks[number].empty()) return decode(group, piece, number, target());
  const std::span<std::byte> out = target();
  std::memcpy(out.data(), of.chunks[number].data(), out.size());
}

}  // namespace sidestream::database
