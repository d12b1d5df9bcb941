// Reading metadata files.
#include "storage/formats/metadata_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

/// The lines of a table with their positions in the file.
class Rows {
 public:
  Rows(const Document& document, const char* name, const char* form) : name_(name), form_(form) {
    const Entry* entry = document.root().find(name);
    if (entry == nullptr || entry->value.kind == Node::Kind::null) return;
    if (entry->value.kind != Node::Kind::scalar) {
      fail_at(entry->value.where,
              "found {} for '{}', expected lines of numbers ({}); write '{}: |' and the lines below",
              entry->value.description(), name, form, name);
    }
    rest_ = entry->value.text;
    where_ = entry->value.where;
    where_.column = 1;
  }

  /// Advances to the next line with content; false at the end.
  bool next() {
    while (!rest_.empty()) {
      const auto end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
      ++where_.line;
      while (!line_.empty() && (line_.back() == ' ' || line_.back() == '\r')) line_.remove_suffix(1);
      at_ = line_;
      if (!line_.empty()) return true;
    }
    return false;
  }

  template <class T>
  T number() {
    while (!at_.empty() && at_.front() == ' ') at_.remove_prefix(1);
    T value{};
    const auto read = std::from_chars(at_.data(), at_.data() + at_.size(), value);
    if (read.ec != std::errc() || (read.ptr != at_.data() + at_.size() && *read.ptr != ' ')) wrong("found");
    at_.remove_prefix(static_cast<std::size_t>(read.ptr - at_.data()));
    return value;
  }
  void end() {
    if (!at_.empty()) wrong("found more than is expected in");
  }
  /// `what` begins the message: "found", "found a block outside its mesh in".
  [[noreturn]] void wrong(const std::string& what) const {
    fail_at(where_, "{} '{}' under '{}', expected '{}'; correct the line", what, line_, name_, form_);
  }

 private:
  const char *name_, *form_;
  std::string_view rest_, line_, at_;
  Location where_;
};

void check_keys(const Document& document) {
  const Entry* version = document.root().find("sidestream_metadata");
  if (version == nullptr || (version->value.text != "1" && version->value.text != "2")) {
    fail_at(
        version ? version->value.where : Location{document.file(), 1, 1},
        "found {}, expected a metadata file that begins with 'sidestream_metadata: 2' (or 1); give one that the output "
        "'metadata' has written",
        version ? "version " + version->value.description() : std::string("no 'sidestream_metadata'"));
  }
  const std::vector<std::string> known{
      "sidestream_metadata", "iteration", "meshes", "variables", "blocks", "lists", "bounds", "ranges", "counted"};
  for (const Entry& entry : document.root().entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    fail_at(entry.where, "found the unknown key '{}' in a metadata file, expected one of {}; {}", entry.key,
            listed(known), suggestion(entry.key, known, "remove it"));
  }
}

Iteration read_iteration(const Document& document, const ReadContext& context) {
  const Entry* entry = document.root().find("iteration");
  if (entry == nullptr) return {};
  std::vector<Option> options;
  for (const char* name : {"index", "cycle", "time"}) {
    options.push_back({.name = name, .type = OptionType::integer, .default_value = "0"});
  }
  options.back().type = OptionType::real;
  const Settings settings = read_settings(entry->value, options, "'iteration'", entry->where, context);
  return {settings.integer("index"), settings.integer("cycle"), settings.real("time")};
}

/// Reads the number of a mesh and checks it.
const Mesh& read_mesh(Rows& rows, const std::vector<Mesh>& meshes) {
  const auto mesh = rows.number<std::int32_t>();
  if (mesh < 0 || static_cast<std::size_t>(mesh) >= meshes.size()) {
    rows.wrong(fmt::format("found the mesh number {} of {} meshes in", mesh, meshes.size()));
  }
  return meshes[static_cast<std::size_t>(mesh)];
}

void read_lists(const Document& document, MetadataFile& content) {
  Rows rows(document, "lists", "mesh id client points cells corners faces");
  auto& blocks = content.catalogue.blocks;
  while (rows.next()) {
    const Mesh& mesh = read_mesh(rows, content.metadata.meshes);
    if (!mesh.is_list()) rows.wrong("found a list on a mesh whose blocks are boxes in");
    Block block;
    block.mesh = mesh.id;
    block.space = IndexSpace::list;
    block.id = rows.number<std::int64_t>();
    block.client = rows.number<std::int32_t>();
    block.lengths.points = rows.number<Index>();
    block.cells = list_box(rows.number<Index>());
    block.lengths.corners = rows.number<Index>();
    block.lengths.faces = rows.number<Index>();
    rows.end();
    const ListLengths& n = block.lengths;
    if (n.points < 0 || block.cells.hi[0] < 0 || n.corners < 0 || n.faces < 0 || block.client < 0) {
      rows.wrong("found a number below 0 in");
    }
    blocks.push_back(block);
  }
  Rows bounds(document, "bounds", "mesh id low low low high high high");
  std::map<std::pair<std::int32_t, std::int64_t>, Block*> by_id;
  for (Block& block : blocks) by_id[{block.mesh, block.id}] = &block;
  while (bounds.next()) {
    const Mesh& mesh = read_mesh(bounds, content.metadata.meshes);
    const auto found = by_id.find({mesh.id, bounds.number<std::int64_t>()});
    if (found == by_id.end()) bounds.wrong("found no block of that id for");
    for (double& low : found->second->bounds.low) low = bounds.number<double>();
    for (double& high : found->second->bounds.high) high = bounds.number<double>();
    bounds.end();
  }
}

void read_blocks(const Document& document, MetadataFile& content) {
  Rows rows(document, "blocks", "mesh id level client lo lo lo hi hi hi");
  const auto& meshes = content.metadata.meshes;
  auto& blocks = content.catalogue.blocks;
  while (rows.next()) {
    Block block;
    block.mesh = rows.number<std::int32_t>();
    block.id = rows.number<std::int64_t>();
    block.level = rows.number<std::int32_t>();
    block.client = rows.number<std::int32_t>();
    for (Index& lo : block.cells.lo) lo = rows.number<Index>();
    for (Index& hi : block.cells.hi) hi = rows.number<Index>();
    rows.end();
    if (block.mesh < 0 || static_cast<std::size_t>(block.mesh) >= meshes.size()) {
      rows.wrong(fmt::format("found the mesh number {} of {} meshes in", block.mesh, meshes.size()));
    }
    if (block.level < 0 || block.client < 0) rows.wrong("found a level or a client below 0 in");
    const Mesh& mesh = meshes[static_cast<std::size_t>(block.mesh)];
    block.space = mesh.space_of(block.cells);
    if (block.level == 0 && !mesh.is_list() && !mesh.cells.contains(block.cells)) {
      rows.wrong("found a block that reaches beyond its mesh in");
    }
    if (mesh.is_list()) {
      rows.wrong("found a box of cells on a mesh whose blocks are lists in");
    }
    blocks.push_back(block);
  }
  read_lists(document, content);
  const auto key = [](const Block& b) { return std::tuple(b.mesh, b.id); };
  std::vector<std::tuple<std::int32_t, std::int64_t>> ids;
  ids.reserve(blocks.size());
  for (const Block& block : blocks) ids.push_back(key(block));
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return;
  fail_at({document.file(), 0, 0}, "found block {} of the mesh '{}' twice, expected different ids; correct one",
          std::get<1>(*twice), meshes[static_cast<std::size_t>(std::get<0>(*twice))].name);
}

/// Fails unless a row names a component that the file declares.
void check_component(const Rows& rows, const Metadata& metadata, std::int32_t variable, std::int32_t component) {
  const auto& variables = metadata.variables;
  if (variable < 0 || static_cast<std::size_t>(variable) >= variables.size()) {
    rows.wrong(fmt::format("found the variable number {} of {} variables in", variable, variables.size()));
  }
  const std::int32_t components = variables[static_cast<std::size_t>(variable)].components;
  if (component < 0 || component >= components) {
    rows.wrong(fmt::format("found the component {} of {} components in", component, components));
  }
}

void read_ranges(const Document& document, MetadataFile& content) {
  Rows rows(document, "ranges", "block variable component minimum maximum (and seven times minimum maximum)");
  while (rows.next()) {
    BlockRange range;
    range.block = rows.number<std::int64_t>();
    range.variable = rows.number<std::int32_t>();
    range.component = rows.number<std::int32_t>();
    const auto extremes = [&](Range& r) {
      r.minimum = rows.number<double>();
      r.maximum = rows.number<double>();
    };
    extremes(range.all);
    for (Range& layer : range.lowest) extremes(layer);
    rows.end();
    check_component(rows, content.metadata, range.variable, range.component);
    content.catalogue.ranges.push_back(range);
  }
}

void read_counted(const Document& document, MetadataFile& content) {
  Rows rows(document, "counted", "block beside variable component minimum maximum");
  while (rows.next()) {
    CountedRange range;
    range.block = rows.number<std::int64_t>();
    range.beside = rows.number<std::int64_t>();
    range.variable = rows.number<std::int32_t>();
    range.component = rows.number<std::int32_t>();
    range.range.minimum = rows.number<double>();
    range.range.maximum = rows.number<double>();
    rows.end();
    check_component(rows, content.metadata, range.variable, range.component);
    content.catalogue.counted.push_back(range);
  }
}

}  // namespace

MetadataFile parse_metadata(const std::string& text, const std::string& name) {
  const auto document = parse_document(text, name);
  check_keys(*document);
  const Parameters none;
  const ExpressionContext expressions{none};
  MetadataFile content;
  content.metadata = read_declarations(*document, expressions, {});
  content.iteration = read_iteration(*document, {expressions, nullptr});
  content.catalogue.global = true;
  read_blocks(*document, content);
  read_ranges(*document, content);
  read_counted(*document, content);
  return content;
}

}  // namespace sidestream
