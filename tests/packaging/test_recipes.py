"""Recipes of packages fit this project: every define names an option of CMake, and every package is one of the docs.

No package manager runs. Spack's recipe is executed with stand-ins for Spack's functions, EasyBuild's as the Python that
it is, conda's is parsed, and Apptainer's is divided into its sections.
"""

import re
import sys
import types
from contextlib import contextmanager
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="recipes are NOT TESTED: PyYAML is missing")

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "packaging"
VERSION = re.search(r'SIDESTREAM_VERSION "([^"]+)"', (ROOT / "include/sidestream/version.h").read_text())[1]
MARK = re.compile(r"\b[A-Z]+_OF_THE_[A-Z]+\b")
DEFINE = re.compile(r"-D(\w+)(?::\w+)?=(\S*)")
STANDARD = {"CMAKE_BUILD_TYPE", "CMAKE_INSTALL_PREFIX", "CMAKE_INSTALL_LIBDIR"}


def options_of_cmake():
    """The options that users may set, and among them the switches of optional libraries."""
    files = [*ROOT.glob("CMakeLists.txt"), *ROOT.glob("cmake/*.cmake"), *ROOT.glob("*/**/CMakeLists.txt")]
    text = "\n".join(path.read_text() for path in files if "build" not in path.relative_to(ROOT).parts)
    options = set(re.findall(r"^\s*(?:option|set)\((SIDESTREAM_\w+) [^)]*", text, re.M))
    parts = re.findall(r"^sidestream(?:_library)?_part\((\w+)((?:[^)\"]|\"[^\"]*\")*)\)", text, re.M)
    switches = set()
    for name, rest in parts:
        given = re.search(r"SWITCH (\w+)", rest)
        switches.add(given[1] if given else f"SIDESTREAM_WITH_{name}")
    return options | switches, switches


OPTIONS, SWITCHES = options_of_cmake()


def check_defines(defines):
    assert set(defines) - STANDARD <= OPTIONS, sorted(set(defines) - STANDARD - OPTIONS)
    assert {"SIDESTREAM_WITH_ZFP", "SIDESTREAM_WITH_ADIOS2", "SIDESTREAM_BUILD_TESTS"} <= set(defines)
    for name, value in defines.items():
        if name in SWITCHES:
            assert value in ("ON", "OFF"), f"{name} is {value!r}: nothing may depend on what is found"


class Spack:
    """Stand-ins for what recipes import from Spack; they note what is declared."""

    def __init__(self):
        self.declared, self.when = [], []

    def directive(self, name):
        def note(*arguments, **given):
            outer = " ".join(self.when)
            given["when"] = " ".join(filter(None, [given.get("when"), outer]))
            self.declared.append((name, arguments, given))

        return note

    @contextmanager
    def when_context(self, condition):
        self.when.append(condition)
        yield
        self.when.pop()

    def of(self, name):
        return [(arguments, given) for kind, arguments, given in self.declared if kind == name]

    def load(self, monkeypatch):
        package = types.ModuleType("spack.package")
        names = ("maintainers", "license", "version", "variant", "depends_on", "extends", "conflicts")
        for name in names:
            setattr(package, name, self.directive(name))
        package.when, package.which, package.ctest = self.when_context, None, None
        package.working_dir, package.join_path = None, None
        system = types.ModuleType("spack_repo.builtin.build_systems.cmake")
        system.CMakePackage = Built
        for module in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
            monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
        monkeypatch.setitem(sys.modules, "spack.package", package)
        monkeypatch.setitem(sys.modules, "spack_repo.builtin.build_systems.cmake", system)
        found = {}
        exec(compile((RECIPES / "spack/package.py").read_text(), "package.py", "exec"), found)
        return found["Sidestream"]


class Built:
    """The base class of a recipe, with variants that are all on or all off."""

    run_tests = False

    def __init__(self, variants, on):
        self.variants, self.on = variants, on
        self.spec = self

    def satisfies(self, condition):
        assert condition.lstrip("+~") in self.variants
        return self.on == condition.startswith("+")

    def __getitem__(self, name):
        return types.SimpleNamespace(command=types.SimpleNamespace(path=f"/{name}"))

    def define(self, name, value):
        text = {True: "ON", False: "OFF"}.get(value, value)
        return f"-D{name}:STRING={text}"

    def define_from_variant(self, name, variant):
        assert variant in self.variants, f"{name} asks for the variant {variant}, which there is not"
        return self.define(name, self.on)


@pytest.mark.parametrize("on", [True, False])
def test_spack(monkeypatch, on):
    spack = Spack()
    recipe = spack.load(monkeypatch)
    variants = {arguments[0] for arguments, _ in spack.of("variant")}
    arguments = recipe(variants, on).cmake_args()
    defines = dict(DEFINE.fullmatch(argument).groups() for argument in arguments)
    check_defines(defines)
    assert ("SIDESTREAM_PYTHON" in defines) == on
    assert [arguments[0] for arguments, _ in spack.of("version")] == ["main", VERSION]
    for kind in ("depends_on", "conflicts", "extends"):
        for arguments, given in spack.of(kind):
            assert set(re.findall(r"[+~](\w+)", given["when"])) <= variants, arguments
    # Each variant changes the build, and each needs what it names.
    code = (RECIPES / "spack/package.py").read_text()
    for variant in variants:
        assert f'"{variant}")' in code.split("def cmake_args")[1]
    assert recipe.__doc__ and callable(recipe.test_selftest)


def test_conda():
    recipe = yaml.safe_load((RECIPES / "conda/recipe.yaml").read_text())
    assert recipe["schema_version"] == 1 and recipe["context"]["version"] == VERSION
    library, python = recipe["outputs"]
    check_defines(dict(DEFINE.findall(" ".join(library["build"]["script"]))))
    (setting,) = re.findall(r"cmake\.define\.(\w+)=ON", " ".join(python["build"]["script"]))
    assert f"{setting} AUTO CACHE" in (ROOT / "bindings/python/wheel/CMakeLists.txt").read_text()
    for output in recipe["outputs"]:
        assert {"package", "build", "requirements", "tests", "about"} == set(output)
        assert set(output["requirements"]) <= {"build", "host", "run", "run_exports"}
        assert output["about"]["license_file"] == "LICENSE" and (ROOT / "LICENSE").is_file()
    # Every library that is switched on is there, by the name that messages of CMake give it.
    host = [text.split()[0] for text in library["requirements"]["host"]]
    assert {"zstd", "zfp", "fftw", "tinyxml2", "hdf5", "yaml-cpp", "fmt", "libpng", "xxhash"} <= set(host)
    assert set(yaml.safe_load((RECIPES / "conda/variants.yaml").read_text())) == {"mpi"}


def test_easybuild():
    (path,) = (RECIPES / "easybuild").glob("*.eb")
    found = {"SHLIB_EXT": "so"}
    exec(compile(path.read_text(), path.name, "exec"), found)
    assert found["version"] == VERSION
    assert path.name == f"{found['name']}-{VERSION}-{found['toolchain']['name']}-{found['toolchain']['version']}.eb"
    check_defines(dict(DEFINE.findall(found["configopts"])))
    assert all(len(one) == 2 for one in found["dependencies"] + found["builddependencies"])


def test_apptainer():
    text = (RECIPES / "apptainer/sidestream.def").read_text()
    sections = dict(re.findall(r"^%(\w+)\n(.*?)(?=^%|\Z)", text, re.M | re.S))
    assert {"files", "post", "environment", "test", "runscript", "labels", "help"} == set(sections)
    defines = dict(DEFINE.findall(sections["post"]))
    check_defines(defines)
    page = (ROOT / "docs/installing.md").read_text()
    line = re.search(r"sudo apt-get install ((?:[^\n]*\\\n)*[^\n]*)", page)[1]
    installed = re.search(r"--no-install-recommends ((?:[^\n]*\\\n)*[^\n]*)", sections["post"])[1]
    names, documented = set(installed.replace("\\", "").split()), set(line.replace("\\", "").split())
    assert names <= documented, names - documented
    assert documented - names == {"doctest-dev", "libosmesa6", "python3-venv"}  # only for tests
    assert f"version {VERSION}" in sections["labels"]
    assert "--bind /dev/shm" in sections["help"]


def test_marks_are_listed():
    listed = set(MARK.findall((RECIPES / "README.md").read_text()))
    used = {mark for path in RECIPES.rglob("*") if path.is_file() for mark in MARK.findall(path.read_text())}
    assert used == listed and len(used) == 3


@pytest.mark.test_all
@pytest.mark.parametrize("recipe", ["spack/package.py", "conda/recipe.yaml", "easybuild/*.eb"])
def test_no_switch_is_left_to_chance(recipe):
    """The content must not depend on the machine that builds it. Own modules are built unless switched off."""
    (path,) = RECIPES.glob(recipe)
    missing = SWITCHES - set(re.findall(r"SIDESTREAM_WITH_\w+", path.read_text()))
    own = {"AMR_CODEC", "BOUNDED_CODEC", "BP", "CLIMATE", "COSMOLOGY", "VISUALISATION"}
    assert missing <= {f"SIDESTREAM_WITH_{name}" for name in own}, missing
