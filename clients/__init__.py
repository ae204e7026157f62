"""Programs for people (``cli``) and for learners (``gym``). They know the protocol and the rules, never the hall."""
