"""What the API server asks of a node: containers' logs, and commands run inside them.

Reads pods' folders and talks to their runners; changes nothing about pods. Only clients with a certificate of the
given authority are answered.
"""
