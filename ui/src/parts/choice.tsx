interface Props {
  label: string;
  value: string;
  of: string[];
  /** What stands for no choice, where there may be none. */
  none?: string;
  /** What is shown of a value; itself where absent. */
  named?: (value: string) => string;
  chosen: (value: string) => void;
}

export function Choice({ label, value, of, none, named = value => value, chosen }: Props) {
  return (
    <label class="inline">
      {label}
      <select value={value} onChange={event => chosen(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {of.map(one => (
          <option key={one} value={one}>
            {named(one)}
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
