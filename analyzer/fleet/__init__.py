"""Fleets: the jobs of thousands of OSDs as one Parquet data set, added to hour by hour, and what it shows."""
