// Tables of options: what they declare, what they read, and what does not compile.
#include "sidestream/extend/option_table.hpp"

#include "config/options/read_settings.hpp"
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

enum class Tone { warm, cold };

struct Point {
  std::vector<double> at{};
  std::string name{};
};

struct Shared {
  std::int64_t seed = 0;
};

struct Inherited {
  std::string label{};
};

struct Query : Inherited {
  bool flag = false, logarithmic = false;
  int count = 0;
  std::uint64_t memory = 0;
  double level = -1, least = -1;
  std::optional<double> most{};
  std::optional<std::array<double, 2>> range{};
  std::string text{}, file{}, mesh{}, every{}, event{}, word{};
  Tone tone = Tone::warm;
  std::vector<Tone> tones{};
  std::vector<std::int32_t> sizes{};
  std::vector<std::string> names{};
  Variable variable{};
  std::vector<Variable> fields{};
  std::optional<Variable> weight{};
  std::optional<Point> centre{};
  std::vector<Point> points{};
  OptionPairs parameters{};
  std::optional<OneOfOptions> shape{};
  Settings camera{};
  Shared shared{};
  int twice = 0;
};

OptionTable<Point> point_options() {
  return {option("at", &Point::at, "A place.", {.required = true, .least_entries = 1, .most_entries = 3}),
          option("name", &Point::name, "Its name.", {.standard = "here"})};
}

OptionTable<Query> query_options() {
  return OptionTable<Query>{
      option("flag", &Query::flag, "A flag.", {.standard = true}),
      option<OptionType::choice>("scale", &Query::logarithmic, "A scale.",
                                 {.standard = "linear", .choices = {{"linear", false}, {"logarithmic", true}}}),
      option("count", &Query::count, "A number.", {.standard = 64, .minimum = 1, .maximum = 100}),
      option<OptionType::bytes>("memory", &Query::memory, "Bytes.", {.standard = "64 MiB"}),
      option("level", &Query::level, "A real.", {.standard = 0.25}),
      option("least", &Query::least, "A real without a default."),
      option("most", &Query::most, "A real that may be absent."),
      option("range", &Query::range, "Two numbers."),
      option("text", &Query::text, "A text."),
      option<OptionType::file>("file", &Query::file, "A file.", {.standard = "a.csv", .choices = {".csv"}}),
      option<OptionType::mesh>("mesh", &Query::mesh, "A mesh."),
      option<OptionType::schedule>("every", &Query::every, "A schedule."),
      option<OptionType::event>("event", &Query::event, "An event."),
      option<OptionType::choice>("word", &Query::word, "A word.", {.choices = {"one", "two"}}),
      option("tone", &Query::tone, "A tone.",
             {.standard = "cold", .choices = {{"warm", Tone::warm}, {"cold", Tone::cold}}}),
      option("tones", &Query::tones, "Tones.", {.choices = {{"warm", Tone::warm}, {"cold", Tone::cold}}}),
      option("sizes", &Query::sizes, "Sizes.", {.standard = "[1, 2]"}),
      option("names", &Query::names, "Names."),
      option("variable", &Query::variable, "A variable.", {.standard = "temperature"}),
      option("fields", &Query::fields, "Variables."),
      option("weight", &Query::weight, "A variable that may be absent."),
      option("centre", &Query::centre, "A nested struct.", {.options = point_options()}),
      option("point", &Query::points, "A list of structs.", {.options = point_options()}),
      option("parameters", &Query::parameters, "Pairs."),
      option("shape", &Query::shape, "One of several.",
             {.options = {{.name = "plane", .type = OptionType::map, .options = point_options().declarations()}}}),
      option("camera", &Query::camera, "A map as it is.",
             {.standard = "{}", .options = {{.name = "up", .default_value = "z"}}}),
      options_of(&Query::shared, OptionTable<Shared>{option("seed", &Shared::seed, "A seed.", {.standard = 7})}),
      option("label", &Query::label, "A field of the base.", {.standard = "none"}),
      options_read_by([](const Settings&, const Metadata&, const Query& query) { return 2 * query.count; }, {},
                      &Query::twice)};
}

Metadata declared() {
  Metadata metadata;
  for (const char* name : {"temperature", "pressure"}) {
    Variable& variable = metadata.variables.emplace_back();
    variable.name = name;
    variable.id = static_cast<std::int32_t>(metadata.variables.size()) - 1;
  }
  metadata.meshes.emplace_back().name = "grid";
  return metadata;
}

Settings settings_of(const std::string& text, const std::vector<Option>& options, const Metadata& metadata) {
  const auto document = parse_document(text, "run.yaml");
  const Parameters none;
  return read_settings(document->root(), options, "the test", {"run.yaml", 1, 1},
                       context_of(*document, ExpressionContext{none}, &metadata));
}

Query read_query(const std::string& text, const OptionTable<Query>& table = query_options()) {
  const Metadata metadata = declared();
  return table.read(settings_of(text, table.declarations(), metadata), metadata);
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <OptionType type, class Field>
concept Compiles = requires(Field Query::*field) {
  option<type>("name", field, "");
};

}  // namespace

// Fields that cannot hold the option do not compile.
static_assert(HoldsOption<int, OptionType::integer> && HoldsOption<std::vector<int>, OptionType::bytes>);
static_assert(Compiles<OptionType::file, std::string> && !Compiles<OptionType::file, int>);
static_assert(Compiles<OptionType::real, double> && !Compiles<OptionType::real, int>);
static_assert(!Compiles<OptionType::integer, double> && !Compiles<OptionType::integer, bool>);
static_assert(!Compiles<OptionType::boolean, int> && !Compiles<OptionType::boolean, std::vector<bool>>);
static_assert(Compiles<OptionType::variable, std::optional<Variable>> && !Compiles<OptionType::mesh, Variable>);
static_assert(!Compiles<OptionType::map, std::string> && !Compiles<OptionType::pairs, Point>);

TEST_CASE("a table declares its options in order, with types and defaults") {
  const std::vector<Option> options = query_options().declarations();
  const auto find = [&](const std::string& name) {
    return *std::find_if(options.begin(), options.end(), [&](const Option& option) { return option.name == name; });
  };
  CHECK(options.front().name == "flag");
  CHECK(options.back().name == "label");
  CHECK(find("flag").default_value == "true");
  CHECK(find("count").default_value == "64");
  CHECK(find("level").default_value == "0.25");
  CHECK(find("count").type == OptionType::integer);
  CHECK(find("count").maximum == 100);
  CHECK(find("scale").choices == std::vector<std::string>{"linear", "logarithmic"});
  CHECK(find("range").list);
  CHECK(find("range").least_entries == 2);
  CHECK(find("range").most_entries == 2);
  CHECK(find("most").default_value.empty());
  CHECK(find("point").list);
  CHECK(find("point").type == OptionType::map);
  CHECK(find("centre").options.at(0).required);
  CHECK(find("seed").default_value == "7");
}

TEST_CASE("defaults fill fields, and fields without a value stay as they are") {
  const Query query = read_query("{}");
  CHECK(query.flag);
  CHECK_FALSE(query.logarithmic);
  CHECK(query.count == 64);
  CHECK(query.memory == 64 << 20);
  CHECK(query.level == 0.25);
  CHECK(query.least == -1);
  CHECK_FALSE(query.most);
  CHECK_FALSE(query.range);
  CHECK(query.text.empty());
  CHECK(query.file == "a.csv");
  CHECK(query.tone == Tone::cold);
  CHECK(query.sizes == std::vector<std::int32_t>{1, 2});
  CHECK(query.variable.name == "temperature");
  CHECK_FALSE(query.weight);
  CHECK_FALSE(query.centre);
  CHECK(query.points.empty());
  CHECK_FALSE(query.shape);
  CHECK(query.camera.text("up") == "z");
  CHECK(query.shared.seed == 7);
  CHECK(query.label == "none");
  CHECK(query.twice == 128);
}

TEST_CASE("given values of every type fill fields") {
  const Query query = read_query(
      "{flag: false, scale: logarithmic, count: 3, memory: 2 KiB, level: 1.5, least: 2, most: 4, range: [1, 2],\n"
      " text: hello, file: 'b.csv', mesh: grid, every: 5, event: now, word: two, tone: warm, tones: [cold, warm],\n"
      " sizes: [5, 6, 7], names: [a, b], variable: pressure, fields: [pressure, temperature], weight: temperature,\n"
      " centre: {at: [1, 2, 3]}, point: [{at: 1, name: p}, {at: [2, 3]}], parameters: {QueueLimit: 2},\n"
      " shape: {plane: {at: 4}}, camera: {up: x}, seed: 9, label: mine}");
  CHECK_FALSE(query.flag);
  CHECK(query.logarithmic);
  CHECK(query.count == 3);
  CHECK(query.memory == 2048);
  CHECK(query.most == 4.0);
  CHECK(query.range == std::array<double, 2>{1, 2});
  CHECK(query.text + query.file + query.mesh + query.every + query.event + query.word == "hellob.csvgrid5nowtwo");
  CHECK(query.tone == Tone::warm);
  CHECK(query.tones == std::vector<Tone>{Tone::cold, Tone::warm});
  CHECK(query.sizes == std::vector<std::int32_t>{5, 6, 7});
  CHECK(query.names == std::vector<std::string>{"a", "b"});
  CHECK(query.variable.id == 1);
  CHECK(query.fields.at(1).id == 0);
  CHECK(query.weight->name == "temperature");
  CHECK(query.centre->at == std::vector<double>{1, 2, 3});
  CHECK(query.centre->name == "here");
  CHECK(query.points.at(0).name == "p");
  CHECK(query.points.at(1).at.size() == 2);
  CHECK(query.parameters.at("QueueLimit") == "2");
  CHECK(query.shape->first == "plane");
  CHECK(query.camera.text("up") == "x");
  CHECK(query.shared.seed == 9);
  CHECK(query.label == "mine");
}

TEST_CASE("options are named by their fields") {
  const OptionTable<Query> table = query_options();
  const Metadata metadata = declared();
  const Settings settings = settings_of("{count: 3,\n label: mine}", table.declarations(), metadata);
  CHECK(table.name(&Query::logarithmic) == "scale");
  CHECK(table.name(&Query::label) == "label");
  CHECK(table.given(settings, &Query::count));
  CHECK_FALSE(table.given(settings, &Query::level));
  CHECK(message_of([&] { table.fail(settings, &Query::count, "too few"); }) == "run.yaml:1:9: too few");
  CHECK(message_of([&] { table.fail(settings, &Query::label, "mine"); }) == "run.yaml:2:9: mine");
  const OptionTable<Query> empty;
  CHECK(message_of([&] { static_cast<void>(empty.name(&Query::count)); }) != "no error");
}

TEST_CASE("checks run after one option and after all") {
  std::string order;
  const auto table =
      OptionTable<Query>{
          option("count", &Query::count, "A number.", {.standard = 64})
              .then([&](const Settings& settings, const std::string& name, const Metadata&, const Query& query) {
                order += name;
                if (query.count == 13) settings.fail(name, "found 13");
              }),
          option("text", &Query::text, "A text.")}
          .then([&](const OptionTable<Query>& all, const Settings& settings, const Metadata&, Query& query) {
            order += "all";
            if (query.text == "wrong") all.fail(settings, &Query::text, "found wrong");
          });
  CHECK(read_query("{count: 1}", table).count == 1);
  CHECK(order == "countall");
  CHECK(message_of([&] { static_cast<void>(read_query("{count: 13}", table)); }) == "run.yaml:1:9: found 13");
  CHECK(message_of([&] { static_cast<void>(read_query("{text: wrong}", table)); }) == "run.yaml:1:8: found wrong");
}
