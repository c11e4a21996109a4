// Runs the program's short commands: evenkeel status, evenkeel moves.
'use strict';

const { spawn } = require('node:child_process');
const { binary } = require('./server.js');

// A promise of {code, stdout, stderr}; its field `out` has what was printed so far.
function run(...args) {
  const child = spawn(binary(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => { out[name] += text; });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, ...out }));
  });
  return Object.assign(ended, { out });
}

module.exports = { run };
