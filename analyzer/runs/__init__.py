"""One database's life: its jobs, tables and opens as typed columns, stitched together from its logs."""
