// Some of the particles, the same ones however they are divided.
//
// A particle is drawn by a hash of its number, or of where it is: those below a limit are in the sample. A sample of
// another size from the same seed holds the smaller one or is held by it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "analysis/common_options.hpp"
#include "analysis/kinds.hpp"
#include "analysis/point_values.hpp"
#include "base/mixed_bits.hpp"
#include "base/records.hpp"

namespace sidestream {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

struct SubsampleQuery {
  std::int32_t coordinates = -1, ids = -1;  ///< no numbers: -1
  int dimensions = 3;
  std::vector<std::int32_t> variables;
  std::uint64_t limit = no_limit;  ///< hashes up to it are drawn
  std::int64_t maximum = -1;       ///< at most so many; -1: any number
  std::uint64_t seed = 0;
};

/// A particle of the sample. Its numbers: three coordinates, then the values.
struct Drawn {
  std::uint64_t hash = 0;
  std::int64_t id = 0;
  std::vector<double> numbers;

  /// A total order, but for particles that are alike in all bits.
  [[nodiscard]] bool operator<(const Drawn& other) const {
    if (hash != other.hash) return hash < other.hash;
    if (id != other.id) return id < other.id;
    return std::memcmp(numbers.data(), other.numbers.data(), numbers.size() * sizeof(double)) < 0;
  }
};

void put(ByteWriter& out, const Drawn& drawn) {
  out.put(drawn.hash);
  out.put(drawn.id);
  out.put_all(std::span(drawn.numbers));
}

std::vector<Drawn> read_all(BytesView bytes, std::size_t numbers) {
  std::vector<Drawn> all;
  for (ByteReader in(bytes); !in.at_end();) {
    Drawn& drawn = all.emplace_back();
    in.get(drawn.hash);
    in.get(drawn.id);
    in.get_all(drawn.numbers, numbers);
  }
  return all;
}

/// Collective: the greatest limit up to which all servers together have at most `maximum` particles. It is found digit
/// by digit, so that nobody needs to know all of them. Nothing: not even the least hash.
std::optional<std::uint64_t> limit_for(const std::vector<Drawn>& mine, std::int64_t maximum, Communicator& servers) {
  std::uint64_t prefix = 0;
  std::int64_t left = maximum;
  for (int shift = 56; shift >= 0; shift -= 8) {
    std::vector<std::int64_t> counts(256, 0);
    for (const Drawn& drawn : mine) {
      const bool known = shift == 56 || drawn.hash >> (shift + 8) == prefix >> (shift + 8);
      if (known) ++counts[drawn.hash >> shift & 255];
    }
    servers.sum(counts);
    std::uint64_t digit = 0;
    while (digit < 256 && counts[digit] <= left) left -= counts[digit++];
    if (digit == 256) return no_limit;  // in the first round alone: there are no more than that
    prefix |= digit << shift;
  }
  if (prefix == 0) return std::nullopt;
  return prefix - 1;  // those with the hash `prefix` are too many: none of them
}

class Subsample final : public Task {
 public:
  Subsample(SubsampleQuery query, const Metadata& metadata, std::string file, Pieces pieces)
      : query_(std::move(query)), file_(std::move(file)), pieces_(pieces) {
    for (const std::int32_t id : query_.variables) {
      const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
      arrays_.push_back({variable.name, variable.components});
      numbers_ += static_cast<std::size_t>(variable.components);
    }
  }

  Selection selection() const override {
    Selection selection{{{query_.coordinates, 0}}};
    if (query_.ids >= 0) selection.variables.push_back({query_.ids, 0});
    for (const std::int32_t id : query_.variables) selection.variables.push_back({id, 0});
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    std::vector<Drawn> drawn;
    for (const BlockView& view : input.of(query_.coordinates)) draw(view, input, drawn);
    keep_least(drawn);
    ByteWriter out;
    for (const Drawn& one : drawn) put(out, one);
    return out.take();
  }

  Bytes combine(const CombineInput& input) override {
    Communicator& servers = input.communicator;
    std::vector<Drawn> mine;
    for (const Bytes& partial : input.partials) {
      for (Drawn& drawn : read_all(partial, numbers_)) mine.push_back(std::move(drawn));
    }
    std::optional<std::uint64_t> limit = query_.limit;
    if (query_.maximum >= 0) limit = limit_for(mine, query_.maximum, servers);
    if (!limit) mine.clear();
    mine = shared(mine, limit.value_or(0), servers);
    std::sort(mine.begin(), mine.end());
    if (file_.ends_with(".csv")) {
      input.results.add_parts(file_, table(mine), servers, pieces_);
    } else {
      input.results.add_parts(file_, points(mine), servers, pieces_);
    }
    return {};
  }

 private:
  struct ArrayName {
    std::string name;
    int components;
  };

  void draw(const BlockView& view, const LocalInput& input, std::vector<Drawn>& drawn) const {
    const BlockView* ids = query_.ids >= 0 ? input.find(query_.ids, view.block.id) : nullptr;
    if (query_.ids >= 0 && !ids) return;  // were not delivered
    std::vector<const BlockView*> values;
    for (const std::int32_t id : query_.variables) values.push_back(input.find(id, view.block.id));
    for_each_counted(view, [&](Index i) {
      Drawn one;
      one.numbers.assign(3, 0);
      for (int c = 0; c < query_.dimensions; ++c) one.numbers[static_cast<std::size_t>(c)] = real_at(view, i, c);
      if (ids) one.id = whole_at(*ids, i);
      one.hash = hash_of(one, ids != nullptr);
      if (one.hash > query_.limit) return;
      for (std::size_t v = 0; v < values.size(); ++v) {
        for (int c = 0; c < arrays_[v].components; ++c) {
          one.numbers.push_back(values[v] ? real_at(*values[v], i, c) : std::numeric_limits<double>::quiet_NaN());
        }
      }
      drawn.push_back(std::move(one));
      // From time to time, so that no more than twice the sample is held.
      if (query_.maximum >= 0 && drawn.size() > 2 * static_cast<std::size_t>(query_.maximum) + 1024) keep_least(drawn);
    });
  }

  static std::int64_t whole_at(const BlockView& view, Index i) {
    return with_type(view.array.type,
                     [&](auto zero) { return static_cast<std::int64_t>(*view.array.at<decltype(zero)>(i, 0, 0)); });
  }

  [[nodiscard]] std::uint64_t hash_of(const Drawn& one, bool numbered) const {
    if (numbered) return mixed_bits(query_.seed ^ mixed_bits(static_cast<std::uint64_t>(one.id)));
    std::uint64_t hash = query_.seed;
    for (const double x : one.numbers)
      hash = mixed_bits(hash ^ std::bit_cast<std::uint64_t>(x + 0.0));  // both zeros are one
    return hash;
  }

  /// Of more particles than the sample may have, those that may be in it.
  void keep_least(std::vector<Drawn>& drawn) const {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(query_.maximum, 0));
    if (query_.maximum < 0 || drawn.size() <= most) return;
    // One more tells how many have the last hash.
    const auto end = drawn.begin() + static_cast<std::ptrdiff_t>(std::min(most + 1, drawn.size()));
    std::nth_element(drawn.begin(), end - 1, drawn.end());
    drawn.erase(end, drawn.end());
  }

  /// Those up to the limit, each server a stretch of them by their hashes.
  [[nodiscard]] std::vector<Drawn> shared(const std::vector<Drawn>& mine, std::uint64_t limit,
                                          Communicator& servers) const {
    const auto count = static_cast<std::size_t>(servers.size());
    const std::uint64_t each = std::max<std::uint64_t>(1, limit / count);
    std::vector<ByteWriter> to(count);
    for (const Drawn& drawn : mine) {
      if (drawn.hash <= limit) put(to[std::min<std::size_t>(count - 1, drawn.hash / each)], drawn);
    }
    std::vector<Bytes> bytes;
    for (ByteWriter& writer : to) bytes.push_back(writer.take());
    std::vector<Drawn> all;
    for (const Bytes& from : servers.all_to_all(bytes)) {
      for (Drawn& drawn : read_all(from, numbers_)) all.push_back(std::move(drawn));
    }
    return all;
  }

  [[nodiscard]] Table table(const std::vector<Drawn>& drawn) const {
    std::vector<Column> columns;
    if (query_.ids >= 0) {
      std::vector<std::int64_t> ids;
      for (const Drawn& one : drawn) ids.push_back(one.id);
      columns.push_back({"point_id", std::move(ids)});
    }
    std::size_t at = 0;
    const auto add = [&](std::string name) {
      const auto taken = [&](const Column& column) { return column.name == name; };
      while (std::any_of(columns.begin(), columns.end(), taken)) name += "_";
      std::vector<double> values;
      for (const Drawn& one : drawn) values.push_back(one.numbers[at]);
      columns.push_back({name, std::move(values)});
      ++at;
    };
    for (int a = 0; a < query_.dimensions; ++a) add(std::string(1, "xyz"[a]));
    at = 3;
    for (const ArrayName& array : arrays_) {
      for (int c = 0; c < array.components; ++c)
        add(array.components == 1 ? array.name : fmt::format("{}_{}", array.name, c));
    }
    return Table(std::move(columns));
  }

  [[nodiscard]] Surface points(const std::vector<Drawn>& drawn) const {
    Surface surface;
    for (const Drawn& one : drawn) surface.points.push_back({one.numbers[0], one.numbers[1], one.numbers[2]});
    if (query_.ids >= 0) {
      surface.point_data.push_back({"point_ids", 1, {}});
      for (const Drawn& one : drawn) surface.point_data.back().values.push_back(static_cast<double>(one.id));
    }
    std::size_t at = 3;
    for (const ArrayName& array : arrays_) {
      surface.point_data.push_back({array.name, array.components, {}});
      std::vector<double>& values = surface.point_data.back().values;
      for (const Drawn& one : drawn) {
        const auto first = one.numbers.begin() + static_cast<std::ptrdiff_t>(at);
        values.insert(values.end(), first, first + array.components);
      }
      at += static_cast<std::size_t>(array.components);
    }
    return surface;
  }

  SubsampleQuery query_;
  std::string file_;
  Pieces pieces_;
  std::vector<ArrayName> arrays_;
  std::size_t numbers_ = 3;
};

void read_amount(const Settings& settings, SubsampleQuery& query) {
  if (settings.has("fraction") == settings.has("maximum")) {
    settings.fail(settings.has("fraction") ? "maximum" : "fraction",
                  "a sample has a `fraction` of the particles or a `maximum` of them; give one of the two");
  }
  if (settings.has("maximum")) {
    query.maximum = settings.integer("maximum");
    return;
  }
  const double fraction = settings.real("fraction");
  if (!(fraction > 0 && fraction <= 1)) {
    settings.fail("fraction", fmt::format("found the fraction {}, expected one above 0 and up to 1", fraction));
  }
  if (fraction == 1) return;
  query.limit = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
}

SubsampleQuery read_subsample(const Settings& settings, const Metadata& metadata) {
  const Mesh& mesh = read_particles(settings, metadata);
  SubsampleQuery query;
  query.coordinates = mesh.array(Role::coordinates);
  query.ids = mesh.array(Role::point_ids);
  query.dimensions = mesh.dimensions;
  query.seed = mixed_bits(static_cast<std::uint64_t>(settings.integer("seed")));
  read_amount(settings, query);
  for (const std::string& name : settings.texts("variables")) {
    const Variable& variable = *metadata.find_variable(name);
    const bool twice = std::find(query.variables.begin(), query.variables.end(), variable.id) != query.variables.end();
    if (variable.mesh != mesh.id || variable.role != Role::none || twice) {
      settings.fail("variables", fmt::format("'{}' {}; name variables on '{}', each once", name,
                                             twice                         ? "is named twice"
                                             : variable.role != Role::none ? "describes its mesh and comes by itself"
                                                                           : "lies on another mesh",
                                             mesh.name));
    }
    query.variables.push_back(variable.id);
  }
  return query;
}

std::vector<Option> subsample_options() {
  Option file = file_option("sample-{index:05}.vtp",
                            "The points, or, ending in `.csv`, a table, whose rows are appended unless the name tells "
                            "iterations apart.");
  file.choices.emplace_back(".csv");
  return {
      {.name = "mesh", .type = OptionType::mesh, .required = true, .text = "The particles: a mesh of type `points`."},
      {.name = "variables",
       .type = OptionType::variable,
       .list = true,
       .text = "What the sample has of each particle besides its place and number, all components."},
      {.name = "fraction",
       .type = OptionType::real,
       .text = "The part of the particles to draw, above 0 and up to 1: each is drawn or not by itself, so that the "
               "number is about that."},
      {.name = "maximum",
       .type = OptionType::integer,
       .text = "Instead of `fraction`: at most so many particles, all if there are no more.",
       .minimum = 0,
       .maximum = std::int64_t{1} << 40},
      {.name = "seed",
       .type = OptionType::integer,
       .default_value = "0",
       .text = "Another number draws other particles."},
      file,
      pieces_option()};
}

}  // namespace

AnalysisKind subsample_kind() {
  return {
      .name = "subsample",
      .text =
          "A sample of the particles of a mesh of type `points`, the same whatever the number of servers and however "
          "particles are divided: a hash of a particle's `point_ids`, or, where it has no number, of the bits of its "
          "coordinates, decides. So a numbered particle that is drawn in one iteration is drawn in all (with "
          "`fraction`), and its track can be followed. Flagged ghosts are not drawn. The order of the points is that of "
          "the hashes. With `maximum`, particles without numbers that lie at one place, and would be one too many, are "
          "all left out.",
      .options = subsample_options(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Subsample>(read_subsample(settings, metadata), metadata, settings.text("file"),
                                           read_pieces(settings));
      }};
}

}  // namespace sidestream
