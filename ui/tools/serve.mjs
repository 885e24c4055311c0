// The built page in front of a server that runs: for a page that is newer than the one in the binary.
//
//   node tools/serve.mjs http://127.0.0.1:7070 [PORT]
//
// Requests to /api go on to the server as if they came from its own page.

import { createReadStream, existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serve(server, port = 0) {
  const to = new URL(server);
  const front = createServer((asked, answer) => {
    const path = normalize(decodeURIComponent(asked.url.split('?')[0]));
    if (path.startsWith('/api')) {
      const headers = { ...asked.headers, host: to.host };
      if (headers.origin) headers.origin = to.origin;
      const passed = request({ host: to.hostname, port: to.port, path: asked.url, method: asked.method, headers }, back => {
        answer.writeHead(back.statusCode, back.headers);
        back.pipe(answer);
      });
      passed.on('error', error => answer.writeHead(502).end(JSON.stringify({ error: error.message })));
      answer.on('close', () => passed.destroy());
      asked.pipe(passed);
      return;
    }
    const file = extname(path) && existsSync(join(DIST, path)) ? path : '/index.html';
    answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'content-security-policy': POLICY });
    createReadStream(join(DIST, file)).pipe(answer);
  });
  return new Promise(ready => front.listen(port, '127.0.0.1', () => ready(front)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const front = await serve(process.argv[2], Number(process.argv[3] ?? 0));
  console.log(`http://127.0.0.1:${front.address().port}/`);
}
