"""Option sets: what a replay runs under, from Ceph's strings, OPTIONS files, presets or a bundle."""
