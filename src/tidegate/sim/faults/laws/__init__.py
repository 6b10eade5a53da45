"""What must hold whatever goes wrong: `witness` judges every commit, `settled` what is left when faults have ended."""
