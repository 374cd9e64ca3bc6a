"""Collecting a bundle: what is asked of a cluster and its OSDs, or taken from a database, as one archive."""
