"""What clients felt: historic operations stage by stage, and benchmark results."""
