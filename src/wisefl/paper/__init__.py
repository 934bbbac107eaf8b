"""The paper, reproduced: its figures as data, its claims as tests, and what they come to."""
