"""Search: candidate settings, trials, the Pareto set and the recommendation."""
