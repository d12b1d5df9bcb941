// The `sidestream` command as a user calls it: output, messages, exit status.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/tool_folder.hpp"

using sidestream::testing::contains;
using sidestream::testing::contents;
using sidestream::testing::Outcome;
using sidestream::testing::ToolFolder;

namespace {

/// The folder of this file's tests.
struct Folder : ToolFolder {
  Folder() : ToolFolder("tool_files") {}
};

const std::string good =
    "placement: {mode: cores, per_node: 1}\n"
    "meshes: {grid: {size: [$nx, $nx, 2 * $nx], spacing: $h}}\n"
    "variables: {temperature: {mesh: grid, unit: K}}\n"
    "analyses:\n"
    "  - histogram: {variable: temperature, bins: 64, every: 5}\n";

}  // namespace

TEST_CASE("version, help and wrong arguments") {
  const Folder folder;
  CHECK(folder.run("--version").status == 0);
  const std::string version = folder.run("--version").out;
  CHECK(version.rfind("sidestream 0.1.0\n", 0) == 0);
  // Libraries that it was built with, a line each. This program needs none of them.
  for (const char* part : {"zstd ", "zfp ", "FFTW ", "tinyxml2 ", "ADIOS2 ", "Fortran ", "Python "}) {
    CHECK(contains(version, std::string("\nwith     ") + part) != contains(version, std::string("\nwithout  ") + part));
  }
  CHECK(contains(folder.run("--help").out, "check"));
  CHECK(contains(folder.run("check --help").out, "--ranks"));
  for (const char* wrong : {"", "chek", "check", "check run.yaml --ranks x", "check run.yaml --ranks 0",
                            "check run.yaml --set nx", "check run.yaml --set nx=many", "check run.yaml --mesh grid=4x",
                            "check run.yaml --variable t", "reference extra more", "--nonsense"}) {
    CAPTURE(wrong);
    folder.file(good);
    const Outcome outcome = folder.run(wrong);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(!outcome.err.empty());
  }
}

TEST_CASE("typing errors get a guess") {
  const Folder folder;
  folder.file(good);
  const auto says = [&](const std::string& arguments, const std::string& part) {
    const Outcome outcome = folder.run(arguments);
    CHECK(outcome.status == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return contains(outcome.err, part);
  };
  CHECK(says("chek run.yaml", "unknown command 'chek', expected one of check, plan, "));
  CHECK(says("chek run.yaml", "did you mean 'check'?"));
  CHECK(says("check run.yaml --rank 4", "unknown option '--rank' of 'check', expected one of --help, --ranks"));
  CHECK(says("check run.yaml --rank=4", "did you mean '--ranks'?"));
  CHECK(says("serve run.yaml --wiat 4", "did you mean '--wait'?"));
  CHECK(says("--versoin", "did you mean '--version'?"));
  CHECK(says("everything", "'sidestream --help' says"));
  CHECK(contains(folder.run("--help").out, "Exit status: 0 if all went well; 1 if"));
}

TEST_CASE("one directory of two databases is found, however it is written") {
  const Folder folder;
  for (const char* other : {"db/", "./db", "./db/", "a/../db//"}) {
    CAPTURE(other);
    folder.file(good + "outputs:\n  - database: {directory: db}\n  - database: {name: two, directory: " + other +
                "}\n");
    const Outcome outcome = folder.run("check run.yaml --ranks 8 --set nx=8 --set h=1");
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, "of 'two', which 'database' in line 7 writes too, expected different files"));
  }
}

TEST_CASE("an absolute path into the output directory is that of a relative one") {
  const Folder folder;
  const std::string results = std::filesystem::absolute(folder.path).string() + "/results/";
  const auto says = [&](const std::string& one, const std::string& other) {
    folder.file(good + "  - statistics: {name: a, variable: temperature, file: " + one +
                "}\n  - statistics: {name: b, variable: temperature, file: " + other +
                "}\noutput: {directory: ./results}\n");
    const Outcome outcome = folder.run("check run.yaml --ranks 8 --set nx=8 --set h=1");
    return outcome.status == 0 ? std::string() : outcome.err;
  };
  CHECK(contains(says("a.csv", results + "a.csv"), "of 'b', which 'a' in line 6 writes too"));
  CHECK(contains(says("a.csv", results + "./iterations.csv"), "which Sidestream itself uses"));
  CHECK(says("a.csv", results + "../a.csv") == "");
}

TEST_CASE("a correct file is summarised") {
  const Folder folder;
  folder.file(good);
  const Outcome outcome = folder.run("check run.yaml --ranks 8 --nodes 2 --set nx=64 --set h=0.1");
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "run.yaml: correct"));
  CHECK(contains(outcome.out, "of 8 ranks on 2 nodes: 6 clients, 2 servers"));
  CHECK(contains(outcome.out, "grid: uniform, 64 x 64 x 128 cells"));
  CHECK(contains(outcome.out, "temperature: 1 component of float64 on the cells of grid, in K; 4.0 MiB an iteration"));
  CHECK(contains(outcome.out, "histogram: every 5 iterations"));
  CHECK(folder.run("check run.yaml --set nx=64 h=0.1").status == 0);
  CHECK(folder.run("check --set nx=64 --set h=0.1 run.yaml").status == 0);
}

TEST_CASE("checking writes nothing") {
  const Folder folder;
  folder.file(good + "output: {directory: results}\noutputs: [hdf5: {}]\n");
  folder.run("check run.yaml --set nx=4 h=1");
  CHECK(!std::filesystem::exists(folder.path + "/results"));
}

TEST_CASE("a wrong file: one sentence for each mistake on standard error, status 1") {
  const Folder folder;
  const auto fails = [&](const std::string& text, const std::string& arguments, const std::string& message) {
    folder.file(text);
    const Outcome outcome = folder.run("check run.yaml " + arguments);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return contains(outcome.err, message);
  };
  CHECK(fails(good, "--set nx=4", "sidestream: run.yaml:2:53: $h has no value for 'spacing' (set are: $nx)"));
  CHECK(fails(good, "--set nx=4 h=1 --ranks 1", "run.yaml:1:1: found per_node 1 and node 0 with 1 rank"));
  CHECK(fails(good, "--set nx=4 h=1 --ranks 3 --nodes 2", "run.yaml:1:1: found per_node 1 and node 1 with 1 rank"));
  CHECK(
      fails("placement: {mode: nodes, servers: 4}\n", "--ranks 4", "run.yaml:1:1: found 4 servers and 4 ranks in all"));
  CHECK(fails(good + "plugins: [./missing.so]\n", "--set nx=4 h=1", "run.yaml:6:11: found the plug-in './missing.so'"));
  CHECK(fails("a: [1\n", "", "run.yaml:1:4: found a '['"));
  CHECK(fails("", "", "run.yaml:1:1: found an empty configuration"));
}

TEST_CASE("parameters without a value are said wherever they stand") {
  const Folder folder;
  folder.file(good);
  const Outcome outcome = folder.run("check run.yaml");
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 5);
  CHECK(contains(outcome.err,
                 "sidestream: found 4 mistakes in 'run.yaml':\nrun.yaml:2:24: $nx has no value for 'size' "));
  for (const char* line :
       {"\nrun.yaml:2:29: $nx has", "\nrun.yaml:2:38: $nx has", "\nrun.yaml:2:53: $h has no value"}) {
    CHECK(contains(outcome.err, line));
  }
}

TEST_CASE("endings of what an analysis cannot write are refused, all others taken") {
  const Folder folder;
  const auto check = [&](const std::string& analysis) {
    folder.file(
        "meshes: {grid: {size: [8, 8, 8]}, stars: {type: points, coordinates: place}}\n"
        "variables: {t: {mesh: grid}, place: {mesh: stars, components: 3}}\nanalyses:\n  - " +
        analysis + "\n");
    return folder.run("check run.yaml");
  };
  for (const char* right :
       {"subsample: {mesh: stars, fraction: 0.1, file: stars.csv}",
        "subsample: {mesh: stars, fraction: 0.1, file: stars.vtkhdf}",
        "isosurface: {variable: t, values: 1, file: big.vtkhdf}", "statistics: {variable: t, file: s.csv}",
        "projection: {variable: t, axis: z, image: {file: p.png}}",
        "halos: {variable: t, boundary: 1, halo: 2, mass_function: {file: m.csv, image: {file: m.png}}}",
        "halos: {variable: t, boundary: 1, halo: 2, history: {file: h.csv, image: {file: h.pdf}}}"}) {
    CAPTURE(right);
    const Outcome outcome = check(right);
    CHECK(outcome.err == "");
    CHECK(outcome.status == 0);
  }
  for (const auto& [wrong, expected] :
       {std::pair{"subsample: {mesh: stars, fraction: 0.1, file: stars.h5}", "expected one of .csv, .vtkhdf, .vtp;"},
        {"statistics: {variable: t, file: s.h5}", "expected one of .csv;"},
        {"slice: {variable: t, axis: z, file: s.csv}", "expected one of .vtkhdf, .vtp;"},
        {"projection: {variable: t, axis: z, image: {file: p.csv}}", "expected one of .png;"},
        {"halos: {variable: t, boundary: 1, halo: 2, mass_function: {image: {file: m.vtp}}}",
         "expected one of .png, .pdf, .svg;"},
        {"halos: {variable: t, boundary: 1, halo: 2, history: {file: h.png}}", "expected one of .csv;"}}) {
    CAPTURE(wrong);
    const Outcome outcome = check(wrong);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, expected));
  }
}

TEST_CASE("a buffer smaller than an iteration is refused with the least that works") {
  const Folder folder;
  const std::string rest =
      "meshes: {grid: {size: [64, 64, 64]}}\nvariables: {u: {mesh: grid}, mask: {mesh: grid, type: int8, time_varying: "
      "false}}\n";
  const auto check = [&](const std::string& placement, const std::string& arguments) {
    folder.file("placement: {" + placement + "}\n" + rest);
    return folder.run("check run.yaml " + arguments);
  };
  // An iteration has 2 MiB of u and 256 KiB of mask.
  CHECK(check("mode: cores, buffer: 1 MiB", "").status == 0);  // the number of nodes is not known
  const Outcome small = check("mode: cores, buffer: 2 MiB", "--ranks 5");
  CHECK(small.status == 1);
  CHECK(contains(small.err, "run.yaml:1:1: found a buffer of 2 MiB and an iteration of 2304 KiB, of which 4 clients"));
  const std::string wanted = "expected at least 'buffer: ";
  const auto at = small.err.find(wanted);
  REQUIRE(at != std::string::npos);
  const std::string enough =
      small.err.substr(at + wanted.size(), small.err.find('\'', at + wanted.size()) - at - wanted.size());
  CHECK(check("mode: cores, buffer: " + enough, "--ranks 5").status == 0);
  CHECK(check("mode: cores, buffer: 1536 KiB", "--ranks 10 --nodes 2").status == 0);
  CHECK(check("mode: cores, buffer: 1 MiB", "--ranks 10 --nodes 2").status == 1);
  CHECK(check("mode: inline, buffer: 1 MiB", "--ranks 2").status == 1);
  CHECK(check("mode: 'off', buffer: 1 MiB", "--ranks 2").status == 0);
}

TEST_CASE("what a mode ignores is said") {
  const Folder folder;
  folder.file("placement: {mode: inline, max_in_flight: 2}\n");
  const Outcome outcome = folder.run("check run.yaml");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "  warning    run.yaml:1:42: found 'max_in_flight' with the mode 'inline'"));
  CHECK(folder.run("check run.yaml --ranks 2 --nodes 3").status == 2);
}

TEST_CASE("files that cannot be read") {
  const Folder folder;
  CHECK(contains(folder.run("check none.yaml").err,
                 "cannot read the configuration 'none.yaml': No such file or directory"));
  CHECK(folder.run("check none.yaml").status == 1);
  CHECK(contains(folder.run("check .").err, "cannot read the configuration '.': Is a directory"));
  CHECK(folder.run("check .").status == 1);
}

TEST_CASE("what the program declares by calls can be given") {
  const Folder folder;
  folder.file("analyses:\n  - histogram: {variable: pressure}\n");
  CHECK(folder.run("check run.yaml").status == 1);
  const Outcome outcome = folder.run("check run.yaml --mesh grid=8x4x2 --variable pressure=grid");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "grid: uniform, 8 x 4 x 2 cells"));
  folder.file("meshes: {a: {size: 4}, b: {size: 8}}\nvariables: {t: {mesh: a}}\n");
  CHECK(folder.run("check run.yaml --variable t=a").status == 0);
  CHECK(contains(folder.run("check run.yaml --variable t=b").err,
                 "run.yaml:2:23: found the mesh 'a' of 't', which is on 'b' by --variable, expected the same"));
}

TEST_CASE("functions of the program can be named") {
  const Folder folder;
  folder.file(
      "meshes: {grid: {size: 4}}\nvariables: {t: {mesh: grid}}\nanalyses:\n  - mine: {variables: t, every: "
      "2}\n");
  CHECK(contains(folder.run("check run.yaml").err, "run.yaml:4:5: found the unknown analysis 'mine'"));
  const Outcome outcome = folder.run("check run.yaml --function mine");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "mine: every 2 iterations"));
  CHECK(folder.run("check run.yaml --function histogram").status == 2);
}

TEST_CASE("check says which cycles a schedule means, and which iterations come besides") {
  const Folder folder;
  const auto says = [&](const std::string& schedule) {
    folder.file(
        "meshes: {grid: {size: 8}}\nvariables: {t: {mesh: grid}}\nanalyses:\n"
        "  - histogram: {variable: t, bins: 4, " +
        schedule + "}\n");
    const Outcome outcome = folder.run("check run.yaml");
    return outcome.status == 0 ? outcome.out : outcome.err;
  };
  CHECK(contains(says("every: 10 cycles"),
                 "histogram: every 10 cycles (cycles 0, 10, 20 ...; 'first: yes' adds the first one of a run)"));
  CHECK(contains(says("every: 10 cycles, start: 3, first: yes"),
                 "histogram: every 10 cycles, from 3 cycles, and in the first (cycles 3, 13, 23 ...)"));
  CHECK(contains(says("every: 5, first: true"), "histogram: every 5 iterations, and in the first"));
  CHECK(!contains(says("every: 1 cycle"), "(cycles"));
  CHECK(contains(says("every: 10 s, first: yes"), "runs in the first iteration anyway; remove it"));
}

TEST_CASE("check says what a film wants") {
  const Folder folder;
  const auto says = [&](const std::string& render) {
    folder.file(
        "meshes: {grid: {size: [8, 8, 8]}}\nvariables: {t: {mesh: grid}, u: {mesh: grid}}\nanalyses:\n"
        "  - render: {" +
        render + "}\n");
    const Outcome outcome = folder.run("check run.yaml");
    CHECK(outcome.status == 0);
    return contains(outcome.out, "a film wants 'range: running' or the ends of one");
  };
  const std::string slice = "slice: {variable: t, axis: z", surface = "isosurface: {variable: t, values: 1";
  CHECK(says(slice + "}"));
  CHECK(says(surface + ", colour_by: u}"));
  CHECK(says("threshold: {variable: t, minimum: 1}"));
  CHECK(!says(slice + "}, range: running"));
  CHECK(!says(slice + "}, range: [0, 1]"));
  CHECK(!says(slice + ", range: running}"));
  CHECK(!says(slice + "}, file: latest.png"));
  CHECK(!says(surface + "}"));
  CHECK(!says("threshold: {variable: t, minimum: 1, colour: red}"));
}

TEST_CASE("reference prints or writes the manual") {
  const Folder folder;
  const Outcome printed = folder.run("reference");
  CHECK(printed.status == 0);
  CHECK(contains(printed.out, "# Reference of the configuration"));
  CHECK(contains(printed.out, "### histogram"));
  CHECK(folder.run("reference --output manual.md").status == 0);
  CHECK(contents(folder.path + "/manual.md") == printed.out);
  // A single part: a kind of analysis, a section with its subsections, or an unknown name.
  const Outcome render = folder.run("reference render");
  CHECK(render.status == 0);
  CHECK(render.out.starts_with("### render\n"));
  CHECK(contains(render.out, "| `isosurface[].values` |"));
  CHECK(!contains(render.out, "\n### "));
  CHECK(contains(folder.run("reference Partitioners").out, "\n### "));
  CHECK(contains(folder.run("reference options").out, "| `every` |"));
  CHECK(contains(folder.run("reference simulate-scale").out, "| `machine.disk.streams` | number | `0` |"));
  const Outcome placement = folder.run("reference placement");
  CHECK(placement.out.starts_with("## placement\n"));
  CHECK(!contains(placement.out, "\n## "));
  const Outcome unknown = folder.run("reference rendr");
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "the reference has no part 'rendr'; did you mean 'render'?"));
  CHECK(contains(folder.run("reference nothing-like-it").err, "histogram"));
  // A file is not a folder, on any machine.
  CHECK(folder.run("reference --output manual.md/manual.md").status == 1);
}

TEST_CASE("whatever calls can declare can be given") {
  const Folder folder;
  folder.file(
      "analyses:\n"
      "  - slice: {variable: t, axis: z, position: 1, file: 'slice-{index:05}.vtp'}\n"
      "  - statistics: {variable: mass}\n"
      "  - statistics: {name: on the file's mesh, variable: p, file: p.csv}\n"
      "meshes: {own: {size: [4, 4]}}\n"
      "outputs: [vtk: {variables: [t, mass, u]}]\n");
  const Outcome without = folder.run("check run.yaml");
  CHECK(without.status == 1);
  CHECK(contains(without.err, "--mesh 'grid={size: [64, 64]}'"));
  const std::string declared =
      "--mesh 'grid={size: [8, 4, 2], refinement: [2], fixed: true}' --variable 't={mesh: grid, centering: node}' "
      "--mesh 'dots={type: points, coordinates: x}' --variable 'x={mesh: dots, components: 3}' "
      "--variable 'mass={mesh: dots}' --mesh 'bent={type: curvilinear, size: [3, 3], coordinates: xy}' "
      "--variable 'xy={mesh: bent, components: 2}' --variable 'u={mesh: bent}' --variable p=own";
  const Outcome all = folder.run("check run.yaml " + declared);
  CAPTURE(all.err);
  CHECK(all.status == 0);
  CHECK(contains(all.out, "t: 1 component of float64 on the nodes of grid"));
  CHECK(contains(all.out,
                 "vtk: every iteration -> fields-{cycle:06}-grid.vtm, fields-{cycle:06}-dots.pvtp, "
                 "fields-{cycle:06}-bent.pvts"));
  folder.file(
      "sidestream_metadata: 2\nmeshes: {grid: {size: [8, 4, 2]}, dots: {type: points, coordinates: x}, "
      "bent: {size: [3, 3]}}\nvariables: {t: {mesh: grid}, x: {mesh: dots, components: 3}, mass: {mesh: dots}, "
      "u: {mesh: bent}, p: {mesh: own}}\n",
      "declared.yaml");
  const Outcome file = folder.run("check run.yaml --declared declared.yaml");
  CAPTURE(file.err);
  CHECK(file.status == 0);
  const Outcome wrong = folder.run("check run.yaml --mesh 'grid={size: [8, 4, 2], refinment: [2]}'");
  CHECK(contains(wrong.err, "--mesh grid:1:"));
  CHECK(contains(wrong.err, "did you mean 'refinement'?"));
}

TEST_CASE("all mistakes of a file are said, and what follows from them is not") {
  const Folder folder;
  folder.file(
      "placement: {mode: coers}\n"
      "meshes:\n"
      "  grid: {size: [8, 8, 8], spaceing: 1}\n"
      "  flat: {size: [0, 8]}\n"
      "variables:\n"
      "  t: {mesh: grid, type: float46}\n"
      "  f: {mesh: flat}\n"
      "derived:\n"
      "  twice: 2 * f\n"
      "analyses:\n"
      "  - histogram: {variable: t, bins: many, bin: 4}\n"
      "  - statistics: {variable: f}\n"
      "  - statistcs: {variable: t}\n"
      "  - isosurface: {variable: t, values: [1, two], file: s.vtp, colour: red}\n"
      "  - slice: {variable: nothing, axis: z, position: 1, file: a.vtp}\n"
      "  - slice: {name: second, variable: t, axis: w, position: 1, file: b.vtp}\n"
      "  - slice: {name: third, variable: t, axis: z, position: 1, file: 'h-%05d.vtp'}\n");
  const Outcome outcome = folder.run("check run.yaml");
  CHECK(outcome.status == 1);
  CAPTURE(outcome.err);
  for (const char* line :
       {"run.yaml:1:19: found 'coers' for 'mode'", "run.yaml:3:27: found the unknown option 'spaceing'",
        "run.yaml:4:17: found '0' for 'size'", "run.yaml:6:25: found 'float46' for 'type'",
        "run.yaml:11:42: found the unknown option 'bin'", "run.yaml:11:36: found 'many' for 'bins'",
        "run.yaml:13:5: found the unknown analysis 'statistcs'", "found the unknown option 'colour'",
        "found 'two' for 'values'", "run.yaml:15:23: found 'nothing' for 'variable'", "found 'w' for 'axis'",
        "did you mean '{index:05}' or '{cycle:05}'?"}) {
    CAPTURE(line);
    CHECK(contains(outcome.err, line));
  }
  CHECK(contains(outcome.err, "found 12 mistakes in"));
}

TEST_CASE("an option with a wrong name is not missing besides") {
  const Folder folder;
  folder.file(
      "meshes: {grid: {sise: 8}}\nvariables: {t: {mesh: grid}}\nanalyses: [histogram: {variable: t, binz: 4}]\n");
  const Outcome outcome = folder.run("check run.yaml");
  CHECK(outcome.status == 1);
  CAPTURE(outcome.err);
  CHECK(contains(outcome.err, "found 2 mistakes in"));
  CHECK(contains(outcome.err, "run.yaml:1:17: found the unknown option 'sise'"));
  CHECK(contains(outcome.err, "found the unknown option 'binz'"));
}

TEST_CASE("an option with a wrong value is not missing besides") {
  const Folder folder;
  folder.file("ending: {time_limit: 10 s, margin: 20 s}\n");
  const Outcome outcome = folder.run("check run.yaml");
  CHECK(outcome.status == 1);
  CAPTURE(outcome.err);
  CHECK(contains(outcome.err, "run.yaml:1:22: found the time limit '10 s'"));
  CHECK(!contains(outcome.err, "found neither"));
}

TEST_CASE("a task with a mistake has no other that follows from it, in each form of a list") {
  const Folder folder;
  const auto says = [&](const std::string& analyses, const std::string& outputs, const std::string& mistake) {
    const std::string head = "meshes: {grid: {size: [8, 8, 8]}}\nvariables: {u: {mesh: grid}}\n";
    for (const std::string& list : std::vector<std::string>{"[" + analyses + "]\n", "\n  - " + analyses + "\n"}) {
      folder.file(head + (analyses.empty() ? "" : "analyses: " + list) + outputs);
      const Outcome outcome = folder.run("check run.yaml");
      CHECK(outcome.status == 1);
      CHECK(contains(outcome.err, mistake));
      CHECK(!contains(outcome.err, "mistakes in"));
    }
  };
  const auto statistics = [](const std::string& options) {
    return "{time_statistics: {variables: [u], " + options + "}}";
  };
  const std::string writes = "outputs: [{hdf5: {variables: [w_u_variance]}}]\n";
  says(statistics("window: 10 steps, makes: w"), "", "found '10 steps' for 'window'");
  says(statistics("window: 10"), "", "found 'time_statistics' without 'makes'");
  says(statistics("window: 10, makes: grid"), "", "found 'makes: grid', the mesh that this analysis reads");
  says(statistics("window: 10, quantiles: [0.5, 0.50], makes: w"), "", "both are called 'q50'");
  says(statistics("window: 10, statistics: [varianz], makes: w"), writes, "found 'varianz' for 'statistics'");
  says(statistics("window: 10, makes: {name: w}"), writes, "found a map for 'makes'");
  says("{histogram: {variable: u, bins: none}}", "", "for 'bins'");
  says("{render: {slice: {variable: u, axis: z}, camera: {phi: [0, 90]}, file: none}}", "",
       "found the file name 'none'");
  says("{relevance: {variable: u, metric: spread, bins: 12, file: a.vtu}}", "", "found 'spread' for 'metric'");
  says("", "outputs: [{hdf5: {variables: [u], when: max(v) > 1, keep_back: 3}}]\n", "found the unknown variable 'v'");
}

TEST_CASE("options that a metric does not use are refused") {
  const Folder folder;
  for (const std::string option : {"bins: 12", "range: [0, 1]"}) {
    folder.file("meshes: {grid: {size: 8}}\nvariables: {u: {mesh: grid}}\nanalyses: [{relevance: {variable: u, " +
                option + "}}]\n");
    const Outcome outcome = folder.run("check run.yaml");
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, "which does nothing without 'metric: entropy'; add that, or remove it"));
  }
}

TEST_CASE("a mesh whose array is wrong has no other mistakes") {
  const Folder folder;
  folder.file(
      "meshes:\n"
      "  hull: {type: unstructured, coordinates: q, connectivity: c, offsets: o, types: k}\n"
      "  tree: {type: octree, size: [1, 1, 1], refined: r}\n"
      "variables:\n"
      "  q: {mesh: hull, centering: node, components: 2}\n"
      "  c: {mesh: hull, type: int64}\n"
      "  o: {mesh: hull, type: int64}\n"
      "  k: {mesh: hull, type: uint8}\n"
      "  r: {mesh: tree}\n"
      "  t: {mesh: hull}\n"
      "analyses: [statistics: {variable: t}, histogram: {variable: t, binz: 4}]\n");
  const Outcome outcome = folder.run("check run.yaml");
  CAPTURE(outcome.err);
  CHECK(contains(outcome.err, "found 3 mistakes in"));
  CHECK(contains(outcome.err, "run.yaml:2:43: the variable 'q' has 2 components, expected 3"));
  CHECK(contains(outcome.err, "run.yaml:3:50: the variable 'r' has the type float64"));
  CHECK(contains(outcome.err, "found the unknown option 'binz'"));
}

TEST_CASE("mistakes around and in options for calls are all reported") {
  const Folder folder;
  folder.file(
      "meshes:\n"
      "  grid: {size: [8, 8, 8], spaceing: 1}\n"
      "variables:\n"
      "  t: {mesh: grid, type: float46}\n"
      "  u: {mesh: grid, typ: float64}\n"
      "analyses:\n"
      "  - histogram: {variable: t}\n"
      "  - histogram: {name: second, variable: p, binz: 4}\n");
  const auto says = [&](const std::string& given, int mistakes, const std::vector<const char*>& lines) {
    const Outcome outcome = folder.run("check run.yaml " + given);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, "found " + std::to_string(mistakes) + " mistakes in"));
    for (const char* line : {"run.yaml:2:27: found the unknown option 'spaceing'", "run.yaml:4:25: found 'float46'",
                             "run.yaml:5:19: found the unknown option 'typ'", "found the unknown option 'binz'"}) {
      CAPTURE(line);
      CHECK(contains(outcome.err, line));
    }
    for (const char* line : lines) {
      CAPTURE(line);
      CHECK(contains(outcome.err, line));
    }
  };
  says("--variable 'p={mesh: grid}'", 4, {});
  says("--variable p=grid", 4, {});
  says("--variable 'p={mesh: grid}' --variable 'q={mesh: grid, typo: 3}' --variable 'r={mesh: other}'", 6,
       {"--variable q:1:", "found the unknown option 'typo'", "--variable r:1:", "found 'other' for 'mesh'"});
  says("--variable p=grid --variable r=other", 5,
       {"--variable r:1:1: found 'other' for 'mesh', expected a declared mesh"});
  folder.file(
      "sidestream_metadata: 2\n"
      "meshes: {flat: {size: [0, 8]}}\n"
      "variables:\n"
      "  p: {mesh: grid}\n"
      "  q: {mesh: grid, centering: nodes}\n"
      "  r: {mesh: flat}\n",
      "declared.yaml");
  says("--declared declared.yaml", 6,
       {"declared.yaml:2:24: found '0' for 'size'", "declared.yaml:5:30: found 'nodes' for 'centering'"});
}

TEST_CASE("truth may be said with yes and no") {
  const Folder folder;
  const auto status = [&](const std::string& options) {
    folder.file("meshes: {grid: {size: [8, 8, 8]}}\nvariables: {t: {mesh: grid" + options + "}}\n");
    return folder.run("check run.yaml").status;
  };
  for (const char* right : {"true", "false", "yes", "no"}) CHECK(status(std::string(", time_varying: ") + right) == 0);
  for (const char* wrong : {"Yes", "on", "1", "maybe"}) CHECK(status(std::string(", time_varying: ") + wrong) == 1);
  // They may also be a word of a choice, or a text where a text is expected.
  CHECK(
      status(
          "}}\nanalyses: [isosurface: {name: yes, variable: t, values: 1, file: s.vtp, pieces: no, every: 10 cycles, first: yes}]\n#") ==
      0);
  CHECK(status("}}\nanalyses: [isosurface: {variable: t, values: 1, file: s.vtp, pieces: maybe}]\n#") == 1);
}
