"""Kubernetes' own decoders, built from its modules and asked over a pipe."""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.build_kube import cache, go

MODULE = cache() / "kubernetes-module"
SOURCE = Path(__file__).parent / "oracle" / "main.go"
Kind = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    object: Any = None
    protobuf: bytes = b""
    error: str = ""
    strict: list[str] = field(default_factory=list)


class GoDecoder:
    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, how: str, kind: Kind, body: bytes = b"", *, seed: int = 0) -> Answer:
        group, version, name = kind
        question = {"how": how, "group": group, "version": version, "kind": name, "seed": seed}
        question["body"] = base64.b64encode(body).decode()
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        said["protobuf"] = base64.b64decode(said.get("protobuf", ""))
        return Answer(**said)

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


def build() -> Path:
    """Compiles the program beside the real control plane's; a few seconds once that is built."""
    program = cache() / "bin" / "godecoder"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        go("build", "-trimpath", "-o", str(program), str(SOURCE), cwd=MODULE)
    return program
