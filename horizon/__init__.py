"""Horizon: a past that local LLM agents can carry."""
