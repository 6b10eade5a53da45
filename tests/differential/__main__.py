"""Compare the two servers by hand: see the package's docstring."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.differential import compare, mutation, stories
from tests.harness import Cluster, Embedded, RealKube


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--only", default="", help="stories whose theme or name has this text")
    parser.add_argument("--real", type=Path, help="kubeconfig of a real server that runs already")
    parser.add_argument("--embedded", type=Path, help="kubeconfig of an embedded server that runs already")
    parser.add_argument("--messages", action="store_true", help="also tell where error messages are worded differently")
    parser.add_argument("--answers", action="store_true", help="only print what the real server answers")
    parser.add_argument("--seed", type=int, help="random changes of good manifests, reproducible by this number")
    parser.add_argument("--count", type=int, default=200, help="how many of those")
    return parser.parse_args()


@contextlib.contextmanager
def servers(given: argparse.Namespace) -> Iterator[tuple[Cluster, Cluster]]:
    """The servers that were named, fresh ones where none was."""
    with contextlib.ExitStack() as stack:
        real = attached(given.real, "real") if given.real else stack.enter_context(RealKube())
        if given.answers:
            yield real, real
            return
        yield real, attached(given.embedded, "embedded") if given.embedded else stack.enter_context(Embedded())


def attached(kubeconfig: Path, name: str) -> Cluster:
    """A server somebody else runs; its kubeconfig must hold a token and an authority's file or data."""
    return Embedded(folder=kubeconfig.parent).attach(kubeconfig, name=name)


def main() -> int:
    given = arguments()
    chosen = stories.load(given.only) if given.seed is None else list(mutation.stories(given.seed, given.count))
    requests = found = 0
    with servers(given) as (real, embedded):
        for story in chosen:
            requests += len(story.steps)
            if given.answers:
                for answer in compare.play_one(story, real):
                    print(f"# {story}\n{answer.request}\n{yaml.safe_dump(answer.shown)}{answer.message}\n")
                continue
            for difference in compare.differences(story, real=real, embedded=embedded):
                found += 1
                print(difference, end="\n\n", flush=True)
            if given.messages:
                print(*compare.messages(story, real=real, embedded=embedded), sep="\n", flush=True)
    print(f"{len(chosen)} stories, {requests} requests, {found} answered differently")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
