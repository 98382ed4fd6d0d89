"""Tests mirror the package; `truth.py` is the enumerator they hold it against."""

import os

# The arrays are small: threads would only get in each other's way. To be set before
# numpy and torch are loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
