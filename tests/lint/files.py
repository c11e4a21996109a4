"""Which files the checks look at: what git tracks or would track; without git, everything outside build folders."""
import os
import subprocess

SKIPPED = {".git", "build", "data", "node_modules", "__pycache__"}


def project_files(root):
    """Sorted paths relative to `root`."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                                capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = list(walk(root))
    return sorted(path for path in listed if path and os.path.isfile(os.path.join(root, path)))


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    """The text of a file, or None for one that is not UTF-8 text."""
    try:
        with open(os.path.join(root, path), encoding="utf-8") as handle:
            return handle.read()
    except UnicodeDecodeError:
        return None
