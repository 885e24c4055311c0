// Runs beside each other: the report of the comparison, and any figure by any two keys.

import { useMemo } from 'preact/hooks';
import { api } from '../api.ts';
import { dotsChart, dotsHeight, MOST_SERIES } from '../charts/dots.ts';
import { Report } from '../parts/article.tsx';
import { Choice, chosenKey } from '../parts/choice.tsx';
import { EChart } from '../parts/echart.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useTitle } from '../parts/title.ts';
import {
  differing,
  type Fact,
  FIGURES,
  type Figure,
  facts,
  fixed,
  having,
  levels,
  pivot,
  type Shown,
  shown,
  usual,
  within,
} from '../pivot.ts';
import { go, withQuery } from '../route.ts';
import { Downloads, Drawing } from './run.tsx';

interface Props {
  runs: string[];
  rows: string;
  columns: string;
  figure: string;
  /** Values that are fixed, by their keys. */
  only: string;
}

export function CompareView({ runs, ...chosen }: Props) {
  const key = runs.join(',');
  const report = useLoad(() => (runs.length < 2 ? Promise.resolve(null) : api.compare(runs)), [key]);
  const records = useLoad(() => Promise.all(runs.map(api.run)), [key]);
  const labels = report.value?.labels;
  const all = useMemo(() => facts(records.value ?? [], labels ?? {}), [records.value, labels]);
  useTitle(report.value?.title ?? 'Comparison');
  if (runs.length < 2) {
    return (
      <section>
        <h1>Compare runs</h1>
        <Failure error={records.error} />
        <p>
          Select two runs or more in the <a href="/">list</a>, then press <kbd>c</kbd>.
        </p>
      </section>
    );
  }
  return (
    <section class="wide-view">
      {!report.error && (
        <nav class="tools" aria-label="These runs">
          <Downloads runs={runs} />
          <button type="button" class="plain" onClick={() => document.getElementById('pivot')?.scrollIntoView()}>
            Pivot table
          </button>
        </nav>
      )}
      <Failure error={report.error} />
      {report.value ? <Report article={report.value} /> : !report.error && <Drawing />}
      {!report.error && <h2 id="pivot">Pivot table</h2>}
      {!report.error && <Failure error={records.error} />}
      {all.length > 0 && <Pivoted all={all} chosen={chosen} />}
    </section>
  );
}

function Pivoted({ all, chosen }: { all: Fact[]; chosen: Omit<Props, 'runs'> }) {
  const keys = differing(all);
  const start = usual(all, keys);
  const rows = keys.includes(chosen.rows) ? chosen.rows : start.rows;
  const columns = chosenKey(chosen.columns, keys, rows) ?? (start.columns === rows ? '' : start.columns);
  const figure = FIGURES.find(figure => figure.name === chosen.figure) ?? (FIGURES[0] as Figure);
  const only = fixed(chosen.only);
  const free = pivot(all, rows, columns);
  const open = within(free.cells).filter(key => key !== rows && key !== columns);
  const kept = Object.fromEntries(Object.entries(only).filter(([key]) => open.includes(key)));
  const table = pivot(having(all, kept), rows, columns);
  const cells = table.cells.map(row => row.map(cell => shown(cell, figure)));
  const several = cells.some(row => row.some(cell => cell.count > 1));
  const best = cells.map(row => bestOf(row, figure));

  const dots = useMemo(
    () => ({
      rows: table.rows,
      series: table.columns.map(column => column || figure.name),
      unit: figure.unit || figure.name,
      log: figure.unit === '',
      dots: cells.flatMap((row, r) =>
        row.flatMap((cell, c) => {
          if (cell.value === null) return [];
          const text = `${table.rows[r]}, ${table.columns[c]}: ${figure.show(cell.value)} ${figure.unit}`;
          return [{ row: r, series: c, value: cell.value, low: cell.low, high: cell.high, text }];
        }),
      ),
    }),
    [all, rows, columns, figure, chosen.only],
  );
  const draw = useMemo(() => dotsChart(dots), [dots]);
  const show = (change: Record<string, string>) =>
    go(withQuery({ rows, columns: columns || 'none', figure: figure.name, ...change }), true);

  return (
    <>
      <div class="tools">
        <Choice label="Rows" value={rows} of={keys} chosen={rows => show({ rows })} />
        <Choice
          label="Columns"
          value={columns}
          of={keys.filter(key => key !== rows)}
          none="none"
          chosen={columns => show({ columns: columns || 'none' })}
        />
        <Choice
          label="Figure"
          value={figure.name}
          of={FIGURES.map(figure => figure.name)}
          chosen={figure => show({ figure })}
        />
        {open.map(key => (
          <Choice
            key={key}
            label={capital(key)}
            value={kept[key] ?? ''}
            of={levels(all, key)}
            none="all"
            chosen={value => {
              const { [key]: _, ...rest } = kept;
              show({ only: new URLSearchParams(value === '' ? rest : { ...rest, [key]: value }).toString() });
            }}
          />
        ))}
      </div>
      <Scroll label={`Pivot table of ${figure.name}`}>
        <table class="pivot list">
          <thead>
            <tr>
              <th>
                {rows}
                {figure.unit && <span class="faint">, {figure.unit}</span>}
              </th>
              {table.columns.map(column => (
                <th class="n" key={column}>
                  {column || figure.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, r) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {cells[r]?.map((cell, c) => (
                  <Figured
                    key={table.columns[c]}
                    cell={cell}
                    figure={figure}
                    best={best[r] === c}
                    at={table.cells[r]?.[c]}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {several && (
        <p class="faint">
          A range stands for several points of that row and column; they are not averaged. Choose a value above to tell
          them apart.
        </p>
      )}
      {dots.dots.length > 0 && (
        <>
          <h3>
            {figure.name} by {rows}
          </h3>
          <p class="faint subtitle">
            Bars are 95 % intervals{figure.unit === '' ? '; logarithmic' : ''}
            {table.columns.length > MOST_SERIES ? `. The first ${MOST_SERIES} columns are drawn` : ''}
          </p>
          <EChart
            draw={draw}
            height={dotsHeight(dots, 700)}
            label={`${figure.name} by ${rows}, the values of the table above`}
          />
        </>
      )}
    </>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The column of the best value of a row, where there are several. */
function bestOf(row: Shown[], figure: Figure): number {
  const values = row.map(cell => cell.value);
  if (values.filter(value => value !== null).length < 2) return -1;
  const best = (figure.lower ? Math.min : Math.max)(...values.filter(value => value !== null));
  return values.indexOf(best);
}

function Figured({ cell, figure, best, at }: { cell: Shown; figure: Figure; best: boolean; at: Fact[] | undefined }) {
  if (cell.count === 0) return <td class="n faint missing">none of these runs</td>;
  if (cell.value === null) {
    return (
      <td class="n">
        {figure.show(cell.low ?? 0)}–{figure.show(cell.high ?? 0)} <span class="band">of {cell.count}</span>
      </td>
    );
  }
  return (
    <td class="n">
      <data class={best ? 'best' : ''} value={cell.value} data-at={at?.[0]?.at}>
        {figure.show(cell.value)}
      </data>
      {cell.low !== null && cell.high !== null && (
        <span class="band">
          {' '}
          {figure.show(cell.low)}–{figure.show(cell.high)}
        </span>
      )}
    </td>
  );
}
