"""The units that quantities have, from units.txt.

pint loads numpy wherever it is installed, which nothing here needs and which would double the
start of every command: it is hidden while pint is imported.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

_HIDDEN = "numpy" not in sys.modules
if _HIDDEN:
    sys.modules["numpy"] = None
try:
    import pint
finally:
    if _HIDDEN:
        del sys.modules["numpy"]


@lru_cache(maxsize=1)
def registry() -> pint.UnitRegistry:
    """The units of units.txt; conversion factors are exact."""
    units = pint.UnitRegistry(None, non_int_type=Fraction)
    units.load_definitions(Path(__file__).with_name("units.txt"))
    return units
