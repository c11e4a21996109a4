// Random numbers that repeat from a seed: what a failed run printed can be run again.
'use strict';

class Random {
  constructor(seed) { this.state = seed >>> 0; }

  // A number in [0, 1) (mulberry32).
  next() {
    this.state = (this.state + 0x6D2B79F5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  // A whole number in [0, bound).
  below(bound) { return Math.floor(this.next() * bound); }
  between(low, high) { return low + this.below(high - low + 1); }
  chance(probability) { return this.next() < probability; }
  pick(list) { return list[this.below(list.length)]; }
}

module.exports = { Random };
