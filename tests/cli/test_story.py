"""The commands of docs/command_line.md, typed in an empty folder, and what they leave there."""

import csv
import json
import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from sidelight import load
from sidelight.cli.main import main
from sidelight.side import draw_links

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
FIT = ["fit", "customers.csv", "--id-column", "id", "--label-column", "segment"]


class Typed(NamedTuple):
    """A command of the page, what the page says it prints, and what it printed."""

    command: str
    shown: str
    result: object


def run(*arguments, folder):
    before = Path.cwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(main, [str(argument) for argument in arguments])
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The folder after everything on the page was typed, and how each command went."""
    folder = tmp_path_factory.mktemp("shop")
    typed = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            program, *arguments = shlex.split(command)
            assert program == "sidelight"
            typed.append(Typed(command, shown, run(*arguments, folder=folder)))
    return folder, typed


def commands_in(page):
    """Return the commands of a page."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return re.findall(r"^\$ (.*)$", "\n".join(blocks), re.MULTILINE)


def test_the_readme_shows_the_same_story():
    shown = commands_in(PAGE.parents[1] / "README.md")
    # The studio has a story of its own, which a browser goes through.
    assert shown.pop(0).startswith("sidelight studio ")
    assert len(shown) == 6
    in_the_docs = [command.removesuffix(" --quiet") for command in commands_in(PAGE)]
    assert [command for command in shown if command not in in_the_docs] == []


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def skeleton(text):
    """Words without the numbers, which a last digit may change, and without the widths of tables."""
    words = re.sub(r"[\d.]*\d%?", "#", text).split()
    return [word for word in words if not re.fullmatch(r"[━┏┳┓┡╇┩└┴┘─]+", word)]


def matches(shown, printed):
    pattern = r"\s+".join("(?:.*?)" if word == "..." else re.escape(word) for word in skeleton(shown))
    return re.fullmatch(pattern, " ".join(skeleton(printed)), re.DOTALL) is not None


def test_every_command_prints_what_the_page_shows(shop):
    _, typed = shop
    assert len(typed) > 8
    for command, shown, result in typed:
        assert "Traceback" not in result.output, command
        assert result.exit_code == (2 if shown.startswith("Error") else 0), result.output
        assert matches(shown, result.output), f"{command} printed\n{result.output}\nnot\n{shown}"


def test_clusters_agree_with_the_truth_on_rows_without_statements(shop):
    folder, _ = shop
    for name in ("result/clusters.csv", "placed.csv"):
        result = run("compare", name, "truth.csv", "--json", folder=folder)
        scores = json.loads(result.stdout)["scores"]
        assert scores.get("rows without statements", scores["all rows"])["ari"] > 0.9


def test_the_bayesian_mixture_knows_a_table_that_is_drawn_from_one(shop):
    folder, _ = shop
    asked = [*FIT, "--links", "links.csv", "--model", "bayesian", "-o", "bayesian", "--no-report", "--quiet"]
    assert run(*asked, folder=folder).exit_code == 0
    result = run("compare", "bayesian/clusters.csv", "truth.csv", "--json", folder=folder)
    assert json.loads(result.stdout)["scores"]["rows without statements"]["ari"] > 0.9


def test_the_table_of_clusters_has_every_row_in_order(shop):
    folder, _ = shop
    given, found = rows_of(folder / "customers.csv"), rows_of(folder / "result" / "clusters.csv")
    assert [row["id"] for row in found] == [row["id"] for row in given]
    names = load(folder / "result" / "model").cluster_names_
    assert all(row["name"] == names[int(row["cluster"])] for row in found)
    assert all(0 < float(row["probability"]) <= 1 for row in found)
    for before, after in zip(given, found, strict=True):
        assert bool(before["segment"]) == after["stated"].startswith("label")
        if before["segment"] and not after["broken"]:
            assert after["name"] == before["segment"]


def test_rows_of_broken_statements_say_which(shop):
    folder, _ = shop
    found = {row["id"]: row for row in rows_of(folder / "result" / "clusters.csv")}
    links = rows_of(folder / "links.csv")
    assert {row["id_a"] for row in links} <= {name for name, row in found.items() if "link" in row["stated"]}
    broken = {
        link["id_a"]: f"{link['relation']} {link['id_b']}"
        for link in links
        if (found[link["id_a"]]["cluster"] == found[link["id_b"]]["cluster"]) != (link["relation"] == "must")
    }
    assert all(told in found[name]["broken"] for name, told in broken.items())
    said = [row for row in found.values() if row["broken"] and not row["broken"].startswith("label")]
    assert len(said) == len({*broken, *(told.split()[1] for told in broken.values())})


def test_the_summary_is_what_json_prints(tmp_path):
    assert run("example", "--rows", 300, "--quiet", folder=tmp_path).exit_code == 0
    options = ["--links", "links.csv", "--model", "class", "--clusters", 6, "--json", "--no-report"]
    result = run(*FIT, *options, folder=tmp_path)
    printed = json.loads(result.stdout)
    assert printed.pop("output") == "result"
    assert printed == json.loads((tmp_path / "result" / "summary.json").read_text(encoding="utf-8"))
    assert sum(cluster["rows"] for cluster in printed["clusters"]) == printed["rows"] == 300
    assert printed["columns"]["visits"]["kind"] == "counts"
    assert set(printed["annotators"]) == {"Ada", "Ben"}
    assert not (tmp_path / "result" / "report.html").exists()


def test_questions_are_new_or_doubted_and_can_be_answered(shop):
    folder, _ = shop
    questions, links = rows_of(folder / "questions.csv"), rows_of(folder / "links.csv")
    assert len(questions) == 20
    asked = {frozenset((row["id_a"], row["id_b"])) for row in questions}
    assert len(asked) == 20
    again = asked & {frozenset((row["id_a"], row["id_b"])) for row in links}
    doubted = load(folder / "result" / "model").violations_.suspicions.doubtful
    ids = [row["id"] for row in rows_of(folder / "customers.csv")]
    assert again == {frozenset((ids[a], ids[b])) for a, b in doubted[:5].tolist()}
    customers = {row["id"]: row for row in rows_of(folder / "customers.csv")}
    for row in questions:
        assert row["relation"] == ""
        assert "chance_same" not in row
        assert row["comment_b"] == customers[row["id_b"]]["comment"]
    truth = {row["id"]: row["segment"] for row in rows_of(folder / "truth.csv")}
    for row in rows_of(folder / "answers.csv"):
        assert row["relation"] == ("must" if truth[row["id_a"]] == truth[row["id_b"]] else "cannot")


def test_links_that_are_probably_wrong_are_named_by_ids(tmp_path):
    table, species = load_iris(return_X_y=True)
    ids = [f"plant-{number}" for number in range(1, 151)]
    lines = [",".join([name, *map(str, cells)]) for name, cells in zip(ids, table.tolist(), strict=True)]
    (tmp_path / "plants.csv").write_text("\n".join(["plant,a,b,c,d", *lines]) + "\n")
    links = draw_links(species, n_must=40, n_cannot=40, wrong=0.1, random_state=0)
    given = [
        (pair, relation) for relation in ("must", "cannot") for pair in getattr(links, f"{relation}_link").tolist()
    ]
    said = [f"{ids[first]},{ids[second]},{relation}" for (first, second), relation in given]
    (tmp_path / "links.csv").write_text("\n".join(["id_a,id_b,relation", *said]) + "\n")
    arguments = "fit", "plants.csv", "--id-column", "plant", "--links", "links.csv", "--no-report", "--json"
    summary = json.loads(run(*arguments, folder=tmp_path).stdout)
    broken = load(tmp_path / "result" / "model").violations_
    doubtful = broken.suspicions.doubtful.tolist()
    assert [(link["id_a"], link["id_b"]) for link in summary["doubtful_links"]] == [
        (ids[first], ids[second]) for first, second in doubtful
    ]
    by_pair = {tuple(sorted(pair)): relation for pair, relation in given}
    assert [link["relation"] for link in summary["doubtful_links"]] == [by_pair[tuple(pair)] for pair in doubtful]
    assert all(link["probably_wrong"] > 0.5 for link in summary["doubtful_links"])
    (note,) = (note for note in summary["notes"] if note.startswith("links that are probably wrong"))
    first, second = doubtful[0]
    assert note.startswith(f"links that are probably wrong: {len(doubtful)} of 80: {ids[first]} and {ids[second]}; ")
    assert not any("violations_" in note for note in summary["notes"])
    assert str(broken.suspicions).splitlines()[1].split(" (")[0].endswith(f"{ids[first]} – {ids[second]}")


def test_a_fit_without_statements_names_the_options_for_them(tmp_path):
    (tmp_path / "plants.csv").write_text("size\n" + "\n".join(map(str, range(1, 40))), encoding="utf-8")
    fitted = run("fit", "plants.csv", "--number", "size", "--no-report", folder=tmp_path)
    assert fitted.exit_code == 0, fitted.output
    assert "without labels and links (--label-column, --links)" in fitted.stderr


def test_the_report_is_a_page_about_this_table(shop):
    page = (shop[0] / "result" / "report.html").read_text(encoding="utf-8")
    assert "sidelight ask result -o questions.csv" in page
    assert "sidelight studio customers.csv --id-column id --label-column segment" in page
    assert page.startswith("<!DOCTYPE html>")
    assert "Clusters of customers.csv" in page
    assert "sidelight predict" in page


def test_predict_agrees_with_the_model_and_needs_no_certain_order(shop, tmp_path):
    folder, _ = shop
    given = rows_of(folder / "new.csv")
    shuffled = tmp_path / "shuffled.csv"
    with shuffled.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(reversed(given[0])), delimiter=";")
        writer.writeheader()
        writer.writerows(given[::-1])
    result = run("predict", "better", shuffled, folder=folder)
    assert result.exit_code == 0
    assert sorted(result.stdout.splitlines()[1:]) == sorted((folder / "placed.csv").read_text().splitlines()[1:])


def test_categories_never_met_are_told(shop, tmp_path):
    folder, _ = shop
    text = (folder / "new.csv").read_text(encoding="utf-8").replace("north", "overseas")
    (tmp_path / "new.csv").write_text(text, encoding="utf-8")
    result = run("predict", "result", tmp_path / "new.csv", "-o", tmp_path / "placed.csv", folder=folder)
    assert result.exit_code == 0
    assert "'overseas'" in result.stderr
    assert "missing" in result.stderr


@pytest.mark.parametrize(
    "model", ["labelled", "equivalence", "pairwise", "posterior-constraint", "class", "latent-process"]
)
def test_other_models_take_numbers_and_place_new_rows_alike(model, tmp_path):
    assert run("example", "--rows", 300, "--quiet", folder=tmp_path).exit_code == 0
    result = run(*FIT, "--model", model, "--clusters", 6, "-o", "result", "--no-report", folder=tmp_path)
    assert result.exit_code == 0, result.output
    assert "median" in result.stderr
    assert run("predict", "result", "customers.csv", "-o", "placed.csv", folder=tmp_path).exit_code == 0
    placed = [row["cluster"] for row in rows_of(tmp_path / "placed.csv")]
    found = [row["cluster"] for row in rows_of(tmp_path / "result" / "clusters.csv")]
    # What is known has no say in placing, so a few rows with statements may differ.
    assert np.mean(np.array(placed) == np.array(found)) > 0.85


def test_a_model_that_cannot_use_the_links_names_those_that_can(shop):
    result = run(*FIT, "--links", "links.csv", "--model", "labelled", "-o", "none", folder=shop[0])
    assert result.exit_code == 2
    assert re.search(r"--model labelled cannot use pairs.*; choose guided or bayesian or equivalence", result.stderr)
    assert not (shop[0] / "none").exists()


def test_force_replaces_results_only(shop, tmp_path):
    folder, _ = shop
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "monday.txt").write_text("rain", encoding="utf-8")
    result = run(*FIT, "-o", tmp_path / "diary", "--force", folder=folder)
    assert result.exit_code == 2
    assert "no sidelight result" in result.stderr
    assert (tmp_path / "diary" / "monday.txt").read_text(encoding="utf-8") == "rain"
    assert run("predict", "better", "new.csv", "-o", "placed.csv", folder=folder).exit_code == 2
    assert run("predict", "better", "new.csv", "-o", "placed.csv", "--force", folder=folder).exit_code == 0


def test_compare_by_order_and_by_named_columns(tmp_path):
    (tmp_path / "a.csv").write_text("kind,weight\nx,1\nx,2\ny,3\n,4\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("group\n1\n1\n2\n2\n", encoding="utf-8")
    result = run("compare", "a.csv", "b.csv", "--column", "kind", "group", "--json", folder=tmp_path)
    printed = json.loads(result.stdout)
    assert printed["scores"]["all rows"] == {"rows": 3, "ari": 1.0, "nmi": 1.0, "accuracy": 1.0, "purity": 1.0}
    assert "in their order" in printed["notes"][0]
    assert "1 rows without a cluster" in printed["notes"][1]
    unclear = run("compare", "a.csv", "b.csv", folder=tmp_path)
    assert unclear.exit_code == 2
    assert "--column" in unclear.stderr


def test_compare_writes_the_rows_that_moved(tmp_path):
    (tmp_path / "a.csv").write_text("id,cluster\np,0\nq,0\nr,1\ns,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id,cluster\ns,8\nr,8\nq,8\np,9\n", encoding="utf-8")
    assert run("compare", "a.csv", "b.csv", "-o", "moved.csv", folder=tmp_path).exit_code == 0
    assert [row["id"] for row in rows_of(tmp_path / "moved.csv")] == ["q"]
