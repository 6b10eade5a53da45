"""The two questions at the door of every request: who is it, and may they."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from tidegate.kube.wire import Request
from tidegate.local.access.rbac import Question, Rbac, Rule
from tidegate.local.access.tokens import Tokens
from tidegate.local.access.users import ANONYMOUS, AUTHENTICATED, MASTERS, UNAUTHENTICATED, User, service_account
from tidegate.local.errors import ApiError, bad_request, forbidden, unauthorized
from tidegate.local.store import Store

EVERYTHING = Rule(("*",), ("*",), ("*",), (), ("*",))


class Access:
    def __init__(self, folder: Path, store: Store) -> None:
        self.tokens = Tokens(folder, store)
        self.rbac = Rbac(store)

    def user_of(self, request: Request, certificate: bytes | None) -> User:
        """Who sends this: by token, else by certificate, else nobody; and whom they speak for, if they may."""
        user = self._authenticated(request, certificate)
        if "impersonate-user" in request.headers or any(h.startswith("impersonate-") for h in request.headers):
            return self._impersonated(user, request)
        return user

    def _authenticated(self, request: Request, certificate: bytes | None) -> User:
        header = request.headers.get("authorization", "")
        if header[:7].lower() == "bearer ":
            user = self.tokens.user_of(header[7:].strip())
            if user is None:
                raise unauthorized()
            return user
        return _certified(certificate) if certificate else ANONYMOUS

    def _impersonated(self, user: User, request: Request) -> User:
        headers = request.headers
        name = headers.get("impersonate-user", "")
        if not name:
            raise bad_request("requested impersonation without a user: set the Impersonate-User header")
        groups = [group.strip() for group in headers.get("impersonate-group", "").split(",") if group.strip()]
        extra: dict[str, tuple[str, ...]] = {}
        for header, value in headers.items():
            if header.startswith("impersonate-extra-"):
                extra[unquote(header.removeprefix("impersonate-extra-"))] = tuple(value.split(", "))
        self._demand(user, Question("impersonate", resource="users", name=name))
        for group in groups:
            self._demand(user, Question("impersonate", resource="groups", name=group))
        for key in extra:
            question = Question("impersonate", "authentication.k8s.io", "userextras", key)
            self._demand(user, question)
        if name.startswith("system:serviceaccount:") and not groups:
            _, _, namespace, account = name.split(":", 3)
            groups = list(service_account(namespace, account).groups)
        if name == ANONYMOUS.name:
            groups = groups or [UNAUTHENTICATED]
        elif AUTHENTICATED not in groups:
            groups.append(AUTHENTICATED)
        return User(name, tuple(groups), headers.get("impersonate-uid", ""), extra)

    def _demand(self, user: User, question: Question) -> None:
        if not self.allowed(user, question):
            raise denied(user, question)

    def allowed(self, user: User, question: Question) -> str:
        """Why `user` may do what is asked; empty if they may not."""
        if MASTERS in user.groups:
            return "system:masters may do everything"
        grant = self.rbac.find(user, question)
        return grant.because if grant else ""

    def authorize(self, user: User, question: Question) -> None:
        self._demand(user, question)

    def rules_of(self, user: User, namespace: str) -> list[Rule]:
        if MASTERS in user.groups:
            return [EVERYTHING]
        return [grant.rule for grant in self.rbac.grants(user, namespace)]


@lru_cache(maxsize=256)
def _certified(certificate: bytes) -> User:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    subject = x509.load_der_x509_certificate(certificate).subject
    names = [str(part.value) for part in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [str(part.value) for part in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    return User(names[0], (*groups, AUTHENTICATED)) if names else ANONYMOUS


def denied(user: User, question: Question) -> ApiError:
    if question.path:
        why = f'User "{user.name}" cannot {question.verb} path "{question.path}"'
        return ApiError(403, "Forbidden", f"forbidden: {why}", {})
    why = f'User "{user.name}" cannot {question.verb} resource "{question.full_resource}"'
    why += f' in API group "{question.group}"'
    why += f' in the namespace "{question.namespace}"' if question.namespace else " at the cluster scope"
    return forbidden(question.group, question.resource, question.name, why)
