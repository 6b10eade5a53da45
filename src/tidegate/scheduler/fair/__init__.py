"""What would be fair: the whole capacity handed out afresh to everybody who wants something.

`demand` says what everybody wants, `fill` hands it out in order, `deserved` answers what came of it and keeps it
current as demand changes.
"""
