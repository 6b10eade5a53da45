"""CEL, the expression language of validation rules and admission policies, with Kubernetes' own functions.

Expressions are parsed, type-checked and run by Google's `cel-expr-python`, which is imported when the first expression
is compiled and not before. `program` is the door: `compile_expression` and `Program.evaluate`; `library` holds the
functions Kubernetes adds; `syntax` and `fields` know which field of a schema an expression speaks of.

An expression cannot hang the server: the library ends an evaluation after 10,000 steps of its loops, functions written
here share a budget of work per evaluation (`library.budget`), and regular expressions are RE2.
"""

from tidegate.local.crds.cel.program import CelError, CompileError, Program, compile_expression, kept_program

__all__ = ["CelError", "CompileError", "Program", "compile_expression", "kept_program"]
