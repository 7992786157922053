"""Training runs: options, checkpoints, journals and progress; files, signals and exit codes."""
