import { useEffect, useRef } from 'preact/hooks';

const KEYS: [string, string][] = [
  ['/', 'search runs'],
  ['j k', 'next and previous run'],
  ['x', 'select the run for a comparison'],
  ['Enter', 'open the run'],
  ['c', 'compare the selected runs'],
  ['u', 'array lab: undo the last change'],
  ['?', 'this list'],
  ['Esc', 'close it, or leave a field'],
];

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Where the reader was is where the reader goes on.
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keylist">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map(one => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
