// Tables, images and surfaces on disk: they grow, are indexed, resumed, and survive crashes.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/formats/csv.hpp"
#include "storage/formats/kinds.hpp"
#include "storage/results/result_store.hpp"
#include "storage/results/series.hpp"
#include "storage/support/sample.hpp"
#include "support/message_of.hpp"
#include "support/test_all.hpp"
#include "transport/processes.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A store on a directory of its own, with an image format that writes only the size.
struct Fixture {
  Fixture() {
    registry.add(csv_format());
    registry.add(vtp_format());
    ResultFormat image;
    image.ending = ".txt";
    image.image = [](const std::string& path, const Image& value, const std::string&) {
      std::ofstream(path) << value.width << 'x' << value.height;
    };
    registry.add(image);
  }
  std::unique_ptr<ResultStore> store(bool resume, int rank = 0) {
    return store(resume ? Continuation::run : Continuation::nothing, rank);
  }
  std::unique_ptr<ResultStore> store(Continuation what, int rank = 0) {
    return std::make_unique<ResultStore>(registry, open_output_directory(directory.path(), "made by a test", what),
                                         rank);
  }
  std::string text(const std::string& name) { return read_file(directory / name); }
  using Names = std::vector<std::string>;
  static Names names_of(const std::vector<ListedFile>& files) {
    Names names;
    for (const ListedFile& file : files) names.push_back(file.name);
    return names;
  }
  Names listed(const std::string& index) { return names_of(parse_index(text(index))); }
  Names overtaken(const std::string& index) { return names_of(parse_overtaken(text(index))); }
  void put(const std::string& name, const std::string& content) { std::ofstream(directory / name) << content; }

  MpiCommunicator self{MPI_COMM_SELF};
  SharedDirectory directory{self};
  Registry registry;
};

Iteration at(std::int64_t index, std::int64_t cycle) { return {index, cycle, 0.25 * static_cast<double>(cycle)}; }

Table one_row(double value) { return {{"variable", "mean"}, {{std::string("T"), value}}}; }

Surface triangle(double z) {
  return {{{0, 0, z}, {1, 0, z}, {0, 1, z}}, {{0, 1, 2}}, {}, {{"temperature", 1, {1, 2, 3}}}};
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a table without iteration in its name grows by the iteration's rows") {
  const auto results = store(false);
  results->begin(at(0, 10))->add("a/statistics.csv", one_row(1.5));
  results->begin(at(1, 20))->add("a/statistics.csv",
                                 Table{{"variable", "mean"}, {{std::string("p,\"q\""), 0.1}, {std::string(), 1e300}}});
  CHECK(text("a/statistics.csv") ==
        "iteration,cycle,time,variable,mean\n0,10,2.5,T,1.5\n1,20,5,\"p,\"\"q\"\"\",0.1\n1,20,5,,1e+300\n");
  CHECK(text("provenance.txt") == "made by a test\n");
}

TEST_CASE_FIXTURE(Fixture, "a table has each column once, and not those that are put before them") {
  const auto said = [&](const std::vector<std::string>& columns) {
    const std::vector<Table::Cell> row(columns.size(), 1.0);
    const auto results = store(false);
    return message_of([&] { results->begin({0, 0, 0})->add("t.csv", Table(columns, {row})); });
  };
  CHECK(contains(said({"time", "mean"}), "found the column 'time' in a table for 't.csv'"));
  CHECK(contains(said({"mean", "cycle"}), "iteration, cycle and time are put before"));
  CHECK(contains(said({"mean", "mean"}), "found the column 'mean' twice in a table for 't.csv'"));
  CHECK(said({"mean", "times"}) == "nothing was thrown");
  CHECK(text("t.csv") == "iteration,cycle,time,mean,times\n0,0,0,1,1\n");
}

TEST_CASE_FIXTURE(Fixture, "a new run starts its tables anew") {
  store(false)->begin(at(0, 0))->add("t.csv", one_row(1));
  store(false)->begin(at(0, 0))->add("t.csv", one_row(2));
  CHECK(text("t.csv") == "iteration,cycle,time,variable,mean\n0,0,0,T,2\n");
}

TEST_CASE_FIXTURE(Fixture, "a resumed run continues its tables before its first cycle") {
  {
    const auto first = store(false);
    for (int n = 0; n < 4; ++n) first->begin(at(n, 10 * n))->add("t.csv", one_row(n));
  }
  const std::string head = "iteration,cycle,time,variable,mean\n0,0,0,T,0\n1,10,2.5,T,1\n";
  SUBCASE("from a complete file") {}
  SUBCASE("from a file whose last line a crash cut off") { put("t.csv", head + "2,20,5,T,2\n3,30,7.5,"); }
  SUBCASE("from a file cut off within the cycle") { put("t.csv", head + "2,1"); }
  SUBCASE("from a file cut off within a quoted text") { put("t.csv", head + "1,11,2.75,\"a\n"); }
  SUBCASE("beside a file that a crash left half written") { put(".t.csv.part", "iterat"); }
  const auto second = store(true);
  const std::string before = text("t.csv");
  second->begin(at(0, 20))->add("t.csv", one_row(7));
  second->begin(at(1, 30))->add("t.csv", one_row(8));
  CHECK(text("t.csv") == head + "0,20,5,T,7\n1,30,7.5,T,8\n");
  // Rows that are dropped are kept in a file beside it: those of cycle 20, if there were any.
  const bool dropped = contains(before, "2,20,5,T,2\n");
  CHECK(std::filesystem::exists(directory / "t-v1.csv") == dropped);
  if (dropped) CHECK(text("t-v1.csv") == before.substr(0, before.rfind('\n') + 1));
  CHECK_FALSE(std::filesystem::exists(directory / ".t.csv.part"));
}

TEST_CASE_FIXTURE(Fixture, "within a session tables and indices go on by iteration, of which some may share a cycle") {
  {
    // Stores cycle 10 three times; the first two were acknowledged.
    const auto first = store(false);
    for (int n = 0; n < 4; ++n) {
      const auto results = first->begin(at(n, n == 0 ? 0 : 10));
      results->add("t.csv", one_row(n));
      results->add("c-{cycle}.txt", Image{n, n, {}});
    }
  }
  const auto rows = [](int count) {
    std::string text = "iteration,cycle,time,variable,mean\n0,0,0,T,0\n";
    for (int n = 1; n < count; ++n) text += fmt::format("{},10,2.5,T,{}\n", n, n);
    return text;
  };
  const auto again = [&](Continuation what, int index) {
    const auto second = store(what);
    const auto results = second->begin(at(index, 10));
    results->add("t.csv", one_row(7));
    results->add("c-{cycle}.txt", Image{7, 7, {}});
  };
  SUBCASE("servers that take over") {
    again(Continuation::session, 3);
    CHECK(text("t.csv") == rows(3) + "3,10,2.5,T,7\n");
    CHECK(listed("c.txt.series") == Names{"c-0.txt", "c-10.txt", "c-10-v2.txt", "c-10-v4.txt"});
    CHECK(overtaken("c.txt.series") == Names{"c-10-v3.txt"});
  }
  SUBCASE("another run counts iterations from 0 again") {
    again(Continuation::run, 0);
    CHECK(text("t.csv") == rows(1) + "0,10,2.5,T,7\n");
  }
  SUBCASE("servers that take over in a run that goes on after another") {
    again(Continuation::run, 0);
    const auto third = store(Continuation::session);
    third->begin(at(0, 10))->add("t.csv", one_row(8));
    CHECK(text("t.csv") == rows(1) + "0,10,2.5,T,8\n");
  }
}

namespace {

/// An output directory that ends the process, as by a kill, right after one file got its name.
class DyingDirectory final : public OutputDirectory {
 public:
  DyingDirectory(std::shared_ptr<const OutputDirectory> inner, std::string last)
      : inner_(std::move(inner)), last_(std::move(last)) {}
  std::string path(const std::string& pattern, const Iteration& iteration, int server) const override {
    return inner_->path(pattern, iteration, server);
  }
  std::string temporary(const std::string& path) const override { return inner_->temporary(path); }
  void commit(const std::string& path) const override {
    inner_->commit(path);
    if (path.ends_with(last_)) ::_exit(7);
  }
  void discard(const std::string& path) const noexcept override { inner_->discard(path); }
  const std::string& provenance() const noexcept override { return inner_->provenance(); }
  bool resumes() const noexcept override { return inner_->resumes(); }

 private:
  std::shared_ptr<const OutputDirectory> inner_;
  std::string last_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a run that is killed when it has cut a table back loses no row that it kept") {
  test::Child first([&] {
    const auto results = store(false);
    for (int n = 0; n < 4; ++n) results->begin(at(n, n))->add("t.csv", one_row(n));
    return ::_exit(7), 0;  // killed: the length of the table's whole part stays noted
  });
  REQUIRE(first.wait() == 7);
  REQUIRE(std::filesystem::exists(directory / ".t.csv.committed"));
  test::Child second([&] {
    const auto output = open_output_directory(directory.path(), "made by a test", Continuation::run);
    const auto results = std::make_unique<ResultStore>(registry, std::make_shared<DyingDirectory>(output, "/t.csv"), 0);
    results->begin(at(0, 2))->add("t.csv", one_row(7));
    return 0;
  });
  REQUIRE(second.wait() == 7);
  const std::string head = "iteration,cycle,time,variable,mean\n0,0,0,T,0\n1,1,0.25,T,1\n";
  CHECK(text("t.csv") == head);
  store(true)->begin(at(0, 2))->add("t.csv", one_row(8));
  CHECK(text("t.csv") == head + "0,2,0.5,T,8\n");
}

TEST_CASE_FIXTURE(Fixture, "an empty or headless table is begun again") {
  put("t.csv", "iteration,cyc");
  store(true)->begin(at(0, 5))->add("t.csv", one_row(1));
  CHECK(text("t.csv") == "iteration,cycle,time,variable,mean\n0,5,1.25,T,1\n");
}

TEST_CASE_FIXTURE(Fixture, "tables that do not fit are refused with the way out") {
  const auto results = store(false);
  results->begin(at(0, 0))->add("t.csv", one_row(1));
  CHECK(contains(message_of([&] {
                   results->begin(at(0, 0))->add("t.csv", Table{{"bin"}, {}});
                 }),
                 "different file names"));
  CHECK(contains(message_of([&] {
                   store(true)->begin(at(0, 0))->add("t.csv", Table{{"bin"}, {}});
                 }),
                 "has the columns iteration,cycle,time,variable,mean, but now they are iteration,cycle,time,bin"));
  CHECK(contains(message_of([&] {
                   results->begin(at(1, 0))->add("t.csv", Table{{"variable", "mean"}, {{1.0}}});
                 }),
                 "2 columns but a row of 1 cells"));
  put("t.csv", "iteration,cycle,time,variable,mean\nx,y,z,T,1\n");
  CHECK(contains(message_of([&] { store(true)->begin(at(0, 0))->add("t.csv", one_row(1)); }),
                 "has 'y' where the cycle is expected"));
}

TEST_CASE_FIXTURE(Fixture, "surfaces get a file an iteration and an index over time") {
  const auto results = store(false);
  for (int n = 0; n < 2; ++n) results->begin(at(n, 10 * n))->add("s/{cycle:03}/front.vtp", triangle(n));
  CHECK(files_under(directory.path()) ==
        std::vector<std::string>{"s/000/front.vtp", "s/010/front.vtp", "s/front.pvd", "s/front.vtp.series"});
  CHECK(text("s/front.vtp.series") ==
        "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
        "    {\"name\": \"000/front.vtp\", \"time\": 0, \"cycle\": 0, \"iteration\": 0},\n"
        "    {\"name\": \"010/front.vtp\", \"time\": 2.5, \"cycle\": 10, \"iteration\": 1}\n  ]\n}\n");
  CHECK(contains(text("s/front.pvd"), "<DataSet timestep=\"2.5\" file=\"010/front.vtp\"/>"));
}

TEST_CASE_FIXTURE(Fixture, "a resumed run keeps earlier entries and never overwrites their files") {
  {
    const auto first = store(false);
    for (int n = 0; n < 3; ++n) {
      first->begin(at(n, 10 * n))->add("c-{cycle}.vtp", triangle(n));
      first->begin(at(n, 10 * n))->add("i-{index}.txt", Image{4, n, {}});
    }
  }
  const auto second = store(true);
  const std::string old = text("c-20.vtp");
  second->begin(at(0, 20))->add("c-{cycle}.vtp", triangle(5));
  CHECK(listed("c.vtp.series") == Names{"c-0.vtp", "c-10.vtp", "c-20-v2.vtp"});
  CHECK(contains(text("c.vtp.series"), "{\"name\": \"c-20-v2.vtp\", \"time\": 5, \"cycle\": 20, \"iteration\": 0}"));
  CHECK(text("c-20.vtp") == old);
  CHECK(overtaken("c.vtp.series") == Names{"c-20.vtp"});
  store(true)->begin(at(0, 10))->add("c-{cycle}.vtp", triangle(6));
  CHECK(overtaken("c.vtp.series") == Names{"c-10.vtp", "c-20-v2.vtp", "c-20.vtp"});
  second->begin(at(0, 20))->add("i-{index}.txt", Image{7, 7, {}});
  CHECK(text("i-0.txt") == "4x0");
  CHECK(text("i-0-v2.txt") == "7x7");
  put("c.vtp.series", "{\"files\": [{\"name\": 1}]}");
  CHECK(contains(message_of([&] { store(true)->begin(at(0, 20))->add("c-{cycle}.vtp", triangle(0)); }),
                 "is not an index that Sidestream wrote"));
}

TEST_CASE_FIXTURE(Fixture, "iterations with one name get versions of it, and all are listed") {
  {
    const auto results = store(false);
    for (int n = 0; n < 3; ++n) results->begin(at(n, 10))->add("c-{cycle}.txt", Image{n, n, {}});
  }
  CHECK(text("c-10.txt") == "0x0");
  CHECK(text("c-10-v2.txt") == "1x1");
  CHECK(text("c-10-v3.txt") == "2x2");
  for (const char* name : {"\"c-10.txt\"", "\"c-10-v2.txt\"", "\"c-10-v3.txt\""}) {
    CHECK(contains(text("c.txt.series"), name));
  }
}

TEST_CASE_FIXTURE(Fixture, "an index of many files is not rewritten for each, lacks few, and ends complete") {
  constexpr int files = 400;
  const auto listed = [&](const std::string& name) {
    std::size_t count = 0;
    const std::string index = text(name);
    for (std::size_t at = 0; (at = index.find("\"name\"", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  std::set<std::string> seen;
  {
    const auto results = store(false);
    for (int n = 0; n < files; ++n) {
      results->begin(at(n, n))->add("c-{cycle}.txt", Image{1, 1, {}});
      seen.insert(text("c.txt.series"));
      CHECK(16 * (static_cast<std::size_t>(n) + 1 - listed("c.txt.series")) <= static_cast<std::size_t>(n) + 1);
    }
    CHECK(seen.size() < files / 3);  // a busy machine may add some, once a second
    if (listed("c.txt.series") == files) results->begin(at(files, files))->add("c-{cycle}.txt", Image{1, 1, {}});
    // As after a kill: the next run finds entries that the index lacks, except for a line that was being written.
    std::ofstream(directory / ".c.txt.series.rest", std::ios::app) << "{\"name\": \"c-9";
    const std::size_t last = std::filesystem::exists(directory / ("c-" + std::to_string(files) + ".txt"));
    const auto second = store(true);
    second->begin(at(0, files + 1))->add("c-{cycle}.txt", Image{2, 2, {}});
    CHECK(listed("c.txt.series") == files + last + 1);
  }
  CHECK(listed("c.txt.series") >= files);
  CHECK_FALSE(std::filesystem::exists(directory / ".c.txt.series.rest"));
}

TEST_CASE_FIXTURE(Fixture, "two results for one file are refused") {
  const auto results = store(false);
  const auto first = results->begin(at(0, 0));
  first->add("i-{index}.txt", Image{});
  CHECK(contains(message_of([&] { first->add("i-{index}.txt", Image{}); }), "two results of iteration 0"));
  first->add("latest.txt", Image{1, 1, {}});
  CHECK(contains(message_of([&] { first->add("latest.txt", Image{}); }), "two results of iteration 0"));
  const auto next = results->begin(at(1, 1));
  next->add("latest.txt", Image{2, 2, {}});
  CHECK(text("latest.txt") == "2x2");
  CHECK(contains(message_of([&] { next->add("i_{cycle}.txt", Image{}); }), "share the index 'i.txt.series'"));
}

TEST_CASE_FIXTURE(Fixture, "analyses that run later on the same iteration may write a file again") {
  const auto results = store(false);
  results->begin(at(0, 0))->add("latest.txt", Image{1, 1, {}});
  results->begin(at(0, 0))->add("latest.txt", Image{2, 2, {}});
  CHECK(text("latest.txt") == "2x2");
}

TEST_CASE_FIXTURE(Fixture, "endings that no format has are refused by name") {
  const auto whole = store(false);
  const auto results = whole->begin(at(0, 0));
  CHECK(message_of([&] { results->add("a.png", one_row(1)); }) ==
        "the file name 'a.png' has no ending that tables can be written to; use one of: .csv");
  CHECK(contains(message_of([&] { results->add("a", Image{}); }), "use one of: .txt"));
  CHECK(contains(message_of([&] { results->add("a.csv", triangle(0)); }), "use one of: .vtp"));
}

TEST_CASE_FIXTURE(Fixture, "a format that fails leaves nothing and the old file as it was") {
  const auto results = store(false);
  results->begin(at(0, 0))->add("latest.vtp", triangle(0));
  const std::string before = text("latest.vtp");
  Surface bad = triangle(1);
  bad.point_data[0].values.pop_back();
  CHECK(contains(message_of([&] { results->begin(at(1, 1))->add("latest.vtp", bad); }), "has 2 values"));
  CHECK(text("latest.vtp") == before);
  CHECK(files_under(directory.path()) == std::vector<std::string>{"latest.vtp"});
}

TEST_CASE_FIXTURE(Fixture, "ranks other than 0 keep nothing") {
  const auto kept = store(false, 1);
  const auto results = kept->begin(at(0, 0));
  results->add("t.csv", one_row(1));
  results->add("a.vtp", triangle(0));
  results->add("a.txt", Image{});
  CHECK(files_under(directory.path()).empty());
}

TEST_CASE("CSV is read record by record") {
  const std::string text = "a,\"b,\"\"c\nd\",\r\n,1\nlast";
  const auto records = parse_csv(text);
  REQUIRE(records.size() == 2);
  CHECK(records[0].fields == std::vector<std::string>{"a", "b,\"c\nd", ""});
  CHECK(records[1].fields == std::vector<std::string>{"", "1"});
  CHECK(std::string(records[0].text) + std::string(records[1].text) == text.substr(0, text.size() - 4));
}

namespace {

constexpr std::int64_t rows_each = 5000;  // more than are written at once

Table many_rows(std::int64_t index) {
  Table table{{"row", "value"}, {}};
  for (std::int64_t r = 0; r < rows_each; ++r) table.add_row({r, 0.1 * static_cast<double>(r + index)});
  return table;
}

/// Iterations in the table, each of which must be whole.
std::int64_t whole_iterations(const std::string& path) {
  std::map<std::string, std::int64_t> rows;
  std::int64_t records = -1;
  for_each_record(path, [&](const CsvRecord& record) {
    if (++records > 0) ++rows[record.fields[0]];
  });
  for (const auto& [iteration, count] : rows) CHECK_MESSAGE(count == rows_each, path << ", iteration " << iteration);
  return static_cast<std::int64_t>(rows.size());
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a table holds whole iterations after a kill in the midst of a row") {
  std::int64_t cut = 0;
  for (std::uint64_t limit = 60; limit < 600'000; limit += test_all() ? 15013 : 45013) {
    CAPTURE(limit);
    std::filesystem::remove_all(directory.path());
    {
      // The system kills a process that writes beyond the limit, after the bytes below the limit were written.
      test::Child child([&] {
        const rlimit small{limit, limit};
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::setrlimit(RLIMIT_FSIZE, &small);
        const auto results = store(false);
        for (int n = 0; n < 4; ++n) results->begin(at(n, n))->add("t.csv", many_rows(n));
        return 0;
      });
      (void)child.wait();
    }
    const std::uint64_t size = std::filesystem::exists(directory / "t.csv") ? size_of_file(directory / "t.csv") : 0;
    store(true)->begin(at(100, 100))->add("t.csv", many_rows(100));
    const std::int64_t found = whole_iterations(directory / "t.csv");
    CHECK(found >= 1);
    cut += found < 5 && size > 0;
    CHECK_FALSE(std::filesystem::exists(directory / ".t.csv.committed"));
  }
  CHECK(cut > (test_all() ? 10 : 3));
}

TEST_CASE_FIXTURE(Fixture, "a table holds whole iterations after kills at any moment") {
  for (int round = 0; round < 25; round += test_all() ? 1 : 4) {
    std::filesystem::remove_all(directory.path());
    {
      test::Child child([&] {
        const auto results = store(false);
        for (int n = 0;; ++n) results->begin(at(n, n))->add("t.csv", many_rows(n));
        return 0;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + 7 * round));
      child.kill();
    }
    store(true)->begin(at(1 << 20, 1 << 20))->add("t.csv", many_rows(0));
    CHECK(whole_iterations(directory / "t.csv") >= 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "a table that lost power is cut to iterations that are surely whole") {
  {
    const auto results = store(false);
    for (int n = 0; n < 3; ++n) results->begin(at(n, n))->add("t.csv", many_rows(n));
  }
  put(".t.csv.committed", fmt::format("{:020}\n", size_of_file(directory / "t.csv")));
  cut_file(directory / "t.csv", size_of_file(directory / "t.csv") - 20);
  store(true)->begin(at(9, 9))->add("t.csv", many_rows(9));
  CHECK(whole_iterations(directory / "t.csv") == 3);
}
