"""A table in the browser: games that people play or watch, and the local server that shows them."""
