"""The pages. Each view parses, calls one verb and renders."""
