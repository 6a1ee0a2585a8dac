"""Tasks: one retried task per use case (spec 3-orchestration)."""
