"""Runs analyses in Python on a server. Called only by the library sidestream_python.so, with the interpreter's lock.

A failure raises `Failed`, whose text is the whole report: the library has no other way to show it.
"""

import difflib
import gc
import importlib
import inspect
import pickle
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import _servers
from . import metadata
from .analysis import Data, Event, Record, Servers
from .own_interpreter import prepare
from .results import made
from .task import Task, Unfit, task_of

INTERFACE = 3  # interface_version of bindings/python/servers/runtime.cpp

_OWN = str(Path(__file__).parents[1])
_modules: dict[tuple[str, int, int], types.ModuleType] = {}
_TRUTHS = {"true": True, "false": False}

prepare(_servers.started_here)


class Failed(Exception):
    """An analysis failed; the text says where."""

    is_report = True  # for the library: do not prefix the type's name


class Refused(Exception):
    """An option is wrong."""

    def __init__(self, option: str, text: str) -> None:
        super().__init__(text)
        self.option = option


def _is_own(frame: traceback.FrameSummary) -> bool:
    return frame.filename.startswith(_OWN)


def _without_own(shown: traceback.TracebackException | None) -> None:
    """Drops the frames of this package, which do not help the author of the analysis."""
    if shown is None:
        return
    shown.stack = traceback.StackSummary.from_list([frame for frame in shown.stack if not _is_own(frame)])
    _without_own(shown.__cause__)
    _without_own(shown.__context__)


def described(error: BaseException) -> str:
    """The exception and its position in a first line, then the traceback."""
    shown = traceback.TracebackException.from_exception(error)
    _without_own(shown)
    last = shown.stack[-1] if shown.stack else None
    place = f" ({last.filename}:{last.lineno})" if last else ""
    if isinstance(error, SyntaxError):
        place = f" ({error.filename}:{error.lineno})"
    summary = list(shown.format_exception_only())[-1].strip()
    trace = "".join(shown.format()).rstrip()
    return summary if trace == summary else f"{summary}{place}\n{trace}"


def _value(text: str) -> Any:
    """Converts texts that look like a number, or true or false."""
    if text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text) if "_" not in text and text.lower() not in ("nan", "inf", "infinity") else text
        except ValueError:
            continue
    return text


def _find(script: str, configuration: str) -> Path:
    beside = Path(configuration).parent / script
    for candidate in (beside, Path(script)):
        if candidate.is_file():
            return candidate.resolve()
    raise Refused("script", f"found no file '{script}', nor one beside the configuration; correct the path")


def _of_package(script: str) -> types.ModuleType | None:
    """The module of this package that `script` names (sidestream.paraview), which the library has made a path; None if
    it names a file."""
    name = Path(script).name
    if not name.startswith("sidestream.") or name.endswith(".py") or Path(script).exists():
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise Refused("script", f"found no module '{name}' ({error}); correct it, or name a file") from None


def _load_module(path: Path) -> types.ModuleType:
    """Loads the file as a module, run once however many entries name it. No files are written next to it."""
    status = path.stat()
    key = (str(path), status.st_mtime_ns, status.st_size)
    if key in _modules:
        return _modules[key]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    name = f"sidestream_script_{path.stem}"  # the same on all servers, since messages may contain its types
    module = types.ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except BaseException as error:
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
        raise Refused("script", f"'{path.name}' cannot be imported: {described(error)}") from None
    _modules[key] = module
    return module


def _suggestion(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"expected one of {', '.join(known)}" if known else "there are none"


def _find_call(module: types.ModuleType, name: str, path: Path) -> Callable[..., Any]:
    own = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", None) == module.__name__]
    own += getattr(module, "__all__", [])
    found = getattr(module, name, None)
    if found is None:
        raise Refused("call", f"found no '{name}' in '{path.name}'; {_suggestion(name, own)}")
    if not callable(found):
        raise Refused(
            "call", f"'{name}' in '{path.name}' is of type {type(found).__name__}, expected a function or class"
        )
    return found


def _check_arguments(call: Callable[..., Any], name: str, arguments: dict[str, Any]) -> None:
    """Checks that the callable accepts the arguments; a function gets a block before them, a class does not."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return  # written in C, without a signature
    before = () if isinstance(call, type) else (None,)
    try:
        signature.bind(*before, **arguments)
    except TypeError as error:
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        known = [n for n, p in signature.parameters.items() if p.kind in kinds][len(before) :]
        unknown = next((n for n in arguments if n not in known), None)
        hint = f"; {_suggestion(unknown, known)}" if unknown is not None else f"; it is {name}{signature}"
        raise Refused("arguments", f"'{name}' cannot be called with them: {error}{hint}") from None


class Entry:
    """One entry of the configuration at work."""

    def __init__(self, task: Task, halo: int, files: list[str], module: types.ModuleType) -> None:
        self.passes, self.tolerance = task.passes, task.tolerance
        self._task, self._halo, self._files, self._module = task, halo, files, module

    def local(
        self,
        iteration: tuple[int, int, float],
        pass_number: int,
        feedback: bytes,
        server: int,
        servers: int,
        records: list[Record],
        events: list[tuple[str, int, str, int, str, bytes]],
    ) -> bytes:
        """Returns the partial. If it succeeds, no data of the blocks is in use afterwards; if it fails, it is not
        called again."""
        data = Data(iteration, records)
        data.halo, data.server, data.servers, data.pass_number = self._halo, server, servers, pass_number
        data.meshes, data.variables = self._task.meshes, self._task.variables
        data.events = [Event(*head, np.frombuffer(values, kind)) for *head, kind, values in events]
        partial, failure = b"", ""
        try:
            self._refuse_if_kept()
            data.feedback = pickle.loads(feedback) if feedback else None
            partial = pickle.dumps(self._task.local(data), protocol=5)
        except BaseException as error:
            failure = described(error)
            traceback.clear_frames(error.__traceback__)
        kept = _kept(data._end())
        if kept:
            vars(self._module)["__sidestream_kept__"] = kept
        if failure or kept:
            raise Failed(failure or kept)
        return partial

    def _refuse_if_kept(self) -> None:
        kept = vars(self._module).get("__sidestream_kept__")
        if kept:
            raise MemoryError(f"not called any more, since in an earlier iteration {kept}")

    def combine(
        self, iteration: tuple[int, int, float], pass_number: int, partials: list[bytes], group: Any
    ) -> tuple[bytes, list[Any]]:
        """Returns the feedback for the next pass. After the last pass it returns the results, on the first server."""
        try:
            servers = Servers(group, iteration, pass_number)
            result = self._task.combine([pickle.loads(partial) for partial in partials], servers)
            if pass_number + 1 < self.passes:
                result = servers.broadcast(result)  # the return value of the first one counts, as with results
                servers._enter("return")
                return pickle.dumps(result, protocol=5), []
            servers._enter("return")
            return b"", made(result, self._files) if servers.rank == 0 else []
        except BaseException as error:
            text = described(error)
            traceback.clear_frames(error.__traceback__)
        raise Failed(text)


def _kept(records: list[Record]) -> str:
    """The message about arrays that are still in use; empty if there are none."""
    if records:
        gc.collect()  # an exception and its frames may refer to each other
        records = [
            record
            for record in records
            if record["values"].end() > 0 or (record["flags"] is not None and record["flags"].end() > 0)
        ]
    if not records:
        return ""
    names = ", ".join(f"'{record['variable']}' of block {record['block']}" for record in records[:3])
    return (
        f"it kept an array of {names} (or a view of one) after it had returned; that memory is the simulation's again. "
        "Keep a copy: array.copy()"
    )


def load(
    declarations: Any,
    script: str,
    configuration: str,
    call: str,
    arguments: dict[str, str],
    variables: list[str],
    files: list[str],
    halo: int,
    whole: bool,
) -> Entry | tuple[str, str]:
    """Returns one entry of the configuration; or an option and its error."""
    try:
        given = {name: _value(text) for name, text in arguments.items()}
        packaged = _of_package(script)
        if packaged is None:
            path = _find(script, configuration)
            module = _load_module(path)
        else:
            path, module = Path(packaged.__name__), packaged
            given["folder"] = str(Path(configuration).parent)  # beside which such classes look for files
        function = _find_call(module, call, path)
        _check_arguments(function, call, given)
        meshes, known = metadata.read(declarations)
        try:
            task = task_of(function, call, given, meshes, known, variables, whole)
        except Unfit as error:
            return str(error.args[0]), str(error.args[1])
        except BaseException as error:
            return "call", f"'{call}' of '{path.name}' cannot be made: {described(error)}"
        return Entry(task, halo, files, module)
    except Refused as refused:
        return refused.option, str(refused)
