import { Refused } from '../api.ts';

/** What went wrong, and what to do. */
export function Failure({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const help = error instanceof Refused ? error.help : null;
  return (
    <div class="message failure" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {help && <p class="faint">{help}</p>}
    </div>
  );
}
