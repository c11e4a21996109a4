// What transactions over lists have read and appended, and the check that one order explains all of it.
//
// Each transaction reads some lists whole and appends one number, its own, to some of them, writing back the whole list. The
// final lists then tell in which order the appends to each list came, and every read must be a beginning of its list. Pure.
'use strict';

class History {
  constructor() {
    this.transactions = [];
    this.next = 1;
  }

  // A transaction about to run; `appends` are the keys it will append its number to.
  begin(appends) {
    const transaction = { number: this.next++, appends, reads: new Map(), outcome: 'unknown' };
    this.transactions.push(transaction);
    return transaction;
  }

  // The anomalies, as texts. `lists`: a Map from key to the final list.
  anomalies(lists) {
    const found = [];
    const place = new Map();  // "key number" -> position
    for (const [key, list] of lists) {
      list.forEach((number, position) => {
        if (place.has(`${key} ${number}`)) found.push(`${number} is twice in ${key}`);
        place.set(`${key} ${number}`, position);
      });
    }
    const known = new Map(this.transactions.map((transaction) => [transaction.number, transaction]));
    for (const transaction of this.transactions) this.checkAppends(transaction, place, found);
    for (const transaction of this.transactions) {
      if (transaction.outcome === 'committed') this.checkReads(transaction, lists, known, place, found);
    }
    return found;
  }

  // Committed: everywhere. Aborted: nowhere. Unknown: one or the other.
  checkAppends({ number, appends, outcome }, place, found) {
    const there = appends.filter((key) => place.has(`${key} ${number}`)).length;
    if (outcome === 'committed' && there < appends.length) found.push(`${number} was committed, but ${appends.length - there} of its appends are lost`);
    if (outcome === 'aborted' && there > 0) found.push(`${number} was aborted, but ${there} of its appends are there`);
    if (there > 0 && there < appends.length) found.push(`${number} is there by halves: ${there} of ${appends.length}`);
  }

  checkReads({ number, reads, appends }, lists, known, place, found) {
    for (const [key, read] of reads) {
      const list = lists.get(key);
      if (read.some((value, position) => list[position] !== value)) found.push(`${number} has read in ${key} what is no beginning of it: ${read}`);
      // First writer wins: nothing came between the read and the append.
      if (appends.includes(key) && place.get(`${key} ${number}`) !== read.length) found.push(`${number} lost updates of ${key}`);
    }
    // One snapshot: what is seen of a transaction in one list is seen in all.
    for (const [key, read] of reads) {
      for (const value of read) {
        for (const other of known.get(value)?.appends ?? []) {
          if (other === key || !reads.has(other)) continue;
          if (!reads.get(other).includes(value)) found.push(`${number} has seen ${value} in ${key}, but not in ${other}`);
        }
      }
    }
  }
}

module.exports = { History };
