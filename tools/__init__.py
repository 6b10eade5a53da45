"""Programs for those who work on the project: they build, measure and generate; nothing in the product imports them."""
