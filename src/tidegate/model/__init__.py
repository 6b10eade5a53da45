"""The words: typed objects, exact quantities, and the schemas generated from them. Knows nobody else here."""
