"""Objects rendered for another scheduler as they are created, by rules for namespaces: an unmodified platform works.

The rules are a ConfigMap in Tidegate's own namespace, followed as it changes, or a file. Rules that cannot be read
leave the last good ones in force; before there were any, nothing is rendered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from tidegate.controller.doors.adopting import made_for
from tidegate.controller.doors.hooks import NAMESPACE_NAME, NOT_OF_THE_SYSTEM, SYSTEM, Target, rules
from tidegate.dialects.errors import DialectError
from tidegate.dialects.registry import dialect_named
from tidegate.dialects.webhook import ANY, NamespaceRule, decide, parse_rules
from tidegate.kube.client import Client, StatusError
from tidegate.kube.discovery import served_resources
from tidegate.kube.informer import Informer
from tidegate.kube.resources import CONFIGMAPS
from tidegate.kube.serve.reviews import Asked, refused
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import Kinds
from tidegate.model.kinds import GROUP
from tidegate.model.problems import ManifestError

_log = logging.getLogger(__name__)

PATH = "/dialects"
NAME = "tidegate-dialects"
"""Of the ConfigMap and of the configuration."""
KEY = "rules.yaml"
_TIMEOUT_S = 5


class Rules:
    """The rules in force, and who is told when others were written, good or not."""

    def __init__(self, given: Mapping[str, NamespaceRule] | None = None) -> None:
        self.by_namespace: Mapping[str, NamespaceRule] = given or {}
        self._told: list[Callable[[], None]] = []

    def on_change(self, told: Callable[[], None]) -> None:
        self._told.append(told)

    async def follow(self, client: Client, namespace: str, name: str = NAME) -> None:
        """Take them from a ConfigMap, until cancelled."""
        informer: Informer[Object] = Informer(client, CONFIGMAPS, namespace, fields=f"metadata.name={name}")
        informer.on_change(lambda old, new: self._read(new))
        await informer.run()

    def _read(self, config: Object | None) -> None:
        text = ((config or {}).get("data") or {}).get(KEY)
        try:
            self.by_namespace = parse_text(text) if text else {}
        except ManifestError as error:
            _log.error("The rules for dialects cannot be read, so the last good ones hold: %s", error)
        for told in self._told:
            told()


def parse_text(text: str) -> dict[str, NamespaceRule]:
    """Rules as a file has them. ManifestError: all problems."""
    import yaml

    from tidegate.model.problems import Problem

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" at line {line + 1}"
        raise ManifestError([Problem((), f"is not YAML{where}; correct it there")]) from None
    given = parse_rules(content)
    problems = []
    for namespace, rule in given.items():
        try:
            dialect_named(rule.config.scheduler)
        except DialectError as error:
            problems.append(Problem(("namespaces", namespace, "queueconfig", "scheduler"), str(error)))
    if problems:
        raise ManifestError(problems)
    return given


class DialectDoor:
    """Answers reviews by the rules, and makes what belongs beside the object."""

    def __init__(self, client: Client, rules: Rules, kinds: Kinds) -> None:
        self._client = client
        self._rules = rules
        self._kinds = kinds
        self._served: dict[tuple[str, str], Resource[Object]] = {}

    async def review(self, asked: Asked) -> Object:
        decision = decide(asked.review, self._rules.by_namespace, kinds=self._kinds)
        if decision.others and decision.review["response"]["allowed"] and not asked.dry_run:
            try:
                for other in decision.others:
                    await self._make(made_for(dict(other), asked.obj), asked.namespace)
            except (StatusError, OSError, LookupError) as failed:
                return refused(asked, f"tidegate: what belongs beside it could not be made: {failed}", code=500)
        return decision.review

    async def _make(self, other: Object, namespace: str) -> None:
        """A PodGroup, or whatever else the scheduler wants; one that is there stays as it is."""
        resource = await self._resource(other)
        try:
            await self._client.create(resource, other, namespace)
        except StatusError as there:
            if there.code != 409:
                raise

    async def _resource(self, other: Object) -> Resource[Object]:
        wanted = (str(other["apiVersion"]), str(other["kind"]))
        if wanted not in self._served:
            for served in await served_resources(self._client):
                self._served[served.resource.api_version, served.resource.kind] = served.resource
        if wanted in self._served:
            return self._served[wanted]
        raise LookupError(f"the server has no {other['kind']} of {other['apiVersion']}; install that scheduler first")


def configuration(kinds: Kinds, given: Mapping[str, NamespaceRule], target: Target, *, own: str) -> Object:
    """The webhook for the namespaces that have rules. One that is named waits for Tidegate to answer; those that are
    merely not excluded (`*`) do not."""
    named = sorted(name for name in given if name != ANY)
    hooks = [_hook("named", kinds, target, _names("In", named), "Fail")] if named else []
    if ANY in given:
        spared = sorted({*named, *SYSTEM, *([own] if own else [])})
        hooks.append(_hook("others", kinds, target, _names("NotIn", spared), "Ignore"))
    meta = {"name": NAME, "labels": {"app.kubernetes.io/managed-by": "tidegate"}}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": meta,
        "webhooks": hooks,
    }  # fmt: skip


def _names(operator: str, values: list[str]) -> Object:
    return {"matchLabels": {}, "matchExpressions": [{"key": NAMESPACE_NAME, "operator": operator, "values": values}]}


def _hook(name: str, kinds: Kinds, target: Target, selector: Object, failure: str) -> Object:
    return {
        "name": f"{name}.dialects.{GROUP}", "clientConfig": target.client_config(PATH),
        "admissionReviewVersions": ["v1"], "sideEffects": "NoneOnDryRun", "matchPolicy": "Equivalent",
        "timeoutSeconds": _TIMEOUT_S, "failurePolicy": failure, "objectSelector": {}, "namespaceSelector": selector,
        "rules": rules(kinds.entries, ["CREATE"]), "reinvocationPolicy": "Never",
        "matchConditions": [NOT_OF_THE_SYSTEM],
    }  # fmt: skip
