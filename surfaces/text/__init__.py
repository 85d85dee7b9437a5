"""Text for people: reasons that are stored, and how their values are shown."""
