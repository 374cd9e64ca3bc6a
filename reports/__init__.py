"""Facts out to people and machines."""
