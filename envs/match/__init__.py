"""Playing games to their end, whoever decides in them."""
