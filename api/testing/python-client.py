"""What a user of the public hub's Python client does, against HF_ENDPOINT. Run by python-clients.test.ts with the client's version installed."""

import os
import pathlib
import subprocess
import sys
import tempfile

import huggingface_hub as hub
from huggingface_hub.utils import EntryNotFoundError

user, stranger_token = sys.argv[1:]
api = hub.HfApi()
work = pathlib.Path(tempfile.mkdtemp())


def files_of(folder):
    paths = (path for path in pathlib.Path(folder).rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def write(folder, files):
    for name, content in files.items():
        path = work / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return str(work / folder)


def download(repo, **more):
    found = files_of(hub.snapshot_download(repo, cache_dir=work / f"cache-{len(os.listdir(work))}", **more))
    found.pop(".gitattributes", None)
    return found


def hf(*args, token=None):
    """The client's command line, which is beside its Python."""
    env = os.environ | ({"HF_TOKEN": token} if token else {})
    return subprocess.run(
        [pathlib.Path(sys.executable).parent / "hf", *args], env=env, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def step(name):
    print(name, flush=True)


step("upload of a folder, and a snapshot")
model = {"config.json": b"{}", "model.safetensors": os.urandom(3_000_000), "nested/a.bin": os.urandom(30), "empty.txt": b""}
repo = api.create_repo("tide-model", private=True).repo_id
api.upload_folder(repo_id=repo, folder_path=write("model", model))
assert download(repo) == model

step("a folder by the command line")
parts = {f"model-{n}-of-2.safetensors": os.urandom(1_000_000 + n) for n in (1, 2)} | {"config.json": b'{"tide": 1}'}
by_hand = f"{user}/tide-by-hand"
hf("upload", by_hand, write("by-hand", parts), ".")
assert download(by_hand) == parts
hf("download", by_hand, "--local-dir", work / "by-command")
assert {name: content for name, content in files_of(work / "by-command").items() if name in parts} == parts
assert by_hand in hf("repos", "ls")

step("names that do not exist")
for name in ("nobody-has-this", f"{user}/nothing", "nobody/nothing"):
    assert not api.repo_exists(name) and not api.file_exists(name, "config.json"), name
assert api.repo_exists(repo) and api.file_exists(repo, "config.json") and not api.file_exists(repo, "other.json")

step("files as from_pretrained resolves them")
cache = work / "pretrained"
for name in model:
    path = hub.hf_hub_download(repo, name, cache_dir=cache)
    assert pathlib.Path(path).read_bytes() == model[name]
    assert hub.try_to_load_from_cache(repo, name, cache_dir=cache) == path
try:
    hub.hf_hub_download(repo, "model.safetensors.index.json", cache_dir=cache)
    raise AssertionError("a missing file was downloaded")
except EntryNotFoundError:
    pass
about = hub.get_hf_file_metadata(hub.hf_hub_url(repo, "model.safetensors"))
assert about.size == 3_000_000 and len(about.etag) == 64, about

step("a large folder")
many = {f"part-{n % 7}/{n:03}.bin": os.urandom(1_000 + n) for n in range(200)}
dataset = api.create_repo("tide-data", repo_type="dataset").repo_id
if hasattr(api, "upload_large_folder"):
    api.upload_large_folder(repo_id=dataset, repo_type="dataset", folder_path=write("many", many), print_report=False)
else:
    api.upload_folder(repo_id=dataset, repo_type="dataset", folder_path=write("many", many))
assert download(dataset, repo_type="dataset") == many

step("pull requests with large files on somebody else's repository")
stranger = hub.HfApi(token=stranger_token)
offered = {"offered.safetensors": os.urandom(2_000_000), "offered.txt": b"tide"}
opened = stranger.upload_folder(
    repo_id=dataset, repo_type="dataset", folder_path=write("offered", offered), create_pr=True, commit_message="Offer"
)
at = dict(repo_type="dataset", revision=opened.pr_revision)
stranger.upload_file(path_or_fileobj=os.urandom(50_000), path_in_repo="more.bin", repo_id=dataset, **at)
found = download(dataset, **at)
assert {name: found[name] for name in offered} == offered and len(found["more.bin"]) == 50_000
assert "offered.txt" not in download(dataset, repo_type="dataset")
if api.get_discussion_details(dataset, opened.pr_num, repo_type="dataset").status == "draft":
    stranger.change_discussion_status(dataset, opened.pr_num, "open", repo_type="dataset")
api.merge_pull_request(dataset, opened.pr_num, repo_type="dataset")
assert download(dataset, repo_type="dataset") == many | found
(work / "more").mkdir()
(work / "more" / "weights.bin").write_bytes(os.urandom(1_500_000))
hf("upload", by_hand, work / "more" / "weights.bin", "--create-pr", token=stranger_token)
assert download(by_hand, revision="refs/pr/1")["weights.bin"] == (work / "more" / "weights.bin").read_bytes()
try:
    stranger.upload_file(path_or_fileobj=os.urandom(50_000), path_in_repo="a.bin", repo_id=by_hand)
    raise AssertionError("a stranger wrote to a branch")
except hub.errors.HfHubHTTPError as error:
    assert error.response.status_code == 403, error
many |= found

if hasattr(api, "duplicate_repo"):
    step("a copy of a repository")
    copy = api.duplicate_repo(repo, to_id="tide-copy")
    assert copy.repo_id == f"{user}/tide-copy" and api.repo_info(copy.repo_id).private
    assert not getattr(copy, "files_copy_pending", False) and download(copy.repo_id) == model
    assert api.duplicate_repo(repo, to_id="tide-copy", exist_ok=True).repo_id == copy.repo_id

step("copies of large files from another repository")
api.create_commit(
    repo,
    operations=[hub.CommitOperationCopy("part-0/000.bin", "copied.bin", src_repo_id=dataset, src_repo_type="dataset")],
    commit_message="Copy a file",
)
assert download(repo)["copied.bin"] == many["part-0/000.bin"]

step("large files that are deleted for good")
api.delete_file("copied.bin", repo)
stored = list(api.list_lfs_files(repo))
assert {file.filename for file in stored} == {"model.safetensors", "nested/a.bin", "copied.bin"}, stored
gone = [file for file in stored if file.filename == "copied.bin"]
try:
    api.permanently_delete_lfs_files(repo, gone)
    raise AssertionError("a file that the history has was deleted")
except hub.errors.HfHubHTTPError as error:
    assert error.response.status_code == 409, error
api.super_squash_history(repo)
api.permanently_delete_lfs_files(repo, [file for file in api.list_lfs_files(repo) if file.ref is None])
assert len(list(api.list_lfs_files(repo))) == 2 and download(repo) == model

step("likes and tags")
liker = hub.HfApi(token=stranger_token)
hub.get_session().post(f"{api.endpoint}/api/datasets/{dataset}/like", headers=liker._build_hf_headers()).raise_for_status()
assert dataset in liker.list_liked_repos().datasets
assert len(list(api.list_repo_likers(dataset, repo_type="dataset"))) == 1
liker.unlike(dataset, repo_type="dataset")
assert isinstance(api.get_model_tags(), dict) and isinstance(api.get_dataset_tags(), dict)
