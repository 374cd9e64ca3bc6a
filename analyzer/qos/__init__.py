"""The op scheduler of an OSD: what is in force, what it allocates, and what is wrong."""
