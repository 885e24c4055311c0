// Every view for those who do not see it, do not use a mouse, or have a small window; and pictures to look at.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { hasLab, PICTURES, type Server, start } from './server.ts';

let server: Server;
let views: [string, string, string][];
before(async () => {
  server = await start();
  views = [
    ['runs', '/', 'tbody tr'],
    ['run', `/runs/${server.pair[0]}`, '.report'],
    ['compare', `/compare?runs=${server.pair.join(',')}`, 'table.pivot'],
    ['campaigns', '/campaigns', 'tbody tr'],
    ['campaign', '/campaigns/levels?rows=raid&columns=state', 'table.matrix'],
    ['new-campaign', '/new-campaign', '.dry-run'],
    ['plans', '/plans', '.plans li'],
    ['plan', '/plans/quick?on=array:md3000', '.numbers span'],
    ['jobs', '/jobs', 'h1'],
    ['served', '/served', '.slot.failed'],
    ['nothing', '/nowhere', 'h1'],
  ];
  if (await hasLab(server)) {
    views.push(
      ['lab', '/lab?array=md3000&raid=5', '.slot'],
      ['lab-failed', '/lab?array=md3000&raid=5&fail=3', '.slot.failed'],
    );
  }
});
after(() => server?.end());

async function drawn(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  // A page that follows a campaign is never without a request: what is still to come is in the page.
  await page.waitForFunction(
    () =>
      !document.querySelector('.drawing, [aria-busy=true]') &&
      document.querySelector('.dry-run')?.textContent !== 'Checking …' &&
      [...document.querySelectorAll('.chart')].every(chart => chart.querySelector('svg')),
  );
}

for (const scheme of ['light', 'dark'] as const) {
  for (const width of [1400, 400]) {
    test(`views are accessible and fit into ${width} px, ${scheme}`, async () => {
      const page = await server.open('/', { width, scheme });
      const faults: string[] = [];
      for (const [name, path, selector] of views) {
        await page.goto(server.url + path);
        await drawn(page, selector);
        await page.screenshot({ path: join(PICTURES, `${name}-${width}-${scheme}.png`), fullPage: true });
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (wider > 0) faults.push(`${name}: ${wider} px wider than the window`);
        const { violations } = await new AxeBuilder({ page }).analyze();
        for (const { id, impact, nodes, help } of violations) {
          if (impact !== 'serious' && impact !== 'critical') continue;
          faults.push(
            `${name}: ${id} (${help}): ${nodes
              .map(node => node.target.join(' '))
              .slice(0, 4)
              .join(' | ')}`,
          );
        }
      }
      assert.deepEqual(faults, []);
    });
  }
}

test('the navigation of a small window opens by its button', async () => {
  const page = await server.open('/', { width: 400 });
  await page.waitForSelector('tbody tr');
  assert.ok(!(await page.locator('#places').isVisible()));
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Plans' }).click();
  await page.waitForSelector('.plans li');
  assert.ok(!(await page.locator('#places').isVisible()));
});

test('every control has a name and shows its focus', async () => {
  const page = await server.open('/plans/quick?on=/tmp/file');
  await drawn(page, '.numbers span');
  for (let press = 0; press < 14; press += 1) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      const of = element.closest('.editor') ?? element;
      return { tag: element.tagName, outline: getComputedStyle(of).outlineStyle };
    });
    if (seen.tag !== 'BODY') assert.notEqual(seen.outline, 'none', `${seen.tag} does not show its focus`);
  }
});
