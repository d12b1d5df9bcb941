"""The description of results for archives: `ro-crate-metadata.json`, after RO-Crate 1.1.

The run is a CreateAction: its instruments are the simulation and Sidestream, its object is the record of the run with
the configuration, and its results are the files beside it.
"""

import datetime as dates
import json
import mimetypes
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import Code, Error
from ..reader.records import read_yaml
from .sessions import SESSIONS, Session
from .trace import replaced

NAME = "ro-crate-metadata.json"
_CITATION = "CITATION.cff"
# Media types of results that not every machine's table has.
_TYPES = {
    ".csv": "text/csv",
    ".h5": "application/x-hdf5",
    ".nc": "application/x-netcdf",
    ".vtkhdf": "application/x-hdf5",
    ".yaml": "application/yaml",
    ".txt": "text/plain",
    ".parquet": "application/vnd.apache.parquet",
}
_SPECIFICATION = "https://w3id.org/ro/crate/1.1"


def _reference(entity: dict[str, Any]) -> dict[str, str]:
    return {"@id": entity["@id"]}


class Crate:
    """Entities, each once, in the order in which they were added."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.entities: dict[str, dict[str, Any]] = {}

    def add(self, entity: dict[str, Any]) -> dict[str, str]:
        """Adds an entity without its empty properties; returns the reference to it."""
        kept = {name: value for name, value in entity.items() if value not in (None, "", [])}
        self.entities.setdefault(entity["@id"], kept)
        return _reference(entity)

    def files(self, folder: Path, before: str = "") -> list[dict[str, str]]:
        """Adds what a folder holds, without hidden files and links; folders in it are data sets of their own."""
        found = []
        for entry in sorted(os.scandir(folder), key=lambda one: one.name):
            name = before + quote(entry.name)
            if entry.name.startswith(".") or (not before and entry.name == NAME):
                continue
            if entry.is_dir(follow_symlinks=False):
                parts = self.files(Path(entry.path), name + "/")
                found.append(self.add({"@id": name + "/", "@type": "Dataset", "name": entry.name, "hasPart": parts}))
            elif entry.is_file(follow_symlinks=False):
                found.append(self.add(_file(entry, name)))
        return found


def _file(entry: "os.DirEntry[str]", name: str) -> dict[str, Any]:
    facts = entry.stat(follow_symlinks=False)
    ending = Path(entry.name).suffix.lower()
    changed = dates.datetime.fromtimestamp(facts.st_mtime, dates.UTC)
    return {
        "@id": name,
        "@type": "File",
        "name": entry.name,
        "contentSize": str(facts.st_size),
        "encodingFormat": _TYPES.get(ending) or mimetypes.guess_type(entry.name)[0] or "application/octet-stream",
        "dateModified": changed.isoformat(timespec="seconds"),
    }


def _person(crate: Crate, author: dict[str, Any]) -> dict[str, str]:
    """An author of a CITATION.cff: a person, or an entity."""
    title = author.get("name") or " ".join(
        str(author[part]) for part in ("given-names", "name-particle", "family-names", "name-suffix") if part in author
    )
    address = author.get("orcid") or author.get("website") or f"#{quote(title)}"
    of: list[Any] = []
    if affiliation := author.get("affiliation"):
        of = [crate.add({"@id": f"#{quote(affiliation)}", "@type": "Organization", "name": affiliation})]
    person = {"@id": address, "@type": "Organization" if "name" in author else "Person", "name": title}
    return crate.add({**person, "email": author.get("email"), "affiliation": of})


def _citation(path: Path) -> dict[str, Any]:
    found = read_yaml(path)
    authors = found.get("authors") if isinstance(found, dict) else None
    if not isinstance(authors, list) or not all(isinstance(one, dict) for one in authors) or "title" not in found:
        raise Error(f"{path}: found no title or no list of authors, expected a CITATION.cff (version 1.2)", Code.FILE)
    return found


def _licence(crate: Crate, given: str | None) -> dict[str, str]:
    if given is None:
        title, text = "No licence is stated", "Ask the authors before you use these files."
        return crate.add({"@id": "#no-licence", "@type": "CreativeWork", "name": title, "description": text})
    address = given if "://" in given else f"https://spdx.org/licenses/{given}"
    return crate.add({"@id": address, "@type": "CreativeWork", "name": given})


def _software(crate: Crate, citation: dict[str, Any]) -> dict[str, str]:
    address = next((str(citation[key]) for key in ("repository-code", "url") if key in citation), None)
    doi = f"https://doi.org/{citation['doi']}" if "doi" in citation else None
    return crate.add(
        {
            "@id": address or doi or f"#{quote(citation['title'])}",
            "@type": "SoftwareApplication",
            "name": citation["title"],
            "softwareVersion": str(citation.get("version") or ""),
            "identifier": doi,
            "author": [_person(crate, author) for author in citation["authors"]],
        }
    )


def _text(moment: dates.datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds") if moment else None


def _action(sessions: list[Session], parts: list[dict[str, str]], instruments: list[Any]) -> dict[str, Any]:
    record = sessions[0].record
    account = record.get("account")
    ended = [session.ended for session in sessions if session.ended]
    own = {name for names in SESSIONS for name in names[1:] if name}
    objects = [{"@id": names[1]} for names in SESSIONS if {"@id": names[1]} in parts]
    counts = "" if not account else ", ".join(f"{account[key]} {key}" for key in ("delivered", "failed", "refused"))
    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run with the placement {record.get('placement', 'unknown')}",
        "description": f"Iterations: {counts}." if counts else "The run has not ended in order.",
        "startTime": _text(sessions[0].started),
        "endTime": _text(max(ended)) if ended else None,
        "actionStatus": {"@id": f"http://schema.org/{'CompletedActionStatus' if account else 'FailedActionStatus'}"},
        "instrument": instruments,
        "object": objects,
        "result": [part for part in parts if part["@id"] not in own],
    }


def describe(
    root: Path,
    sessions: list[Session],
    *,
    citation: Path | None = None,
    licence: str | None = None,
    name: str | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """The description of an output directory, as the file has it. Raises Error if the citation is none."""
    crate, record = Crate(root), sessions[0].record
    citation = citation or (root / _CITATION if (root / _CITATION).is_file() else None)
    version = str(record.get("sidestream", ""))
    cited = _citation(citation) if citation else None
    about = crate.add({"@id": "./", "@type": "Dataset"})
    parts = crate.files(root)
    authors = [_person(crate, author) for author in cited["authors"]] if cited else []
    own = {"title": "Sidestream", "version": version, "authors": [{"name": "The Sidestream authors"}]}
    instruments = [_software(crate, one) for one in (cited, own) if one]
    action = {**_action(sessions, parts, instruments), "agent": authors}
    day = (sessions[0].started or dates.datetime.now(dates.UTC)).date().isoformat()
    title = f"{cited['title']}: results" if cited else "Results of a simulation"
    crate.entities["./"] |= {
        "name": name or f"{title} of {day}",
        "description": description or f"Results that Sidestream {version} wrote beside a simulation.",
        "datePublished": dates.datetime.now(dates.UTC).isoformat(timespec="seconds"),
        "license": _licence(crate, licence),
        "hasPart": parts,
        "mentions": [crate.add(action)],
        **({"author": authors} if authors else {}),
    }
    descriptor = {"@id": NAME, "@type": "CreativeWork", "about": about, "conformsTo": {"@id": _SPECIFICATION}}
    return {"@context": f"{_SPECIFICATION}/context", "@graph": [descriptor, *crate.entities.values()]}


def write_crate(root: Path, sessions: list[Session], replace: bool, **given: Any) -> Path:
    """Writes the description beside the results; one that is there only with `replace`. Returns its path."""
    path = root / NAME
    if path.exists() and not replace:
        raise Error(f"record: {path} is there; give --replace to write it anew, or keep it", Code.FILE)
    described = describe(root, sessions, **given)
    with replaced(path) as temporary:
        temporary.write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
