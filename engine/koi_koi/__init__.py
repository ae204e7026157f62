"""Koi-koi: hanafuda for two. ``docs/koi-koi.md`` says what was decided where the rules are silent."""
