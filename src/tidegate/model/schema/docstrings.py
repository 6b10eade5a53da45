"""Docstrings of fields and enum members: the text right below an assignment, which Python itself does not keep."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache


def summary(cls: type) -> str:
    """A class's docstring on one line."""
    return " ".join((cls.__doc__ or "").split())


@cache
def member_docs(cls: type) -> dict[str, str]:
    """Name of field or enum member → its docstring, with those of base classes."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("tidegate."):
            docs |= _own_docs(base)
    return docs


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module. Read once for all of them: to search the file again for each takes most of a start."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _own_docs(cls: type) -> dict[str, str]:
    tree = _classes(cls.__module__)[cls.__name__]
    docs = {}
    for statement, below in zip(tree.body, tree.body[1:], strict=False):
        target = _target(statement)
        if target and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            docs[target] = " ".join(str(below.value.value).split())
    return docs


def _target(statement: ast.stmt) -> str:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""
