"""What MonsterZoo measures about itself; `monsterzoo bench` lists it."""
