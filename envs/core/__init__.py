"""What all games share: the contract, options, random numbers, observation layouts, scenes."""
