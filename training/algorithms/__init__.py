"""Learning algorithms: PPO and learning from rollouts, with their buffers and networks."""
