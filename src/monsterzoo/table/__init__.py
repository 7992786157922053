"""The table for people: games that they play or watch in the browser, or play in a terminal."""
