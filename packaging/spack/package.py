# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Sidestream(CMakePackage):
    """Sidestream does what people need with the data of a parallel simulation while it runs:
    analyses, pictures, reductions and output, on the ranks of the simulation, on dedicated
    cores or nodes, in processes of their own, or in another job."""

    homepage = "https://ADDRESS_OF_THE_PROJECT"
    url = "https://ADDRESS_OF_THE_PROJECT/archive/refs/tags/v0.1.0.tar.gz"
    git = "https://ADDRESS_OF_THE_PROJECT.git"

    maintainers("ACCOUNT_OF_THE_MAINTAINER")

    license("BSD-3-Clause", checked_by="ACCOUNT_OF_THE_MAINTAINER")

    version("main", branch="main")
    version("0.1.0", sha256="CHECKSUM_OF_THE_TARBALL")

    variant("fortran", default=True, description="Build the Fortran module")
    variant("python", default=False, description="Build the client and analyses in Python")
    variant("zstd", default=True, description="Build the codec zstd")
    variant("zfp", default=False, description="Build the codec zfp, with an error bound")
    variant("fftw", default=False, description="Build power spectra")
    variant("adios2", default=False, description="Build the output bp, the engine sst")
    variant("translate", default=False, description="Translate configurations of other systems")
    variant("climate", default=True, description="Build statistics over time")
    variant("cosmology", default=True, description="Build halos, merge trees and spectra")
    variant("staging", default=True, description="Build streams to other jobs")
    variant("visualisation", default=True, description="Build slices, surfaces and pictures")
    variant("amr", default=True, description="Build the codec for octrees")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3:")
    depends_on("hdf5@1.10.3:")
    depends_on("yaml-cpp@0.7:")
    depends_on("fmt@9:")
    depends_on("libpng@1.6:")
    depends_on("zlib-api")
    depends_on("xxhash@0.8:")
    depends_on("cli11@2:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("doctest@2.4:", type="test")

    depends_on("zstd", when="+zstd")
    depends_on("zfp@1:", when="+zfp")
    depends_on("fftw@3: precision=double", when="+fftw")
    depends_on("adios2@2.9: +mpi", when="+adios2")
    depends_on("tinyxml2", when="+translate")

    with when("+python"):
        extends("python@3.11:")
        depends_on("py-nanobind@2.2:", type="build")
        depends_on("py-mpi4py@4:", type=("build", "run"))
        depends_on("py-numpy@1.24:", type=("build", "run"))
        depends_on("py-h5py@3.10:", type=("build", "run"))

    conflicts("+fftw", when="~cosmology", msg="power spectra are a part of the module cosmology")
    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it is needed")
    conflicts("%clang@:13", msg="C++20 as Clang 14 has it is needed")

    def cmake_args(self):
        args = [
            self.define("SIDESTREAM_BUILD_TESTS", self.run_tests),
            self.define("SIDESTREAM_BUILD_EXAMPLES", False),
            self.define("SIDESTREAM_BUILD_SIMULATIONS", False),
            self.define("SIDESTREAM_BUILD_BENCHMARKS", False),
            self.define("SIDESTREAM_CCACHE", ""),
            self.define("SIDESTREAM_WITH_NETCDF", False),
            self.define_from_variant("SIDESTREAM_WITH_FORTRAN", "fortran"),
            self.define_from_variant("SIDESTREAM_WITH_PYTHON", "python"),
            self.define_from_variant("SIDESTREAM_WITH_ZSTD", "zstd"),
            self.define_from_variant("SIDESTREAM_WITH_ZFP", "zfp"),
            self.define_from_variant("SIDESTREAM_WITH_FFTW", "fftw"),
            self.define_from_variant("SIDESTREAM_WITH_ADIOS2", "adios2"),
            self.define_from_variant("SIDESTREAM_WITH_TINYXML2", "translate"),
            self.define_from_variant("SIDESTREAM_WITH_CLIMATE", "climate"),
            self.define_from_variant("SIDESTREAM_WITH_COSMOLOGY", "cosmology"),
            self.define_from_variant("SIDESTREAM_WITH_STAGING", "staging"),
            self.define_from_variant("SIDESTREAM_WITH_VISUALISATION", "visualisation"),
            self.define_from_variant("SIDESTREAM_WITH_AMR_CODEC", "amr"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("SIDESTREAM_PYTHON", self.spec["python"].command.path))
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            for lib in ("lib", "lib64"):
                env.prepend_path("PYTHONPATH", join_path(self.prefix, lib, "sidestream", "python"))

    def check(self):
        with working_dir(self.build_directory):
            ctest("-L", "smoke", "--output-on-failure")

    def test_selftest(self):
        """run small simulations and read back what they wrote"""
        command = which(self.prefix.bin.sidestream)
        command("selftest")
