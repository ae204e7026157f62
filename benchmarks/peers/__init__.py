"""The same move on Fudaza, on its peers and on the floor, side by side: ``python -m benchmarks.peers --help``.

``docs/performance.md`` says what is measured and how, and has the results.
"""
