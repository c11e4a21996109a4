// Runs scripts in the real mongosh from npm.
'use strict';

const { execFile } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, temporaryFolder } = require('./server.js');

const SHELL = path.join(ROOT, 'node_modules', 'mongosh', 'bin', 'mongosh.js');
const SHELL_MS_MAX = 240_000;  // a start takes seconds on a busy machine

// Runs `script` connected to `uri` and returns what it printed. Rejects with the output when the script throws.
async function mongosh(uri, script) {
  const home = temporaryFolder('mongosh');
  const env = { ...process.env, HOME: home, MONGOSH_DISABLE_TELEMETRY: '1' };
  const args = [SHELL, uri, '--quiet', '--norc', '--eval', script];
  try {
    return await new Promise((resolve, reject) => {
      execFile(process.execPath, args, { env, timeout: SHELL_MS_MAX, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`mongosh failed: ${error.message}\n${stdout}\n${stderr}`));
        else resolve(stdout);
      });
    });
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

// Runs `script`, whose value is taken as extended JSON, and returns that value.
async function mongoshValue(uri, script) {
  const marker = '@@value@@';
  const output = await mongosh(uri, `const value = (() => { ${script} })(); print('${marker}' + EJSON.stringify(value))`);
  return JSON.parse(output.slice(output.indexOf(marker) + marker.length).trim());
}

module.exports = { mongosh, mongoshValue };
