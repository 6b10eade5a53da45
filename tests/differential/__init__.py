"""The same requests to a real kube-apiserver and to the embedded server, answers compared.

`cases/*.yaml` are the requests, as data, one file per theme (stories.py explains their form); `accepted.yaml` lists the
differences we accept, each with its reason. By hand, also on servers that run already (`--real`, `--embedded`):

    python -m tests.differential                     # every story, fresh servers
    python -m tests.differential --only pods         # stories whose theme or name has that text
    python -m tests.differential --seed 7 --count 500   # random changes of good manifests instead
"""
