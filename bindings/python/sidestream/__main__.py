"""`python -m sidestream`: the command."""

import sys

from .command import main

sys.exit(main())
