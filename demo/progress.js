// A progress bar on a terminal; elsewhere one line when it is done.
'use strict';

const WIDTH = 40;

class Progress {
  constructor(title, total) {
    Object.assign(this, { title, total, done: 0, shown: 0, started: Date.now() });
  }

  add(count) {
    this.done += count;
    if (process.stdout.isTTY && Date.now() - this.shown > 50) this.draw();
  }

  draw() {
    this.shown = Date.now();
    const filled = Math.round((WIDTH * this.done) / this.total);
    const bar = '#'.repeat(filled) + '.'.repeat(WIDTH - filled);
    process.stdout.write(`\r${this.title} [${bar}] ${this.done.toLocaleString('en')} of ${this.total.toLocaleString('en')} `);
  }

  end() {
    if (process.stdout.isTTY) {
      this.draw();
      process.stdout.write('\n');
    }
    const seconds = (Date.now() - this.started) / 1000;
    console.log(`${this.title}: ${this.done.toLocaleString('en')} places in ${seconds.toFixed(1)} s, ${Math.round(this.done / seconds).toLocaleString('en')} a second`);
  }
}

module.exports = { Progress };
