"""JSON Schemas of the documents lsmlens writes."""
