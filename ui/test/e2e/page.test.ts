import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { LabAnswer, RunRow } from '../../src/contract.ts';
import type { Run } from '../../src/record.d.ts';
import { hasLab, type Server, start } from './server.ts';

let server: Server;
before(async () => {
  server = await start();
});
after(() => server?.end());

/** The value in a record that a report names as `0p7w0s0/ops_per_s/value`. */
function valueAt(runs: Run[], at: string): number | null {
  const [, run, point, workload, summary, path] = /^(\d+)p(\d+)w(\d+)s(\d+)\/(.+)$/.exec(at) ?? [];
  if (path === undefined) return null;
  let here: unknown = runs[Number(run)]?.points[Number(point)]?.workloads[Number(workload)]?.summary[Number(summary)];
  for (const key of path.split('/')) here = (here as Record<string, unknown> | undefined)?.[key];
  return typeof here === 'number' ? here : null;
}

/** All numbers of the report in the page, with their places; the shadow root is read as well. */
function numbersOf(page: Page): Promise<{ value: number; at: string; text: string }[]> {
  return page.evaluate(() => {
    const root = document.querySelector('.report')?.shadowRoot;
    return [...(root?.querySelectorAll('data[data-at]') ?? [])].map(data => ({
      value: Number((data as HTMLDataElement).value),
      at: data.getAttribute('data-at') ?? '',
      text: data.textContent ?? '',
    }));
  });
}

test('the list shows every run with the figures of its record', async () => {
  const page = await server.open('/');
  await page.waitForSelector('tbody tr');
  const { runs, total } = await server.json<{ runs: RunRow[]; total: number }>('/api/runs?limit=200');
  assert.equal(await page.locator('tbody tr').count(), total);
  for (const run of runs) {
    const row = page.locator(`tr[data-run="${run.id}"]`);
    const record = await server.json<Run>(`/api/runs/${run.id}`);
    assert.equal(await row.locator('[data-field=points]').textContent(), String(record.points.length));
    assert.equal(await row.locator('b.grade').textContent(), record.grading?.grade ?? '');
    const peak = Math.max(
      ...record.points
        .flatMap(point => point.workloads)
        .flatMap(all => all.summary)
        .map(all => all.ops_per_s.value),
    );
    const text = (await row.locator('[data-field=headline]').textContent()) ?? '';
    // A half is rounded to either side.
    const shown = [peak, peak - 1e-9].map(rate => Math.round(rate).toLocaleString('en-US'));
    assert.ok(
      shown.some(rate => text.includes(rate)) || text.includes('latency') || peak < 100,
      `${text} has no ${peak}`,
    );
  }
});

test('the token leaves the address bar, and without one the page says that it only reads', async () => {
  const page = await server.open('/');
  await page.waitForSelector('tbody tr');
  assert.ok(!page.url().includes('token'));
  const reader = await server.open('/', { token: false });
  await reader.waitForSelector('.standing >> text=Read-only');
});

test('search and tags narrow the list and are in the address', async () => {
  const page = await server.open('/');
  await page.waitForSelector('tbody tr');
  await page.keyboard.press('/');
  await page.keyboard.type('random');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  assert.match(page.url(), /search=random/);
  await page.goto(`${server.url}/?tag=room%3Dlab`);
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
});

test('the keyboard moves, selects, compares, opens and helps', async () => {
  const page = await server.open('/?search=corners');
  await page.waitForSelector('tbody tr');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  assert.equal(await page.locator('tbody input:checked').count(), 2);
  await page.keyboard.press('c');
  await page.waitForURL(/\/compare\?runs=/);
  await page.goBack();
  await page.waitForSelector('tbody tr');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs\//);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
});

test('every number of a report equals the record', async () => {
  const [id] = server.pair;
  const page = await server.open(`/runs/${id}`);
  await page.waitForFunction(() => document.querySelector('.report')?.shadowRoot?.querySelector('data[data-at]'));
  const record = await server.json<Run>(`/api/runs/${id}`);
  const numbers = (await numbersOf(page)).filter(number => valueAt([record], number.at) !== null);
  assert.ok(numbers.length > 20, `only ${numbers.length} numbers have a place`);
  for (const number of numbers) assert.equal(number.value, valueAt([record], number.at), number.at);
});

test('findings come first, below the answer', async () => {
  const page = await server.open(`/runs/${server.pair[1]}`);
  await page.waitForFunction(() => document.querySelector('.report')?.shadowRoot?.querySelector('section'));
  const first = await page.evaluate(
    () => document.querySelector('.report')?.shadowRoot?.querySelector('section h2')?.textContent,
  );
  assert.equal(first, 'Findings');
});

test('the report, the workbook and the record can be saved', async () => {
  const page = await server.open(`/runs/${server.pair[0]}`);
  for (const name of ['Report .html', 'Workbook .xlsx', 'Record .json']) {
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    assert.match(saved.suggestedFilename(), new RegExp(server.pair[0]));
  }
});

test('the pivot table of a comparison equals the records', async () => {
  const page = await server.open(`/compare?runs=${server.pair.join(',')}`);
  await page.waitForSelector('table.pivot data[data-at]');
  const records = await Promise.all(server.pair.map(id => server.json<Run>(`/api/runs/${id}`)));
  const cells = await page.$$eval('table.pivot data', all =>
    all.map(data => ({ value: Number((data as HTMLDataElement).value), at: data.getAttribute('data-at') ?? '' })),
  );
  assert.equal(
    cells.length,
    records.reduce((sum, record) => sum + record.points.length, 0),
  );
  for (const cell of cells) assert.equal(cell.value, valueAt(records, `${cell.at}/ops_per_s/value`), cell.at);
  await page.getByLabel('Figure').selectOption('p99');
  await page.waitForURL(/figure=p99/);
  const shown = await page.$$eval('table.pivot data', all =>
    all.map(data => ({ value: Number((data as HTMLDataElement).value), at: data.getAttribute('data-at') ?? '' })),
  );
  for (const cell of shown) {
    const quantiles = records.flatMap((_, run) =>
      [0, 1, 2, 3, 4, 5]
        .map(at => valueAt(records, `${cell.at}/response/quantiles/${at}/value_ns`))
        .map(value => [run, value]),
    );
    assert.ok(
      quantiles.some(([, value]) => value === cell.value),
      `${cell.value} is no quantile of ${cell.at}`,
    );
  }
  await page.reload();
  await page.waitForSelector('table.pivot data');
  assert.equal(await page.getByLabel('Figure').inputValue(), 'p99');
});

test('a campaign shows a cell for each combination of levels', async () => {
  const page = await server.open('/campaigns/levels?rows=raid&columns=state');
  await page.waitForSelector('table.matrix data');
  const campaign = await server.json<{ cells: { state: string; figures: Record<string, { value: number }> }[] }>(
    '/api/campaigns/levels',
  );
  const done = campaign.cells.filter(cell => cell.state === 'done');
  assert.equal(await page.locator('table.matrix .square.done').count(), done.length);
  const figure = await page.getByLabel('Figure').inputValue();
  const known = new Set(done.map(cell => cell.figures[figure]?.value));
  const values = await page.$$eval('table.matrix data', all =>
    all.map(data => Number((data as HTMLDataElement).value)),
  );
  assert.ok(values.length >= 4);
  for (const value of values) assert.ok(known.has(value), `${value} is in no cell`);
});

test('a campaign is written, started, stopped and resumed, and its cells fill while one looks on', async () => {
  const page = await server.open('/campaigns');
  await page.getByRole('link', { name: 'new', exact: true }).click();
  const text = page.getByLabel('The campaign, in TOML');
  await page.waitForSelector('.dry-run >> text=6 cells');
  await text.fill('name = "page"\non = "array:md3000"\nplans = ["qick"]\n');
  await page.waitForSelector('#problems >> text=did you mean `quick`');
  await text.fill('name = "page"\non = "array:md3000"\nplan = ["quick"]\n');
  await page.waitForSelector('#problems >> text=Line 3, column 1');
  assert.ok(await page.getByRole('button', { name: 'Start' }).isDisabled());
  await text.fill(
    'name = "page"\non = "array:md3000"\nplans = ["quick"]\nrepeats = 2\n' +
      'set = { run = "20s" }\n[factors]\nraid = [5, 10]\ndisks = [4, 6, 8, 10, 12]\n',
  );
  await page.waitForSelector('.dry-run >> text=/10 cells × 1 plan × 2 blocks, 20 runs/');
  await page.waitForSelector('.dry-run >> text=the smallest change of one figure of');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/campaigns\/page$/);
  const list = await server.open('/campaigns');
  await list.waitForSelector('tr:has-text("page") .progress >> text=/of 20/', { timeout: 60_000 });
  const done = () => page.locator('table.matrix .square.done').count();
  await page.waitForSelector('table.matrix .square.missing', { timeout: 60_000 });
  assert.equal(await page.locator('table.matrix .square').count(), 20);
  await page.waitForFunction(() => document.querySelectorAll('table.matrix .square.done').length >= 2, null, {
    timeout: 60_000,
  });
  await page.getByRole('button', { name: /^Stop/ }).click();
  await page.waitForSelector('text=Stopped; what was measured is kept.', { timeout: 60_000 });
  const before = await done();
  assert.ok(before >= 2 && before < 20, `${before} of 20`);
  await page.getByRole('link', { name: 'Resume' }).click();
  await page.getByRole('button', { name: /^Resume: \d+ of 20 runs are left/ }).click({ timeout: 60_000 });
  await page.waitForURL(/\/campaigns\/page$/);
  await page.waitForFunction(many => document.querySelectorAll('table.matrix .square.done').length > many, before, {
    timeout: 60_000,
  });
  await page.getByRole('button', { name: /^Stop/ }).click();
  await page.waitForSelector('text=Stopped; what was measured is kept.', { timeout: 60_000 });
  const [cell] = (await server.json<{ cells: { run: string; state: string }[] }>('/api/campaigns/page')).cells.filter(
    cell => cell.state === 'done',
  );
  await page.locator(`table.matrix a[href="/runs/${cell?.run}"]`).click();
  await page.waitForURL(new RegExp(`/runs/${cell?.run}`));
  await page.waitForFunction(() => document.querySelector('.report')?.shadowRoot?.querySelector('h1'));
});

test('a campaign that would run a command is not started from the page', async () => {
  const page = await server.open('/new-campaign');
  await page.waitForSelector('.dry-run >> text=6 cells');
  await page
    .getByLabel('The campaign, in TOML')
    .fill(
      'name = "page"\non = "array:md3000"\nplans = ["quick"]\n[factors.cache]\nlevels = ["on", "off"]\nset = "true {level}"\n',
    );
  await page.waitForSelector('#problems >> text=`set` is a command, and the page runs none');
  assert.ok(await page.getByRole('button', { name: 'Start' }).isDisabled());
});

test('mistakes of a plan are told at their place', async () => {
  const page = await server.open('/plans/quick');
  const text = page.getByLabel('The plan, in TOML');
  await page.waitForFunction(() => (document.querySelector('#plan-text') as HTMLTextAreaElement)?.value.length > 50);
  await text.fill('name = "x"\n[[phase]]\nname = "a"\nsize = "4QiB"\n');
  await page.waitForSelector('#problems li');
  assert.match((await page.locator('#problems').textContent()) ?? '', /Line 4, column 8/);
  assert.equal(await page.locator('.numbers .wrong').textContent(), '4');
  assert.equal(await page.locator('.marks mark').first().textContent(), '"4QiB"');
  await page
    .getByRole('button', { name: /Line 4/ })
    .first()
    .click();
  const chosen = await text.evaluate((field: HTMLTextAreaElement) =>
    field.value.slice(field.selectionStart, field.selectionEnd),
  );
  assert.equal(chosen, '"4QiB"');
});

test('a run is started from the editor, followed, and leads to its report', async () => {
  const page = await server.open('/plans/quick');
  await page.getByRole('combobox', { name: 'Target' }).fill('array:md3000?raid=5');
  await page.getByLabel(/Tags/).fill('from=page');
  await page.getByRole('button', { name: 'Start' }).click({ timeout: 20_000 });
  await page.waitForURL(/\/jobs\//);
  await page.waitForSelector('text=Show the run', { timeout: 60_000 });
  assert.match((await page.locator('.answer').textContent()) ?? '', /^Done/);
  assert.equal(await page.locator('tbody tr').count(), 5);
  const shown = await page.locator('tbody tr').first().locator('td').nth(1).textContent();
  await page.getByText('Show the run').click();
  await page.waitForURL(/\/runs\//);
  const record = await server.json<Run>(`/api/runs/${page.url().split('/').pop()}`);
  assert.deepEqual(record.tags, { from: 'page' });
  const iops = record.points[0]?.workloads[0]?.summary[0]?.ops_per_s.value ?? 0;
  assert.equal(Number(shown?.replaceAll(',', '')), Math.round(iops));
});

test('a target that is not there is told before the start, and a run that is refused says why', async () => {
  const page = await server.open('/plans/quick?on=/dev/does-not-exist');
  await page.waitForSelector('#problems >> text=there is no such device');
  assert.ok(await page.getByRole('button', { name: 'Start' }).isDisabled());
  await page.getByRole('combobox', { name: 'Target' }).fill('array:md3000');
  await page.getByLabel('Set keys').fill('run=4s');
  await page.waitForFunction(() => document.querySelectorAll('#problems li').length === 0);
  // Another word that only `run` itself judges.
  const answer = await page.evaluate(async token => {
    const body = { plan: 'quick', toml: null, on: ['/proc/version'], set: [], tags: {}, destroy: '/proc/version' };
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    return (await fetch('/api/start', { method: 'POST', headers, body: JSON.stringify(body) })).json();
  }, server.token);
  await page.goto(`${server.url}/jobs/${answer.job}`);
  await page.waitForSelector('.answer >> text=/Refused|Not started/', { timeout: 20_000 });
  assert.match((await page.locator('main pre').textContent()) ?? '', /proc/);
});

test('a real run can be stopped, and what was finished is kept', async () => {
  const page = await server.open('/plans/quick?on=null:');
  await page.getByRole('button', { name: 'Start' }).click({ timeout: 20_000 });
  await page.waitForURL(/\/jobs\//);
  await page.waitForSelector('text=/Point 2 of 5/', { timeout: 30_000 });
  assert.match((await page.locator('.answer').textContent()) ?? '', /So far|no rate yet/);
  await page.getByRole('button', { name: /Stop/ }).click();
  await page.waitForSelector('text=/^Stopped/', { timeout: 20_000 });
});

test('nothing is started without a token', async () => {
  const page = await server.open('/plans/quick?on=array:md3000', { token: false });
  await page.waitForSelector('text=Read-only: without the token');
  assert.ok(await page.getByRole('button', { name: 'Start' }).isDisabled());
});

test('the lab redraws after a change, and the difference is told', async t => {
  if (!(await hasLab(server))) return t.skip('this program has no array lab');
  const page = await server.open('/lab?array=md3000');
  await page.waitForSelector('.lab .chart svg');
  await page.waitForSelector('.lab-head[aria-busy=false]');
  const before = await page.locator('.lab .middle .chart').first().innerHTML();
  const [answered] = await Promise.all([
    // The whole, which follows the first look.
    page.waitForResponse(
      answer =>
        answer.url().endsWith('/api/lab') &&
        answer.request().postDataJSON().effort === 'full' &&
        answer.request().postDataJSON().array.includes('raid='),
    ),
    page.locator('#knob-raid').selectOption({ index: 0 }),
  ]);
  const answer = (await answered.json()) as LabAnswer;
  await page.waitForFunction(html => document.querySelector('.lab .middle .chart')?.innerHTML !== html, before);
  await page.waitForFunction(text => document.querySelector('.lab-head .answer')?.textContent === text, answer.answer);
  assert.match((await page.locator('.lab-head .difference').textContent()) ?? '', /→/);
  const cells = await page.$$eval('.middle details table data', all =>
    all.map(data => Number((data as HTMLDataElement).value)),
  );
  assert.deepEqual(
    cells,
    answer.points.map(point => point.iops),
  );
  assert.match(page.url(), /raid=/);
  await page.locator('#knob-raid').blur();
  await page.keyboard.press('u');
  await page.waitForFunction(() => !location.search.includes('raid='));
});

test('a load with published figures is a click away, and its figures are beside those of the model', async t => {
  if (!(await hasLab(server))) return t.skip('this program has no array lab');
  const page = await server.open('/lab?array=px6-300d');
  await page.getByText(/^Loads with published figures: \d+$/).click();
  const load = page.locator('.loads a').first();
  const name = (await load.textContent()) ?? '';
  assert.doesNotMatch(name, /\d{5,}/, 'sizes are to be read');
  await load.click();
  await page.waitForSelector('text=Published and measured figures of this array');
  assert.equal(await page.locator('.loads a[aria-current]').textContent(), name);
  const reported = page.locator('section[aria-label="Table of published and measured figures"] td.n').first();
  assert.match((await reported.textContent()) ?? '', /^[\d,.]+ /, 'the figure itself');
});

test('a disk fails by a click, and its rebuild is played', async t => {
  if (!(await hasLab(server))) return t.skip('this program has no array lab');
  const page = await server.open('/lab?array=md3000');
  await page.waitForSelector('.slot.online');
  await page.locator('.slot.online').nth(3).click();
  await page.waitForSelector('.slot.failed');
  assert.match(page.url(), /fail=/);
  await page.getByRole('button', { name: /Rebuild slot/ }).click();
  await page.waitForSelector('.rebuild .chart svg', { timeout: 60_000 });
  await page.waitForSelector('text=/Rebuilt after/', { timeout: 60_000 });
});
