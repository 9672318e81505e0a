"""The workflows, hooks and templates: least rights, pinned actions, no logic of their own."""

import json
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from evidence import review
from evidence.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMMENT = ROOT / ".github" / "scripts" / "comment.cjs"


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path):
    return [step for job in load(path)["jobs"].values() for step in job["steps"]]


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request):
    return request.param


def test_there_are_three():
    assert [path.stem for path in WORKFLOWS] == ["check", "comment", "publish"]


def test_every_action_is_pinned_by_commit_and_says_its_version(workflow):
    lines = [line for line in workflow.read_text().splitlines() if "uses:" in line]
    assert lines
    for line in lines:
        assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_no_right_is_given_that_a_job_does_not_name(workflow):
    given = load(workflow)
    assert given["permissions"] == {}
    for job in given["jobs"].values():
        assert job["permissions"] and job["timeout-minutes"] <= 45


def test_untrusted_code_never_holds_a_right_to_write():
    assert all("pull_request_target" not in path.read_text() for path in WORKFLOWS)
    check = next(path for path in WORKFLOWS if path.stem == "check")
    assert "secrets" not in check.read_text()
    for job in load(check)["jobs"].values():
        assert set(job["permissions"].values()) == {"read"}
    comment = next(path for path in WORKFLOWS if path.stem == "comment")
    (checkout,) = [s for s in steps(comment) if "checkout" in s.get("uses", "")]
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"


def test_checkouts_leave_no_token_behind(workflow):
    for step in steps(workflow):
        if "actions/checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_a_fork_cannot_poison_a_cache():
    for path in WORKFLOWS:
        for step in steps(path):
            uses = step.get("uses", "")
            assert not re.match(r"actions/cache@", uses)
            if uses.startswith("actions/cache/save@"):
                assert step["if"].startswith("github.event_name == 'push'")
        assert path.stem != "publish" or "actions/cache" not in path.read_text()


def test_workflows_only_run_make(workflow):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for step in steps(workflow):
        if "run" in step:
            match = re.fullmatch(r"make ([a-z-]+)", step["run"])
            assert match and match[1] in targets, step


def test_no_expression_stands_in_a_script(workflow):
    for step in steps(workflow):
        assert "${{" not in step.get("run", "") and "${{" not in str(
            step.get("with", {}).get("script")
        )


def test_zizmor_finds_nothing():
    zizmor = shutil.which("zizmor", path=f"{sys.prefix}/bin")
    run = subprocess.run([zizmor, "--offline", "--no-progress", str(ROOT / ".github")],
                         capture_output=True, text=True, timeout=60)  # fmt: skip
    assert run.returncode == 0, run.stdout


# -- the comment ----------------------------------------------------------------------------


def node(code):
    if not shutil.which("node"):
        pytest.skip("needs node")
    script = f"const c = require({json.dumps(str(COMMENT))});\n{code}"
    run = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_comment_is_found_again_by_the_mark_of_the_comparison():
    assert review.MARK in COMMENT.read_text()


def test_whatever_a_pull_request_writes_is_harmless_in_the_comment():
    bad = (review.MARK + "\n## Heading\n@someone #1 <img src=x> [a](https://evil.example)"
           " &#64;all ![b][c] www.evil.example\n\n[c]: https://evil.example\n`code`")  # fmt: skip
    said = json.loads(node(f"console.log(JSON.stringify(c.body({json.dumps(bad)})))"))
    assert said.startswith(review.MARK) and "## Heading" in said and "`code`" in said
    rest = said[len(review.MARK) :]
    assert not re.search(r"@\w|&#|#\d|<\w|\]\(|\]\[|\]:|://|www\.", rest), rest


def test_a_comment_is_never_longer_than_github_takes():
    code = "console.log(c.body('x'.repeat(100000)).length, c.body('@'.repeat(59000)).length)"
    assert all(int(length) <= 60_000 for length in node(code).split())


def test_the_comment_is_posted_once_and_then_updated(tmp_path):
    (tmp_path / "compare.md").write_text(review.MARK + "\nNew.")
    code = """
    process.env.COMMENT = FILE;
    const said = [];
    const run = {head_repository: {owner: {login: 'fork'}}, head_branch: 'b', head_sha: 's'};
    const context = {repo: {owner: 'o', repo: 'r'}, payload: {workflow_run: run}};
    const github = (comments, sha) => ({
      paginate: async () => comments,
      rest: {
        pulls: {list: async (q) => ({data: [{number: 7, head: {sha}, q}]})},
        issues: {
          listComments: null,
          createComment: async (q) => said.push(['create', q.issue_number]),
          updateComment: async (q) => said.push(['update', q.comment_id]),
        },
      },
    });
    const core = {info: () => said.push(['none'])};
    const mine = {id: 5, user: {type: 'Bot'}, body: '<!-- evidence-compare -->x'};
    const other = {id: 6, user: {type: 'User'}, body: '<!-- evidence-compare -->x'};
    (async () => {
      await c.post({github: github([other], 's'), context, core});
      await c.post({github: github([other, mine], 's'), context, core});
      await c.post({github: github([], 'moved on'), context, core});
      console.log(JSON.stringify(said));
    })();
    """
    code = code.replace("FILE", json.dumps(str(tmp_path / "compare.md")))
    assert json.loads(node(code)) == [["create", 7], ["update", 5], ["none"]]


# -- contributing ---------------------------------------------------------------------------


def test_the_three_common_changes_have_five_steps_each():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for change in ("A figure", "A claim", "A sentence"):
        section = text.split(f"## {change}\n")[1].split("\n## ")[0]
        assert re.findall(r"^(\d)\. ", section, re.M) == ["1", "2", "3", "4", "5"]


def test_every_target_that_the_documents_name_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for name in (
        "CONTRIBUTING.md",
        "README.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
        "CHANGELOG.md",
    ):
        named = re.findall(r"`make ([a-z-]+)", (ROOT / name).read_text(encoding="utf-8"))
        assert set(named) <= targets, name


def test_the_hooks_use_the_projects_own_environment_and_run():
    hooks = load(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} == {
        "ruff-format", "ruff-check", "nbstripout", "data", "prose-numbers",
    }  # fmt: skip
    for hook in hooks:
        assert hook["language"] == "system" and ".venv/bin/python" in hook["entry"]
    for hook in hooks[3:]:
        command = hook["entry"].replace(".venv/bin/python", sys.executable).split(" ")
        assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0, hook["id"]


def test_the_forms_ask_for_the_source_and_its_place():
    template = (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text()
    assert "place in the source" in template and "data/sources.yml" in template
    forms = {path.stem: load(path) for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("n*.yml")}
    assert {form["name"] for form in forms.values()} == {"A number is wrong", "A new source"}
    for form in forms.values():
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids)) and form["description"]
        required = [f["id"] for f in form["body"] if f.get("validations", {}).get("required")]
        assert required


def test_both_licences_are_there():
    assert "MIT License" in (ROOT / "LICENSE").read_text()
    assert "creativecommons.org/licenses/by/4.0" in (ROOT / "LICENSE-TEXT").read_text()
