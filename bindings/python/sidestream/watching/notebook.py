"""`sidestream.watch` in a notebook: the page within a cell."""

import html
import os
from pathlib import Path
from types import TracebackType

from .needed import need_packages


class Watch:
    """A page that is being served. Shown in a notebook it is the page itself. `close` ends it."""

    def __init__(self, directory: str | os.PathLike[str], height: int = 900, read_only: bool = False) -> None:
        need_packages()
        from .serving import Serving

        self.directory, self.height = Path(directory), height
        # A cookie would not reach the page within a notebook of another site, so that its path has the token.
        self._serving = Serving(self.directory, framed=True, may_ask=not read_only)
        self._serving.start()

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return self._serving.url

    def close(self) -> None:
        """Ends the server."""
        self._serving.close()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sidestream.watch {self.directory}: {self.url}>"

    def _repr_html_(self) -> str:
        address = html.escape(self.url, quote=True)
        return (
            f'<iframe src="{address}" width="100%" height="{int(self.height)}" style="border: 0" '
            'title="Sidestream"></iframe>'
        )


def watch(directory: str | os.PathLike[str], height: int = 900, read_only: bool = False) -> Watch:
    """Serves a page that shows the simulation in this output directory, and shows the page if this is the last line of
    a notebook's cell. `read_only`: the page neither steers nor asks."""
    return Watch(directory, height, read_only)
