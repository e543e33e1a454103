"""Planner: what a recorded training step would take on other numbers of processes, and why."""
