"""The cases of benchmarks/cosmology_placements: two sets of analyses, like Reeber's and Gimlet's in the Nyx paper, and
splits of the ranks. CT: as many ranks in all as in situ; CS: as many that simulate, with additional servers."""

from placement_cases import Case

HALOS = """\
analyses:
  - halos: {variable: density, boundary: 20, halo: 40, file: halos.csv}
  - merge_tree: {variable: density, minimum_persistence: 5, halos: [{boundary: 20, halo: 40}], file: tree.csv}
"""
STATISTICS = """\
analyses:
  - power_spectrum: {variable: density, window: cic, file: spectrum.csv}
  - histogram: {variable: density, scale: logarithmic, range: [1e-2, 1e3], bins: 100, file: density.csv}
  - lyman_alpha:
      hydrogen: neutral_hydrogen
      temperature: temperature
      velocity: velocity
      time_is: scale_factor
      omega_matter: 0.3
      omega_lambda: 0.7
      hubble: 0.7
      file: flux.csv
      pdf_file: flux-pdf.csv
      spectrum_file: flux-spectrum.csv
"""
ANALYSES = {"halos": HALOS, "statistics": STATISTICS}


def _nodes(group, clients, servers):
    placement = f"{{mode: nodes, servers: {servers}, buffer: 512 MiB}}"
    return Case(group, "in transit", clients, servers, placement)


ALONE = [Case("alone", "off", ranks, 0, "off") for ranks in (1, 2, 3, 4)]
IN_SITU = [Case("in situ", "in situ", ranks, 0, "{mode: inline, buffer: 512 MiB}") for ranks in (1, 2, 3, 4)]
CT = [_nodes("CT", clients, 4 - clients) for clients in (3, 2, 1)]
CS = [_nodes("CS", 2, servers) for servers in (1, 3)] + [_nodes("CS", 1, servers) for servers in (1, 2)]

CASES = [*ALONE, *IN_SITU, *CT, *CS]
