// Runs the program's short commands: evenkeel status, evenkeel moves.
'use strict';

const { spawn } = require('node:child_process');
const { binary } = require('./server.js');

// Resolves with {code, stdout, stderr}.
function run(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const out = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => { out[name] += text; });
    child.once('error', reject).once('close', (code) => resolve({ code, ...out }));
  });
}

module.exports = { run };
