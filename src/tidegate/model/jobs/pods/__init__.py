"""What an object says of its pods: their shapes, their places in the object, and what each of them takes."""
