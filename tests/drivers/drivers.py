"""The drivers, one row each: how to get it ready, and which compressors it must use."""
import dataclasses
from typing import Callable

import prepare


@dataclasses.dataclass(frozen=True)
class Driver:
    name: str
    compressors: tuple
    prepare: Callable


DRIVERS = [
    # The longest to prepare and run first.
    Driver("rust", ("snappy", "zlib", "zstd"), lambda: prepare.cargo("rust", "rust")),
    Driver("java", ("snappy", "zlib", "zstd"), lambda: prepare.maven("java", "java", "Checks")),
    Driver("go", ("snappy", "zlib", "zstd"), lambda: prepare.go("go", "go")),
    Driver("mongosh", ("zlib",), lambda: prepare.mongosh("mongosh/checks.js")),
    Driver("node7", ("snappy", "zlib"), lambda: prepare.npm("node7", "node/7", "node/checks.js")),
    Driver("node6", ("snappy", "zlib", "zstd"), lambda: prepare.npm("node6", "node/6", "node/checks.js")),
    Driver("node5", ("snappy", "zlib", "zstd"), lambda: prepare.npm("node5", "node/5", "node/checks.js")),
    Driver("mongoose", (), lambda: prepare.npm("mongoose", "mongoose", "mongoose/checks.js")),
    Driver("pymongo4", ("snappy", "zlib", "zstd"), lambda: prepare.pip("pymongo4", "python/requirements.txt", "python/checks.py")),
    Driver("pymongo3", ("snappy", "zlib", "zstd"), lambda: prepare.debian(
        ["python3-pymongo", "python3-snappy", "python3-zstandard"], "/usr/bin/python3", prepare.here("python", "checks.py"))),
    Driver("c", ("snappy", "zlib", "zstd"), lambda: prepare.c("c", "c/checks.c", "libmongoc-1.0")),
    Driver("php", ("snappy", "zlib", "zstd"), lambda: prepare.debian(
        ["php-cli", "php-mongodb"], "php", prepare.here("php", "checks.php"))),
    Driver("ruby", ("zlib",), lambda: prepare.debian(["ruby", "ruby-mongo"], "/usr/bin/ruby", prepare.here("ruby", "checks.rb"))),
    Driver("perl", ("zlib",), lambda: prepare.debian(["libmongodb-perl", "libtest-deep-perl"], "/usr/bin/perl", prepare.here("perl", "checks.pl"))),
]
