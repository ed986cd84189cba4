"""Annotators who err: GuidedMixture that learns how reliable each is, beside majority vote and Dawid–Skene.

    python benchmarks/annotators.py quality [--draws 1 2 3] [--sets iris wine] [--statements labels pairs]
    python benchmarks/annotators.py recognise [--draws 1 … 20] [--model equivalence] [--covariance tied]
    python benchmarks/annotators.py names [--draws 1 … 20] [--model equivalence] [--covariance tied]

quality: three annotators err 15 % of the time; 150 rows (or pairs) are judged by two of them each, so that each gives
100 statements. Majority vote and Dawid–Skene are those of crowd-kit (`pip install crowd-kit`), whose answers become
certain labels or links of the same estimators. Links are given twice: with the confidence that links with such errors
deserve, and without, so that estimators that learn how often links are wrong do so ("learned"). Compared is, table by
table, with the one of the two that does better. "best" is the estimator that does best after majority vote, chosen
by its mean over the draws reported, with --others. Rates compare the estimated reliability with the share of an
annotator's statements that are right.

recognise: of four annotators one answers at random, or one swaps two classes; counted is how often exactly this is
remarked. names: two annotators label one half of 150 rows each, or of all where there are fewer, with names of their
own; counted is how often all names are aligned, on tables where the clean labels give an adjusted Rand index above .7,
and how often they would be by one who knows the class of every row.

Tables are those of `quality.py`, with at most 1000 rows.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture, EquivalenceMixture, GuidedMixture, SideInformation
from situations import TABLES, drawn

ERROR = 0.15
JUDGED = 150
NEAR = 0.05
METHODS = ("majority", "dawid-skene")
# How answers are given to estimators that know no annotators: by which name, and with which confidence.
WAYS: dict[str, dict[str, float | None]] = {"labels": {"": None}, "pairs": {"": 1 - ERROR / 2, " learned": None}}


class Said(NamedTuple):
    """Statements as columns: tasks (rows or pairs), answers, annotators, and whether each answer is right."""

    tasks: list[Any]
    answers: list[Any]
    annotators: list[str]
    right: list[bool]


Answer = Callable[[int, np.random.Generator], int]


def erring(rate: float, n_answers: int) -> Answer:
    """Return an annotator who errs at a rate, any other answer being as likely as the next."""

    def answer(truth: int, rng: np.random.Generator) -> int:
        if rng.random() >= rate:
            return truth
        return int((truth + 1 + rng.integers(n_answers - 1)) % n_answers)

    return answer


def ask(truth: dict[Any, int], annotators: list[Answer], per_task: int, rng: np.random.Generator) -> Said:
    """Let some annotators, drawn at random, answer each task."""
    said = Said([], [], [], [])
    for task, right in truth.items():
        for number in rng.choice(len(annotators), per_task, replace=False):
            given = annotators[number](right, rng)
            said.tasks.append(task)
            said.answers.append(given)
            said.annotators.append(f"annotator {number}")
            said.right.append(given == right)
    return said


def aggregate(said: Said, method: str) -> dict[Any, int]:
    """Return the answer to each task by crowd-kit."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene, MajorityVote

    names = {task: place for place, task in enumerate(dict.fromkeys(said.tasks))}
    frame = pd.DataFrame(
        {"task": [names[task] for task in said.tasks], "worker": said.annotators, "label": said.answers}
    )
    model = MajorityVote() if method == "majority" else DawidSkene(n_iter=100)
    found = model.fit_predict(frame)
    return {task: int(found[place]) for task, place in names.items()}


def estimators(n_classes: int, seed: int) -> dict[str, Any]:
    """Return the estimators that existed before: the flagship, and two mixtures."""
    return {
        "guided": GuidedMixture(n_classes, random_state=seed),
        "bayesian": BayesianMixture(random_state=seed),
        "equivalence": EquivalenceMixture(n_classes, random_state=seed),
    }


def side_of(n: int, found: dict[Any, int], kind: str, confidence: float | None) -> SideInformation:
    """Return answers as certain labels, or as links of a confidence."""
    if kind == "labels":
        y = np.full(n, -1)
        y[list(found)] = list(found.values())
        return SideInformation.build(n, y=y)
    must, cannot = ([pair for pair, same in found.items() if same == which] for which in (1, 0))
    return SideInformation.build(n, must_link=must, cannot_link=cannot, confidence=confidence)


def annotated(n: int, said: Said, kind: str) -> SideInformation:
    """Return the statements with their authors."""
    if kind == "labels":
        return SideInformation.from_annotations(
            n, labels={"row": said.tasks, "label": said.answers, "annotator": said.annotators}
        )
    links = {
        "a": [pair[0] for pair in said.tasks],
        "b": [pair[1] for pair in said.tasks],
        "relation": [("different", "same")[answer] for answer in said.answers],
        "annotator": said.annotators,
    }
    return SideInformation.from_annotations(n, links=links)


def score(model: Any, X: Any, y: np.ndarray, side: SideInformation) -> float:
    """Fit and return the adjusted Rand index of all rows."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(adjusted_rand_score(y, model.fit(X, side=side).labels_))
        except ValueError as error:
            print(f"    {type(model).__name__}: {error}")
            return float("nan")


def truth_of(codes: np.ndarray, kind: str, rng: np.random.Generator) -> dict[Any, int]:
    """Draw rows or pairs to judge, with the right answers."""
    n = len(codes)
    if kind == "labels":
        return {int(row): int(codes[row]) for row in rng.permutation(n)[:JUDGED]}
    found: dict[Any, int] = {}
    while len(found) < JUDGED:
        a, b = sorted(rng.choice(n, 2, replace=False).tolist())
        found[a, b] = int(codes[a] == codes[b])
    return found


def measure(table: str, seed: int, kind: str, others: bool) -> dict[str, float]:
    """Return the scores of all methods on one draw, and how far reliabilities are off."""
    draw = drawn(table, seed)
    names, codes = np.unique(draw.y, return_inverse=True)
    rng = np.random.default_rng(seed)
    truth = truth_of(codes, kind, rng)
    said = ask(truth, [erring(ERROR, len(names) if kind == "labels" else 2)] * 3, 2, rng)
    n, scores = len(codes), {}
    for method in METHODS:
        found = aggregate(said, method)
        for way, confidence in WAYS[kind].items():
            side = side_of(n, found, kind, confidence)
            for name, model in estimators(len(names), seed).items():
                if others or name == "guided":
                    scores[f"{method}{way} {name}"] = score(model, draw.X, codes, side)
    side = annotated(n, said, kind)
    for name, model in estimators(len(names), seed).items():
        if others or name == "guided":
            scores[f"annotators {name}"] = score(model, draw.X, codes, side)
            if name == "guided":
                errors = rate_errors(model.annotators_, said)
                scores |= {"rate": float(np.mean(errors)), "within": float(np.mean(np.array(errors) <= NEAR))}
    return scores


def rate_errors(rows: Any, said: Said) -> list[float]:
    """Return how far the reliability of each annotator is from the share of statements that are right."""
    right = {
        name: np.mean([r for r, who in zip(said.right, said.annotators, strict=True) if who == name])
        for name in set(said.annotators)
    }
    return [float(abs(row.reliability - right[row.annotator])) for row in rows]


def better(means: dict[str, float], kind: str, method: str, name: str) -> float:
    """Return the score of an estimator after a method, given its answers in the way that it does better with."""
    return float(np.nanmax([means[f"{method}{way} {name}"] for way in WAYS[kind]]))


def quality(draws: list[int], sets: list[str], kinds: list[str], others: bool) -> None:
    """Print the mean scores of every table, and on how many the new model leads."""
    for kind in kinds:
        lead, lead_best = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
        rates, near, table_means = [], [], []
        print(f"{kind}: {JUDGED} judged by two of three annotators with {ERROR:.0%} errors, draws {draws}")
        for table in sets:
            trials = [measure(table, seed, kind, others) for seed in draws]
            means = {name: float(np.nanmean([trial[name] for trial in trials])) for name in trials[0]}
            rates += [trial["rate"] for trial in trials]
            near += [trial["within"] for trial in trials]
            ours = means["annotators guided"]
            table_means.append([ours, *(better(means, kind, method, "guided") for method in METHODS)])
            tried = [name for name in estimators(2, 0) if others or name == "guided"]
            best = max(tried, key=lambda name: better(means, kind, "majority", name))
            for method in METHODS:
                lead[method] += ours >= better(means, kind, method, "guided")
                lead_best[method] += ours >= better(means, kind, method, best)
            shown = "  ".join(f"{name} {value:.3f}" for name, value in means.items())
            print(f"  {table:<24} {shown}", flush=True)
        overall, n_sets = np.mean(table_means, axis=0), len(sets)
        print(
            f"  mean: annotators {overall[0]:.3f}, majority {overall[1]:.3f}, Dawid–Skene {overall[2]:.3f}; "
            f"not below majority on {lead['majority']} of {n_sets} tables, Dawid–Skene on {lead['dawid-skene']}; "
            f"with the best estimator after majority vote: {lead_best['majority']} and {lead_best['dawid-skene']}"
        )
        n_annotators = 3 * len(near)
        print(
            f"  reliability: mean error {np.mean(rates):.3f}, within {NEAR} for {np.mean(near):.0%} of {n_annotators}"
        )


def fitted(
    name: str, draw: Any, n_classes: int, seed: int, side: SideInformation, covariance: str | None = None
) -> Any:
    """Fit an estimator, on standardised columns where it takes numbers only."""
    model = estimators(n_classes, seed)[name]
    if covariance is not None:
        model.set_params(covariance_type=covariance)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(np.asarray(draw.Z) if name == "equivalence" else draw.X, side=side)


def recognise(draws: list[int], sets: list[str], name: str, covariance: str | None) -> None:
    """Print how often a spammer, and an annotator who swaps two classes, are recognised and the others are not."""
    for table in sets:
        found = {"spammer": 0, "swapper": 0}
        for seed in draws:
            draw = drawn(table, seed)
            names, codes = np.unique(draw.y, return_inverse=True)
            n_classes = len(names)

            def at_random(truth: int, rng: np.random.Generator, n: int = n_classes) -> int:
                return int(rng.integers(n))

            common = np.argsort(-np.bincount(codes))[:2]
            swap = {int(common[0]): int(common[1]), int(common[1]): int(common[0])}
            usual = erring(ERROR, n_classes)

            def swapping(truth: int, rng: np.random.Generator, usual: Answer = usual, swap: dict = swap) -> int:
                return usual(swap.get(truth, truth), rng)

            for kind, odd in (("spammer", at_random), ("swapper", swapping)):
                rng = np.random.default_rng(seed)
                said = ask(truth_of(codes, "labels", rng), [usual, usual, usual, odd], 2, rng)
                model = fitted(name, draw, n_classes, seed, annotated(len(codes), said, "labels"), covariance)
                remarks = [row.remark for row in model.annotators_]
                expected = "answers at random" if kind == "spammer" else f"swaps {min(swap)} and {max(swap)}"
                found[kind] += remarks == ["", "", "", expected]
        print(f"  {table:<24} spammer {found['spammer']} of {len(draws)}, swapper {found['swapper']}", flush=True)


def names(draws: list[int], sets: list[str], name: str, covariance: str | None) -> None:
    """Print how often the names of two annotators are aligned."""
    for table in sets:
        aligned, by_truth, clean = 0, 0, []
        for seed in draws:
            draw = drawn(table, seed)
            classes, codes = np.unique(draw.y, return_inverse=True)
            rng = np.random.default_rng(seed)
            order, n = rng.permutation(len(codes)), len(codes)
            usual = erring(ERROR, len(classes))
            judged = min(JUDGED, n)
            rows = {0: order[: judged // 2], 1: order[judged // 2 : judged]}
            labels: dict[str, list[Any]] = {"row": [], "label": [], "annotator": []}
            for who, own in rows.items():
                for row in own.tolist():
                    labels["row"].append(row)
                    labels["label"].append(f"{'pq'[who]}{usual(int(codes[row]), rng)}")
                    labels["annotator"].append(f"annotator {who}")
            y = np.full(n, -1)
            y[order[:JUDGED]] = codes[order[:JUDGED]]
            plain = fitted(name, draw, len(classes), seed, SideInformation.build(n, y=y), covariance)
            clean.append(adjusted_rand_score(codes, plain.labels_))
            model = fitted(
                name, draw, len(classes), seed, SideInformation.from_annotations(n, labels=labels), covariance
            )
            found = [pair for own in model.annotation_report_.names.values() for pair in own.items()]
            aligned += all(str(one)[1:] == str(other)[1:] for one, other in found) and len(found) > 0
            by_truth += all(aligned_by_truth(codes, labels, who) for who in model.annotation_report_.names)
        print(
            f"  {table:<24} clean ARI {np.mean(clean):.3f}, aligned {aligned} of {len(draws)}, "
            f"{by_truth} by the true classes",
            flush=True,
        )


def aligned_by_truth(codes: np.ndarray, labels: dict[str, list[Any]], who: str) -> bool:
    """Say whether an annotator's names go with the right classes if each has the most rows of its own that it can."""
    said = [
        (codes[row], int(label[1:]))
        for row, label, author in zip(labels["row"], labels["label"], labels["annotator"], strict=True)
        if author == who
    ]
    counts = np.zeros((codes.max() + 1, codes.max() + 1))
    np.add.at(counts, tuple(np.array(said).T), 1.0)
    used = np.flatnonzero(counts.sum(axis=0))
    classes, place = linear_sum_assignment(counts[:, used], maximize=True)
    return bool((classes == used[place]).all())


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["quality", "recognise", "names"])
    parser.add_argument("--draws", nargs="+", type=int)
    parser.add_argument("--sets", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--statements", nargs="+", choices=["labels", "pairs"], default=["labels", "pairs"])
    parser.add_argument("--model", choices=list(estimators(2, 0)), default="equivalence", help="of recognise and names")
    parser.add_argument("--covariance", help="of the mixtures of recognise and names")
    parser.add_argument("--others", action="store_true", help="the other estimators too")
    asked = parser.parse_args()
    if asked.part == "quality":
        quality(asked.draws or [1, 2, 3], asked.sets, asked.statements, asked.others)
    elif asked.part == "recognise":
        recognise(asked.draws or list(range(1, 21)), asked.sets, asked.model, asked.covariance)
    else:
        names(asked.draws or list(range(1, 21)), asked.sets, asked.model, asked.covariance)


if __name__ == "__main__":
    main()
