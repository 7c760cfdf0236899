"""Speed against the floor, as ratios taken in one run. `python -m bench`; see README.md."""
