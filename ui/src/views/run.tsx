// One run: its report, findings first, and what can be done with it.

import { useState } from 'preact/hooks';
import { api, download } from '../api.ts';
import { Report } from '../parts/article.tsx';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { useTitle } from '../parts/title.ts';
import { go } from '../route.ts';

/** Buttons that save what the server makes of these runs. */
export function Downloads({ runs, name: given }: { runs: string[]; name?: string }) {
  const [error, set] = useState<unknown>(null);
  const name = given ?? (runs.length === 1 ? `fathom-${runs[0]}` : 'fathom-comparison');
  const query = runs.map(encodeURIComponent).join(',');
  const save = (path: string, as: string) => () => {
    set(null);
    download(path, as).catch(set);
  };
  return (
    <>
      <button type="button" onClick={save(`/api/report.html?runs=${query}`, `${name}.html`)}>
        Report .html
      </button>
      <button type="button" onClick={save(`/api/report.xlsx?runs=${query}`, `${name}.xlsx`)}>
        Workbook .xlsx
      </button>
      {runs.length === 1 && given === undefined && (
        <button type="button" onClick={save(`/api/runs/${query}`, `${name}.json`)}>
          Record .json
        </button>
      )}
      <Failure error={error} />
    </>
  );
}

export function RunView({ run }: { run: string }) {
  const { value, error } = useLoad(() => api.report(run), [run]);
  useTitle(value?.title ?? 'Run');
  return (
    <section class="wide-view">
      {!error && (
        <nav class="tools" aria-label="This run">
          <CompareWith run={run} />
          <Downloads runs={[run]} />
        </nav>
      )}
      <Failure error={error} />
      {value ? <Report article={value} first="Findings" /> : !error && <Drawing />}
    </section>
  );
}

export function Drawing() {
  return (
    <p class="faint drawing" role="status">
      Drawing the report …
    </p>
  );
}

/** Another run to compare this one with; the list is fetched when the field is used. */
function CompareWith({ run }: { run: string }) {
  const [wanted, want] = useState(false);
  const { value } = useLoad(async () => (wanted ? (await api.runs({ limit: 200 })).runs : []), [wanted]);
  const others = (value ?? []).filter(other => other.id !== run);
  return (
    <label class="inline">
      Compare with
      <select
        value=""
        onFocus={() => want(true)}
        onPointerDown={() => want(true)}
        onChange={event => event.currentTarget.value && go(`/compare?runs=${run},${event.currentTarget.value}`)}
      >
        <option value="">another run …</option>
        {others.map(other => (
          <option key={other.id} value={other.id}>
            {`${other.number} ${other.plan} on ${other.target}`}
          </option>
        ))}
      </select>
    </label>
  );
}
