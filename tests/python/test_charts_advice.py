"""The chart of advice: its lines are the splits of the table, and the best one is in sight."""

import numpy as np
import pytest
import sidestream

HEADER = "placement,options,clients,servers,seconds,doubt,simulation,analysis,measured\n"


@pytest.fixture
def table(tmp_path):
    """Splits of 8 ranks; with 7 servers an iteration takes a hundred times as long as with the best split."""
    rows = ['inline,"inline",8,0,4,0.1,2,2,1']
    seconds = {1: 3.0, 2: 2.0, 3: 1.0, 7: 100.0}
    rows += [f'cores,"{{mode: cores, per_node: {n}}}",{8 - n},{n},{s},0.2,{s},{s / 2},0' for n, s in seconds.items()]
    rows += [f'cores,"{{mode: cores, groups: {{a: 1, b: 1}}}}",6,2,{s},0.2,1,1,0' for s in (1.75, 1.5)]
    path = tmp_path / "splits.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return path


def test_lines(table):
    figure = sidestream.plot(table)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    lines = dict(zip(names, figure.axes[0].get_lines(), strict=True))
    found = {name: [np.asarray(values).tolist() for values in line.get_data()] for name, line in lines.items()}
    assert found == {
        "inline": [[0], [4]],
        "cores": [[1, 2, 3, 7], [3, 2, 1, 100]],
        "cores, groups": [[2], [1.5]],
        "simulation": [[1, 2, 3, 7], [3, 2, 1, 100]],
        "servers": [[1, 2, 3, 7], [1.5, 1, 0.5, 50]],
        "measured": [[0], [4]],
    }
    assert figure.axes[0].get_ylim() == (0, pytest.approx(4.4))
    assert sidestream.plot(table, log="y").axes[0].get_ylim()[1] > 100


def test_a_single_split(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text(HEADER + 'inline,"inline",1,0,0,0,0,0,1\n')
    low, high = sidestream.plot(path).axes[0].get_ylim()
    assert low == 0 < high
