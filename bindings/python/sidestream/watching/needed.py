"""The Python packages that the page needs."""

from importlib.util import find_spec

from ..errors import Error

PACKAGES = {"starlette": "starlette", "uvicorn": "uvicorn", "plotly": "plotly", "yaml": "PyYAML"}


def need_packages() -> None:
    """Raises Error if a package is missing."""
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise Error(
            f"watch: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed; install what the page "
            "needs (`pip install 'sidestream[watch]'`)"
        )
