"""Expressions: Kubernetes' functions, errors as values, and bounds on the work one may cause."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from tidegate.local.crds.cel import CelError, CompileError, compile_expression
from tidegate.local.crds.cel.library.authorization import asking, authorizer
from tidegate.local.crds.values.patterns import PatternError, matcher

VARIABLES = ("self", "oldSelf", "object", "authorizer")


def value_of(text: str, **bindings: Any) -> Any:
    return compile_expression(text, variables=VARIABLES).evaluate(bindings)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'abc'.indexOf('b')", 1), ("[1, 2].indexOf(2)", 1), ("['a'].lastIndexOf('a')", 0), ("[1, 2].sum()", 3),
        ("[1.5, 2.0].sum()", 3.5), ("[3, 1].isSorted()", False), ("['a', 'b'].max()", "b"), ("[3, 1].min()", 1),
        ("'%s-%d-%.2f'.format(['a', 1, 2.5])", "a-1-2.50"), ("'a,b'.split(',')", ["a", "b"]),
        ("['a', 'b'].join('-')", "a-b"), ("'abc'.substring(1)", "bc"), ("'aXb'.lowerAscii()", "axb"),
        ("'a1b22'.findAll('[0-9]+')", ["1", "22"]), ("strings.quote('a\"b')", '"a\\"b"'),
        ("quantity('1Gi').isGreaterThan(quantity('500M'))", True), ("quantity('2').sub(1).asInteger()", 1),
        ("quantity('1') == quantity('1000m')", True), ("isQuantity('x')", False), ("quantity('-1').sign()", -1),
        ("ip('10.0.0.1').family()", 4), ("cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))", True),
        ("cidr('10.1.2.3/8').masked().ip() == ip('10.0.0.0')", True), ("ip.isCanonical('::1')", True),
        ("url('https://a:80/b?c=d').getPort()", "80"), ("url('https://a/b?c=d').getQuery()['c'][0]", "d"),
        ("semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", True), ("semver('v1.2', true).minor()", 2),
        ("sets.equivalent([1, 2], [2, 1, 1])", True), ("[[1], [2]].flatten()", [1, 2]), ("[2, 1].sort()", [1, 2]),
        ("[1, 1].distinct()", [1]), ("lists.range(3)", [0, 1, 2]), ("[1, 2, 3].slice(0, 2)", [1, 2]),
        ("{'a': 1}.?b.orValue(2)", 2), ("has({'a': 1}.a)", True), ("[1, 2].exists(x, x > 1)", True),
        ("duration('90m').getHours()", 1), ("type(1) == int", True),
    ],
)  # fmt: skip
def test_functions_give_what_kubernetes_gives(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("self.b", "no such key: b"),
        ("[1][3]", "index out of bounds: 3"),
        ("1 / 0", "division by zero"),
        ("self < 'x'", "no such overload"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("[].max()", "max called on empty list"),
    ],
)
def test_what_goes_wrong_is_a_value_with_go_s_words(text: str, message: str) -> None:
    assert value_of(text, self={"a": 1}) == CelError(message)


@pytest.mark.parametrize("text", ["self +", "1 + 'a'", "nope > 1", "'a'.nope()", "quantity(1)", "quantity('1') == 1"])
def test_an_expression_that_cannot_work_is_refused_when_it_is_compiled(text: str) -> None:
    with pytest.raises(CompileError, match=r"ERROR: <input>:1:"):
        compile_expression(text, variables=VARIABLES)


def test_the_type_of_the_result_is_known_beforehand() -> None:
    assert compile_expression("object.x == 1", variables=VARIABLES).result_type == "bool"
    assert compile_expression("object.x", variables=VARIABLES).result_type == "dyn"


@pytest.mark.parametrize(
    "text",
    [
        "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))",
        "self.map(a, self.sum()).size() > 0",
        "self.map(a, self.map(b, self.indexOf(-1))).size() > 0",
        "lists.range(9000000000).size() > 0",
    ],
)
def test_no_expression_can_hold_the_server_up(text: str) -> None:
    """It ends with the error of an exceeded cost limit, soon."""
    started = time.process_time()
    verdict = value_of(text, self=list(range(5000)))
    assert isinstance(verdict, CelError)
    assert verdict.too_costly
    assert time.process_time() - started < 5


def test_a_pattern_that_would_backtrack_for_ever_is_matched_at_once() -> None:
    started = time.process_time()
    assert not matcher("^(a+)+$")("a" * 5000 + "b")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("pattern", ["(", "(?=a)", "a{1001}", "[a", "a**", r"\8", "a)", "*"])
def test_what_re2_does_not_take_is_no_pattern(pattern: str) -> None:
    with pytest.raises(PatternError):
        matcher(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "held"),
    [("b$", "ab\n", False), (r"^\d+$", "１", False), (r"(?i)^ABC$", "abc", True), (r"^\pL+$", "é", True),
     ("^[[:alpha:]]+$", "ab", True), (r"a\z", "ba", True), ("[&&]", "&", True), ("^(?P<n>a)$", "a", True)],
)  # fmt: skip
def test_patterns_mean_what_they_mean_to_re2(pattern: str, text: str, held: bool) -> None:
    assert matcher(pattern)(text) is held


def test_the_authorizer_asks_who_evaluates() -> None:
    text = "authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()"
    asked = []

    def ask(question: dict[str, str]) -> tuple[bool, str]:
        asked.append(question)
        return True, "because"

    with asking(ask):
        assert value_of(text, authorizer=authorizer()) is True
    assert asked == [{"group": "apps", "resource": "deployments", "namespace": "x", "verb": "create"}]


def test_the_library_is_not_loaded_before_there_is_an_expression() -> None:
    """Who has no rules pays nothing for them."""
    code = (
        "import sys; from tidegate.local.crds.objects import CustomResource; import tidegate.local.crds.checks;"
        "r = CustomResource('a/v1', 'Foo', {'type': 'object'});"
        "r.validate_create({'apiVersion': 'a/v1', 'kind': 'Foo'});"
        "sys.exit('cel_expr_python' in ' '.join(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
