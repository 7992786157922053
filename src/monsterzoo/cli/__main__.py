"""`python -m monsterzoo.cli`, the same as the command `monsterzoo`."""

import sys

from . import main

sys.exit(main())
