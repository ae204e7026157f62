"""Hachinin Meri: eight seats, two teams, 75 cards, nine tricks."""
