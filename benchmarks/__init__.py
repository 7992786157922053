"""What MonsterZoo measures about itself: `throughput`, the same against `peers`, and the `demo`."""
