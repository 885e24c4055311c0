// A real `fathom ui` with a library of its own, and a browser. FATHOM names the program; FATHOM_PAGE=dist tests the page in
// `dist` in front of it, instead of the one that the program holds; FATHOM_PAGE_STORE=postgres://… keeps the library there.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const PROGRAM = resolve(process.env.FATHOM ?? 'fathom');
const BROWSERS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const PICTURES = resolve('test/pictures');

const CAMPAIGN = `name = "levels"
about = "RAID 5 or RAID 10, healthy and degraded"
on = "array:md3000"
plans = ["quick"]
repeats = 2
set     = { run = "2s", warmup = "1s" }

[factors]
raid = [5, 10]
state = ["healthy", "degraded"]
`;

// An array that is served beside the page: a RAID 6 with a spare, of which a drive has failed.
const SERVED = `name = "small"
about = "Small disks"
inherits = "queue"
[controller]
count = 2
[devices]
model = "./disk.toml"
count = 8
[raid]
level = "6"
disks = 7
spares = 1
chunk = "64KiB"
`;
const DISK = `name = "disk"
about = "A small disk"
kind = "queue"
capacity = "96MiB"
servers = 1
service = "100us"
law = "fixed"
`;

export interface Server {
  url: string;
  token: string;
  browser: Browser;
  /** The ids of two runs of the same plan on RAID 5 and RAID 10. */
  pair: [string, string];
  /** A page with the token, in a window of that size and theme. */
  open(path: string, window?: Window): Promise<Page>;
  json<T>(path: string): Promise<T>;
  end(): Promise<void>;
}

export interface Window {
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
  token?: boolean;
}

function fathom(store: string, ...words: string[]): void {
  execFileSync(PROGRAM, ['--store', store, ...words], { env: { ...process.env, NO_COLOR: '1' }, stdio: 'pipe' });
}

/** A library with two runs to compare, one more, and a campaign. It is measured once for all files of tests. */
function library(folder: string): string {
  const team = process.env.FATHOM_PAGE_STORE;
  const store = team ?? join(folder, 'runs.sqlite');
  const kept = team ? undefined : process.env.FATHOM_PAGE_LIBRARY;
  if (kept && existsSync(join(kept, 'runs.sqlite'))) {
    cpSync(kept, folder, { recursive: true });
    return store;
  }
  const short = ['--set', 'run=4s', '--set', 'warmup=1s', '-q'];
  for (const raid of ['5', '10']) {
    const on = `array:md3000?raid=${raid}`;
    fathom(store, 'run', 'corners', '--on', on, '--tag', `raid=${raid}`, '--tag', 'room=lab', ...short);
  }
  fathom(store, 'run', 'random', '--on', 'array:md3000?raid=5', ...short);
  writeFileSync(join(folder, 'levels.toml'), CAMPAIGN);
  fathom(store, 'campaign', join(folder, 'levels.toml'), '-q');
  if (kept) cpSync(folder, kept, { recursive: true });
  return store;
}

export async function start(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'fathom-page-'));
  const store = library(folder);
  // Where sockets of served arrays are looked for.
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const served = await array(folder, env);
  const server = spawn(PROGRAM, ['ui', '--listen', '127.0.0.1:0', '--store', store], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  const address = new URL(await firstLine(server));
  const token = new URLSearchParams(address.hash.slice(1)).get('token') ?? '';
  const front = process.env.FATHOM_PAGE === 'dist' ? await inFront(address.origin) : null;
  const url = front?.url ?? address.origin;
  const browser = await chromium.launch({
    executablePath: BROWSERS.find(path => path && existsSync(path)) ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  mkdirSync(PICTURES, { recursive: true });
  const json = async <T>(path: string) => (await (await fetch(url + path)).json()) as T;
  const { runs } = await json<{ runs: { id: string; plan: string }[] }>('/api/runs?limit=50');
  const corners = runs.filter(run => run.plan === 'corners').map(run => run.id);
  const contexts: BrowserContext[] = [];

  return {
    url,
    token,
    browser,
    pair: [corners[1] ?? '', corners[0] ?? ''],
    json,
    async open(path, { width = 1400, height = 900, scheme = 'light', token: with_ = true } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on('pageerror', error => {
        throw error;
      });
      await page.goto(`${url}${path}${with_ ? `#token=${token}` : ''}`);
      return page;
    },
    async end() {
      for (const context of contexts) await context.close();
      await browser.close();
      front?.close();
      server.kill('SIGTERM');
      served.kill('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function array(folder: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  writeFileSync(join(folder, 'array.toml'), SERVED);
  writeFileSync(join(folder, 'disk.toml'), DISK);
  const words = ['serve', './array.toml', '--memory', '--cache', '8MiB', '--pace', 'max', '--no-auto-rebuild'];
  const served = spawn(PROGRAM, [...words, '--name', 'small', '--unix', join(folder, 'nbd')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env,
  });
  await firstLine(served);
  for (const words of [['fail', '2'], ['path', '0', 'down']]) execFileSync(PROGRAM, ['array', ...words], { env });
  return served;
}

function firstLine(server: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let text = '';
    server.stdout?.on('data', data => {
      text += data;
      const end = text.indexOf('\n');
      if (end >= 0) found(text.slice(0, end).trim());
    });
    server.once('exit', code => failed(new Error(`fathom ui ended with ${code}`)));
  });
}

async function inFront(server: string): Promise<{ url: string; close(): void }> {
  const tool = (await import(resolve('tools/serve.mjs'))) as {
    serve(server: string): Promise<import('node:http').Server>;
  };
  const front = await tool.serve(server);
  const address = front.address() as import('node:net').AddressInfo;
  const close = () => {
    front.closeAllConnections();
    front.close();
  };
  return { url: `http://127.0.0.1:${address.port}`, close };
}

/** Whether this program has the array lab. */
export async function hasLab(server: Server): Promise<boolean> {
  return (await fetch(`${server.url}/api/lab/arrays`)).ok;
}
