"""Bakes in shards, by the schedulers of farms; see docs/farm.md."""
