"""The bank of the torture as PyMongo's own helper runs it: usage bank.py URI SECONDS ACCOUNTS SUM SEED.

Threads move money in session.with_transaction and add up what snapshots show, in transactions and in snapshot sessions.
The last line says what was done and what was wrong, as JSON: {transfers, sums, unknown, problems}.
"""
import json
import random
import sys
import threading
import time

from pymongo import MongoClient
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

MOVERS, READERS = 4, 2
PATIENCE_SECONDS = 120  # for one transaction; the helper's own limit


class Bank:
    def __init__(self, uri, accounts, money, seed):
        self.client = MongoClient(uri, serverSelectionTimeoutMS=30_000, heartbeatFrequencyMS=500, socketTimeoutMS=20_000, connectTimeoutMS=2_000)
        self.bank = self.client.torture.bank
        self.accounts, self.money, self.seed = accounts, money, seed
        self.lock = threading.Lock()
        self.counts = {"transfers": 0, "sums": 0, "unknown": 0}
        self.problems = []
        self.stopping = False

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def transfer(self, choice):
        source, target = choice.sample(range(self.accounts), 2)

        def body(session):
            n = self.bank.find_one({"_id": source}, session=session)["n"]
            self.bank.update_one({"_id": source}, {"$set": {"n": n - 1}}, session=session)
            self.bank.update_one({"_id": target}, {"$inc": {"n": 1}}, session=session)

        with self.client.start_session() as session:
            session.with_transaction(body, write_concern=WriteConcern("majority"), max_commit_time_ms=10_000)
        self.count("transfers")

    def check(self, rows):
        money = sum(row["n"] for row in rows)
        self.count("sums")
        if len(rows) != self.accounts or money != self.money:
            with self.lock:
                self.problems.append(f"a snapshot has {len(rows)} accounts with {money}")

    def sum(self, choice):
        if choice.random() < 0.5:
            with self.client.start_session() as session:
                self.check(session.with_transaction(lambda inside: list(self.bank.find({}, session=inside, batch_size=7)),
                                                    read_concern=ReadConcern("snapshot")))
        else:
            with self.client.start_session(snapshot=True) as session:
                self.check(list(self.bank.find({}, session=session, batch_size=7)))

    def work(self, action, number):
        choice = random.Random(self.seed + number)
        while not self.stopping:
            try:
                action(choice)
            except PyMongoError:
                self.count("unknown")  # or not worth another try: the sums will tell

    def run(self, seconds):
        actions = [self.transfer] * MOVERS + [self.sum] * READERS
        threads = [threading.Thread(target=self.work, args=(action, number)) for number, action in enumerate(actions)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.stopping = True
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
            if thread.is_alive():
                self.problems.append("a transaction does not end")
                break
        return {**self.counts, "problems": self.problems[:20]}


def main():
    uri, seconds, accounts, money, seed = sys.argv[1], *map(int, sys.argv[2:])
    print(json.dumps(Bank(uri, accounts, money, seed).run(seconds)), flush=True)


main()
