"""Watching live logs: what is new in them, wherever rotation puts it, stitched to what came before."""
