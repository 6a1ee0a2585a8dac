"""Flows: one file each, deployed by module path (spec 3-orchestration)."""
