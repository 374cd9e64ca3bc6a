"""Options: how they are written, printed and set, and which are in force and why."""
