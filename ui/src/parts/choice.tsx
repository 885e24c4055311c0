interface Props {
  label: string;
  value: string;
  of: string[];
  /** What stands for no choice, where there may be none. */
  none?: string;
  chosen: (value: string) => void;
}

export function Choice({ label, value, of, none, chosen }: Props) {
  return (
    <label class="inline">
      {label}
      <select value={value} onChange={event => chosen(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {of.map(one => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A key of the address, where it is one; `none` stands for no columns. */
export function chosenKey(text: string, keys: string[], rows: string): string | null {
  if (text === 'none') return '';
  return keys.includes(text) && text !== rows ? text : null;
}
