"""The pages of the first floor. Each view parses, calls one verb and renders."""
