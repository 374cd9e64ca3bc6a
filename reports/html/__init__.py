"""Self-contained HTML reports: charts, tables and verdicts in one file."""
