"""What all games share: compilation, dispatch, random numbers, observation layouts, batched loops."""
