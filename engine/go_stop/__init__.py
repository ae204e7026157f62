"""Go-stop (matgo) for two players with 48 hwatu cards."""
