"""Refusals of the client, and the lifetime of its arrays, in one process. h5py reads the values."""

import ast
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import sidestream
import xarray
from mpi4py import MPI
from sidestream import _client

CONFIGURATION = """\
placement: MODE
output: {directory: DIRECTORY, existing: replace}
meshes: {box: {type: uniform, size: [4, 3, 2]}}
variables:
  t: {mesh: box}
  r: {mesh: box, order: row}
  v: {mesh: box, type: int16, components: 2}
outputs: [hdf5: {variables: [t, r, v]}]
steering: {stop: {default: 3}, dt: {type: real, default: 0.25}}
"""


@pytest.fixture
def open_session(tmp_path):
    """Opens and starts a session with one block."""
    opened = []

    def make(mode="inline"):
        text = CONFIGURATION.replace("MODE", mode).replace("DIRECTORY", str(tmp_path / "results"))
        session = sidestream.open_session(MPI.COMM_SELF, text=text)
        opened.append(session)
        session.set_block("box", 0, [0, 0, 0], [4, 3, 2])
        session.start()
        return session

    yield make
    for session in opened:
        session.__exit__(None, None, None)


def numbered(*shape, dtype=float):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def test_steered_parameters_have_their_defaults(open_session):
    for mode in ("inline", "off"):
        session = open_session(mode)
        session.end_iteration(0, 0)
        assert session.get_int("stop") == 3 and session.get_real("dt") == 0.25
        with pytest.raises(sidestream.Error, match=r"'stops' is unknown, .*; did you mean 'stop'"):
            session.get_int("stops")
        with pytest.raises(sidestream.Error, match="'dt' is of type real; read it with get_real"):
            session.get_int("dt")


def test_a_signal_ends_the_run_and_reaches_the_handler_in_python(tmp_path):
    text = CONFIGURATION.replace("MODE", "inline").replace("DIRECTORY", str(tmp_path / "results"))
    handled = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: handled.append(number))
    try:
        session = sidestream.open_session(MPI.COMM_SELF, text=text + "ending: {signals: [USR1], margin: 1 h}\n")
        session.set_block("box", 0, [0, 0, 0], [4, 3, 2])
        assert session.end_iteration(0, 0) and not session.should_end
        os.kill(os.getpid(), signal.SIGUSR1)
        assert session.end_iteration(1, 1) and session.should_end
        with pytest.raises(sidestream.Error, match="found the event 'ending', expected another one"):
            session.signal("ending")
        session.close()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert handled == [signal.SIGUSR1] * 2
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_values_that_no_end_follows_are_said_to_be_dropped(open_session, capfd):
    for ends in (True, False):
        session = open_session()
        session.publish("t", 0, numbered(2, 3, 4))
        if ends:
            session.end_iteration(0, 0)
        assert session.close().iterations == int(ends)
        assert ("values published after the last end_iteration are dropped" in capfd.readouterr().err) != ends


# Mistakes


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (numbered(2, 3, 4, dtype=">f8"), "dtype >f8, which is not the byte order of this machine"),
        (numbered(2, 3, 4, dtype=object), "dtype object, expected one of int8 to int64"),
        (numbered(2, 3, 4, dtype=np.float16), "dtype float16, expected one of"),
        (numbered(2, 3, 4, dtype=complex), "dtype complex128"),
        (numbered(2, 3, 4) > 3, "dtype bool, expected one of .*; publish array.view"),
        (np.zeros((2, 3, 4), "M8[s]"), r"dtype datetime64\[s\]"),
        (np.zeros((2, 3, 4), [("a", "f8")]), "dtype "),
        (np.zeros((2, 3, 4), [("a", "f4"), ("b", "f8")])["b"], "not a multiple of their size apart"),
        (numbered(2, 3, 4, dtype=np.float32), "type float32, expected float64"),
        (numbered(2, 3), "rank 2, expected rank 3"),
        (numbered(4, 3, 2), r"is 2 x 3 x 4, expected 4 x 3 x 2.* shape of the array is \(4, 3, 2\), along k, j, i"),
        (numbered(2, 3, 4, 2), "4 x 3 x 2 x 2, expected 4 x 3 x 2 x 1"),
        ([[1.0]], "is of list, which is no array"),
        (None, "is of NoneType"),
        (np.ma.masked_greater(numbered(2, 3, 4), 20), r"hides \d+ values \(numpy.ma\).*array.filled"),
        (np.frombuffer(bytes(8 * 24 + 1), "u1")[1:].view("f8").reshape(2, 3, 4), "is not aligned: .* multiple of 8"),
        (xarray.DataArray(numbered(2, 3, 4)), r"is of dtype float64, of DataArray, .*: array.to_numpy\(\)"),
    ],
)
def test_an_array_that_is_not_what_was_declared(open_session, array, says):
    session = open_session()
    with pytest.raises(sidestream.Error, match=says) as raised:
        session.publish("t", 0, array)
    assert raised.value.code is sidestream.Code.USAGE
    assert session.end_iteration(0, 0) is False
    assert "a call in it failed" in session.message
    assert session.publish("t", 0, numbered(2, 3, 4))
    assert session.end_iteration(1, 1) is True
    account = session.close()
    assert (account.refused, account.delivered) == (1, 1)


def test_values_as_they_lie_in_memory(open_session, tmp_path):
    session = open_session()
    for array, says in [
        (numbered(23), "has 23 values, expected 24"),
        (numbered(24, dtype=np.float32), "type float32, expected float64"),
        (numbered(48)[::2], "has gaps between its elements"),
        (None, "is of NoneType"),
    ]:
        with pytest.raises(sidestream.Error, match=says):
            session.publish_values("t", 0, array)
    assert session.end_iteration(0, 0) is False
    assert session.publish_values("t", 0, numbered(24))
    assert session.publish_values("r", 0, numbered(24).reshape(2, 12))
    assert session.publish_values("v", 0, numbered(48, dtype="i2"))
    assert session.end_iteration(1, 1) is True
    session.close()
    found = sidestream.open(tmp_path / "results" / "fields-000001.h5")
    np.testing.assert_array_equal(found["t"], numbered(2, 3, 4))
    np.testing.assert_array_equal(found["r"], numbered(4, 3, 2))
    np.testing.assert_array_equal(found["v"], numbered(2, 3, 4, 2))


def test_a_masked_array_that_hides_nothing(open_session):
    session = open_session()
    assert session.publish("t", 0, np.ma.masked_array(numbered(2, 3, 4)))
    session.end_iteration(0, 0)
    handle = session.get_handle("t", 0)
    assert handle.publish(numbered(2, 3, 4))
    session.end_iteration(1, 1)
    with pytest.raises(sidestream.Error, match="hides 1 values"):
        handle.publish(np.ma.masked_less(numbered(2, 3, 4), numbered(2, 3, 4).min() + 0.5))
    session.end_iteration(2, 2)
    assert session.close().refused == 1


def test_bounds_along_too_few_axes():
    text = "placement: inline\nmeshes: {box: {type: uniform, size: [4, 3, 2]}}\nvariables: {t: {mesh: box}}\n"
    session = sidestream.open_session(MPI.COMM_SELF, text=text)
    session.set_block("box", 0, [0, 0], [4, 3])
    with pytest.raises(sidestream.Error, match="block 0 of the mesh 'box' is given along 2 axes, expected 3"):
        session.start()
    session.close()


def test_bounds_along_too_few_axes_in_the_loop(open_session):
    session = open_session()
    for call in (
        lambda: session.set_block("box", 0, [0, 0], [4, 3]),
        lambda: session.replace_blocks("box", [0], [[0, 0]], [[4, 3]]),
    ):
        with pytest.raises(sidestream.Error, match="block 0 of the mesh 'box' is given along 2 axes, expected 3"):
            call()


def test_names_and_axes(open_session):
    session = open_session()
    for call, says in [
        (lambda: session.publish("temperature", 0, numbered(2, 3, 4)), "variable 'temperature' is not declared"),
        (lambda: session.publish("t", 1, numbered(2, 3, 4)), "block 1 of the mesh 'box' is not declared"),
        (lambda: session.publish("v", 0, numbered(2, 3, 4, 2, dtype="i2"), 4), "component_axis is 4; name one"),
        (lambda: session.publish("v", 0, numbered(2, 3, 4, 2, dtype="i2"), -5), "component_axis is -5; name one"),
        (lambda: session.alloc("temperature", 0), "variable 'temperature' is not declared"),
        (lambda: session.commit("t", 0), "is not allocated; call alloc first"),
        (lambda: session.clear("t", 0), "neither allocated nor committed"),
        (lambda: session.signal("now"), "the event 'now' is unknown"),
        (lambda: session.add_points_mesh("p", 3, "x"), "declarations are frozen"),
        (session.serve, "serve"),
    ]:
        with pytest.raises(sidestream.Error, match=says):
            call()


def test_what_python_fills_up_is_checked():
    session = sidestream.open_session(MPI.COMM_SELF, text="placement: off")
    with session:
        for call, says in [
            (lambda: session.set_block("m", 0, [], [1]), "lo has 0 entries, expected one for each axis"),
            (lambda: session.add_uniform_mesh("m", [1, 2], spacing=[1]), "spacing has 1 entries, expected 2"),
            (lambda: session.add_variable("v", "m", "float16"), "the type is 'float16', expected one of int8"),
            (lambda: session.add_variable("v", "m", centering="corner"), "the centering is 'corner', expected one of"),
            (lambda: session.add_variable("v", "m", order="C"), "the order is 'C', expected one of column, row"),
            (lambda: session.add_rectilinear_mesh("m", []), "there are 0 lists of coordinates"),
            (lambda: session.set("n", "ten"), "the value of 'n' is of str, expected a number"),
        ]:
            with pytest.raises(sidestream.Error, match=says):
                call()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ({"text": "placement: [inline"}, "CONFIGURATION", "configuration:1:12: found"),
        ({"file": "/nowhere/run.yaml"}, "CONFIGURATION", "/nowhere/run.yaml"),
        ({"file": os.fsdecode(b"/nowhere/caf\xe9.yaml")}, "CONFIGURATION", r"/nowhere/caf\\xe9.yaml"),
        ({"text": "output: {directory: caf\udce9}"}, "CONFIGURATION", "UTF-8"),
        ({"file": "a", "text": "b"}, "USAGE", "both given"),
    ],
)
def test_opening_fails(arguments, code, says):
    with pytest.raises(sidestream.Error, match=says) as raised:
        sidestream.open_session(MPI.COMM_SELF, **arguments)
    assert raised.value.code.name == code
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.code) == (str(raised.value), raised.value.code)


def test_a_communicator_of_something_else():
    with pytest.raises(sidestream.Error, match="comm is of int, expected a communicator of mpi4py"):
        sidestream.open_session(7, text="placement: off")


def test_a_closed_session(open_session):
    session = open_session()
    session.close()
    for call in (session.close, session.start, session.serve, lambda: session.publish("t", 0, numbered(2, 3, 4))):
        with pytest.raises(sidestream.Error, match="the session is closed"):
            call()


def test_an_exception_in_the_with_block_comes_out(open_session):
    session = open_session()
    with pytest.raises(ZeroDivisionError), session:
        1 / 0  # noqa: B018
    with pytest.raises(sidestream.Error, match="closed"):
        session.close()


# Arrays in place


def test_alloc_gives_the_memory_itself(open_session, tmp_path):
    session = open_session()
    for name, shape, dtype in [("t", (2, 3, 4), "f8"), ("r", (4, 3, 2), "f8"), ("v", (2, 3, 4, 2), "i2")]:
        array = session.alloc(name, 0)
        assert (array.shape, array.dtype) == (shape, np.dtype(dtype)) and array.flags.c_contiguous
        array[...] = numbered(*shape)
        session.commit(name, 0)
        assert not array.flags.writeable
    assert session.end_iteration(0, 0)
    np.testing.assert_array_equal(array, numbered(2, 3, 4, 2))  # may be read until `clear`
    session.close()
    with h5py.File(tmp_path / "results/fields-000000.h5") as file:
        np.testing.assert_array_equal(file["variables/t"], numbered(2, 3, 4))
        np.testing.assert_array_equal(file["variables/r"], numbered(4, 3, 2))
        np.testing.assert_array_equal(file["variables/v"], numbered(2, 3, 4, 2))


def test_clear_waits_for_nobody_and_takes_no_array_away(open_session):
    session = open_session()
    array = session.alloc("t", 0)
    array[...] = 1
    session.commit("t", 0)
    session.end_iteration(0, 0)
    view = array[0, 1:]
    for _ in range(2):
        with pytest.raises(sidestream.Error, match=r"or a view of it, is still in use; drop it \(del array\)"):
            session.clear("t", 0)
        array = None
    np.testing.assert_array_equal(view, np.ones((2, 4)))
    del view
    session.clear("t", 0)
    assert session.publish("t", 0, numbered(2, 3, 4))
    assert session.end_iteration(1, 1)


@pytest.mark.parametrize("mode", ["inline", "off"])
@pytest.mark.parametrize("commits", [True, False])
def test_an_array_outlives_its_session(open_session, mode, commits):
    session = open_session(mode)
    array = session.alloc("t", 0)
    array[...] = numbered(2, 3, 4)
    if commits:
        session.commit("t", 0)
    session.end_iteration(0, 0)
    session.close()
    np.testing.assert_array_equal(array, numbered(2, 3, 4))


def test_an_array_outlives_mpi(tmp_path):
    """Arrays, in shared memory too, are not unmapped while they are in use. Calls say that MPI has ended."""
    program = """
import sys
import numpy as np
from mpi4py import MPI
import sidestream
session = sidestream.open_session(MPI.COMM_SELF, text=sys.argv[1])
session.set_block("box", 0, [0, 0, 0], [4, 3, 2])
array = session.alloc("t", 0)
array[...] = 7
session.commit("t", 0)
session.end_iteration(0, 0)
view = array[1:]
session.close()
del session, array
late = sidestream.open_session(MPI.COMM_SELF, text=sys.argv[1])
late.set_block("box", 0, [0, 0, 0], [4, 3, 2])
late.start()
handle = late.get_handle("t", 0)
MPI.Finalize()
assert view.sum() == 84
for call in (
    lambda: late.publish("t", 0, np.zeros((2, 3, 4))),
    lambda: handle.publish(np.zeros((2, 3, 4))),
    lambda: late.end_iteration(1, 1),
    lambda: late.set_block("box", 0, [0, 0, 0], [4, 3, 2]),
):
    try:
        call()
    except sidestream.Error as error:
        assert "MPI_Finalize was called, which closed the session" in str(error), error
    else:
        raise AssertionError("a call after the end of MPI was taken")
print("fine")
"""
    text = CONFIGURATION.replace("MODE", "inline").replace("DIRECTORY", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", program, text], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "fine\n", done.stderr


def test_no_client_without_the_extension(tmp_path):
    """The pure package, without MPI: the reader works, and a session tells what it would need."""
    package = Path(sidestream.__path__[0])
    for path in package.rglob("*.py"):
        link = tmp_path / "sidestream" / path.relative_to(package)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path.resolve())
    (tmp_path / "t.csv").write_text("cycle,mean\n1,2\n")
    program = (
        "import sys; sys.modules['mpi4py'] = None\n"
        "import sidestream\n"
        "assert sidestream.open('t.csv')['mean'] == 2\n"
        "try: sidestream.open_session\n"
        "except sidestream.Error as error: print(error)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "this installation holds only the reader" in done.stdout, done.stdout + done.stderr


def test_stubs_have_what_the_module_has():
    tree = ast.parse(Path(sidestream.__path__[0], "_client.pyi").read_text(encoding="utf-8"))
    stub = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Session")
    named = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert named - {"__init__"} == {name for name in dir(_client.Session) if not name.startswith("_")}


# All of a block at once


def test_components_in_arrays_of_their_own(open_session, tmp_path):
    session = open_session()
    v = numbered(2, 3, 4, 2, dtype=np.int16)
    first, second = v[..., 0], v[..., 1]
    t, r = numbered(2, 3, 4), numbered(4, 3, 2)
    assert session.publish_block(0, {"t": t, "r": r, "v": (first, second)})
    assert session.end_iteration(0, 0.0)
    # Arrays that do not match, or too few arrays.
    for arrays, says in [
        ((first, second.copy()), "differ in dtype, shape or strides"),
        ((first, second.astype(np.int32)), "differ in dtype"),
        ([first], "1 arrays for 'v', expected 2"),
        ([], "no array for 'v'"),
        ((first[:1], second[:1]), r"4 x 3 x 1, expected 4 x 3 x 2.*shape of the array is \(1, 3, 4\)"),
    ]:
        with pytest.raises(sidestream.Error, match=says):
            session.publish("v", 0, arrays)
    with pytest.raises(sidestream.Error, match="'no' is not declared"):
        session.publish_block(0, {"no": t, "t": t})
    assert not session.end_iteration(1, 1.0)
    session.close()
    with h5py.File(tmp_path / "results/fields-000000.h5") as file:
        np.testing.assert_array_equal(file["variables/t"], t)
        np.testing.assert_array_equal(file["variables/r"], r)
        np.testing.assert_array_equal(file["variables/v"], v)


def test_a_rectilinear_mesh_of_parts(tmp_path):
    text = f"output: {{directory: {tmp_path / 'parts'}}}\nvariables: {{t: {{mesh: m}}}}\noutputs: [hdf5: {{}}]\n"
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        x = np.array([0.0, 1.0, 4.0, 9.0])
        with pytest.raises(sidestream.Error, match="give one more than there are cells"):
            session.set_rectilinear_block("m", 0, [0], [2], x)
        session.set_rectilinear_block("m", 0, [0, 0], [2, 1], x[:3], [5, 6])
        session.set_rectilinear_block("m", 1, [2, 0], [3, 1], x[2:], [5, 6])
        session.start()
        assert session.publish("t", 0, np.array([[1.0, 2.0]]))
        assert session.publish("t", 1, np.array([[3.0]]))
        session.end_iteration(0, 0.0)
    field = sidestream.open(tmp_path / "parts")["fields"]["t"]
    np.testing.assert_array_equal(field.isel(time=0), [[1, 2, 3]])
    np.testing.assert_array_equal(field["x"], [0.5, 2.5, 6.5])


def test_a_handle_publishes_as_names_do(open_session, tmp_path):
    session = open_session()
    t, r, v = (session.get_handle(name, 0) for name in "trv")
    assert isinstance(t, sidestream.Handle) and (t.variable, t.block) == ("t", 0)
    arrays = []
    for step in range(6):
        # Arrays that match, then with gaps, in another memory order, read-only, and matching again.
        a = numbered(2, 3, 4) + 100 * step
        if step == 2:
            a = np.repeat(a, 2, axis=2)[:, :, ::2]
        if step == 3:
            a = np.asfortranarray(a)
        if step == 4:
            a.flags.writeable = False
        arrays.append((a, numbered(4, 3, 2) - step, numbered(2, 2, 3, 4, dtype=np.int16) * step))
        assert t.publish(a)
        assert r.publish(arrays[-1][1])
        assert v.publish(arrays[-1][2], 0)
        assert session.end_iteration(step, 0.0)
    for step, (a, b, c) in enumerate(arrays):
        with h5py.File(tmp_path / "results" / f"fields-{step:06}.h5") as file:
            np.testing.assert_array_equal(file["variables/t"], a)
            np.testing.assert_array_equal(file["variables/r"], b)
            np.testing.assert_array_equal(file["variables/v"], np.moveaxis(c, 0, -1))


def test_what_a_handle_refuses(open_session):
    session = open_session()
    for name, block, says in (("tt", 0, "'tt' is not declared"), ("t", 7, "block 7")):
        with pytest.raises(sidestream.Error, match=says):
            session.get_handle(name, block)
    handle = session.get_handle("t", 0)
    for n in range(3):
        assert handle.publish(numbered(2, 3, 4))
        with pytest.raises(sidestream.Error, match=r"twice|already"):
            handle.publish(numbered(2, 3, 4))
        session.end_iteration(n, 0.0)
    wrong = [
        (numbered(2, 3, 5), "expected 4 x 3 x 2"),
        (numbered(2, 3, 4, dtype=np.float32), "of type float32"),
        (numbered(2, 3, 4, dtype=np.int64), "of type int64"),
        (numbered(24), "rank 1"),
        ([1.0], "no array"),
        (None, "no array"),
        (numbered(2, 3, 4).astype(">f8"), "byte order"),
    ]
    for array, says in wrong:
        with pytest.raises(sidestream.Error, match=says):
            handle.publish(array)
        session.end_iteration(3, 0.0)
        handle.publish(numbered(2, 3, 4))  # taken or not, which depends on the iterations in flight
        session.end_iteration(4, 0.0)
    session.close()
    with pytest.raises(sidestream.Error, match="closed"):
        handle.publish(numbered(2, 3, 4))


def test_a_handle_follows_its_block(open_session):
    """An array with the block's earlier size must not be read beyond its end, or be taken for the whole later."""
    session = open_session()
    handle = session.get_handle("t", 0)
    for step in range(3):
        assert handle.publish(numbered(2, 3, 4))
        session.end_iteration(step, 0.0)
    session.set_block("box", 0, [0, 0, 0], [4, 3, 1])
    with pytest.raises(sidestream.Error, match="expected 4 x 3 x 1"):
        handle.publish(numbered(2, 3, 4))
    session.end_iteration(3, 0.0)
    for step in range(2):
        assert handle.publish(numbered(1, 3, 4))
        session.end_iteration(4 + step, 0.0)
    session.set_allocated("t", 0, [0, 0, 0], [4, 3, 2])
    assert handle.publish(numbered(2, 3, 4))
    session.end_iteration(6, 0.0)
    session.remove_block("box", 0)
    with pytest.raises(sidestream.Error, match="block 0"):
        handle.publish(numbered(2, 3, 4))
    session.end_iteration(7, 0.0)
    session.set_block("box", 0, [0, 0, 0], [4, 3, 2])
    for step in range(2):
        assert handle.publish(numbered(2, 3, 4))
        session.end_iteration(8 + step, 0.0)
