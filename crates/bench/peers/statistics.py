"""Times SciPy and ruptures on the series that the benchmark wrote.

usage: statistics.py pelt|percentile|bca FILE

FILE holds doubles, little-endian. Prints the seconds that the call took, imports and reading
apart.
"""

import sys
import time

import numpy as np


def main():
    what, path = sys.argv[1:]
    values = np.fromfile(path, dtype="<f8")
    if what == "pelt":
        import ruptures

        penalty = 15 * np.log(len(values))
        began = time.perf_counter()
        # The cost of a normal likelihood of mean and variance, every index a candidate.
        model = ruptures.Pelt(model="normal", min_size=2, jump=1).fit(values.reshape(-1, 1))
        model.predict(pen=penalty)
    else:
        from scipy import stats

        method = {"percentile": "percentile", "bca": "BCa"}[what]
        began = time.perf_counter()
        stats.bootstrap(
            (values,), np.median, n_resamples=10_000, batch=100, method=method, random_state=1
        )
    print(time.perf_counter() - began)


main()
