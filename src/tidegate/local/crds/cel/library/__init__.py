"""The functions Kubernetes adds to CEL: texts, lists, sets, regular expressions, quantities, addresses, URLs, versions.

Each module lists its functions in a table of `Function`s; `declare` turns the tables into what the CEL library wants.
A value of a type of Kubernetes' own (a quantity, an address) is a map with one key that names its type: the library has
no way to carry foreign objects. Implementations raise ValueError for what an expression did wrong.
"""
