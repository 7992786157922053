"""One key per type, however the type is given."""

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import from_dtype

_record_key = cache(from_dtype)


def key_of(kind: Any) -> Any:
    """The same key for a record's dtype, numba's type of it and a record; likewise for a NamedTuple class."""
    if isinstance(kind, types.Type):
        return getattr(kind, "instance_class", kind)
    if isinstance(kind, type):
        return kind
    dtype = kind if isinstance(kind, np.dtype) else getattr(kind, "dtype", None)
    return type(kind) if dtype is None else _record_key(dtype)
