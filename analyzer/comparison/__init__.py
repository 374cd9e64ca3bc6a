"""Arms compared: metrics, verdicts with intervals, and gates."""
