// Certificates for tests, made by the openssl program.
'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { temporaryFolder } = require('./server.js');

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

// One authority and what it has signed: PEM files in a folder of its own.
class Authority {
  constructor(name = 'authority') {
    this.folder = temporaryFolder('certificates');
    this.ca = this.path('ca.pem');
    this.issued = 0;
    this.run('req', '-x509', ...CURVE, '-days', '2', '-subj', `/CN=${name}`, '-keyout', this.path('ca.key'), '-out', this.ca);
  }

  path(name) { return path.join(this.folder, name); }
  run(...args) { execFileSync('openssl', args, { stdio: 'pipe' }); }

  // The path of a PEM file with a certificate and its key.
  issue(host = 'IP:127.0.0.1') {
    const stem = this.path(`issued${++this.issued}`);
    this.run('req', ...CURVE, '-subj', '/CN=peer', '-addext', `subjectAltName=${host}`, '-keyout', `${stem}.key`, '-out', `${stem}.csr`);
    this.run('x509', '-req', '-in', `${stem}.csr`, '-CA', this.ca, '-CAkey', this.path('ca.key'), '-CAcreateserial', '-copy_extensions', 'copy', '-days', '2', '-out', `${stem}.crt`);
    fs.writeFileSync(`${stem}.pem`, fs.readFileSync(`${stem}.crt`, 'utf8') + fs.readFileSync(`${stem}.key`, 'utf8'));
    return `${stem}.pem`;
  }

  remove() { fs.rmSync(this.folder, { recursive: true, force: true }); }
}

module.exports = { Authority };
