"""Gets ready what a driver's checks run on. Every function returns (command, environment) or raises Skip with the reason.

What is downloaded or compiled lies outside the tree: in the clients' own caches and in
$XDG_CACHE_HOME/evenkeel-drivers/NAME-HASH, where HASH stands for the files that it is made from, so that it is made once.
"""
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "evenkeel-drivers")
SECONDS_MAX = 600  # for one step with nothing cached
END = time.monotonic() + 1500  # for all of them


class Skip(Exception):
    """This driver cannot be tested here, and why."""


def here(*parts):
    return os.path.join(HERE, *parts)


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"no {tool}")


def execute(command, seconds, folder=HERE, environment=None):
    """Runs a command; its exit code, or None when the time was not enough, and what it printed. Nothing that it started outlives it."""
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, text=True,
                               errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def run(command, folder, environment=None):
    """Runs a step that may download; one that fails or takes too long is a reason to skip."""
    code, output = execute(command, max(1, min(SECONDS_MAX, END - time.monotonic())), folder, environment)
    step = " ".join(command[:2])
    if code is None:
        raise Skip(f"no time left for {step}; what is cached by now makes the next run shorter")
    if code:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        told = [line for line in lines if "error" in line.lower()] or lines[-1:] or ["no output"]
        raise Skip(f"{step} failed: {told[0][:200]}")


def cached(name, files, make):
    """The folder for what `files` are made into; make(folder) is called once. A step that is cut short leaves no such folder."""
    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as handle:
            digest.update(handle.read())
    folder = os.path.join(CACHE, f"{name}-{digest.hexdigest()[:16]}")
    if not os.path.isdir(folder):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="new-") as new:
            work = os.path.join(new, "made")
            os.mkdir(work)
            make(work)
            os.rename(work, folder)
    return folder


def npm(name, folder, script):
    """package.json and package-lock.json lie in `folder`."""
    need("node", "npm")
    files = [here(folder, "package.json"), here(folder, "package-lock.json")]

    def make(work):
        for path in files:
            shutil.copy(path, work)
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], work)

    return ["node", here(script)], {"EVENKEEL_PACKAGE": os.path.join(cached(name, files, make), "package.json")}


def mongosh(script):
    """The shell that ./dev installs."""
    need("node")
    shell = os.path.join(ROOT, "node_modules", "mongosh", "bin", "mongosh.js")
    if not os.path.exists(shell):
        raise Skip("no mongosh in node_modules: ./dev setup installs it")
    return ["node", shell, "--nodb", "--quiet", "--norc", here(script)], {"MONGOSH_DISABLE_TELEMETRY": "1"}


def pip(name, requirements, script):
    """Wheels of pinned versions in a folder of their own."""
    need("python3")
    path = here(requirements)

    def make(work):
        run(["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--no-deps",
             "--target", work, "-r", path], HERE)

    return ["python3", here(script)], {"PYTHONPATH": cached(name, [path], make)}


def maven(name, folder, main):
    need("java", "javac", "mvn")
    files = [here(folder, "pom.xml"), here(folder, "src", f"{main}.java")]

    def make(work):
        shutil.copytree(here(folder), work, dirs_exist_ok=True)
        run(["mvn", "-q", "-B", "package", "dependency:copy-dependencies", "-DoutputDirectory=target/jars"], work)

    target = os.path.join(cached(name, files, make), "target")
    jars = os.path.join(target, "jars", "*")
    return ["java", "-cp", f"{os.path.join(target, 'classes')}:{jars}", main], {}


def go(name, folder):
    need("go")
    files = [here(folder, "go.mod"), here(folder, "go.sum"), here(folder, "main.go")]
    made = cached(name, files, lambda work: run(["go", "build", "-o", os.path.join(work, "checks"), "."], here(folder), {"GOTOOLCHAIN": "local"}))
    return [os.path.join(made, "checks")], {}


def cargo(name, folder):
    need("cargo")
    files = [here(folder, path) for path in ("Cargo.toml", "Cargo.lock", "src/main.rs")]
    target = os.path.join(CACHE, f"{name}-target")  # kept, so that a change of main.rs compiles only that

    def make(work):
        run(["cargo", "build", "--quiet", "--locked"], here(folder), {"CARGO_TARGET_DIR": target})
        shutil.copy(os.path.join(target, "debug", "checks"), work)

    return [os.path.join(cached(name, files, make), "checks")], {}


def c(name, script, package):
    """Compiled against a library that pkg-config knows."""
    need("cc", "pkg-config")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], stdout=subprocess.PIPE, text=True, check=False)
    if flags.returncode:
        raise Skip(f"pkg-config knows no {package}")
    path = here(script)
    made = cached(name, [path], lambda work: run(["cc", "-o", os.path.join(work, "checks"), path, *flags.stdout.split()], HERE))
    return [os.path.join(made, "checks")], {}


def debian(packages, *command):
    """Debian's packages, installed where that is possible; Debian's own versions pin them."""
    need("dpkg-query")
    missing = [name for name in packages if not installed(name)]
    if missing:
        need("apt-get")
        if os.geteuid():
            raise Skip(f"not installed, and not root: {' '.join(missing)}")
        install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *missing]
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        try:
            run(install, HERE, quiet)
        except Skip:  # perhaps the package lists are old
            run(["apt-get", "update", "-q"], HERE)
            run(install, HERE, quiet)
    return list(command), {}


def installed(name):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, check=False)
    return found.stdout == "installed"
